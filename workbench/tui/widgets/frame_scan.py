"""Which frames a filtered log shows: found in a thread, newest first, extended as frames come."""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from workbench.core.frame_filter import FrameFilter
from workbench.tui.widgets.frame_rows import Source


class LogFilter(NamedTuple):
    """What to show: the frames that pass all terms, of one connection or all."""

    terms: FrameFilter = ()
    connection: int | None = None

    @property
    def everything(self) -> bool:
        return self == LogFilter()


class SeqView:
    """Line number to seq. Without a filter line ``i`` is seq ``i + 1``; with one, the matches are
    two arrays that both only ever grow: what was older than the start, and what came since."""

    def __init__(self, filtered: bool) -> None:
        self.filtered = filtered
        self.height = 0
        self._older: array[int] = array("q")
        self._newer: array[int] = array("q")

    def __len__(self) -> int:
        return len(self._older) + len(self._newer) if self.filtered else self.height

    def seq(self, line: int) -> int:
        if not self.filtered:
            return line + 1
        older = len(self._older)
        return self._older[older - 1 - line] if line < older else self._newer[line - older]

    def seqs(self, first: int, last: int) -> Sequence[int]:
        """The seqs of lines ``first`` up to but without ``last``."""
        if not self.filtered:
            return range(first + 1, last + 1)
        return [self.seq(line) for line in range(first, last)]

    def line(self, seq: int) -> int | None:
        """The line that shows ``seq``, ``None`` when none does."""
        near = self.near(seq)
        return near if near is not None and self.seq(near) == seq else None

    def near(self, seq: int) -> int | None:
        """The line of ``seq`` or of the last shown frame before it; the first line if none is."""
        if not len(self):
            return None
        if not self.filtered:
            return max(0, min(seq, self.height) - 1)
        if self._newer and seq >= self._newer[0]:
            return len(self._older) + bisect_right(self._newer, seq) - 1
        older = len(self._older)
        later = bisect_right(self._older, -seq - 1, key=lambda found: -found)
        return max(older - 1 - later, 0)

    def extend(self, older: Iterable[int], newer: Iterable[int]) -> int:
        """Take matches: ``older`` descending, ``newer`` ascending. Returns by how many lines
        everything moved down."""
        before = len(self._older)
        self._older.extend(older)
        self._newer.extend(newer)
        return len(self._older) - before


class Scanner:
    """One thread that looks for matches of one filter, first back from ``height``, then forward.

    ``findings`` gives the rules a frame breaks, beside those that are recorded with it, and is called in that
    thread as ``found(older, newer, done)`` is; ``done`` says that all older frames
    have been looked at.
    """

    def __init__(
        self,
        source: Source,
        wanted: LogFilter,
        height: int,
        findings: Callable[[int], tuple[str, ...]],
        found: Callable[[list[int], list[int], bool], None],
        failed: Callable[[str], None],
    ) -> None:
        self._source = source
        self._wanted = wanted
        self._start = height
        self._seen = height
        self._height = height
        self._findings = findings
        self._found = found
        self._failed = failed
        self._wake = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="frame-log-filter", daemon=True)
        self._thread.start()

    def grew(self, height: int) -> None:
        """There are frames up to this one now."""
        with self._wake:
            self._height = max(height, self._height)
            self._wake.notify()

    def close(self) -> None:
        with self._wake:
            self._closed = True
            self._wake.notify()

    def _run(self) -> None:
        try:
            self._back()
            while self._wait():
                self._forward()
        except Exception as error:
            self._failed(f"The frames cannot be searched: {error}")

    def _wait(self) -> bool:
        with self._wake:
            while self._height == self._seen and not self._closed:
                self._wake.wait()
            return not self._closed

    def _back(self) -> None:
        for batch in self._matches(1, self._start, newest_first=True):
            if self._closed:
                return
            self._found(batch, [], False)
        self._found([], [], True)

    def _forward(self) -> None:
        first, last = self._seen + 1, self._height
        for batch in self._matches(first, last, newest_first=False):
            if self._closed:
                return
            self._found([], batch, True)
        self._seen = last

    def _matches(self, first: int, last: int, *, newest_first: bool) -> Iterator[list[int]]:
        if last < first:
            return
        yield from self._source.matching(
            self._wanted.terms,
            first=first,
            last=last,
            newest_first=newest_first,
            connection=self._wanted.connection,
            found=self._findings,
            stop=lambda: self._closed,
        )
