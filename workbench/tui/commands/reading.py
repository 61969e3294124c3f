"""Reading frames, bodies and logs."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.tui.commands.command import Command
from workbench.tui.commands.command import command as of


def commands() -> Iterator[Command]:
    """The frame log, a body, the logs."""
    yield of("follow", "space", "follow", "Follow new frames, or stay here", "log", hint=80, own=True)
    yield of("pair", "p", "pair", "Jump from a request to its answer and back", "log", hint=70, own=True)
    yield of("mark", "m", "mark", "Mark the frame", "log", hint=40, own=True)
    yield of(
        "times",
        "t",
        "times",
        "Time since the start, since the frame before, of the day",
        "log",
        hint=20,
        own=True,
    )
    yield of(
        "only",
        "o",
        "this connection",
        "Show the frames of this connection only, or of all",
        "log",
        avoids="beside",
        hint=50,
    )
    yield of("view", "v", "raw, hex", "The body as JSON, as it came, as hex", "text", hint=80, own=True)
    yield of("heads", "h", "heads", "The heads of HTTP this came with", "text heads", hint=75, own=True)
    yield of("search", "slash", "search", "Search in the body", "text", hint=70, own=True)
    yield of("match", "n", "next match", "The next match of the search", "text", hint=50, own=True)
    yield of("wrap", "z", "wrap", "Wrap long lines or not", "text", hint=40, own=True)
    yield of(
        "least",
        "v",
        "level",
        "Show messages from this level on: step through the levels",
        "logs",
        avoids="text log",
        hint=85,
    )
    yield of(
        "set_level",
        "l",
        "server's level",
        "Ask the server for messages from a level on",
        "logs live",
        hint=80,
    )
