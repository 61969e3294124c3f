"""Checks a session that was recorded: one checker a connection, and streams at the right time.

A recording holds an HTTP stream once, with all that became of it. A checker
wants to hear of it as it happened: that it was opened before its first frame,
its answer's head behind what was sent, its end behind the last frame before it.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from heapq import heappop, heappush

from workbench.check.checker import Checker
from workbench.check.rule import Finding
from workbench.core.frame import Direction, Frame, Stream

#: Streams whose end has not been reached that are held.
MAX_WAITING = 10_000


class Recorded:
    """``head`` takes streams, before their first frames or as soon as there is more to know of them;
    ``take`` takes every frame of the session in order; ``finish`` tells of the streams left."""

    def __init__(self) -> None:
        self._checkers: defaultdict[int, Checker] = defaultdict(Checker)
        self._waiting: OrderedDict[int, Stream] = OrderedDict()
        self._opened: dict[int, bool] = {}  # whether its head has been told, too
        self._due: list[tuple[int, int, str]] = []

    def head(self, stream: Stream) -> None:
        """Take a stream as it stands in the recording."""
        if stream.number not in self._waiting:
            heappush(self._due, (stream.opened_ns, stream.number, "open"))
        if stream.closed_ns is not None:
            heappush(self._due, (stream.closed_ns, stream.number, "close"))
        self._waiting[stream.number] = stream
        if len(self._waiting) > MAX_WAITING:
            number, _ = self._waiting.popitem(last=False)
            self._opened.pop(number, None)

    def take(self, frame: Frame) -> list[Finding]:
        """Take the next frame; returns what it, or a stream that ended before it, breaks."""
        found: list[Finding] = []
        while self._due and self._due[0][0] <= frame.wall_ns:
            found += self._happen(*heappop(self._due)[1:])
        if frame.stream:
            found += self._open(frame.stream)
            if frame.direction is Direction.TO_CLIENT:
                found += self._answered(frame.stream)
        found += self._checkers[frame.connection].take(frame)
        return found

    def finish(self) -> list[Finding]:
        """Tell of what happened after the last frame."""
        found: list[Finding] = []
        while self._due:
            found += self._happen(*heappop(self._due)[1:])
        return found

    def _happen(self, number: int, what: str) -> Iterable[Finding]:
        if what == "open":
            return self._open(number)
        stream = self._waiting.get(number)
        if stream is None:
            return ()
        found = [*self._open(number), *self._answered(number), *self._tell(stream)]
        self._waiting.pop(number)
        self._opened.pop(number, None)
        return found

    def _open(self, number: int) -> list[Finding]:
        stream = self._waiting.get(number)
        if stream is None or number in self._opened:
            return []
        self._opened[number] = False
        return self._tell(
            stream._replace(status=None, response_headers=(), closed_ns=None, closed_how="", wire_bytes=None)
        )

    def _answered(self, number: int) -> list[Finding]:
        stream = self._waiting.get(number)
        if stream is None or stream.status is None or self._opened.get(number, True):
            return []
        self._opened[number] = True
        return self._tell(stream._replace(closed_ns=None, closed_how="", wire_bytes=None))

    def _tell(self, stream: Stream) -> list[Finding]:
        return self._checkers[stream.connection].take_stream(stream)
