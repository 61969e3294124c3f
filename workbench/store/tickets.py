"""Which ``seq`` a ticket got.

As long as all units are whole frames the two are the same. Where the disk refused
frames they part for good, and a piece of a stream may be no frame, or several.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

#: Runs of tickets that are remembered; older ones count as the oldest of these.
MAX_RUNS = 10_000


class _Run(NamedTuple):
    """Tickets from ``ticket`` on became the frames from ``seq`` on; ``step`` is 0 where all of them
    count as one frame."""

    ticket: int
    seq: int
    step: int

    def seq_of(self, ticket: int) -> int:
        return self.seq + self.step * (ticket - self.ticket)


class Tickets:
    """Fed in order by the writing thread; asked by any."""

    def __init__(self) -> None:
        self._runs: deque[_Run] = deque(maxlen=MAX_RUNS)
        self._next = 1

    @property
    def next(self) -> int:
        """The first ticket that is not written yet."""
        return self._next

    def written(self, count: int, first_seq: int, last_seq: int) -> None:
        """The next ``count`` tickets became the frames ``first_seq`` to ``last_seq``; when these are
        not as many, each is taken to be a part of the last one."""
        if last_seq - first_seq + 1 == count:
            run = _Run(self._next, first_seq, 1)
        else:
            run = _Run(self._next, last_seq, 0)
        last = self._runs[-1] if self._runs else None
        if count and (last is None or last.step != run.step or last.seq_of(run.ticket) != run.seq):
            self._runs.append(run)
        self._next += count

    def seq_of(self, ticket: int) -> int | None:
        """The seq of the frame this ticket became (of a lost one, the seq before it), ``None`` while
        it is not written."""
        if not 0 < ticket < self._next:
            return None
        for run in reversed(self._runs):
            if run.ticket <= ticket:
                return run.seq_of(ticket)
        return self._runs[0].seq

    def frame_of(self, ticket: int) -> int | None:
        """The same, but only where the ticket was one whole frame that was written."""
        for run in reversed(self._runs):
            if run.ticket <= ticket < self._next:
                return run.seq_of(ticket) if run.step else None
        return None
