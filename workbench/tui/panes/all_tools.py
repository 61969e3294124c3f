"""The tools of every connection in one list, as a host would offer them to a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from textual.events import Resize

from workbench.core.view import ConnectionView, Item
from workbench.tui.desk import Desk
from workbench.tui.marks import marks_of
from workbench.tui.messages import Owner
from workbench.tui.panes.callables import ToolsPane
from workbench.tui.panes.item_rows import row_of
from workbench.tui.widgets.rows import Cell, RowSpec


class AllToolsPane(ToolsPane):
    """Each tool with its owner. What is shown beside the list, and where a call goes, is the owner of the
    tool under the cursor, which is the connection in view."""

    def __init__(self, desk: Desk, *, id: str) -> None:
        super().__init__(desk, id=id)
        #: The connection in view when it was last shown.
        self._in_view: int | None = None
        self._view: ConnectionView | None = None
        self._owners: dict[int, ConnectionView] = {}
        self._owner_of: dict[str, int] = {}

    def show(self, view: ConnectionView | None) -> None:
        """Show the tools of every connection; where ``view`` is another one than before, the cursor goes
        to its tools."""
        self._view = view
        views = self.desk.views
        self._owners = {each.number: each for each in views}
        seen = (self.has_class("wide"), [(each.number, each.name, each.tools) for each in views])
        if seen != self._seen:
            self._seen = seen
            rows, self._items, self._owner_of = self._merged(views)
            self.list.rows.set_rows(rows, empty="no connection lists tools")
            self._fit()
        number = view.number if view is not None else None
        if number != self._in_view:
            self._in_view = number
            if number is not None and self._owner_of.get(self.list.rows.key or "") != number:
                self._go_to(number)
        self._show_item()
        self._show_run()

    def _merged(
        self, views: Iterable[ConnectionView]
    ) -> tuple[list[RowSpec], dict[str, Item], dict[str, int]]:
        """Rows, and by their keys the items and the numbers of their owners."""
        views = list(views)
        offered: dict[str, list[str]] = {}
        for view in views:
            for name in {item.name for item in view.tools if item.change != "removed"}:
                offered.setdefault(name, []).append(view.name)
        rows: list[RowSpec] = []
        items: dict[str, Item] = {}
        owners: dict[str, int] = {}
        for view in views:
            times: Counter[str] = Counter()
            for item in view.tools:
                times[item.name] += 1
                key = f"{view.number}\0{item.name}\0{times[item.name]}"
                others = [name for name in offered.get(item.name, ()) if name != view.name]
                rows.append(self._owned(item, view.name, others if item.change != "removed" else ()))
                rows[-1] = rows[-1]._replace(key=key)
                items[key], owners[key] = item, view.number
        return rows, items, owners

    def _owned(self, item: Item, owner: str, others: Sequence[str]) -> RowSpec:
        row = row_of(item)
        # Beside the list stands the form, which tells more than a signature could.
        cells = (row.cells[0], Cell(owner), *(() if self.has_class("wide") else row.cells[1:]))
        search = f"{owner} {row.search}"
        if not others:
            return row._replace(cells=cells, search=search)
        also = f"also {others[0]}" if len(others) == 1 else f"also {len(others)} others"
        tail = f"{row.tail}  {also}" if row.tail else also
        return row._replace(
            cells=cells,
            mark=marks_of(self).finding,
            mark_role="finding",
            tail=tail,
            search=f"{search} same name",
        )

    def _go_to(self, number: int) -> None:
        for key in self.list.rows.keys:
            if self._owner_of[key] == number:
                self.list.rows.select(key)
                return

    def on_resize(self, event: Resize) -> None:  # noqa: ARG002 - the base has looked at it
        # After that of the base, which finds out whether it is wide.
        self.call_after_refresh(lambda: self.show(self._view))

    def words(self) -> set[str]:
        return super().words() | {"tools"}

    def _show_item(self) -> None:
        number = self._owner_of.get(self.list.rows.key or "") if self._items else None
        self.current = self._owners.get(number) if number is not None else None
        if number is not None and number != self._in_view:
            self._in_view = number
            self.post_message(Owner(number))
        super()._show_item()
