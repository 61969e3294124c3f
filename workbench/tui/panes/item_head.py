"""What stands above the form: which item it is, or why there is none; and its definition."""

from __future__ import annotations

from rich.cells import cell_len

from workbench.core.jsonrpc import dumps
from workbench.core.jsontext import pretty
from workbench.core.lifecycle import group
from workbench.core.view import ConnectionView, Item
from workbench.tui.lines import Bit, Line, wrapped
from workbench.tui.marks import Marks
from workbench.tui.safe import safe_cut

#: Rows of a definition that are laid out; the whole is opened.
_LISTED = 400


def head_lines(
    item: Item,
    width: int,
    about: str,
    *,
    arguments: bool,
    roomy: bool,
    called: bool,
    marks: Marks,
) -> list[Line]:
    """Name, title and marks, then what it is ``about``; ``roomy``: there are rows to spare,
    ``called``: a result stands below."""
    words = "  ".join(item.marks)
    title = item.title if item.title != item.name else ""
    room = max(width - 2 - len(words), 8)
    name = safe_cut(item.name, room - 2)
    title = safe_cut(title, max(room - cell_len(name) - 4, 0))
    first = [Bit(" "), Bit(name, "bright"), Bit(f"  {title}" if title else "", "text")]
    used = cell_len(name) + (cell_len(title) + 2 if title else 0)
    lines: list[Line] = [[*first, Bit(" " * max(room - used, 2)), Bit(words, "quiet")]]
    if about and (roomy or not called):
        rows = wrapped(about, width - 2, 4 if roomy else 1)
        if not roomy and cell_len(about) > cell_len(rows[0]):
            rows = [safe_cut(about, width - 2, marks.ellipsis)]
        lines += [[Bit(" "), Bit(row, "quiet")] for row in rows]
    if roomy and arguments:
        lines.append([])
    return lines


def why_nothing(view: ConnectionView | None, width: int) -> list[Line]:
    """What became of a connection that failed before it listed anything."""
    if view is None or group(view.state) != "failed":
        return []
    lines: list[Line] = [
        [Bit("   "), Bit(row, "text")]
        for text in (view.why, view.next_step)
        if text
        for row in wrapped(text, width - 5, 6)
    ]
    return [*lines, [], [Bit("   c", "text"), Bit(" connects again", "quiet")]]


def definition(item: Item | None) -> list[Line]:
    """What there is to read of an item before it has been called: its definition as it was listed."""
    if item is None:
        return []
    text = pretty(dumps({name: value for name, value in item.value.items() if name not in ("name", "icons")}))
    lines: list[Line] = [[Bit("   "), Bit(row, "quiet")] for row in text.split("\n")[:_LISTED]]
    return [[Bit(" "), Bit("as listed", "text")], *lines]
