"""Tasks of ours that the peer runs: what it says of one, and what to ask next.

Source: "Tasks", 2025-11-25 (experimental). A request that carries ``task`` is
answered at once with a task. It is polled with ``tasks/get`` until it has ended
or wants something of us, and its result is fetched with ``tasks/result``, which
is answered only when the task has ended.

Time is data: seconds of one monotonic clock.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from workbench.core.jsonrpc import dumps
from workbench.core.methods import has_capability
from workbench.core.peek import number

#: The states of a task, and those that are its end.
STATUSES = ("working", "input_required", "completed", "failed", "cancelled")
TERMINAL = frozenset(("completed", "failed", "cancelled"))

#: The ``_meta`` key of every message that belongs to a task.
RELATED_TASK = "io.modelcontextprotocol/related-task"

#: Seconds between two polls where the peer names none, and the bounds of what it may name: a peer
#: that says 0 would be asked without a pause, one that says a year would never be asked again.
USUAL_INTERVAL = 1.0
LEAST_INTERVAL = 0.1
MOST_INTERVAL = 3600.0

#: Polls in a row without an answer after which a task is given up.
MAX_SILENT_POLLS = 3

#: Characters of a status message that are kept.
MAX_MESSAGE = 500


@dataclass(frozen=True)
class Task:
    """What is known of a task. ``status`` is the peer's word; ``ttl`` and ``interval`` are seconds,
    ``ttl`` ``None`` for no limit; ``began`` is when we first heard of it. ``call`` is the number of
    the request that made it, and ``next_poll`` when it is asked for next, if it is."""

    id: str
    call: int
    began: float
    status: str = "working"
    message: str = ""
    created: str = ""
    updated: str = ""
    ttl: float | None = None
    interval: float = USUAL_INTERVAL
    next_poll: float | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended; a task never leaves such a status."""
        return self.status in TERMINAL

    @property
    def params(self) -> str:
        """The params (JSON text) of a request about it."""
        return dumps({"taskId": self.id})

    def age(self, now: float) -> float:
        return now - self.began

    def left(self, now: float) -> float | None:
        """Seconds until the peer may forget it, ``None`` for no limit."""
        return None if self.ttl is None else max(0.0, self.began + self.ttl - now)

    def told(self, said: Any) -> Task:
        """The task after the peer has said this of it (a flat task). What cannot be read, and a
        status after the last one, changes nothing."""
        if not isinstance(said, dict) or said.get("taskId", self.id) != self.id or self.over:
            return self
        status = said.get("status")
        return replace(
            self,
            status=status if isinstance(status, str) and status in STATUSES else self.status,
            message=_text(said.get("statusMessage"))[:MAX_MESSAGE],
            created=_text(said.get("createdAt"))[:MAX_MESSAGE] or self.created,
            updated=_text(said.get("lastUpdatedAt"))[:MAX_MESSAGE] or self.updated,
            ttl=_ttl(said, self.ttl),
            interval=_interval(said.get("pollInterval"), self.interval),
        )


def created(result: Any, call: int, now: float) -> Task | None:
    """The task that a result makes (``CreateTaskResult``); ``None`` if it makes none."""
    said = result.get("task") if isinstance(result, dict) else None
    id = said.get("taskId") if isinstance(said, dict) else None
    return Task(id, call, now).told(said) if isinstance(id, str) else None


def task_param(ttl: float | None) -> str:
    """The value (JSON text) of a request's ``task``; ``ttl`` in seconds, ``None`` leaves it to the
    receiver."""
    return "{}" if ttl is None or math.isinf(ttl) else dumps({"ttl": round(ttl * 1000)})


#: Why no request is sent to be made a task where there is no handshake ("Tasks" extension, 2026-07-28).
NO_TASKS = (
    "Without a handshake a client does not ask for a task: the server makes one by itself where it wants to. "
    "Send the request without it, or connect with --era legacy if the server speaks that too."
)


def task_doubts(method: str, server_capabilities: Any) -> list[str]:
    """Why a server may not make a request a task, as sentences without full stops."""
    gate = f"tasks.requests.{method.replace('/', '.')}"
    if has_capability(server_capabilities, gate):
        return []
    return [f"the server does not declare {gate}, so it may answer {method} without making it a task"]


def _ttl(said: dict[str, Any], before: float | None) -> float | None:
    if "ttl" not in said:
        return before
    milliseconds = number(said["ttl"])
    return None if milliseconds is None else max(0.0, milliseconds / 1000)


def _interval(value: Any, before: float) -> float:
    milliseconds = number(value)
    if milliseconds is None or math.isnan(milliseconds):
        return before
    return min(max(milliseconds / 1000, LEAST_INTERVAL), MOST_INTERVAL)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
