"""The second line: the panes of the connection in view, with counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui import figures
from workbench.tui.lines import Bit, segments_of
from workbench.tui.palette import Role


class Tab(NamedTuple):
    """``number`` is shown unless it is ``None``; ``role`` is that of the count."""

    name: str
    title: str
    number: int | None = None
    role: Role = "quiet"


class TabLine(Widget):
    """Shows tabs; posts ``Picked`` for a click on one."""

    DEFAULT_CSS = "TabLine { height: 1; width: 1fr; }"

    class Picked(Message):
        """A tab was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._tabs: Sequence[Tab] = ()
        self._current = ""
        self._spans: list[tuple[int, int, str]] = []

    def show(self, tabs: Sequence[Tab], current: str) -> None:
        if (list(tabs), current) != (list(self._tabs), self._current):
            self._tabs, self._current = tabs, current
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        for gap, counts in ((3, True), (2, True), (3, False), (2, False), (1, False)):
            bits = self._bits(gap, counts=counts)
            if sum(cell_len(bit.text) for bit in bits) <= width:
                break
        strip = Strip(segments_of(self, bits, width)).adjust_cell_length(width)
        return strip.apply_style(self.rich_style)

    def _bits(self, gap: int, *, counts: bool) -> list[Bit]:
        bits = [Bit(" ")]
        at = 1
        self._spans = []
        for tab in self._tabs:
            here = tab.name == self._current
            new = [Bit(tab.title, "bright" if here else "quiet")]
            if tab.number is not None and counts:
                new.append(Bit(f" {figures.count(tab.number)}", tab.role))
            cells = sum(cell_len(bit.text) for bit in new)
            self._spans.append((at, at + cells, tab.name))
            bits += [*new, Bit(" " * gap)]
            at += cells + gap
        bits.pop()
        return bits

    def on_click(self, event: events.Click) -> None:
        for start, end, name in self._spans:
            if start <= event.x < end:
                self.post_message(self.Picked(name))
