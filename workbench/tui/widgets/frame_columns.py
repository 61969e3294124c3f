"""The columns of the frame log at a width, and one line of it."""

from __future__ import annotations

from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style

from workbench.core.frame import Row
from workbench.tui import figures
from workbench.tui.marks import Marks
from workbench.tui.palette import Palette, Role
from workbench.tui.safe import safe_fit
from workbench.tui.widgets import frame_words as words
from workbench.tui.widgets.line_list import TEXT

KIND = 12
DURATION = 8
SIZE = 8
TIME = 10
ID = 6

#: From this width on a line has its time and id, from the second on it keeps its size, and from
#: the third on its duration and the word for its kind.
WIDE, KEEPS_SIZE, KEEPS_DURATION = 106, 52, 66


class Columns(NamedTuple):
    """Widths in cells, 0 for a column that is not shown. Gaps are part of drawing."""

    seq: int
    time: int
    connection: int
    kind: int
    subject: int
    id: int
    duration: int
    size: int
    preview: int


def columns_at(width: int, seq: int, connection: int) -> Columns:
    """The columns for a width; ``seq`` and ``connection`` are what their numbers need."""
    time = TIME if width >= WIDE else 0
    kind = KIND if width >= KEEPS_DURATION else 0
    identity = ID if width >= WIDE else 0
    duration = DURATION if width >= KEEPS_DURATION else 0
    size = SIZE if width >= KEEPS_SIZE else 0
    left = TEXT + seq + 2 + connection + 1 + 2 + sum(cells + 2 for cells in (time, kind) if cells)
    right = 1 + sum(cells + 1 for cells in (identity, duration, size) if cells)
    rest = max(width - left - right, 0)
    preview = 0
    if time and rest >= 50:
        subject = max(30, min(44, rest // 2))
        preview = rest - subject - 2
    else:
        subject = rest
    return Columns(seq, time, connection, kind, subject, identity, duration, size, preview)


class Pen:
    """Draws the cells of one line after another, in the style of their roles.

    Neighbours of one style become one segment, and a blank takes the style before it: each change
    of style costs some twenty bytes on the way to the terminal.
    """

    def __init__(self, palette: Palette, marks: Marks, raised: bool) -> None:
        self.segments: list[Segment] = []
        self._palette = palette
        self._marks = marks
        self._raised = raised

    def style(self, role: Role) -> Style:
        return self._palette.style(role, self._raised)

    def cell(self, text: str, width: int, role: Role = "quiet", *, right: bool = False, gap: int = 0) -> None:
        """A cell and the blank after it; nothing for a column of no width."""
        if not width:
            return
        fitted = safe_fit(text, width, right=right, ellipsis=self._marks.ellipsis)
        style = self.style(role)
        if fitted.isspace() and self.segments:
            style = self.segments[-1].style or style
        self._add(fitted + " " * gap, style)

    def blank(self, width: int = 1) -> None:
        self._add(" " * width, (self.segments[-1].style if self.segments else None) or self.style("text"))

    def _add(self, text: str, style: Style) -> None:
        last = self.segments[-1] if self.segments else None
        if last is not None and (last.style == style or last.text.isspace()):
            self.segments[-1] = Segment(last.text + text, style)
        else:
            self.segments.append(Segment(text, style))


def draw_row(pen: Pen, row: Row, columns: Columns, marks: Marks, time: str, open_call: bool) -> None:
    """The cells of a row behind the cursor's."""
    pen.cell(figures.count(row.seq), columns.seq, right=True, gap=2)
    pen.cell(time, columns.time, right=True, gap=2)
    pen.cell(str(row.connection), columns.connection, right=True, gap=1)
    mark, role = words.direction(row, marks)
    pen.cell(mark, 1, role, gap=1)
    pen.cell(words.kind(row), columns.kind, gap=2)
    pen.cell(words.subject(row), columns.subject, "text", gap=1 if columns.id else 0)
    pen.cell(row.id or "", columns.id, right=True)
    if open_call and columns.duration:
        pen.blank(columns.duration)
        pen.cell(marks.on_the_way, 1, "waiting")
    elif columns.duration:
        pen.blank()
        pen.cell(figures.duration(row.duration_ns), columns.duration, right=True)
    if columns.size:
        pen.blank()
        pen.cell(figures.size(row.size), columns.size, right=True)
    if columns.preview:
        pen.blank(2)
        pen.cell(words.preview(row), columns.preview)
    pen.blank()
