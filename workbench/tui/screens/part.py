"""What the parts of the main screen share: what is shown, and what each asks of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from workbench.tui.dock import Dock
from workbench.tui.status import NoticeLine
from workbench.tui.widgets.frame_log import FrameLog

if TYPE_CHECKING:
    from workbench.core.view import ConnectionView
    from workbench.tui.commands import Command
    from workbench.tui.desk import Desk
    from workbench.tui.panes.pane import Pane


class Part(Screen[None]):
    """The ground of the main screen. ``place`` is that of the connection in view, from 0."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.place = 0
        self.pane_name = "tools"
        self.dock_size = "small"
        self.panes: dict[str, Pane] = {}
        #: Whether the next connection that comes is the one to view.
        self.follow_new = False
        self.before_detail: Any = None

    @property
    def view(self) -> ConnectionView | None:
        """The connection in view."""
        views = self.desk.views
        return views[self.place] if self.place < len(views) else None

    @property
    def pane(self) -> Pane | None:
        """The pane in view, ``None`` for the frame log and for the empty screen."""
        pane = self.panes.get(self.pane_name)
        return pane if pane is not None and pane.display else None

    def say(self, text: str, *, bad: bool = False) -> None:
        """A sentence, above the status line, until the next key."""
        self.query_one(NoticeLine).say(text, bad=bad)

    @property
    def frames(self) -> FrameLog:
        """The frame log that is in view."""
        return self.query_one(Dock).frames

    def came(self, number: int) -> None:
        """A connection has come that was asked for."""

    def look(self) -> None:
        """Show everything as it is now."""

    def show_pane(self, name: str) -> None:
        """Show a pane and take the focus there."""

    def hints(self) -> None:
        """Show the keys that work now."""

    def available(self) -> list[Command]:
        """The commands that can be done now, in the table's order."""
        return []

    def do(self, command: Command) -> None:
        """Do a command of the table."""
