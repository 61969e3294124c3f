"""Calls as the screen keeps them: what was asked of which item, how it goes, how it ended."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.core.actions import Outcome
    from workbench.tui.widgets.progress_line import Running
    from workbench.wire.calls import Call

#: Calls that are kept; the last ones. All are in the recording.
KEPT = 500


class Run:
    """One call of an item. ``call`` is there once the session has sent it; the rest can be read
    from the screen's thread at any time."""

    def __init__(self, key: str, connection: int, item: str, method: str, params: str) -> None:
        self.key = key
        self.connection = connection
        self.item = item
        self.method = method
        self.params = params
        self.began = time.monotonic()
        self.call: Call | None = None
        self.ended: Outcome | None = None
        self.request_seq: int | None = None

    @property
    def outcome(self) -> Outcome | None:
        return self.ended if self.call is None else self.call.outcome

    @property
    def seq(self) -> int | None:
        """The frame of the request."""
        return self.request_seq if self.call is None else self.call.request_seq or None

    @property
    def remarks(self) -> tuple[str, ...]:
        return tuple(self.call.remarks) if self.call is not None else ()

    @property
    def running(self) -> Running:
        from workbench.tui.widgets.progress_line import Running

        last = self.call.progress[-1] if self.call is not None and self.call.progress else None
        name = self.item or self.method
        if last is None:
            return Running(self.key, name, self.began)
        return Running(self.key, name, self.began, last.progress, last.total, last.message or "")


class Runs:
    """The calls of a session, oldest first. A recording's are added while the screen reads them, so
    whoever reads takes a copy first."""

    def __init__(self) -> None:
        self._runs: deque[Run] = deque(maxlen=KEPT)
        self._last: dict[tuple[int, str, str], Run] = {}
        self._count = 0

    def new(self, connection: int, item: str, method: str, params: str) -> Run:
        self._count += 1
        run = Run(str(self._count), connection, item, method, params)
        self.add(run)
        return run

    def add(self, run: Run) -> None:
        self._runs.append(run)
        self._last[run.connection, run.method, run.item] = run
        if len(self._last) > KEPT:
            del self._last[next(iter(self._last))]

    def last(self, connection: int, method: str, item: str) -> Run | None:
        """The last call of an item."""
        return self._last.get((connection, method, item))

    def open(self, connection: int | None = None) -> list[Run]:
        """Calls that run, of one connection or of all."""
        return [
            run
            for run in list(self._runs)
            if run.outcome is None and (connection is None or run.connection == connection)
        ]

    def any_of(self, connection: int) -> bool:
        """Whether anything was called on a connection."""
        return any(number == connection for number, _, _ in list(self._last))

    def of(self, connection: int) -> list[Run]:
        """All calls on a connection, newest first."""
        return [run for run in list(self._runs) if run.connection == connection][::-1]

    def recent(self, connection: int, method: str) -> list[Run]:
        """The calls of a method on a connection, newest first."""
        found = [run for run in list(self._runs) if run.connection == connection and run.method == method]
        return found[::-1]
