"""One column of a comparison: a line a leaf, with its mark, path and value."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from workbench.replay.comparing import Comparison, Side
from workbench.tui.beside.lines import Row, rows_of
from workbench.tui.palette import Role
from workbench.tui.safe import safe_cut, safe_text
from workbench.tui.widgets.line_list import TEXT, LineView

#: The share of a line that a path gets at most while its value needs the rest.
_PATH = 0.6

_ROLES: dict[str, Role] = {"~": "finding", "+": "ok", "-": "failed"}

#: Characters of a path that are looked at.
_LONGEST = 2_000


class ComparedLines(LineView):
    """``show`` a column of a comparison. Its neighbours scroll with it: it posts ``Scrolled``,
    ``Only`` (show all lines or those that differ) and ``Opened`` (enter)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "by(-1)", show=False),
        Binding("down", "by(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "edge(0)", show=False),
        Binding("end", "edge(1)", show=False),
        Binding("n", "difference(1)", show=False),
        Binding("N", "difference(-1)", show=False),
        Binding("d", "only", show=False),
        Binding("enter", "open", show=False),
    ]

    class Scrolled(Message):
        """Another line is the first one now."""

        def __init__(self, top: int) -> None:
            super().__init__()
            self.top = top

    class Only(Message):
        """Lines that are the same are to be left out, or shown again."""

    class Opened(Message):
        """The whole answer of this column is to be shown."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: list[Row] = []
        self._widest = 0
        self._different: list[int] = []

    def show(self, comparison: Comparison, column: int, only: bool) -> None:
        """Show a column, of all lines or of those that differ only."""
        self._rows = rows_of(comparison, column, only)
        self._different = [place for place, row in enumerate(self._rows) if row.different]
        near = (row.side for row in self._rows[:400] if row.side is not None)
        self._widest = max((cell_len(safe_text(side.path[-_LONGEST:])) for side in near), default=0)
        size = Size(0, len(self._rows))
        if size != self.virtual_size:
            self.virtual_size = size
        self.refresh()

    def clear(self) -> None:
        self._rows, self._different = [], []
        self.virtual_size = Size(0, 0)
        self.refresh()

    def put(self, top: int) -> None:
        """Scroll as a neighbour did."""
        if top != self.top:
            self.scroll_line(top)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        index = self.top + y
        row = self._rows[index] if index < len(self._rows) else None
        segments: list[Segment] = []
        if row is not None and row.heading:
            text = safe_cut(row.heading, max(width - TEXT - 1, 0), self.marks.ellipsis)
            segments = [Segment(" " * TEXT), Segment(text, self.style_of("quiet"))]
        elif row is not None and row.side is not None:
            segments = self._line(row.side, width)
        return Strip(segments).adjust_cell_length(width).apply_style(self.rich_style)

    def _line(self, side: Side, width: int) -> list[Segment]:
        room = max(width - TEXT - 1, 4)
        value = "absent" if side.value is None else safe_cut(side.value, room, self.marks.ellipsis)
        most = max(int(room * _PATH), room - cell_len(value) - 2)
        path = self._end_of(side.path, min(most, room))
        wide = min(max(cell_len(path), min(self._widest, int(room * _PATH))), room)
        left = max(room - wide - 2, 0)
        gap = wide - cell_len(path) + 2
        role: Role = "text" if side.value is not None and (side.mark or not self._different) else "quiet"
        return [
            Segment(" "),
            Segment(side.mark or " ", self.style_of(_ROLES.get(side.mark, "quiet"))),
            Segment(" "),
            Segment(path, self.style_of("quiet" if not side.mark else "text")),
            Segment(" " * gap),
            Segment(safe_cut(value, left, self.marks.ellipsis), self.style_of(role)),
        ]

    def _end_of(self, path: str, room: int) -> str:
        """A path of at most ``room`` cells: its end says more than its beginning."""
        shown = safe_text(path[-_LONGEST:])
        if cell_len(shown) <= room:
            return shown
        while cell_len(shown) > room - 1 and shown:
            shown = shown[max(len(shown) - room + 1, 1) :]
        return self.marks.ellipsis + shown

    # Keys.

    def action_by(self, lines: int) -> None:
        self._go(self.top + lines)

    def action_page(self, pages: int) -> None:
        self._go(self.top + pages * max(self.shown - 1, 1))

    def action_edge(self, last: int) -> None:
        self._go(len(self._rows) if last else 0)

    def action_difference(self, step: int) -> None:
        """The next line that differs and is not on the screen, or the one before."""
        top, bottom = self.top, self.top + self.shown
        if step > 0:
            found = next((row for row in self._different if row >= bottom), None)
        else:
            found = next((row for row in reversed(self._different) if row < top), None)
        if found is not None:
            self._go(found - self.shown // 3)

    def action_only(self) -> None:
        self.post_message(self.Only())

    def action_open(self) -> None:
        self.post_message(self.Opened())

    def _go(self, top: int) -> None:
        self.scroll_line(max(0, min(top, len(self._rows) - self.shown)))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled(round(new_value)))
