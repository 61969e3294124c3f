"""The line between two columns that stand side by side."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui.marks import marks_of
from workbench.tui.palette import palette_of


class Hairline(Widget):
    """A vertical line where it is two or three cells wide, else blank."""

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - every row is the same
        if self.size.width not in (2, 3):
            return Strip.blank(self.size.width, self.rich_style)
        text = f" {marks_of(self).hairline} "[: self.size.width]
        line = Segment(text, palette_of(self).style("hairline"))
        return Strip([line]).apply_style(self.rich_style)
