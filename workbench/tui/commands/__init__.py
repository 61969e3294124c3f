"""Every action of the screen: its name, its keys, what it does, and when it can be done.

This is the only table. Key bindings, the status line, the help and the palette
are all made of it. ``needs`` are words the screen says of itself now: the pane
(``tools``), what has the focus (``list``, ``form``, ``log``), whether the session
is ``live``. A command that is a widget's ``own`` is done by the widget that has
the focus, and stands here to be shown and found.
"""

from __future__ import annotations

from workbench.tui.commands import anywhere, aside, columns, entering, inbox, reading
from workbench.tui.commands.command import Command, key_text
from workbench.tui.commands.panes import ASIDE, PANES

COMMANDS: tuple[Command, ...] = (
    *entering.commands(),
    *inbox.commands(),
    *reading.commands(),
    *aside.commands(),
    *columns.commands(),
    *anywhere.commands(),
)

#: These two are always at the end of the status line.
ALWAYS = ("help", "palette")

#: Keys that are commands even while a field is edited.
IN_FIELDS = ("ctrl+p",)


def by_name(name: str) -> Command:
    return next(command for command in COMMANDS if command.name == name)


__all__ = ["ALWAYS", "ASIDE", "COMMANDS", "IN_FIELDS", "PANES", "Command", "by_name", "key_text"]
