"""What the frame log can show: which frames there are, and the rows that are at hand.

Belongs to the screen's thread; the two threads behind it (fetching, filtering)
only post messages, which the log gives back to ``loaded`` and ``found``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.message import Message

from workbench.core.frame import Kind, Row
from workbench.tui.widgets.frame_rows import Fetcher, RowCache, Source
from workbench.tui.widgets.frame_scan import LogFilter, Scanner, SeqView


class Loaded(Message, bubble=False):
    """Rows have been fetched."""

    def __init__(self, wish: int, rows: list[Row]) -> None:
        super().__init__()
        self.wish = wish
        self.rows = rows


class Found(Message, bubble=False):
    """Matches of a filter have been found: ``older`` descending, ``newer`` ascending."""

    def __init__(self, scan: int, older: list[int], newer: list[int], done: bool) -> None:
        super().__init__()
        self.scan = scan
        self.older = older
        self.newer = newer
        self.done = done


class Failed(Message, bubble=False):
    """The source could not be read; ``text`` is a sentence."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class FrameFeed:
    """``view`` says which frames are shown; ``known`` is the last seq there is."""

    def __init__(self, post: Callable[[Message], None]) -> None:
        self._post = post
        self._source: Source | None = None
        self._fetcher: Fetcher | None = None
        self._scanner: Scanner | None = None
        self._cache = RowCache()
        self._wish = 0
        self._scan = 0
        self.view = SeqView(False)
        self.wanted = LogFilter()
        self.known = 0
        self.searching = False
        self.began_ns: int | None = None
        self.connection_width = 1
        #: The rules a frame is found to break, beside those in its row. Called in a thread.
        self.findings: Callable[[int], tuple[str, ...]] = lambda _: ()

    def open(self, source: Source, height: int) -> None:
        """Begin with another source."""
        self.close()
        self._source = source
        self._fetcher = Fetcher(
            source,
            lambda wish, rows: self._post(Loaded(wish, rows)),
            lambda text: self._post(Failed(text)),
        )
        self._cache.clear()
        self.began_ns = None
        self.known = height
        self.begin()

    def close(self) -> None:
        """End the threads and let go of the source."""
        for thread in (self._fetcher, self._scanner):
            if thread is not None:
                thread.close()
        self._fetcher = self._scanner = None
        self._source = None
        self.known = 0

    def begin(self) -> None:
        """Begin the view anew, as ``wanted`` says."""
        if self._scanner is not None:
            self._scanner.close()
            self._scanner = None
        self._scan += 1
        filtered = not self.wanted.everything
        self.view = SeqView(filtered)
        self.searching = filtered and self._source is not None
        if filtered and self._source is not None:
            scan = self._scan
            self._scanner = Scanner(
                self._source,
                self.wanted,
                self.known,
                lambda seq: self.findings(seq),
                lambda older, newer, done: self._post(Found(scan, older, newer, done)),
                lambda text: self._post(Failed(text)),
            )

    def grew(self, last_seq: int) -> bool:
        """There are frames up to ``last_seq`` now; true if the view is to be looked at for them
        at once, false if a filter has to see them first."""
        self.known = last_seq
        if self._scanner is None:
            return True
        self._scanner.grew(last_seq)
        return False

    @property
    def target(self) -> int:
        """How many lines there are to show now."""
        if not self.view.filtered:
            self.view.height = self.known
        return len(self.view)

    def found(self, message: Found) -> int | None:
        """Take matches; by how many lines everything moved down, ``None`` for those of a filter
        that is gone."""
        if message.scan != self._scan:
            return None
        self.searching = not message.done
        return self.view.extend(message.older, message.newer)

    def row(self, seq: int) -> Row | None:
        """A row, if it is at hand."""
        return self._cache.get(seq)

    def want(self, seqs: Sequence[int]) -> None:
        """Fetch these rows, ascending, instead of what was wanted before."""
        if self._fetcher is not None:
            self._wish += 1
            self._fetcher.want(self._wish, seqs)

    def loaded(self, message: Loaded) -> tuple[list[int], bool]:
        """Take rows; the seqs of those that are new or read otherwise now, and whether they are
        what was wanted last."""
        changed = [row.seq for row in message.rows if self._cache.get(row.seq) != row]
        self._cache.put(message.rows)
        for row in message.rows:
            self.connection_width = max(self.connection_width, len(str(row.connection)))
            if row.seq == 1:
                self.began_ns = row.wall_ns
        return changed, message.wish == self._wish


def is_open(row: Row) -> bool:
    """Whether a row is a request without an answer."""
    return row.kind is Kind.REQUEST and row.pair is None
