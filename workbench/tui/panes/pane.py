"""What the screen asks of a pane."""

from __future__ import annotations

from textual.containers import Vertical

from workbench.core.view import ConnectionView
from workbench.tui.desk import Desk


class Pane(Vertical):
    """One view of a connection. The screen tells it what to ``show`` and asks it for the rest."""

    #: Whether the focus goes further into it from its list.
    has_steps = False

    def __init__(self, desk: Desk, *, id: str) -> None:
        super().__init__(id=id)
        self.desk = desk
        self.current: ConnectionView | None = None

    def show(self, view: ConnectionView | None) -> None:
        """Show this connection as it is now; called at most ten times a second, and only while the
        pane is on the screen."""
        self.current = view

    def start(self) -> None:
        """Take the focus."""

    def resume(self) -> None:
        """Take the focus again, after a look at what came of it."""
        self.start()

    def start_filter(self) -> bool:
        """Have a filter typed; false when the pane has none."""
        return False

    def words(self) -> set[str]:
        """What the pane says of itself, for the table of commands."""
        return set()

    def back(self) -> bool:
        """Go one step back within the pane; false when there is none."""
        return False

    @property
    def filtered(self) -> bool:
        """Whether it shows a part only."""
        return False

    def source(self) -> tuple[str, bytes] | None:
        """What to copy or save: a word for it, and the bytes."""
        return None
