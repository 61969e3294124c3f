"""A body, whole, in the place of the pane: pretty JSON, raw, hex; and the heads it came with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from workbench.check.rule import Finding
from workbench.tui.broken import lines
from workbench.tui.heads import Heads
from workbench.tui.lines import Bit, Fixed, Line
from workbench.tui.marks import marks_of
from workbench.tui.widgets.json_view import TextView


class Detail(Vertical):
    """``show`` a body; ``seq`` is its frame, if it is one, and ``heads`` what that came with."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("h", "heads", "heads", show=False)]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.head = Fixed()
        self.text = TextView()
        self.title = ""
        self.seq: int | None = None
        self.heads: Heads | None = None
        self.findings: Sequence[Finding] = ()
        self._body = b""
        self._at_heads = False

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.text

    def show(
        self,
        title: str,
        body: bytes,
        seq: int | None = None,
        heads: Heads | None = None,
        findings: Sequence[Finding] = (),
    ) -> None:
        self.title, self.seq, self.heads, self._body = title, seq, heads, body
        self.findings = findings
        if self._at_heads and heads is not None:
            # Who looks through the heads of frame after frame goes on to see heads.
            self.text.show_text(heads.text())
        else:
            self._at_heads = False
            self.text.show(body)
        self._lay()

    def judge(self, findings: Sequence[Finding]) -> None:
        """Show that this is wrong with the frame."""
        self.findings = findings
        self._lay()

    def words(self) -> set[str]:
        """What the table of commands is to know."""
        return {"heads"} if self.display and self.heads is not None else set()

    def action_heads(self) -> None:
        """Show the heads instead of the body, or the body again."""
        if self.heads is None:
            return
        self._at_heads = not self._at_heads
        if self._at_heads:
            self.text.show_text(self.heads.text())
        else:
            self.text.show(self._body)
        self._lay()

    @on(TextView.Changed)
    def _changed(self, message: TextView.Changed) -> None:
        message.stop()
        self._lay()

    def _lay(self) -> None:
        about = [] if self.heads is None or self._at_heads else self.heads.lines()
        self.head.lay(lambda width: [self._head(width), *about, *self._broken(width)])

    def _broken(self, width: int) -> list[Line]:
        """What is wrong with the frame, on a third of the place at most."""
        return lines(self.findings, width, self.size.height // 3, marks_of(self)) if self.findings else []

    def _head(self, width: int) -> Line:
        status = f"heads   {self.text.status}" if self._at_heads else self.text.status
        gap = max(width - 2 - cell_len(self.title) - cell_len(status), 2)
        return [Bit(" "), Bit(self.title, "bright"), Bit(" " * gap), Bit(status, "quiet")]
