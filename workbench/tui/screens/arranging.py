"""What is where on the screen, by its size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.widgets import Static

from workbench.tui.detail import Detail
from workbench.tui.dock import Dock
from workbench.tui.empty import Empty
from workbench.tui.screens.hearing import Hearing
from workbench.tui.tab_line import TabLine

if TYPE_CHECKING:
    from workbench.core.view import ConnectionView

#: Below this the screen says so and nothing else.
LEAST = (60, 15)

#: Below this height the frame log is only there when it is asked for.
LOW = 20

#: From these sizes on the frame log has a third of the height, or a column of its own.
THIRD = (100, 30)
COLUMN = 180


class Arranging(Hearing):
    """One pane, the frame log below or beside it, a body in the pane's place, or the empty screen."""

    def set_out(self, views: Sequence[ConnectionView]) -> None:
        empty = not views and not self.desk.opening
        detail = self.query_one(Detail)
        self.query_one(Empty).display = empty
        self.set_class(empty, "empty")
        self.query_one(TabLine).display = not empty
        whole = self.pane_name == "frames" or self.dock_size == "whole"
        showing = self.has_class("detail")
        detail.display = showing
        split = self.split
        if self.columns is not None:
            self.columns.display = split is not None and not showing
        for name, pane in self.panes.items():
            pane.display = name == self.pane_name and not showing and not empty and split is None
        self._lay_out(whole and not showing and split is None, "half" if whole else self.dock_size)

    def _lay_out(self, whole: bool, size: str) -> None:
        width, height = self.size
        column = width >= COLUMN and not whole
        work = self.query_one("#work")
        work.set_class(column, "column")
        work.set_class(whole, "whole")
        dock = self.query_one(Dock)
        wanted = whole or size != "small" or height >= LOW
        dock.display = wanted and self.split is None and not self.has_class("empty")
        self.query_one("#between").display = dock.display and not whole
        if whole or column:
            dock.styles.height = "1fr"
        elif size == "half":
            dock.styles.height = max((height - 5) // 2, 4)
        else:
            roomy = width >= THIRD[0] and height >= THIRD[1]
            dock.styles.height = max(height // 3 - 1, 4) if roomy else 4
        small = width < LEAST[0] or height < LEAST[1]
        self.set_class(small, "too-small")
        if small:
            least = f"{LEAST[0]}×{LEAST[1]}"
            words = f" too small: {width}×{height}, needs {least}"
            self.query_one("#too-small", Static).update(words if len(words) < width else f" needs {least}")
