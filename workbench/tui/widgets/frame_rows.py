"""Rows of the frame log that are at hand, and the thread that fetches the others.

The screen's thread only looks into the cache and says what it wants; a wish
replaces the one before it, because only what is on the screen now matters.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from workbench.core.frame import Row
from workbench.core.frame_filter import FrameFilter

#: Rows kept at hand, about 1 kB each.
CACHED_ROWS = 8_192


class Source(Protocol):
    """What the frame log needs of a reader. Called in threads of the log only."""

    def height(self) -> int: ...

    def window(self, first: int, last: int) -> list[Row]: ...

    def rows(self, seqs: Sequence[int]) -> list[Row]: ...

    def matching(
        self,
        wanted: FrameFilter,
        *,
        first: int = 1,
        last: int | None = None,
        newest_first: bool = True,
        connection: int | None = None,
        found: Callable[[int], tuple[str, ...]] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Iterator[list[int]]: ...


class RowCache:
    """The rows used last, by seq. Of the screen's thread only."""

    def __init__(self, limit: int = CACHED_ROWS) -> None:
        self._rows: OrderedDict[int, Row] = OrderedDict()
        self._limit = limit

    def get(self, seq: int) -> Row | None:
        row = self._rows.get(seq)
        if row is not None:
            self._rows.move_to_end(seq)
        return row

    def put(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._rows[row.seq] = row
            self._rows.move_to_end(row.seq)
        while len(self._rows) > self._limit:
            self._rows.popitem(last=False)

    def clear(self) -> None:
        self._rows.clear()

    def __len__(self) -> int:
        return len(self._rows)


class Fetcher:
    """One thread that loads rows; ``loaded(wish, rows)`` is called in that thread.

    A wish is a number, from 1, and the seqs to load. The very first row is loaded unasked, as wish
    0, because times are told from it. Trouble with the source is ``failed(sentence)``, once a wish.
    """

    def __init__(
        self,
        source: Source,
        loaded: Callable[[int, list[Row]], None],
        failed: Callable[[str], None],
    ) -> None:
        self._source = source
        self._loaded = loaded
        self._failed = failed
        self._wake = threading.Condition()
        self._wish: tuple[int, Sequence[int]] | None = None
        self._closed = False
        self._began = False
        self._thread: threading.Thread | None = None

    def want(self, wish: int, seqs: Sequence[int]) -> None:
        """Load these rows, ascending, instead of what was wanted before."""
        with self._wake:
            self._wish = (wish, seqs)
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name="frame-log-rows", daemon=True)
                self._thread.start()
            self._wake.notify()

    def close(self) -> None:
        with self._wake:
            self._closed = True
            self._wake.notify()

    def _run(self) -> None:
        while True:
            with self._wake:
                while self._wish is None and not self._closed:
                    self._wake.wait()
                if self._closed or self._wish is None:
                    return
                wish, seqs = self._wish
                self._wish = None
            try:
                if not self._began and (first := self._source.window(1, 1)):
                    self._began = True
                    self._loaded(0, first)
                rows = load(self._source, seqs)
            except Exception as error:
                self._failed(f"The frames cannot be read: {error}")
                continue
            self._loaded(wish, rows)


def load(source: Source, seqs: Sequence[int]) -> list[Row]:
    """The rows of ascending seqs, as one window where they are neighbours."""
    if not seqs:
        return []
    if seqs[-1] - seqs[0] + 1 == len(seqs):
        return source.window(seqs[0], seqs[-1])
    return source.rows(seqs)
