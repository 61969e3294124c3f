"""Where one is on the screen: connection, pane, size of the frame log; and one step back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.tui.commands import ASIDE, PANES
from workbench.tui.dock import Dock
from workbench.tui.screens.bodies import Bodies

if TYPE_CHECKING:
    from workbench.tui.panes.pane import Pane

_SIZES = ("small", "half", "whole")


_ASIDE = frozenset(name for name, _ in ASIDE)


class Places(Bodies):
    """Going from place to place."""

    #: The pane that was left for one of those aside.
    _left = "tools"

    def show_pane(self, name: str) -> None:
        """Show a pane and take the focus there."""
        if name in _ASIDE and self.pane_name not in _ASIDE:
            self._left = self.pane_name
        self.pane_name = name
        self.close_detail()
        if self.dock_size == "whole":
            self.dock_size = "small"
        self.look()
        if name == "frames":
            self.query_one(Dock).frames.focus()
        elif self.pane is not None:
            self.pane.start()

    def show_connection(self, place: int) -> None:
        self.place = place
        self.close_detail()
        self.look()

    def take_up(self, number: int) -> None:
        """Make this connection the one in view, where the focus is."""
        numbers = [view.number for view in self.desk.views]
        if number in numbers:
            self.place = numbers.index(number)
            self.look()

    def do_next_pane(self) -> None:
        self._step_pane(1)

    def do_previous_pane(self) -> None:
        self._step_pane(-1)

    def _step_pane(self, step: int) -> None:
        names = [name for name, _ in PANES]
        here = self._left if self.pane_name in _ASIDE else self.pane_name
        self.show_pane(names[(names.index(here) + step) % len(names)])

    def do_all_tools(self) -> None:
        self.show_pane("all_tools")

    def do_raw_frame(self) -> None:
        self.show_pane("raw_frame")

    def do_size(self) -> None:
        """Small, half, whole, and small again."""
        if self.pane_name == "frames":
            self.show_pane("tools")
            return
        self.dock_size = _SIZES[(_SIZES.index(self.dock_size) + 1) % len(_SIZES)]
        self.look()
        if self.dock_size == "whole" or (self.pane is None and self.pane_name != "frames"):
            self.query_one(Dock).frames.focus()
        elif self.dock_size == "small" and self.pane is not None:
            self.pane.start()

    def can_back(self) -> bool:
        dock, pane = self.query_one(Dock), self.pane
        showing_part = self.has_class("detail") or dock.filtered or self.dock_size != "small"
        if showing_part or self.pane_name in _ASIDE:
            return True
        if pane is None:
            return self.pane_name == "frames"
        return pane.filtered or not _at_start(pane, self.focused)

    def do_back(self) -> None:
        """One step back, innermost first; never out of the program."""
        dock = self.query_one(Dock)
        if self.has_class("detail"):
            self.close_detail()
        elif dock.filtered and (dock.has_focus_within or self.pane is None):
            dock.clear()
        elif self.pane is not None and dock.has_focus_within:
            self.pane.start()
        elif self.pane is not None and self.pane.back():
            pass
        elif dock.filtered:
            dock.clear()
        elif self.dock_size != "small":
            self.dock_size = "small"
            self.look()
            if self.pane is not None:
                self.pane.start()
        elif self.pane_name == "frames":
            self.show_pane("tools")
        elif self.pane_name in _ASIDE:
            self.show_pane(self._left)


def _at_start(pane: Pane, focused: Any) -> bool:
    return focused is None or type(focused).__name__ == "Rows" or not pane.has_steps
