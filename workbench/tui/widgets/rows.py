"""A list of dense one-line items: tools, resources, prompts, logs, recordings.

Data goes down with ``set_rows``, messages come up with keys. The cursor belongs
to a key, not to a line: when the data changes it stays on its item.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual.message import Message
from textual.strip import Strip

from workbench.tui.palette import Role
from workbench.tui.safe import safe_cut, safe_fit
from workbench.tui.widgets.columns import GAP, share
from workbench.tui.widgets.line_list import TEXT, LineList

#: What the first column may take where not all fits: names are what one looks for, so they are cut last.
_NAMES = 0.6

#: Cells of a text that are measured to find a column's width.
_MEASURED = 120


class Cell(NamedTuple):
    text: str
    role: Role = "text"
    right: bool = False


class RowSpec(NamedTuple):
    """One item. ``key`` is unique in the list; ``tail`` stands at the right edge; ``search`` is
    what the filter looks into (the texts of the cells without it). A ``heading`` parts sections
    and is never under the cursor. Texts may be as a peer wrote them."""

    key: str
    cells: tuple[Cell, ...]
    mark: str = ""
    mark_role: Role = "text"
    tail: str = ""
    tail_role: Role = "quiet"
    heading: bool = False
    search: str = ""


class Rows(LineList):
    """A list of ``RowSpec``; posts ``Moved`` and ``Chosen``."""

    class Moved(Message):
        """The user put the cursor on another item."""

        def __init__(self, rows: Rows, key: str) -> None:
            super().__init__()
            self.rows = rows
            self.key = key

        @property
        def control(self) -> Rows:
            return self.rows

    class Chosen(Moved):
        """An item was chosen."""

    def __init__(self, *, empty: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._all: tuple[RowSpec, ...] = ()
        self._rows: list[RowSpec] = []
        self._places: dict[str, int] = {}
        self._needs: list[int] = []
        self._tail = 0
        self._filter = ""
        self._key: str | None = None
        self._empty = empty

    @property
    def count(self) -> int:
        return len(self._rows)

    @property
    def total(self) -> int:
        """How many items there are, shown or not."""
        return sum(1 for row in self._all if not row.heading)

    @property
    def matching(self) -> int:
        """How many items pass the filter."""
        return sum(1 for row in self._rows if not row.heading)

    @property
    def key(self) -> str | None:
        """The key under the cursor, ``None`` when nothing is."""
        return self._key

    @property
    def keys(self) -> list[str]:
        """The keys that are shown, in order."""
        return [row.key for row in self._rows if not row.heading]

    def set_rows(self, rows: Iterable[RowSpec], *, empty: str | None = None) -> None:
        """Show these items. The cursor stays on its key, or near it when that is gone."""
        new = tuple(rows)
        if empty is not None and empty != self._empty:
            self._empty = empty
            self.refresh()
        if new != self._all:
            self._all = new
            self._arrange()

    def set_filter(self, text: str) -> None:
        """Show only items that contain every word of ``text``, case ignored."""
        if text != self._filter:
            self._filter = text
            self._arrange()

    def select(self, key: str) -> bool:
        """Put the cursor on an item without a message; false when it is not shown."""
        place = self._places.get(key)
        if place is None:
            return False
        self._key = key
        self.put_cursor(place)
        return True

    def _arrange(self) -> None:
        offset = self.cursor - self.top
        near = self.cursor
        self._rows = _matching(self._all, self._filter)
        self._places = {row.key: place for place, row in enumerate(self._rows) if not row.heading}
        self._needs, self._tail = _measure(self._rows)
        place = self._places.get(self._key) if self._key is not None else None
        if place is None:
            place = self._nearest(near if self._key is not None else 0)
            self._key = self._rows[place].key if place is not None else None
        self.set_height()
        if place is not None:
            self.put_cursor(place, show=False)
            if self.top != place - offset and 0 <= offset < self.shown:
                self.scroll_line(max(place - offset, 0))
            self.show_line(place)

    def _nearest(self, index: int) -> int | None:
        places = sorted(self._places.values())
        if not places:
            return None
        return min(places, key=lambda place: (abs(place - index), place))

    def can_stop(self, index: int) -> bool:
        return 0 <= index < len(self._rows) and not self._rows[index].heading

    def cursor_moved(self) -> None:
        self._key = self._rows[self.cursor].key
        self.post_message(self.Moved(self, self._key))

    def chosen(self) -> None:
        self.post_message(self.Chosen(self, self._rows[self.cursor].key))

    def draw(self, index: int, width: int, current: bool) -> list[Segment]:
        row = self._rows[index]
        inner = max(width - TEXT - 1, 0)
        if row.heading:
            text = row.cells[0].text if row.cells else ""
            title = safe_cut(text, inner + TEXT - 1, self.marks.ellipsis)
            return [Segment(" "), Segment(title, self.style_of("quiet"))]
        segments = self.cursor_mark(index, row.mark, row.mark_role)
        tail = min(self._tail, inner // 3)
        widths = share(self._needs, inner - (tail + GAP if tail else 0), most=_NAMES)
        plain = self.style_of("text", current)
        for place, room in enumerate(widths):
            if not room:
                continue
            cell = row.cells[place] if place < len(row.cells) else Cell("")
            text = safe_fit(cell.text, room, right=cell.right, ellipsis=self.marks.ellipsis)
            if cell.role == "struck":  # no line through the blanks after it
                written = text.rstrip()
                segments.append(Segment(written, self.style_of(cell.role, current)))
                segments.append(Segment(" " * (cell_len(text) - cell_len(written)), plain))
            else:
                segments.append(Segment(text, self.style_of(cell.role, current)))
            if any(widths[place + 1 :]):
                segments.append(Segment(" " * GAP, plain))
        if tail:
            text = safe_fit(row.tail, tail, right=True, ellipsis=self.marks.ellipsis)
            segments += [Segment(" " * GAP, plain), Segment(text, self.style_of(row.tail_role, current))]
        return segments

    def draw_below(self, offset: int, width: int) -> Strip:
        if offset or self._rows:
            return super().draw_below(offset, width)
        text = f"nothing matches {self._filter}" if self._filter and self._all else self._empty
        shown = safe_fit(text, max(width - TEXT - 1, 0), ellipsis=self.marks.ellipsis)
        segments = [Segment(" " * TEXT), Segment(shown, self.style_of("quiet"))]
        return Strip(segments).adjust_cell_length(width).apply_style(self.rich_style)


def _matching(rows: Sequence[RowSpec], text: str) -> list[RowSpec]:
    words = text.casefold().split()
    if not words:
        return list(rows)
    found: list[RowSpec] = []
    for row in rows:
        if row.heading:
            if found and found[-1].heading:
                found.pop()
            found.append(row)
            continue
        looked_into = (row.search or " ".join(cell.text for cell in row.cells)).casefold()
        if all(word in looked_into for word in words):
            found.append(row)
    if found and found[-1].heading:
        found.pop()
    return found


def _measure(rows: Sequence[RowSpec]) -> tuple[list[int], int]:
    needs: list[int] = []
    tail = 0
    for row in rows:
        if row.heading:
            continue
        while len(needs) < len(row.cells):
            needs.append(0)
        for place, cell in enumerate(row.cells):
            needs[place] = max(needs[place], cell_len(safe_cut(cell.text, _MEASURED)))
        tail = max(tail, cell_len(safe_cut(row.tail, _MEASURED)))
    return needs, tail
