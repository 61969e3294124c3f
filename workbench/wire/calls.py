"""A request of ours as its caller holds it: what it is, how it goes, how it ended."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from workbench.core.actions import Continued, Outcome, Progressed
from workbench.core.jsonrpc import INLINE_BYTES, loads
from workbench.core.methods import name_of

if TYPE_CHECKING:
    from workbench.wire.connection import Connection

#: Reports of progress that are kept; the last ones. All are in the recording.
KEPT_PROGRESS = 1_000


@dataclass
class Round:
    """A further round of a call: the request sent again with what its last result asked for.

    ``number`` is its JSON-RPC id, ``request_seq`` its frame (0 until it has gone out), ``asked_seq``
    the frame that asked, and ``asked`` what: pairs of the server's key and the method.
    """

    number: int
    asked_seq: int
    asked: tuple[tuple[str, str], ...]
    request_seq: int = 0


class Call:
    """A request of ours. It belongs to the event loop of its connection.

    ``number`` is its JSON-RPC id and ``request_seq`` its frame. ``progress`` holds the last
    reports, oldest first. ``remarks`` are sentences about what was done in its name without
    asking anybody, such as declining a request of the server. ``late_seq`` is the frame of an
    answer that came after it had ended. ``as_task`` is whether it was sent to be made a task, and
    ``task`` the id of that task once there is one.
    """

    def __init__(self, connection: Connection, method: str, params: str | None) -> None:
        self.connection = connection
        self.method = method
        self.params = params
        self.name = _name(method, params)
        self.number = 0
        self.request_seq = 0
        self.late_seq: int | None = None
        self.started_ns = time.monotonic_ns()
        self.progress: deque[Progressed] = deque(maxlen=KEPT_PROGRESS)
        self.remarks: list[str] = []
        self.rounds: list[Round] = []
        self.outcome: Outcome | None = None
        self.as_task = False
        self.task: str | None = None
        self._done = anyio.Event()
        self._made = anyio.Event()

    @property
    def state(self) -> str:
        """``running`` or ``done``."""
        return "running" if self.outcome is None else "done"

    @property
    def last(self) -> int:
        """The id of its last round's request."""
        return self.rounds[-1].number if self.rounds else self.number

    @property
    def seconds(self) -> float:
        """How long it took, or has taken so far."""
        if self.outcome is not None:
            return self.outcome.seconds
        return (time.monotonic_ns() - self.started_ns) / 1e9

    def cancel(self, reason: str | None = None) -> None:
        """Give it up and tell the server. Nothing happens when it has ended."""
        if self.outcome is None:
            self.connection.cancel(self.number, reason)

    async def wait(self) -> Outcome:
        """Wait until it has ended, however it ends. Being cancelled meanwhile does not end it."""
        await self._done.wait()
        assert self.outcome is not None
        return self.outcome

    async def wait_made(self) -> None:
        """Wait until it has become a task, or has ended."""
        await self._made.wait()

    def made(self, task: str) -> None:
        """Called by the connection."""
        self.task = task
        self._made.set()

    def go_on(self, action: Continued) -> None:
        """Called by the connection: another round begins."""
        self.rounds.append(Round(action.round, action.seq, action.asked))

    def sent(self, number: int, seq: int) -> bool:
        """Called by the connection: the request ``number`` of it went out as the frame ``seq``;
        returns whether that is news."""
        for round in self.rounds:
            if round.number == number and round.request_seq == 0:
                round.request_seq = seq
                return True
        if self.request_seq or number != self.number:
            return False
        self.request_seq = seq
        return True

    def finish(self, outcome: Outcome) -> None:
        """Called by the connection."""
        self.outcome = outcome
        self._done.set()
        self._made.set()


def _name(method: str, params: str | None) -> str | None:
    if params is None or len(params) > INLINE_BYTES:
        return None
    try:
        return name_of(method, loads(params))
    except (ValueError, RecursionError):
        return None
