"""The frame log below (or beside) the panes: a head line, a filter, and the log."""

from __future__ import annotations

from contextlib import suppress

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from workbench.core.frame_filter import CONNECTION, METHOD, NAME, completion, parse_filter
from workbench.core.methods import METHODS
from workbench.errors import UsageError
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
        self.line = LineInput("/", ghost="words, method:tools/*  kind:error  dir:out  dur>500ms  ?")
        self.line.complete = self._complete
        self.line.display = False
        self._wrong = ""
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
        """Show what the line says; while its last term cannot be read, which may be half typed, what stands
        before that."""
        text, self._wrong = self.line.text, ""
        terms = self.frames.wanted.terms
        try:
            terms = parse_filter(text)
        except UsageError as error:
            self._wrong = str(error)
            with suppress(UsageError):
                terms = parse_filter(text.rpartition(" ")[0])
        self.frames.set_filter(LogFilter(terms, self._only))
        self._lay()

    def _complete(self, text: str) -> str:
        views = self.desk.views
        named = [
            *(tool.name for view in views for tool in view.tools),
            *(prompt.name for view in views for prompt in view.prompts),
        ]
        known = {METHOD: list(METHODS), NAME: named, CONNECTION: [view.name for view in views]}
        return completion(text, known)

    def _lay(self) -> None:
        self.head.lay(lambda width: [self._head(width)])

    def _head(self, width: int) -> Line:
        if self._wrong:
            return [Bit(" frames   "), Bit(self._wrong, "failed", max(width - 10, 0))]
        words: list[str] = []
        if self._only is not None:
            words.append(f"connection {self._only}")
        if self.line.text:
            words.append(self.line.text)
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
