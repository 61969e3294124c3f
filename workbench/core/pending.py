"""Our requests that wait for an answer: when they end by themselves, and what their tokens are.

Time is data here: seconds of any monotonic clock come in, deadlines go out,
and nothing sleeps. Progress restarts a request's timeout, but never past its
hard maximum ("Timeouts", all handshake revisions).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import NamedTuple


class Timeouts(NamedTuple):
    """Seconds: ``start`` for the handshake, ``request`` for any other request (restarted by
    progress), ``maximum`` for a request however much progress it makes, ``shutdown`` for each
    step of ending the peer."""

    start: float = 60.0
    request: float = 60.0
    maximum: float = 600.0
    shutdown: float = 2.0


class Pending:
    """One request of ours that has not ended. ``token`` is the JSON text of its progress token."""

    __slots__ = ("deadline", "hard", "id", "method", "params", "progress", "started", "timeout", "token")

    def __init__(
        self, id: int, method: str, params: str | None, started: float, timeout: float, maximum: float
    ) -> None:
        self.id = id
        self.method = method
        self.params = params
        self.started = started
        self.timeout = timeout
        self.hard = started + max(timeout, maximum)
        self.deadline = started + timeout
        self.token: str | None = None
        self.progress = -math.inf

    def age(self, now: float | None) -> float:
        return 0.0 if now is None else now - self.started


class PendingCalls:
    """All requests that wait, by id, by token and by deadline."""

    def __init__(self) -> None:
        self._by_id: dict[int, Pending] = {}
        self._by_token: dict[str, Pending] = {}
        # (deadline, id), the soonest first. A deadline that moved leaves its old entry, which is
        # corrected when it comes up.
        self._deadlines: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Pending]:
        return iter(list(self._by_id.values()))

    def add(self, call: Pending) -> None:
        self._by_id[call.id] = call
        if call.token is not None:
            self._by_token[call.token] = call
        if call.deadline < math.inf:
            heapq.heappush(self._deadlines, (call.deadline, call.id))

    def get(self, id: int) -> Pending | None:
        return self._by_id.get(id)

    def with_token(self, token: str) -> Pending | None:
        return self._by_token.get(token)

    def take(self, id: int) -> Pending | None:
        """Remove a request that has ended."""
        call = self._by_id.pop(id, None)
        if call is not None and call.token is not None and self._by_token.get(call.token) is call:
            del self._by_token[call.token]
        return call

    def restart(self, call: Pending, now: float) -> None:
        """The peer works on it: the timeout begins anew, up to the hard maximum."""
        call.deadline = min(now + call.timeout, call.hard)

    def next_deadline(self) -> float | None:
        """When the next request times out, ``None`` if none ever does."""
        while self._deadlines:
            deadline, id = self._deadlines[0]
            call = self._by_id.get(id)
            if call is None:
                heapq.heappop(self._deadlines)
            elif call.deadline > deadline:
                heapq.heapreplace(self._deadlines, (call.deadline, id))
            else:
                return deadline
        return None

    def put_off(self, now: float) -> None:
        """It is not the peer that is waited for: what would be over begins anew, up to its hard
        maximum."""
        for call in self._by_id.values():
            if call.deadline <= now:
                self.restart(call, now)

    def expired(self, now: float) -> list[Pending]:
        """Remove and return the requests whose time is over."""
        over: list[Pending] = []
        deadline = self.next_deadline()
        while deadline is not None and deadline <= now:
            call = self.take(self._deadlines[0][1])
            if call is not None:
                over.append(call)
            deadline = self.next_deadline()
        return over
