"""What a server says beside its answers: log messages, and its stderr."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Resize

from workbench.core.methods import LOG_LEVELS
from workbench.core.view import ConnectionView, LogEntry
from workbench.tui import figures
from workbench.tui.desk import Desk
from workbench.tui.line_input import LineInput
from workbench.tui.lines import Bit, Fixed, Line, Lines, wrapped
from workbench.tui.messages import Hints
from workbench.tui.palette import Role
from workbench.tui.panes.pane import Pane

WIDE = 100
_LEVEL, _CLOCK = 9, 12
_ROLES: dict[str, Role] = {
    "debug": "quiet",
    "info": "quiet",
    "notice": "text",
    "warning": "waiting",
    "error": "failed",
    "critical": "failed",
    "alert": "failed",
    "emergency": "failed",
}


class LogsPane(Pane):
    """Log messages from a level on, and stderr, beside or below each other."""

    filters = True

    def __init__(self, desk: Desk, *, id: str) -> None:
        super().__init__(desk, id=id)
        self.line = LineInput("/", ghost="filter")
        self.line.display = False
        self.log_head = Fixed(classes="head")
        self.log_lines = Lines(stick=True)
        self.stderr_head = Fixed(classes="head")
        self.stderr_lines = Lines(stick=True)
        self._least = 0
        self._seen: object = None

    def compose(self) -> ComposeResult:
        yield self.line
        with Vertical(classes="both"):
            with Vertical(classes="half"):
                yield self.log_head
                yield self.log_lines
            with Vertical(classes="half second"):
                yield self.stderr_head
                yield self.stderr_lines

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width >= WIDE, "wide")

    def show(self, view: ConnectionView | None) -> None:
        super().show(view)
        counts = (view.number, view.log_count, view.stderr_count, view.log_level) if view else None
        seen = (counts, self._least, self.line.text)
        if seen == self._seen:
            return
        self._seen = seen
        self._lay()

    def _lay(self) -> None:
        view = self.current
        logs = [entry for entry in view.logs if self._passes(entry)] if view is not None else []
        words = self.line.text.casefold().split()
        stderr = list(view.stderr) if view is not None else []
        if words:
            stderr = [line for line in stderr if all(word in line[1].casefold() for word in words)]
        self.log_head.lay(lambda width: [self._log_head(len(logs), width)])
        self.stderr_head.lay(lambda width: [self._stderr_head(len(stderr), width)])
        empty = "no log messages" if view is None or not view.log_count else "none of them passes"
        self.log_lines.lay(lambda width: _log_lines(logs, width) or [[Bit(f"   {empty}", "quiet")]])
        quiet = "nothing on stderr" if view is None or not view.stderr_count else "none of them passes"
        self.stderr_lines.lay(lambda width: _plain(stderr, width) or [[Bit(f"   {quiet}", "quiet")]])

    def _log_head(self, shown: int, width: int) -> Line:
        view = self.current
        least = LOG_LEVELS[self._least]
        words = f"  {least} and above" if self._least else ""
        total = view.log_count if view is not None else 0
        counted = _counted(shown, total)
        asked = f"server's level {view.log_level}" if view is not None and view.log_level else ""
        left = 1 + len("messages") + len(counted) + 2 + len(words)
        gap = max(width - left - len(asked) - 1, 2)
        return [
            Bit(" "),
            Bit("messages", "text"),
            Bit(f"  {counted}", "quiet"),
            Bit(words, "waiting"),
            Bit(" " * gap),
            Bit(asked, "quiet"),
        ]

    def _stderr_head(self, shown: int, width: int) -> Line:  # noqa: ARG002 - like its neighbour
        total = self.current.stderr_count if self.current is not None else 0
        return [Bit(" "), Bit("stderr", "text"), Bit(f"  {_counted(shown, total)}", "quiet")]

    def _passes(self, entry: LogEntry) -> bool:
        level = LOG_LEVELS.index(entry.level) if entry.level in LOG_LEVELS else len(LOG_LEVELS)
        if level < self._least:
            return False
        looked_into = f"{entry.level} {entry.logger} {entry.text}".casefold()
        return all(word in looked_into for word in self.line.text.casefold().split())

    # What the screen asks.

    def start(self) -> None:
        self.log_lines.focus()

    def words(self) -> set[str]:
        return {"logs", "filter"}

    @property
    def filtered(self) -> bool:
        return bool(self.line.display)

    def back(self) -> bool:
        if self.line.display:
            self._end_filter()
            return True
        return False

    def source(self) -> tuple[str, bytes] | None:
        view = self.current
        if view is None:
            return None
        lines = [f"{entry.level} {entry.logger} {entry.text}" for entry in view.logs if self._passes(entry)]
        lines += [text for _, text in view.stderr]
        return ("log", "\n".join(lines).encode("utf-8", "surrogateescape")) if lines else None

    def start_filter(self) -> bool:
        self.line.display = True
        self.line.focus()
        return True

    def do_least(self) -> None:
        """Step through the levels."""
        self._least = (self._least + 1) % len(LOG_LEVELS)
        self.show(self.current)
        self.post_message(Hints())

    def on_line_input_edited(self, message: LineInput.Edited) -> None:
        message.stop()
        self.show(self.current)

    def on_line_input_done(self, message: LineInput.Done) -> None:
        message.stop()
        if not self.line.text:
            self.line.display = False
        self.start()

    def on_line_input_left(self, message: LineInput.Left) -> None:
        message.stop()
        self._end_filter()

    def _end_filter(self) -> None:
        self.line.text = ""
        self.line.display = False
        self.start()
        self.show(self.current)


def _counted(shown: int, total: int) -> str:
    if shown == total:
        return figures.count(total)
    return f"{figures.count(shown)} of {figures.count(total)}"


def _log_lines(logs: list[LogEntry], width: int) -> list[Line]:
    lines: list[Line] = []
    clock = _CLOCK if width >= 60 else 0
    for entry in logs:
        head: list[Bit] = [Bit("   ")]
        if clock:
            head.append(Bit(f"{figures.clock(entry.wall_ns)}  ", "quiet"))
        head.append(Bit(f"{entry.level:<{_LEVEL}}"[:20] + " ", _ROLES.get(entry.level, "finding")))
        if entry.logger:
            head.append(Bit(f"{entry.logger[:24]}  ", "quiet"))
        lines.append([*head, Bit(entry.text, "text")])
    return lines


def _plain(stderr: list[tuple[int, str]], width: int) -> list[Line]:
    lines: list[Line] = []
    for _, text in stderr:
        rows = wrapped(text, max(width - 5, 8), 4)
        lines += [[Bit("   "), Bit(row, "text" if place == 0 else "quiet")] for place, row in enumerate(rows)]
    return lines
