"""The frame log below (or beside) the panes: a head line, a filter, and the log."""

from __future__ import annotations

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from workbench.tui.desk import Desk
from workbench.tui.line_input import LineInput
from workbench.tui.lines import Bit, Fixed, Line
from workbench.tui.messages import Hints, Said
from workbench.tui.widgets.frame_log import FrameLog
from workbench.tui.widgets.frame_scan import LogFilter


class Dock(Vertical):
    """Posts what the log posts, and ``Left`` when escape leaves its filter."""

    class Left(Message):
        """The user is done with the filter."""

    def __init__(self, desk: Desk, *, id: str) -> None:
        super().__init__(id=id)
        self.desk = desk
        self.head = Fixed()
        self.line = LineInput("/", ghost="what frames contain")
        self.line.display = False
        self.frames = FrameLog()
        self._reader: object = None
        self._only: int | None = None
        self._found = 0

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.line
        yield self.frames

    def show(self) -> None:
        """Take over new frames."""
        reader = self.desk.reader
        if reader is not None and reader is not self._reader:
            self._reader = reader
            self.frames.open(reader, self.desk.height, follow=self.desk.live or reader.live)
        self.frames.findings = self.desk.findings
        found = sum(view.findings.total for view in self.desk.views)
        if found != self._found and not self.desk.live:  # a live frame has them before it is shown
            self._found = found
            self.frames.refresh()
        self.frames.grew(self.desk.height)
        self._lay()

    def on_resize(self) -> None:
        self.call_after_refresh(self._lay)

    def filter(self) -> None:
        self.line.display = True
        self.line.focus()

    @property
    def filtered(self) -> bool:
        return not self.frames.wanted.everything or self.line.display

    def clear(self) -> bool:
        """Show all frames again; false when it did."""
        if not self.filtered:
            return False
        self.line.text = ""
        self.line.display = False
        self._only = None
        self._filter()
        self.frames.focus()
        return True

    def only(self, number: int | None) -> None:
        """Show the frames of one connection, or of all again."""
        self._only = None if self._only == number else number
        self._filter()

    def _filter(self) -> None:
        self.frames.set_filter(LogFilter(self.line.text, self._only))
        self._lay()

    def _lay(self) -> None:
        self.head.lay(lambda width: [self._head(width)])

    def _head(self, width: int) -> Line:
        words: list[str] = []
        if self._only is not None:
            words.append(f"connection {self._only}")
        if self.line.text:
            words.append(f"with {self.line.text}")
        left = "   ".join(words)
        status = self.frames.status
        gap = max(width - 11 - cell_len(left) - cell_len(status), 2)
        return [Bit(" frames   "), Bit(left, "quiet"), Bit(" " * gap), Bit(status, "quiet")]

    @on(FrameLog.Changed)
    def _status(self, message: FrameLog.Changed) -> None:
        message.stop()
        self._lay()

    @on(FrameLog.Said)
    def _said(self, message: FrameLog.Said) -> None:
        message.stop()
        self.post_message(Said(message.text))

    def on_line_input_edited(self, message: LineInput.Edited) -> None:
        message.stop()
        self._filter()

    def on_line_input_done(self, message: LineInput.Done) -> None:
        message.stop()
        if not self.line.text:
            self.line.display = False
        self.frames.focus()
        self.post_message(Hints())

    def on_line_input_left(self, message: LineInput.Left) -> None:
        message.stop()
        self.line.text = ""
        self.line.display = False
        self._filter()
        self.frames.focus()
        self.post_message(Hints())
