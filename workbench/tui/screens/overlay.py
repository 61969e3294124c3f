"""Two lists over the screen: every action by name, and the keys that work here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from workbench.tui.commands import ASIDE, PANES, Command, key_text
from workbench.tui.line_input import LineInput
from workbench.tui.lines import Bit, Fixed, Line, Lines
from workbench.tui.status import StatusLine
from workbench.tui.widgets.rows import Cell, Rows, RowSpec


class Chooser(ModalScreen[str | None]):
    """Type a part of what a row says; enter takes it, and is called ``verb``."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("ctrl+p", "leave", show=False, priority=True),
    ]

    def __init__(self, label: str, ghost: str, rows: Sequence[RowSpec], *, empty: str, verb: str) -> None:
        super().__init__()
        self._label, self._ghost = label, ghost
        self._rows = rows
        self._empty = empty
        self._verb = verb

    def compose(self) -> ComposeResult:
        with Vertical(id="panel"):
            yield Fixed(id="top")
            yield LineInput(self._label, ghost=self._ghost)
            yield Rows(empty=self._empty)
            yield StatusLine()

    def on_mount(self) -> None:
        self.query_one("#top", Fixed).lay(lambda _: [[]])
        self.query_one(Rows).set_rows(self._rows)
        self.query_one(StatusLine).show([("enter", self._verb), ("up down", "choose"), ("esc", "back")], ())
        self.query_one(LineInput).focus()

    def on_key(self, event: events.Key) -> None:
        rows = self.query_one(Rows)
        moves = {"up": (-1, False), "down": (1, False), "pageup": (-1, True), "pagedown": (1, True)}
        if event.key in moves:
            step, page = moves[event.key]
            event.stop()
            rows.action_page(step) if page else rows.action_move(step)

    @on(LineInput.Edited)
    def _edited(self, message: LineInput.Edited) -> None:
        message.stop()
        rows = self.query_one(Rows)
        rows.set_filter(message.line.text)
        rows.action_first()

    @on(LineInput.Done)
    def _done(self, message: LineInput.Done) -> None:
        message.stop()
        self.dismiss(self.query_one(Rows).key)

    @on(LineInput.Left)
    def _left(self, message: LineInput.Left) -> None:
        message.stop()
        self.dismiss(None)

    @on(Rows.Chosen)
    def _chosen(self, message: Rows.Chosen) -> None:
        message.stop()
        self.dismiss(message.key)

    def action_leave(self) -> None:
        self.dismiss(None)


def palette(commands: Sequence[Command]) -> Chooser:
    """Every action by name."""
    rows = [
        RowSpec(
            command.name,
            (Cell(command.short), Cell(command.about, "quiet")),
            tail=" ".join(key_text(key) for key in command.keys),
            search=f"{command.short} {command.about}",
        )
        for command in commands
        if command.name != "palette"
    ]
    return Chooser(":", "an action", rows, empty="no action of that name", verb="do it")


class HelpOverlay(ModalScreen[None]):
    """The keys that work now, in this pane and everywhere."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "leave", show=False),
    ]

    def __init__(self, commands: Sequence[Command], pane: str) -> None:
        super().__init__()
        self._commands = [command for command in commands if command.keys]
        self._title = dict((*PANES, *ASIDE)).get(pane, pane)

    def compose(self) -> ComposeResult:
        with Vertical(id="panel"):
            yield Fixed(id="top")
            yield Lines()
            yield StatusLine()

    def on_mount(self) -> None:
        self.query_one("#top", Fixed).lay(
            lambda _: [[], [Bit(" Keys that work now", "bright"), Bit(f"   {self._title}", "quiet")], []]
        )
        lines = self.query_one(Lines)
        lines.lay(lambda _: self._lines())
        self.query_one(StatusLine).show([("esc", "back")], ())
        lines.focus()

    def _lines(self) -> list[Line]:
        here = [command for command in self._commands if command.needs - {"live", "connection"}]
        rest = [command for command in self._commands if command not in here]
        laid = [_line(command) for command in here if not command.name.startswith("connection_")]
        laid += [[], [Bit(" everywhere", "quiet")]]
        laid += [_line(command) for command in rest]
        laid.append([Bit("   "), Bit("1 to 9", "accent", 14), Bit("Show the connection of this number")])
        laid.append([Bit("   "), Bit("tab", "accent", 14), Bit("On to the form, the result, the frame log")])
        return laid

    def action_leave(self) -> None:
        self.dismiss(None)


def _line(command: Command) -> Line:
    keys = " ".join(key_text(key) for key in command.keys)
    return [Bit("   "), Bit(keys, "accent", 14), Bit(command.about, "text")]
