"""The screen without a connection: one line to type a target into, and what else there is."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical

from workbench.tui.desk import Desk
from workbench.tui.line_input import LineInput
from workbench.tui.lines import Bit, Fixed, Line, wrapped
from workbench.tui.marks import marks_of

_EXAMPLES = (
    ("-- npx -y some-server", "a server's command, as you start it"),
    ("--stdio 'python server.py'", "the same, in quotes"),
    ("--replay sessions/weather.jsonl", "a recording as a mock server"),
    ("@name", "a server of this folder's .mcp.json"),
)


class Empty(Vertical):
    """The line connects on enter; an error stands under it until the line changes."""

    def __init__(self, desk: Desk, *, id: str) -> None:
        super().__init__(id=id)
        self.desk = desk
        self.head = Fixed()
        self.line = LineInput("target", ghost="enter begins to type; d opens the demo")
        self.below = Fixed()
        self._wrong = ""

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.line
        yield self.below

    def on_mount(self) -> None:
        self.head.lay(lambda _: [[Bit(" Connect to an MCP server", "bright")], []])
        self._lay()

    def _lay(self) -> None:
        def lay(width: int) -> list[Line]:
            lines: list[Line] = [[]]
            if self._wrong:
                mark = marks_of(self).failed
                for place, row in enumerate(wrapped(self._wrong, width - 4, 4)):
                    lines.append([Bit(f" {mark} " if not place else "   ", "failed"), Bit(row)])
                lines.append([])
            lines += [[Bit("   "), Bit(text, "text", 36), Bit(about, "quiet")] for text, about in _EXAMPLES]
            lines += [
                [],
                [Bit("   d", "text"), Bit("  opens the demo: a server with a tool of every kind", "quiet")],
                [Bit("   :", "text"), Bit("  every action", "quiet")],
                [Bit("   q", "text"), Bit("  leaves", "quiet")],
            ]
            return lines

        self.below.lay(lay)

    def say(self, wrong: str) -> None:
        self._wrong = wrong
        self._lay()

    def start(self) -> None:
        self.line.focus()

    def on_line_input_done(self, message: LineInput.Done) -> None:
        message.stop()
        self.say(self.desk.connect(message.line.text))

    def on_line_input_edited(self, message: LineInput.Edited) -> None:
        message.stop()
        if self._wrong:
            self.say("")

    def on_line_input_left(self, message: LineInput.Left) -> None:
        message.stop()
        self.screen.set_focus(None)
