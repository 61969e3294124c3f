"""The panes aside: every connection's tools in one list, and a frame written by hand."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.tui.commands.command import Command
from workbench.tui.commands.command import command as of


def commands() -> Iterator[Command]:
    """Going there, and what is done there."""
    letters = "field json line log text"
    yield of(
        "all_tools",
        "A",
        "all tools",
        "The tools of every connection in one list, with their owners",
        "connection",
        avoids=f"{letters} beside all_tools",
    )
    yield of(
        "raw_frame",
        "J",
        "raw frame",
        "Write a frame by hand, which goes out as it is typed",
        "live connection",
        avoids=f"{letters} beside raw_frame",
    )
    yield of(
        "leave_raw",
        "escape",
        "done",
        "End the edit: letters are commands again",
        "raw_frame json",
        hint=80,
        own=True,
    )
    yield of(
        "write_raw",
        "e",
        "write",
        "Go on writing the frame",
        "raw_frame live",
        avoids=letters,
        hint=82,
    )
    yield of(
        "take_raw",
        "enter",
        "write again",
        "Write on at the frame under the cursor",
        "raw_frame list sent live",
        hint=90,
        own=True,
    )
    yield of(
        "resend_raw",
        "r",
        "send again",
        "Send the frame under the cursor again, as it was",
        "raw_frame sent live",
        avoids=letters,
        hint=70,
    )
