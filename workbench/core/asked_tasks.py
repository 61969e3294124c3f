"""Requests of the peer that were made tasks, as the fold shows them: open until the task has ended.

The first answer to such a request is the task and not what was asked for. That
it has ended, the client tells in a notification or in its answers to what the
peer asks about the task ("Tasks", 2025-11-25).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from workbench.core.exchange import Exchange
from workbench.core.frame import Frame, Kind
from workbench.core.inflight import InFlight, keep
from workbench.core.jsonrpc import Message
from workbench.core.peek import peek
from workbench.core.peer_story import PeerStory
from workbench.core.tasks import TERMINAL

#: Tasks that are remembered while they run.
MAX_TASKS = 1_000


class AskedTasks:
    """Keeps ``inflight`` and ``story`` up to date for the tasks of one connection's client."""

    def __init__(self, inflight: InFlight, story: PeerStory) -> None:
        self._inflight = inflight
        self._story = story
        self._running: OrderedDict[str, Exchange] = OrderedDict()

    def answered(self, frame: Frame, exchange: Exchange, message: Message) -> bool:
        """Take an answer to a request of the peer; whether it is a task that runs, and the request
        stays open."""
        if exchange.method == "tasks/result":
            self._ended(frame, exchange.name, "completed" if message.kind is Kind.RESULT else "failed")
            return False
        if exchange.method in ("tasks/get", "tasks/cancel"):
            self.told(frame, peek(message, "result"))
            return False
        task = peek(message, "result", "task")
        identity = task.get("taskId") if isinstance(task, dict) else None
        if not isinstance(identity, str) or _is_over(task):
            return False
        keep(self._running, identity, exchange, MAX_TASKS)
        self._story.became(exchange, "a task")
        return True

    def told(self, frame: Frame, task: Any) -> None:
        """Take what the client says of a task (any value)."""
        if _is_over(task):
            self._ended(frame, task.get("taskId"), task["status"])

    def _ended(self, frame: Frame, identity: Any, how: str) -> None:
        exchange = self._running.pop(identity, None) if isinstance(identity, str) else None
        if exchange is not None:
            self._inflight.peer_ended(exchange)
            self._story.became(exchange, how, frame.seq)


def _is_over(task: Any) -> bool:
    status = task.get("status") if isinstance(task, dict) else None
    return isinstance(status, str) and status in TERMINAL
