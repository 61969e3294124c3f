"""Items as rows of a list, and what is said where there are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbench.core.lifecycle import group
from workbench.core.view import ConnectionView, Item
from workbench.tui.palette import Role
from workbench.tui.strip import state_word
from workbench.tui.widgets.rows import Cell, RowSpec

#: Marks that stand in the list; the others are told with the item.
_TOLD = ("asks", "task", "destructive")

_CHANGES = {"added": "new", "changed": "changed", "removed": "gone"}


def row_of(item: Item) -> RowSpec:
    """An item with its signature and what marks it."""
    words = [*(mark for mark in item.marks if mark in _TOLD), _CHANGES.get(item.change, "")]
    tail = "  ".join(word for word in words if word)
    role: Role = "finding" if item.change else "quiet"
    cells = (Cell(item.name or item.title), Cell(item.signature or "()", "quiet"))
    return RowSpec(
        item.name, cells, tail=tail, tail_role=role, search=f"{item.name} {item.title} {item.description}"
    )


def nothing(view: ConnectionView, noun: str, listings: Sequence[str]) -> str:
    """What is said where no item is listed."""
    for method in listings:
        if method in view.list_errors:
            return f"{method}: {view.list_errors[method]}"
    where = group(view.state)
    if where == "on the way":
        return f"{view.name} is {view.state.value}"
    if where == "failed":
        return f"{view.name} {state_word(view)}"
    if where == "closed":
        return f"{view.name} is closed"
    if not any(method in view.listed for method in listings):
        return f"{view.name} offers no {noun}"
    return f"{view.name} lists no {noun}"


def keyed(rows: Sequence[RowSpec], items: Sequence[Item]) -> tuple[list[RowSpec], dict[str, Item]]:
    """Rows with keys of their own, and the item of each: servers list a name twice, or none at all."""
    keyed: list[RowSpec] = []
    found: dict[str, Item] = {}
    times: Counter[str] = Counter()
    left = iter(items)
    for row in rows:
        if not row.heading:
            times[row.key] += 1
            nth = times[row.key]
            row = row._replace(key=row.key if nth == 1 else f"{row.key}\0{nth}")
            found[row.key] = next(left)
        keyed.append(row)
    return keyed, found
