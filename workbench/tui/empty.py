"""The screen without a connection: one line to type a target into, the servers that config files here
hold, and what else there is."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from workbench.tui.aside import aside
from workbench.tui.desk import Desk
from workbench.tui.found import FoundServers
from workbench.tui.line_input import LineInput
from workbench.tui.lines import Bit, Fixed, Line, wrapped
from workbench.tui.marks import marks_of
from workbench.tui.messages import Hints
from workbench.tui.widgets.rows import Rows

_EXAMPLES = (
    ("-- npx -y some-server", "a server's command, as you start it"),
    ("--stdio 'python server.py'", "the same, in quotes"),
    ("https://host/mcp", "a server over HTTP (--header 'K: V')"),
    ("--sse https://host/sse", "a server over the older HTTP with SSE"),
    ("--replay sessions/weather.jsonl", "a recording as a mock server"),
    ("@name", "a server of a config file"),
)

_KEYS = (
    ("d", "opens the demo"),
    (":", "every action"),
    ("q", "leaves"),
)

_NOTHING = (
    "No server stands in a config file here: .mcp.json, .vscode/mcp.json and .cursor/mcp.json in this "
    "folder and above, our own list, or those of Claude, VS Code, Cursor and Windsurf."
)

#: Rows above the list (heading, blank, line), and those below it that always stay.
_ABOVE, _BELOW = 3, 2
#: Rows the list keeps whatever else there is.
_LEAST = 4


class Empty(Vertical):
    """The line connects on enter, and so does a row of the list; an error stands under the line until
    the line changes. What is typed filters the list as well."""

    DEFAULT_CSS = """
    Empty Rows { height: auto; }
    """

    class Wanted(Message):
        """Somebody wants to connect to what a line says."""

        def __init__(self, line: str) -> None:
            super().__init__()
            self.line = line

    class Found(Message):
        """The config files have been read."""

        def __init__(self, found: FoundServers) -> None:
            super().__init__()
            self.found = found

    def __init__(self, desk: Desk, *, id: str) -> None:
        super().__init__(id=id)
        self.desk = desk
        self.head = Fixed()
        self.line = LineInput("target", ghost="enter begins to type; d opens the demo")
        self.told = Fixed()
        self.rows = Rows()
        self.below = Fixed()
        self.found = FoundServers()
        self._wrong = ""
        self._begun = False
        self._looking = True

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.line
        yield self.told
        yield self.rows
        yield self.below

    def on_mount(self) -> None:
        self.head.lay(lambda _: [[Bit(" Connect to an MCP server", "bright")], []])
        self.rows.display = False
        self._lay()

    def on_show(self) -> None:
        """Looked for when it is first seen: who opens the screen on a target need not wait for it."""
        if self.desk.live and not self._begun:
            self._begun = True
            self.call_after_refresh(self._look)

    def _look(self) -> None:
        """Read the config files in a thread, after the first paint."""
        aside(self, lambda: self.Found(FoundServers(self.desk.found(), self.desk.places())))

    def on_empty_found(self, message: Empty.Found) -> None:
        message.stop()
        self._looking = False
        self.found = message.found
        rows = self.found.rows(marks_of(self))
        self.rows.set_rows(rows)
        self.rows.display = bool(rows)
        self._fit()
        self._lay()
        self.post_message(Hints())
        self.call_after_refresh(self.rows.scroll_line, 0)

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002 - the size is the widget's
        self._fit()
        self._lay()

    def words(self) -> set[str]:
        """What it adds to what the screen says of itself, for the table of commands."""
        return {"found"} if self.rows.keys else set()

    # How it is laid out.

    def _fit(self) -> None:
        """The list takes what it needs, and no more than there is below the line."""
        room = self.size.height - _ABOVE - _BELOW - len(self._told(self.size.width))
        self.rows.styles.height = min(self.rows.count, max(room, _LEAST))

    def _lay(self) -> None:
        self.told.lay(self._told)
        self.below.lay(self._below)

    def _told(self, width: int) -> list[Line]:
        lines: list[Line] = [[]]
        if self._wrong:
            mark = marks_of(self).failed
            for place, row in enumerate(wrapped(self._wrong, width - 4, 6)):
                lines.append([Bit(f" {mark} " if not place else "   ", "failed"), Bit(row)])
            lines.append([])
        return lines

    def _below(self, width: int) -> list[Line]:
        listed = self.rows.count if self.rows.display else 0
        examples: list[Line] = [
            [Bit("   "), Bit(line, "text", 36), Bit(about, "quiet")] for line, about in _EXAMPLES
        ]
        if not listed:
            keys: list[Line] = [
                [Bit(f"   {key}", "text"), Bit(f"  {about}", "quiet")] for key, about in _KEYS
            ]
            above = [*examples, [], *keys]
            room = self.size.height - _ABOVE - len(self._told(width)) - len(above)
            return above + self._nothing(width, room)
        in_one = [
            bit for key, about in _KEYS for bit in (Bit(f"   {key}", "text"), Bit(f"  {about}", "quiet"))
        ]
        room = self.size.height - _ABOVE - _BELOW - len(self._told(width)) - listed
        return [[], *examples, [], in_one] if room > len(examples) else [[], in_one]

    def _nothing(self, width: int, room: int) -> list[Line]:
        """Where servers were looked for in vain: the places if there are rows for them, else in a word."""
        if self._looking or not self.desk.live:
            return []
        places = self.found.places
        if room < len(places) + 3:
            return [[], *([Bit("   "), Bit(row, "quiet")] for row in wrapped(_NOTHING, min(width - 6, 90)))]
        lines: list[Line] = [[], [Bit("   "), Bit(f"{_NOTHING.partition(':')[0]}:", "quiet")]]
        longest = min(max(len(path) for path, _ in places) + 2, width * 2 // 3)
        lines += [[Bit("     "), Bit(path, "quiet", longest), Bit(owner, "quiet")] for path, owner in places]
        return lines

    # What is done on it.

    def say(self, wrong: str) -> None:
        self._wrong = wrong
        self._fit()
        self._lay()

    def start(self) -> None:
        self.line.focus()

    def choose(self) -> None:
        """Go to the list."""
        if self.rows.keys:
            self.rows.focus()

    def on_key(self, event: events.Key) -> None:
        if event.key == "down" and self.line.has_focus:
            event.stop()
            self.choose()
        elif event.key == "escape" and self.rows.has_focus:
            event.stop()
            self.say("")
            self.screen.set_focus(None)

    def on_rows_chosen(self, message: Rows.Chosen) -> None:
        message.stop()
        line = self.found.line(message.key)
        if line:
            self.post_message(self.Wanted(line))
        else:
            self.say(self.found.why(message.key))

    def on_rows_moved(self, message: Rows.Moved) -> None:
        message.stop()
        if self._wrong:
            self.say("")
        if message.key == self.rows.keys[0]:
            self.rows.scroll_line(0)  # with the file's name above it

    def on_line_input_done(self, message: LineInput.Done) -> None:
        message.stop()
        self.post_message(self.Wanted(message.line.text))

    def on_line_input_edited(self, message: LineInput.Edited) -> None:
        message.stop()
        self.rows.set_filter(message.line.text)
        if not self.rows.matching:  # it is a target of its own, no name of one
            self.rows.set_filter("")
        self._wrong = ""
        self._fit()
        self._lay()

    def on_line_input_left(self, message: LineInput.Left) -> None:
        message.stop()
        self.screen.set_focus(None)
