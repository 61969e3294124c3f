"""Checks a session that was recorded: one checker a connection, and streams at the right time.

A recording holds an HTTP stream once, with all that became of it. A checker
wants to hear of it as it happened: that it was opened before its first frame,
its answer's head behind what was sent, its end behind the last frame before it.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from heapq import heappop, heappush

from workbench.check.checker import Checker
from workbench.check.rule import Finding
from workbench.core.frame import Direction, Frame, Stream

#: Streams whose end has not been reached that are held.
MAX_WAITING = 10_000


class Recorded:
    """``head`` takes streams, before their first frames or as soon as there is more to know of them;
    ``take`` takes every frame of the session in order; ``finish`` is for the streams left then. What is
    found goes to ``found(connection, finding)``."""

    def __init__(self, found: Callable[[int, Finding], None]) -> None:
        self._found = found
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

    def take(self, frame: Frame) -> None:
        """Take the next frame; streams that have ended before it end first."""
        while self._due and self._due[0][0] <= frame.wall_ns:
            self._happen(*heappop(self._due)[1:])
        if frame.stream:
            self._open(frame.stream)
            if frame.direction is Direction.TO_CLIENT:
                self._answered(frame.stream)
        for finding in self._checkers[frame.connection].take(frame):
            self._found(frame.connection, finding)

    def finish(self) -> None:
        """There is no further frame: what has happened to streams since the last one."""
        while self._due:
            self._happen(*heappop(self._due)[1:])

    def _happen(self, number: int, what: str) -> None:
        self._open(number)
        stream = self._waiting.get(number)
        if what == "close" and stream is not None:
            self._answered(number)
            self._tell(stream)
            self._waiting.pop(number)
            self._opened.pop(number, None)

    def _open(self, number: int) -> None:
        stream = self._waiting.get(number)
        if stream is not None and number not in self._opened:
            self._opened[number] = False
            self._tell(_at_work(stream)._replace(status=None, response_headers=()))

    def _answered(self, number: int) -> None:
        stream = self._waiting.get(number)
        if stream is not None and stream.status is not None and not self._opened.get(number, True):
            self._opened[number] = True
            self._tell(_at_work(stream))

    def _tell(self, stream: Stream) -> None:
        for finding in self._checkers[stream.connection].take_stream(stream):
            self._found(stream.connection, finding)


def _at_work(stream: Stream) -> Stream:
    """A stream as it stood before it ended."""
    return stream._replace(closed_ns=None, closed_how="", wire_bytes=None)
