"""What enter does, where, and the keys of fields."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.tui.commands.command import Command
from workbench.tui.commands.command import command as of


def commands() -> Iterator[Command]:
    """What is done with what has the focus."""
    yield of(
        "fill_in",
        "enter",
        "fill in",
        "Fill in the arguments of the tool",
        "tools list live item",
        hint=90,
        own=True,
    )
    yield of(
        "fill_prompt",
        "enter",
        "fill in",
        "Fill in the arguments of the prompt",
        "prompts list live item",
        hint=90,
        own=True,
    )
    yield of("read", "enter", "read", "Read the resource", "resources list live item", hint=90, own=True)
    yield of(
        "definition",
        "enter",
        "definition",
        "Open the definition as it was listed",
        "list recording item",
        avoids="inbox logs",
        hint=90,
        own=True,
    )
    yield of(
        "run", "enter", "run", "Send what the wire line shows", "form live", avoids="inbox", hint=90, own=True
    )
    yield of("run_json", "ctrl+r", "run", "Send the JSON as it stands", "json live", hint=90, own=True)
    yield of(
        "leave_json",
        "escape",
        "fields",
        "Back to the fields",
        "json",
        avoids="raw_frame",
        hint=80,
        own=True,
    )
    yield of("accept", "enter", "accept", "Answer with what the form says", "inbox form", hint=90, own=True)
    yield of("reply", "enter", "answer", "Fill in the answer", "inbox list live item", hint=90, own=True)
    yield of(
        "open_block",
        "enter",
        "open whole",
        "Open the block under the cursor whole",
        "result",
        hint=90,
        own=True,
    )
    yield of("open_frame", "enter", "open", "Open the frame: JSON, raw, hex", "log", hint=90, own=True)
    yield of("next_field", "tab", "next", "The next field, then out of the form", "field", hint=80, own=True)
    yield of(
        "presence",
        "ctrl+t",
        "absent null value",
        "Absent, null or a value: three different things",
        "form",
        hint=40,
        own=True,
    )
    yield of(
        "toggle",
        "space",
        "choose",
        "Choose what is under the cursor, or no longer",
        "several",
        hint=85,
        own=True,
    )
    yield of(
        "end_edit", "escape", "done", "End the edit: letters are commands again", "field", hint=70, own=True
    )
