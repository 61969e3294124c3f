"""A list with a filter line above it."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget

from workbench.tui.line_input import LineInput
from workbench.tui.widgets.rows import Rows


class FilteredRows(Vertical):
    """``rows``, a line that is there while it filters, and what stands below the rows, if anything."""

    DEFAULT_CSS = """
    FilteredRows { height: 1fr; }
    """

    class Filtered(Message):
        """Other rows are shown, and another one may be under the cursor."""

    def __init__(self, *, empty: str = "", below: Widget | None = None, id: str | None = None) -> None:
        super().__init__(id=id)
        self.below = below
        self.rows = Rows(empty=empty)
        self.line = LineInput("/", ghost="filter")
        self.line.display = False

    def compose(self) -> ComposeResult:
        yield self.line
        yield self.rows
        if self.below is not None:
            yield self.below

    def filter(self) -> None:
        """Begin to type a filter."""
        self.line.display = True
        self.line.focus()

    @property
    def filtering(self) -> bool:
        return self.line.display

    def clear(self) -> bool:
        """Show everything again; false when it did."""
        if not self.filtering:
            return False
        self.line.text = ""
        self.rows.set_filter("")
        self.post_message(self.Filtered())
        self.line.display = False
        self.rows.focus()
        return True

    def on_line_input_edited(self, message: LineInput.Edited) -> None:
        message.stop()
        self.rows.set_filter(message.line.text)
        self.post_message(self.Filtered())

    def on_line_input_done(self, message: LineInput.Done) -> None:
        message.stop()
        if not self.line.text:
            self.line.display = False
        self.rows.focus()

    def on_line_input_left(self, message: LineInput.Left) -> None:
        message.stop()
        self.clear()
