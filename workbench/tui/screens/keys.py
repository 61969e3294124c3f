"""Keys and the table of commands: which work now, and doing them."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType

from workbench.core.lifecycle import State, group
from workbench.tui.ask import Ask
from workbench.tui.commands import ALWAYS, ASIDE, COMMANDS, IN_FIELDS, Command, by_name
from workbench.tui.detail import Detail
from workbench.tui.dock import Dock
from workbench.tui.empty import Empty
from workbench.tui.messages import Hints
from workbench.tui.screens.focus import focus_words
from workbench.tui.screens.sending import Sending
from workbench.tui.status import NoticeLine, StatusLine

_KEYS = sorted({key for command in COMMANDS if not command.own for key in command.keys})


class Keys(Sending):
    """Asks the table of commands which keys work now."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"press_key({key!r})", show=False, priority=key in IN_FIELDS) for key in _KEYS),
        Binding("right", "press_key('right_square_bracket')", show=False),
        Binding("left", "press_key('left_square_bracket')", show=False),
    ]

    def words(self) -> set[str]:
        """What the screen says of itself, for the table of commands."""
        desk, view, pane = self.desk, self.view, self.pane
        words = {"live" if desk.live else "recording", self.pane_name} | focus_words(self.focused)
        words |= {f"has_{place + 1}" for place in range(min(len(desk.views), 9))}
        if pane is not None:
            words |= pane.words()
        words |= self.query_one(Detail).words()
        words |= self.split_words()
        if (self.pane_name == "frames" or "log" in words) and self.split is None:
            words.add("filter")
        if view is None:
            words |= {"empty"} | self.query_one(Empty).words()
        else:
            words.add("connection")
            if view.state is State.READY:
                words.add("ready")
            elif group(view.state) == "failed":
                words.add("failed")
            if desk.runs.open(view.number):
                words.add("running")
        if desk.source is not None and desk.height:
            words.add("keepable")
        if self.pane_name in dict(ASIDE):
            words.add("aside")
        if self.source() is not None:
            words.add("source")
        if self.view is not None and self.desk.runs.any_of(self.view.number):
            words.add("calls")
        if self.can_back():
            words.add("back")
        return words

    @property
    def typing(self) -> bool:
        """Whether letters are text now."""
        return bool({"line", "field", "json"} & focus_words(self.focused)) or self.query_one(Ask).open

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
            self.query_one(StatusLine).show(self.query_one(Ask).hints, ())
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
        if "line" in focus_words(self.focused):
            completes = [("tab", "complete")] if self.query_one(Dock).line.has_focus else []
            hints = [("enter", "done"), *completes, ("esc", "clear")]
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
