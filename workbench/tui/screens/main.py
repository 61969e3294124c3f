"""The one screen: connections, panes, the frame log, a question when there is one, keys.

The screen holds no truth. It asks the desk what there is, tells the pane in view
to show it, and asks the table of commands which keys work now.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.lifecycle import State
from workbench.tui.ask import Ask
from workbench.tui.commands import ALWAYS, COMMANDS, IN_FIELDS, PANES, Command, by_name
from workbench.tui.desk import Desk
from workbench.tui.detail import Detail
from workbench.tui.dock import Dock
from workbench.tui.empty import Empty
from workbench.tui.hairline import Hairline
from workbench.tui.link import link_ready
from workbench.tui.messages import Changed, Hints, Kept, Said, Show
from workbench.tui.screens.doing import Doing
from workbench.tui.status import NoticeLine, StatusLine
from workbench.tui.strip import ConnectionStrip
from workbench.tui.tab_line import Tab, TabLine
from workbench.tui.told_sizes import ToldSizes
from workbench.tui.widgets.frame_log import FrameLog

if TYPE_CHECKING:
    from workbench.core.view import ConnectionView
    from workbench.tui.panes.pane import Pane

#: At most ten looks at the desk a second.
EVERY = 0.1

#: Below this the screen says so and nothing else.
LEAST = (60, 15)

#: Below this height the frame log is only there when it is asked for.
LOW = 20

#: From these sizes on the frame log has a third of the height, or a column of its own.
THIRD = (100, 30)
COLUMN = 180

_KEYS = sorted({key for command in COMMANDS if not command.own for key in command.keys})


class MainScreen(Doing, Screen[None]):
    """Everything but the overlays."""

    ALLOW_SELECT = False
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"press_key({key!r})", show=False, priority=key in IN_FIELDS) for key in _KEYS),
        Binding("right", "press_key('right_square_bracket')", show=False),
        Binding("left", "press_key('left_square_bracket')", show=False),
    ]

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.place = 0
        self.pane_name = "tools"
        self.dock_size = "small"
        self.panes: dict[str, Pane] = {}
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
        for name, _ in PANES[:-1]:
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
        view = self.view
        waiting = len(self.desk.inbox)
        words = self.desk.opening or "no connection"
        self.query_one(ConnectionStrip).show(views, self.place, self.desk.sign, waiting, words)
        self.query_one(TabLine).show(self._tabs(view, waiting), self.pane_name)
        was_empty = self.has_class("empty")
        self._arrange(views)
        pane = self.pane
        if pane is not None:
            pane.show(view)
            if was_empty and not self.has_class("empty"):
                pane.start()
        self.query_one(Dock).show()
        self.hints()

    def _keep_place(self, views: Sequence[ConnectionView]) -> None:
        """The connection in view stays in view when others come, and when it is connected again."""
        numbers = tuple(view.number for view in views)
        if numbers == self._numbers:
            return
        before, self._numbers = self._numbers, numbers
        shown = before[self.place] if self.place < len(before) else None
        came = len(numbers) > len(before)
        if came and self._follow_new:
            self.place = len(numbers) - 1
            self._follow_new = False
        elif shown in numbers:
            self.place = numbers.index(shown)
        elif before and not came:
            self.place = len(numbers) - 1
        self.place = max(0, min(self.place, len(numbers) - 1))

    @property
    def view(self) -> ConnectionView | None:
        views = self.desk.views
        return views[self.place] if self.place < len(views) else None

    @property
    def pane(self) -> Pane | None:
        """The pane in view, ``None`` for the frame log and for the empty screen."""
        pane = self.panes.get(self.pane_name)
        return pane if pane is not None and pane.display else None

    def _tabs(self, view: ConnectionView | None, waiting: int) -> list[Tab]:
        counts: dict[str, int | None] = dict.fromkeys(("tools", "resources", "prompts", "inbox"))
        if view is not None:
            counts["tools"] = len(view.tools) or None
            counts["resources"] = len(view.resources) + len(view.templates) or None
            counts["prompts"] = len(view.prompts) or None
            counts["logs"] = view.log_count or None
        counts["inbox"] = waiting or None
        return [
            Tab(name, title, counts.get(name), "waiting" if name == "inbox" else "quiet")
            for name, title in PANES
        ]

    # What is where.

    def _arrange(self, views: Sequence[ConnectionView]) -> None:
        empty = not views and not self.desk.opening
        detail = self.query_one(Detail)
        self.query_one(Empty).display = empty
        self.set_class(empty, "empty")
        self.query_one(TabLine).display = not empty
        whole = self.pane_name == "frames" or self.dock_size == "whole"
        showing = self.has_class("detail")
        detail.display = showing
        for name, pane in self.panes.items():
            pane.display = name == self.pane_name and not showing and not empty
        self._lay_out(whole and not showing, "half" if whole else self.dock_size)

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

    def _lay_out(self, whole: bool, size: str) -> None:
        width, height = self.size
        column = width >= COLUMN and not whole
        work = self.query_one("#work")
        work.set_class(column, "column")
        work.set_class(whole, "whole")
        dock = self.query_one(Dock)
        dock.display = not self.has_class("empty") and (whole or size != "small" or height >= LOW)
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

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002 - the size is the screen's
        self.call_after_refresh(self.look)

    # Keys.

    def words(self) -> set[str]:
        """What the screen says of itself, for the table of commands."""
        desk, view, pane = self.desk, self.view, self.pane
        words = {"live" if desk.live else "recording", self.pane_name} | _focus_words(self.focused)
        words |= {f"has_{place + 1}" for place in range(min(len(desk.views), 9))}
        if pane is not None:
            words |= pane.words()
        if self.pane_name == "frames" or "log" in words:
            words.add("filter")
        if view is None:
            words.add("empty")
        else:
            words.add("connection")
            if view.state is State.READY:
                words.add("ready")
            if desk.runs.open(view.number):
                words.add("running")
        if desk.source is not None and desk.height:
            words.add("keepable")
        if self.source() is not None:
            words.add("source")
        if self.can_back():
            words.add("back")
        return words

    @property
    def typing(self) -> bool:
        """Whether letters are text now."""
        return bool({"line", "field", "json"} & _focus_words(self.focused)) or self.query_one(Ask).open

    def available(self) -> list[Command]:
        """The commands that can be done now, in the table's order."""
        words = self.words()
        return [command for command in COMMANDS if command.fits(words)]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action != "press_key":
            return super().check_action(action, parameters)
        key = str(parameters[0])
        if self.typing and key not in IN_FIELDS:
            return False
        return self._command(key) is not None

    def _command(self, key: str) -> Command | None:
        return next((each for each in self.available() if key in each.keys and not each.own), None)

    def action_press_key(self, key: str) -> None:
        command = self._command(key)
        if command is not None:
            self.do(command)

    def do(self, command: Command) -> None:
        """Do a command of the table."""
        if command.own:
            self.app.simulate_key(command.keys[0])
            return
        name = f"do_{command.name}"
        doer = getattr(self.pane, name, None) or getattr(self, name, None)
        if doer is not None:
            doer()
        elif command.name.startswith("pane_"):
            self.show_pane(command.name.removeprefix("pane_"))
        elif command.name.startswith("connection_"):
            self.show_connection(int(command.name.removeprefix("connection_")) - 1)
        self.hints()

    def hints(self) -> None:
        """Show the keys that work now."""
        if self.query_one(Ask).open:
            hints = [("enter", "ok"), ("esc", "back")]
            self.query_one(StatusLine).show(hints, ())
            return
        typing = self.typing
        able = [command for command in self.available() if command.hint and command.keys]
        if typing:
            able = [command for command in able if command.own]
        able.sort(key=lambda command: -command.hint)
        taken: set[str] = set()
        hints = []
        for command in able:
            if command.shown not in taken:
                taken.add(command.shown)
                hints.append((command.shown, command.short))
        if "line" in _focus_words(self.focused):
            hints = [("enter", "done"), ("esc", "clear")]
        last = [(by_name(name).shown, by_name(name).short) for name in ALWAYS]
        self.query_one(StatusLine).show(hints, [("ctrl+p", "actions")] if typing else last)

    def on_descendant_focus(self) -> None:
        self.hints()

    def on_descendant_blur(self) -> None:
        self.call_after_refresh(self.hints)

    @on(Hints)
    def _hints(self, message: Hints) -> None:
        message.stop()
        self.hints()

    def on_key(self, event: events.Key) -> None:  # noqa: ARG002 - any key clears what was said
        self.query_one(NoticeLine).say("")

    # What the parts say.

    @on(Said)
    def _said(self, message: Said) -> None:
        message.stop()
        self.say(message.text, bad=message.bad)

    @on(Show)
    def _show(self, message: Show) -> None:
        message.stop()
        self.show_body(message.title, message.body)

    @on(FrameLog.Opened)
    def _frame_opened(self, message: FrameLog.Opened) -> None:
        message.stop()
        if not isinstance(message, FrameLog.Moved):  # which is one of the same family
            self.open_frame(message.seq)

    @on(FrameLog.Moved)
    def _frame_moved(self, message: FrameLog.Moved) -> None:
        message.stop()
        if self.has_class("detail") and self.query_one(Detail).seq is not None:
            self.open_frame(message.seq, focus=False)

    @on(ConnectionStrip.Picked)
    def _picked(self, message: ConnectionStrip.Picked) -> None:
        message.stop()
        self.show_connection(message.place)

    @on(TabLine.Picked)
    def _tab_picked(self, message: TabLine.Picked) -> None:
        message.stop()
        self.show_pane(message.name)

    @on(Kept)
    def _kept(self, message: Kept) -> None:
        message.stop()
        self.say("")
        self.query_one(Ask).tell(message.lines, bad=message.bad)
        self.hints()


#: What has the focus, by the names of classes: most of them are only loaded after the first paint.
_FOCUS = {
    "Rows": "list",
    "FieldKeys": "form",
    "JsonArea": "json",
    "ResultView": "result",
    "FrameLog": "log",
    "TextView": "text",
    "Lines": "lines",
    "LineInput": "line",
}


def _focus_words(focused: Widget | None) -> set[str]:
    name = type(focused).__name__
    words = {_FOCUS[name]} if name in _FOCUS else set()
    if words == {"form"} and getattr(focused, "editing", False):
        words.add("field")
    return words
