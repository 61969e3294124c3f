"""Every action of the screen: its name, its keys, what it does, and when it can be done.

This is the only table. Key bindings, the status line, the help and the palette
are all made of it. ``needs`` are words the screen says of itself now: the pane
(``tools``), what has the focus (``list``, ``form``, ``log``), whether the session
is ``live``. A command that is a widget's ``own`` is done by the widget that has
the focus, and stands here to be shown and found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

#: The panes in their order: name and title.
PANES = (
    ("tools", "Tools"),
    ("resources", "Resources"),
    ("prompts", "Prompts"),
    ("logs", "Logs"),
    ("server", "Server"),
    ("inbox", "Inbox"),
    ("frames", "Frames"),
)

_SHOWN = {
    "slash": "/",
    "question_mark": "?",
    "colon": ":",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "plus": "+",
    "minus": "-",
    "escape": "esc",
    "pageup": "page up",
    "pagedown": "page down",
}


@dataclass(frozen=True)
class Command:
    """``short`` is for the status line, ``about`` a sentence for help and palette. ``keys`` are the
    framework's names. ``hint``: how early it stands in the status line, 0 for never. ``avoids``
    are words that rule it out."""

    name: str
    keys: tuple[str, ...]
    short: str
    about: str
    needs: frozenset[str] = frozenset()
    avoids: frozenset[str] = frozenset()
    hint: int = 0
    own: bool = False

    @property
    def shown(self) -> str:
        """The first key as it is written."""
        return key_text(self.keys[0]) if self.keys else ""

    def fits(self, words: Collection[str]) -> bool:
        return self.needs <= set(words) and not self.avoids & set(words)


def key_text(key: str) -> str:
    """A key as users read it."""
    return _SHOWN.get(key, key)


def _command(
    name: str,
    keys: str,
    short: str,
    about: str,
    needs: str = "",
    *,
    avoids: str = "",
    hint: int = 0,
    own: bool = False,
) -> Command:
    wanted, ruled_out = frozenset(needs.split()), frozenset(avoids.split())
    return Command(name, tuple(keys.split()), short, about, wanted, ruled_out, hint, own)


def _table() -> Iterator[Command]:
    of = _command
    # What enter does, where.
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
    yield of("leave_json", "escape", "fields", "Back to the fields", "json", hint=80, own=True)
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
    # Fields.
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
    # The inbox.
    quiet = "field json line log text"
    yield of(
        "decline", "d", "decline", "Decline the request", "inbox live cancellable", avoids=quiet, hint=80
    )
    yield of(
        "reject",
        "d",
        "reject",
        "Refuse the request with an error",
        "inbox live refusable",
        avoids=quiet,
        hint=80,
    )
    yield of(
        "cancel_request",
        "c",
        "cancel",
        "Answer that the user cancelled",
        "inbox live cancellable",
        avoids=quiet,
        hint=75,
    )
    yield of(
        "answer_json",
        "e",
        "edit JSON",
        "Write the whole answer as JSON",
        "inbox live fillable",
        avoids=quiet,
        hint=60,
    )
    yield of(
        "answer_editor",
        "E",
        "editor",
        "Write the whole answer in $EDITOR",
        "inbox live fillable",
        avoids="line log text",
        hint=30,
    )
    yield of(
        "always",
        "R",
        "always so",
        "Have a rule answer so from now on",
        "inbox live asked",
        avoids=quiet,
        hint=70,
    )
    yield of("whole_request", "o", "open", "Open the request whole", "inbox asked", avoids=quiet, hint=50)
    yield of(
        "remove_rule", "d", "remove", "Let the rule answer no more", "inbox live rule", avoids=quiet, hint=80
    )
    yield of(
        "hold_roots",
        "",
        "ask for roots",
        "Ask before roots are told, or tell them at once",
        "live connection",
    )
    # The frame log and a body.
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
    # Logs.
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
    # Side by side.
    yield of(
        "send_to_all",
        "a",
        "send to all",
        "Send to all connections that stand side by side",
        "beside live",
        avoids="to_all",
        hint=68,
    )
    yield of("send_to_one", "a", "send to one", "Send to this connection only", "beside live to_all", hint=68)
    yield of(
        "open_answer", "enter", "open whole", "Open the answer whole", "compared answered", hint=90, own=True
    )
    yield of(
        "difference",
        "n",
        "next difference",
        "Go to the next difference",
        "compared answered",
        hint=80,
        own=True,
    )
    yield of(
        "only_different",
        "d",
        "differences only",
        "Leave out the lines that are the same, or show them again",
        "compared answered",
        hint=75,
        own=True,
    )
    yield of("cancel_all", "X", "cancel all", "Cancel the call everywhere", "running_together", hint=84)
    yield of(
        "page_on",
        "right_square_bracket",
        "more columns",
        "Show the columns that do not fit",
        "beside paged",
        hint=57,
    )
    yield of("page_back", "left_square_bracket", "columns before", "Show the columns before", "beside paged")
    yield of("column_next", "greater_than_sign", "next column", "Go to the next column", "beside", hint=56)
    yield of("column_before", "less_than_sign", "column before", "Go to the column before", "beside")
    yield of(
        "columns_pane",
        "right_curly_bracket",
        "next pane",
        "The next pane in the columns",
        "beside",
        hint=15,
    )
    yield of(
        "columns_pane_before", "left_curly_bracket", "pane before", "The pane before in the columns", "beside"
    )
    yield of("add_column", "plus", "add column", "Put one more connection beside these", "addable", hint=14)
    yield of("drop_column", "minus", "drop column", "Take this column out", "droppable", hint=13)
    # Anywhere.
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
        "All calls of the connection: send one again, or change it first",
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


COMMANDS: tuple[Command, ...] = tuple(_table())

#: These two are always at the end of the status line.
ALWAYS = ("help", "palette")

#: Keys that are commands even while a field is edited.
IN_FIELDS = ("ctrl+p",)


def by_name(name: str) -> Command:
    return next(command for command in COMMANDS if command.name == name)
