"""The last log messages and stderr lines of a connection."""

from __future__ import annotations

from collections import deque
from typing import Any

from workbench.core.frame import Frame
from workbench.core.jsonrpc import Message, dumps
from workbench.core.peek import peek
from workbench.core.signature import cut
from workbench.core.view import LogEntry

#: Log messages, and stderr lines, that are kept for the panes; all of them are in the recording.
MAX_ENTRIES = 2_000

#: Characters of one log message or stderr line that are kept.
MAX_LOG_TEXT = 4_000

#: Characters of a level or a logger's name.
MAX_WORD = 100


class Logbook:
    """``log_count`` and ``stderr_count`` count everything seen, also what is not kept any more."""

    def __init__(self) -> None:
        self.log_count = 0
        self.stderr_count = 0
        self._logs: deque[LogEntry] = deque(maxlen=MAX_ENTRIES)
        self._stderr: deque[tuple[int, str]] = deque(maxlen=MAX_ENTRIES)
        self._told_logs: tuple[LogEntry, ...] | None = ()
        self._told_stderr: tuple[tuple[int, str], ...] | None = ()

    @property
    def logs(self) -> tuple[LogEntry, ...]:
        if self._told_logs is None:
            self._told_logs = tuple(self._logs)
        return self._told_logs

    @property
    def stderr(self) -> tuple[tuple[int, str], ...]:
        if self._told_stderr is None:
            self._told_stderr = tuple(self._stderr)
        return self._told_stderr

    def last_stderr(self, count: int) -> list[str]:
        """The last lines of stderr that hold anything, oldest first."""
        lines: list[str] = []
        for _, text in reversed(self._stderr):
            if len(lines) == count:
                break
            if text.strip():
                lines.insert(0, text.strip())
        return lines

    def take_log(self, frame: Frame, message: Message) -> None:
        """Take a ``notifications/message``."""
        level = peek(message, "params", "level")
        logger = peek(message, "params", "logger")
        entry = LogEntry(
            frame.seq,
            frame.wall_ns,
            cut(level if isinstance(level, str) else _text(level), MAX_WORD),
            cut(logger, MAX_WORD) if isinstance(logger, str) else "",
            _text(peek(message, "params", "data")),
        )
        self._logs.append(entry)
        self.log_count += 1
        self._told_logs = None

    def take_stderr(self, frame: Frame) -> None:
        # Cut before decoding: a line of stderr may be megabytes long.
        text = frame.body[: 4 * MAX_LOG_TEXT].decode("utf-8", "backslashreplace").rstrip("\r")
        self._stderr.append((frame.seq, cut(text, MAX_LOG_TEXT)))
        self.stderr_count += 1
        self._told_stderr = None


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return cut(value, MAX_LOG_TEXT)
    try:
        return cut(dumps(value), MAX_LOG_TEXT)
    except (ValueError, RecursionError):
        return "(cannot be shown)"
