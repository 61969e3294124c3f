"""A body, whole, in the place of the pane: pretty JSON, raw, hex."""

from __future__ import annotations

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from workbench.tui.lines import Bit, Fixed, Line
from workbench.tui.widgets.json_view import TextView


class Detail(Vertical):
    """``show`` a body; ``seq`` is its frame, if it is one."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.head = Fixed()
        self.text = TextView()
        self.title = ""
        self.seq: int | None = None

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.text

    def show(self, title: str, body: bytes, seq: int | None = None) -> None:
        self.title, self.seq = title, seq
        self.text.show(body)
        self._lay()

    @on(TextView.Changed)
    def _changed(self, message: TextView.Changed) -> None:
        message.stop()
        self._lay()

    def _lay(self) -> None:
        self.head.lay(lambda width: [self._head(width)])

    def _head(self, width: int) -> Line:
        status = self.text.status
        gap = max(width - 2 - cell_len(self.title) - cell_len(status), 2)
        return [Bit(" "), Bit(self.title, "bright"), Bit(" " * gap), Bit(status, "quiet")]
