"""The frame log: any number of frames, of which only those on the screen are looked at.

The widget holds a height, a cache of rows and, with a filter, the numbers of the
matching frames. Drawing a line looks into the cache and never asks the reader;
what is missing is fetched in a thread and drawn when it comes. Growth is taken at
most ten times a second, and only while the terminal keeps up, so a burst of any
size is one repaint; while following, the new rows are fetched first and shown in
one go.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import on
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.timer import Timer

from workbench.check.rule import Finding
from workbench.core.frame import Row
from workbench.tui import figures
from workbench.tui.aside import tell
from workbench.tui.link import link_ready, pause_for
from workbench.tui.widgets.frame_columns import Columns, Pen, columns_at, draw_row
from workbench.tui.widgets.frame_feed import Failed, Found, FrameFeed, Loaded, is_open
from workbench.tui.widgets.frame_rows import Source
from workbench.tui.widgets.frame_scan import LogFilter
from workbench.tui.widgets.frame_words import warning
from workbench.tui.widgets.line_list import LineList

#: How a line tells its time: since the first frame, since the frame before it, of the day.
TIMES = ("relative", "delta", "clock")


class FrameLog(LineList):
    """Frames of a ``Source`` (a reader). ``open`` it, tell it ``grew``; it posts ``Opened``,
    ``Moved``, ``Changed`` (its ``status`` reads otherwise now) and ``Said`` (a sentence)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "follow", "follow"),
        Binding("p", "pair", "pair"),
        Binding("m", "mark", "mark"),
        Binding("t", "times", "times", show=False),
    ]

    class Opened(Message):
        """A frame was chosen."""

        def __init__(self, seq: int) -> None:
            super().__init__()
            self.seq = seq

    class Moved(Opened):
        """The user put the cursor on another frame."""

    class Changed(Message):
        """``status`` reads otherwise now."""

    class Said(Message):
        """Something to tell the user, one sentence."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._feed = FrameFeed(lambda message: tell(self, message))
        self._count = 0
        self._target: int | None = None
        self._wanting = False
        self._keep_seq: int | None = None
        self._follow = True
        self._times = "relative"
        self._pinned: set[int] = set()
        self._synced = 0.0
        self._timer: Timer | None = None
        self._told = ""
        self.syncs = 0
        #: What the checks have found on a frame, beside what its row knows of it.
        self.findings: Callable[[int], Sequence[Finding]] = lambda _: ()
        self._feed.findings = lambda seq: tuple(found.rule.id for found in self.findings(seq))

    # What goes down.

    def open(self, source: Source, height: int, *, follow: bool = True) -> None:
        """Show the frames of a source that has ``height`` of them now."""
        self._pinned.clear()
        self._follow = follow
        self._count = 0
        self._keep_seq = None
        self._feed.open(source, height)
        self._grow()

    def close(self) -> None:
        """Let go of the source and end the threads that read it."""
        self._feed.close()
        self._count = 0

    def grew(self, last_seq: int) -> None:
        """There are frames up to ``last_seq`` now. Costs nothing however often it is called."""
        if last_seq > self._feed.known and self._feed.grew(last_seq):
            self._schedule()

    def set_filter(self, wanted: LogFilter) -> None:
        """Show only frames that pass; the cursor stays on its frame or the one before it."""
        if wanted == self._feed.wanted:
            return
        self._keep_seq = self.seq
        self._feed.wanted = wanted
        self._feed.begin()
        self._count = 0
        self._grow()

    def go_to(self, seq: int) -> bool:
        """Put the cursor on a frame; false when it is not among those shown."""
        line = self._feed.view.line(seq)
        if line is None or line >= self._count:
            return False
        self._set_follow(False)
        if not self.top <= line < self.top + self.shown:
            self.scroll_line(max(0, line - self.shown // 2))
        self.put_cursor(line)
        return True

    # What can be read.

    @property
    def following(self) -> bool:
        return self._follow

    @property
    def seq(self) -> int | None:
        """The frame under the cursor."""
        return self._feed.view.seq(self.cursor) if 0 <= self.cursor < self._count else None

    @property
    def row(self) -> Row | None:
        """The row under the cursor, if it is at hand."""
        seq = self.seq
        return None if seq is None else self._feed.row(seq)

    @property
    def wanted(self) -> LogFilter:
        return self._feed.wanted

    @property
    def pinned(self) -> frozenset[int]:
        """The frames the user marked."""
        return frozenset(self._pinned)

    @property
    def status(self) -> str:
        """``following   1,204 of 12,904``, ``paused, 312 below   12,904``."""
        below = max(self._count - self.top - self.shown, 0)
        words = (
            "following" if self._follow else "paused" + (f", {figures.count(below)} below" if below else "")
        )
        if not self._feed.view.filtered:
            return f"{words}   {figures.count(self._feed.known)}"
        searching = "searching, " if self._feed.searching else ""
        return (
            f"{searching}{words}   {figures.count(len(self._feed.view))} of {figures.count(self._feed.known)}"
        )

    @property
    def count(self) -> int:
        return self._count

    @property
    def cursor_shown(self) -> bool:
        """A log that follows beside something else is only watched."""
        return self.has_focus or not self._follow

    # Growth.

    def _schedule(self) -> None:
        if self._timer is None and self.is_mounted:
            wait = self._synced + pause_for(self.size.area) - time.monotonic()
            self._timer = self.set_timer(max(wait, 0.01), self._sync)

    def _sync(self) -> None:
        self._timer = None
        self._synced = time.monotonic()
        if not link_ready(self.app):
            self._schedule()
            return
        self.syncs += 1
        self._grow()

    def _grow(self) -> None:
        """Take over the height; while following, only once the rows to show are here."""
        target = self._feed.target
        if self._follow:
            self._target = target
            self._feed.want(self._feed.view.seqs(max(target - self.shown, 0), target))
        else:
            self._target = None
            self._take(target)
            self._want_open()
        self._tell_status()

    def _take(self, count: int) -> None:
        grown, self._count = count - self._count, count
        size = Size(0, count)
        if size != self.virtual_size:
            self.virtual_size = size
        if self._follow:
            self.put_cursor(count - 1, show=False)
            self.scroll_line(max(count - self.shown, 0))
            self.refresh()
        elif self._keep_seq is not None and count:
            self.put_cursor(self._feed.view.near(self._keep_seq) or 0)
            if not self._feed.searching:
                self._keep_seq = None
        elif grown and count - grown < self.top + self.shown:
            self.refresh()

    def _want_open(self) -> None:
        """Look again at the calls on the screen that have no answer yet."""
        last = min(self.top + self.shown, self._count)
        rows = (self._feed.row(seq) for seq in self._feed.view.seqs(self.top, last))
        if any(row is not None and is_open(row) for row in rows):
            self._feed.want(self._feed.view.seqs(self.top, last))

    @on(Found)
    def _found(self, message: Found) -> None:
        moved = self._feed.found(message)
        if moved is None:
            return
        if moved and not self._follow and self._count:
            # Older matches came in above: what is on the screen stays where it is.
            top = self.top
            self._count += moved
            self.virtual_size = Size(0, self._count)
            self.put_cursor(self.cursor + moved, show=False)
            self.scroll_line(top + moved)
        if self._keep_seq is not None and not self._follow:
            self._take(len(self._feed.view))
        if self._follow and not self._count:
            self._grow()
        self._schedule()
        self._tell_status()

    # Rows.

    def _want_visible(self) -> None:
        self._wanting = False
        first = max(self.top - self.shown, 0)
        last = min(self.top + 2 * self.shown, self._count)
        if last > first:
            self._feed.want(self._feed.view.seqs(first, last))

    @on(Failed)
    def _failed(self, message: Failed) -> None:
        self.post_message(self.Said(message.text))

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        drawn = self._feed.began_ns, self._feed.connection_width
        changed, current = self._feed.loaded(message)
        if current and self._target is not None:
            target, self._target = self._target, None
            self._take(target)
            self._tell_status()
        # What another wish has overtaken is at hand now too, and will not be new again with that wish.
        if len(changed) > self.shown or drawn != (self._feed.began_ns, self._feed.connection_width):
            self.refresh()
            return
        for seq in changed:
            line = self._feed.view.line(seq)
            if line is not None and self.top <= line < self.top + self.shown:
                self.refresh_line(line)

    # Drawing.

    def draw(self, index: int, width: int, current: bool) -> list[Segment]:
        seq = self._feed.view.seq(index)
        row = self._feed.row(seq)
        pen = Pen(self.palette, self.marks, current)
        columns = columns_at(width, max(len(figures.count(self._feed.known)), 4), self._feed.connection_width)
        if row is None:
            if not self._wanting:
                self._wanting = True
                self.call_later(self._want_visible)
            pen.segments += self.cursor_mark(index)
            pen.cell(figures.count(seq), columns.seq, right=True)
            return pen.segments
        if found := self.findings(seq):
            row = row._replace(findings=tuple(each.rule.id for each in found))
        mark, role = warning(row, self.marks)
        pen.segments += self.cursor_mark(index, mark, role, pinned=seq in self._pinned)
        draw_row(pen, row, columns, self.marks, self._time(index, row, columns), is_open(row))
        return pen.segments

    def _time(self, index: int, row: Row, columns: Columns) -> str:
        if not columns.time:
            return ""
        if self._times == "clock":
            return figures.clock(row.wall_ns)[: columns.time]
        if self._times == "delta":
            before = self._feed.row(self._feed.view.seq(index - 1)) if index else None
            return figures.offset(row.wall_ns - before.wall_ns) if before is not None else ""
        return figures.offset(row.wall_ns - self._feed.began_ns) if self._feed.began_ns is not None else ""

    # Keys.

    def cursor_moved(self) -> None:
        self._keep_seq = None
        self._set_follow(False)
        self._tell_status()
        if (seq := self.seq) is not None:
            self.post_message(self.Moved(seq))

    def chosen(self) -> None:
        if (seq := self.seq) is not None:
            self.post_message(self.Opened(seq))

    def action_last(self) -> None:
        super().action_last()
        self._set_follow(True)

    def action_follow(self) -> None:
        self._set_follow(not self._follow)

    def _set_follow(self, follow: bool) -> None:
        if follow == self._follow:
            return
        self._follow = follow
        if follow:
            self._grow()
        else:
            self._target = None
        self._tell_status()

    def action_pair(self) -> None:
        row = self.row
        if row is None:
            return
        if row.pair is None:
            self.post_message(self.Said(f"Frame {figures.count(row.seq)} has no pair."))
        elif self.go_to(row.pair):
            self.post_message(self.Moved(row.pair))
        else:
            self.post_message(
                self.Said(f"Its pair is frame {figures.count(row.pair)}, which the filter does not show.")
            )

    def action_mark(self) -> None:
        seq = self.seq
        if seq is None:
            return
        self._pinned ^= {seq}
        self.refresh_line(self.cursor)

    def action_times(self) -> None:
        self._times = TIMES[(TIMES.index(self._times) + 1) % len(TIMES)]
        self.refresh()

    def on_mouse_scroll_up(self) -> None:
        self._set_follow(False)

    def on_resize(self) -> None:
        if self._follow:
            self._grow()
        # The list behind this class scrolls to its cursor next, which changes what is below.
        self.call_after_refresh(self._tell_status)

    def on_unmount(self) -> None:
        self.close()

    def _tell_status(self) -> None:
        status = self.status
        if status != self._told and self.is_mounted:
            self._told = status
            self.post_message(self.Changed())
