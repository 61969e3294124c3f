"""What is done with connections and items, and going from place to place."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.tui.commands.command import Command
from workbench.tui.commands.command import command as of
from workbench.tui.commands.panes import PANES


def commands() -> Iterator[Command]:
    """Everything that is not one place's."""
    yield of(
        "connect_found", "enter", "connect", "Connect to this server", "empty list live", hint=97, own=True
    )
    yield of("target", "enter", "type a target", "Type a target to connect to", "empty live", hint=96)
    yield of(
        "found",
        "down",
        "choose",
        "Choose a server of the config files",
        "empty found live",
        avoids="list",
        hint=95,
    )
    yield of("demo", "d", "demo", "Open the demo server", "empty live", hint=95)
    yield of("cancel", "x", "cancel", "Cancel the running call", "running", hint=85)
    yield of(
        "json",
        "e",
        "edit JSON",
        "Write the arguments as JSON by hand",
        "items live arguments",
        avoids="field log text result",
        hint=60,
    )
    yield of(
        "editor",
        "E",
        "editor",
        "Write the arguments in $EDITOR",
        "items live arguments",
        avoids="log text",
        hint=30,
    )
    yield of(
        "again",
        "r",
        "send again",
        "Send the call whose result is shown again, as it was",
        "items live called",
        avoids="field json line log text",
        hint=32,
    )
    yield of(
        "history",
        "H",
        "calls",
        "All calls of the connection: send one again, or change it",
        "calls",
        avoids="field json line log text",
    )
    yield of(
        "copy_command",
        "Y",
        "copy as command",
        "Copy the call whose result is shown as a command line",
        "items live called",
        avoids="field json line log text",
        hint=20,
    )
    yield of(
        "filter", "slash", "filter", "Show only what contains these words", "filter", avoids="text", hint=65
    )
    yield of(
        "reconnect",
        "c",
        "connect again",
        "Connect to the same target again",
        "live connection",
        avoids="asked",
        hint=35,
    )
    yield of(
        "diagnose",
        "D",
        "find out why",
        "Walk the steps of connecting one by one, and find the one that fails",
        "live failed",
        avoids="text",
        hint=34,
    )
    yield of("roots", "R", "roots", "Change the roots; the server is told", "server live ready", hint=33)
    yield of(
        "new", "n", "new", "Connect to one more target", "live connection", avoids="text compared", hint=25
    )
    yield of(
        "beside",
        "b",
        "side by side",
        "Two to four connections next to each other, or one again",
        "neighbours",
        avoids="aside",
        hint=27,
    )
    yield of("keep", "k", "keep", "Keep the session as a fixture: sessions/NAME.jsonl", "keepable", hint=45)
    yield of("size", "f", "frame log", "The frame log: small, half, whole", avoids="empty", hint=28)
    yield of("copy", "y", "copy", "Copy to the terminal's clipboard (OSC 52)", "source", hint=22)
    yield of("save", "w", "save", "Save to a file", "source", hint=21)
    yield of("refresh", "", "list again", "Read the server's lists again", "live ready")
    yield of("disconnect", "", "close", "End the connection; it stays with its history", "live connection")
    yield of(
        "next_pane",
        "right_square_bracket",
        "next pane",
        "The next pane",
        avoids="empty beside",
        hint=15,
    )
    yield of("previous_pane", "left_square_bracket", "pane before", "The pane before", avoids="empty beside")
    for name, title in PANES:
        yield of(f"pane_{name}", "", title.lower(), f"{title}: show this pane", avoids="empty")
    for digit in range(1, 10):
        yield of(
            f"connection_{digit}",
            str(digit),
            f"connection {digit}",
            f"Show connection {digit}",
            f"has_{digit}",
        )
    yield of("back", "escape", "back", "Go back; never quits", "back", hint=55)
    yield of("help", "question_mark", "help", "The keys that work here", avoids="line")
    yield of("palette", "colon ctrl+p", "actions", "Every action by name")
    yield of("quit", "q", "quit", "End the session and leave")
