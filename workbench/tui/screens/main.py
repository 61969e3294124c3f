"""The one screen: connections, panes, the frame log, a question when there is one, keys.

The screen holds no truth. It asks the desk what there is, tells the pane in view
to show it, and asks the table of commands which keys work now.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.timer import Timer
from textual.widgets import Static

from workbench.tui.ask import Ask
from workbench.tui.commands import ASIDE, PANES
from workbench.tui.desk import Desk
from workbench.tui.detail import Detail
from workbench.tui.dock import Dock
from workbench.tui.empty import Empty
from workbench.tui.hairline import Hairline
from workbench.tui.link import link_ready
from workbench.tui.messages import Changed
from workbench.tui.screens.arranging import Arranging
from workbench.tui.status import NoticeLine, StatusLine
from workbench.tui.strip import ConnectionStrip
from workbench.tui.tab_line import Tab, TabLine
from workbench.tui.told_sizes import ToldSizes

if TYPE_CHECKING:
    from workbench.core.view import ConnectionView
    from workbench.tui.panes.pane import Pane

#: At most ten looks at the desk a second.
EVERY = 0.1


class MainScreen(Arranging):
    """Everything but the overlays."""

    ALLOW_SELECT = False
    AUTO_FOCUS = ""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._looked = 0.0
        self._timer: Timer | None = None
        self._numbers: tuple[int, ...] = ()
        self._sizes = ToldSizes()

    def compose(self) -> ComposeResult:
        yield ConnectionStrip(id="strip")
        yield TabLine(id="tabs")
        yield Static("", id="gap", markup=False)
        with Container(id="work"):
            with Container(id="view"):
                yield Empty(self.desk, id="empty")
                yield Detail(id="detail")
            yield Hairline(id="between")
            yield Dock(self.desk, id="dock")
        yield Ask(id="ask")
        yield NoticeLine(id="notice")
        with Horizontal(id="last"):
            yield StatusLine(id="status")
        yield Static("", id="too-small", markup=False)

    def on_mount(self) -> None:
        self._sizes.watch(self)
        self.look()
        self.call_after_refresh(self._add_panes)

    def _add_panes(self) -> None:
        """The other panes, so that going there takes no longer than a key."""
        for name, _ in (*PANES[:-1], *ASIDE):
            if name not in self.panes:
                self.add_pane(name)

    # Looking at the desk.

    @on(Changed)
    def _changed(self, message: Changed) -> None:
        message.stop()
        if self._timer is None:
            wait = max(self._looked + EVERY - time.monotonic(), 0.001)
            self._timer = self.set_timer(wait, self._due)

    def _due(self) -> None:
        self._timer = None
        if not link_ready(self.app):
            self._timer = self.set_timer(EVERY, self._due)
            return
        self._looked = time.monotonic()
        self.desk.looked()
        self.look()

    def look(self) -> None:
        """Show everything as it is now."""
        views = self.desk.views
        self._keep_place(views)
        self.keep_place()
        view = self.view
        waiting = len(self.desk.inbox)
        words = self.desk.opening or "no connection"
        self.query_one(ConnectionStrip).show(views, self.place, self.desk.sign, waiting, words)
        self.query_one(TabLine).show(self._tabs(view, waiting), self.pane_name)
        was_empty = self.has_class("empty")
        self.set_out(views)
        pane = self.pane
        if self.split is not None:
            self.show_columns()
        elif pane is not None:
            pane.show(view)
            if was_empty and not self.has_class("empty"):
                pane.start()
        self.query_one(Dock).show()
        self.judge_body()
        self.hints()

    def _keep_place(self, views: Sequence[ConnectionView]) -> None:
        """The connection in view stays in view when others come, and when it is connected again."""
        numbers = tuple(view.number for view in views)
        if numbers == self._numbers:
            return
        before, self._numbers = self._numbers, numbers
        shown = before[self.place] if self.place < len(before) else None
        came = len(numbers) > len(before)
        if came and self.follow_new:
            self.place = len(numbers) - 1
            self.follow_new = False
            self.came(numbers[-1])
        elif shown in numbers:
            self.place = numbers.index(shown)
        elif before and not came:
            self.place = len(numbers) - 1
        self.place = max(0, min(self.place, len(numbers) - 1))

    def _tabs(self, view: ConnectionView | None, waiting: int) -> list[Tab]:
        counts: dict[str, int | None] = dict.fromkeys(("tools", "resources", "prompts", "inbox"))
        if view is not None:
            counts["tools"] = len(view.tools) or None
            counts["resources"] = len(view.resources) + len(view.templates) or None
            counts["prompts"] = len(view.prompts) or None
            counts["logs"] = view.log_count or None
        counts["inbox"] = waiting or None
        here = [(name, title) for name, title in ASIDE if name == self.pane_name]
        return [
            Tab(name, title, counts.get(name), "waiting" if name == "inbox" else "quiet")
            for name, title in (*PANES, *here)
        ]

    # Panes.

    def add_pane(self, name: str) -> None:
        """Make a pane when it is first looked at."""
        from workbench.tui.panes import PANE_CLASSES

        pane = self.panes[name] = PANE_CLASSES[name](self.desk, id=f"pane-{name}")
        pane.display = name == self.pane_name and not self.has_class("detail")
        self.query_one("#view", Container).mount(pane)
        pane.call_after_refresh(self._first_look, pane)

    def _first_look(self, pane: Pane) -> None:
        if not pane.display:
            return
        pane.show(self.view)
        if not self.query_one(Ask).open and not self.query_one(Dock).has_focus_within:
            pane.start()
        self.hints()

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002 - the size is the screen's
        self.call_after_refresh(self.look)
