"""What waits to be written to a child that may not be reading.

Lines were handed to the sink when they were put in here; what is still here when
the pipe breaks or is closed was never delivered, and that is told.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import anyio

from workbench.wire.pipes import write_all

#: Takes how many bytes were not delivered, and why.
Undelivered = Callable[[int, str], None]


class Outbox:
    """Writes lines to a pipe in order. ``add`` never blocks; ``run`` is the task that writes.

    ``prompted`` is how many lines wait that the child made us write by what it sent.
    """

    def __init__(self, descriptor: int, undelivered: Undelivered) -> None:
        self._descriptor = descriptor
        self._undelivered = undelivered
        self.prompted = 0
        self._lines: deque[tuple[bytes, bool]] = deque()
        self._written = 0  # bytes of the first line that are out
        self._more = anyio.Event()
        self._empty = anyio.Event()
        self._scope = anyio.CancelScope(shield=True)
        self._ended = anyio.Event()
        self._broken = ""

    def add(self, line: bytes, prompted: bool = False) -> None:
        """Put a line in, its line ending included."""
        self._lines.append((line, prompted))
        self.prompted += prompted
        if self._broken:
            self._give_up()
        self._more.set()

    async def run(self) -> None:
        """Write until the pipe breaks or ``close`` is called."""
        try:
            with self._scope:
                await self._write()
        except OSError as error:
            self._broken = error.strerror or "the pipe is broken"
            self._give_up()
        finally:
            self._ended.set()

    async def close(self, seconds: float) -> None:
        """Write what is left, for at most so many seconds, then close the pipe."""
        with anyio.move_on_after(seconds):
            while self._lines:
                await self._empty.wait()
        await self.abandon("the server did not read it before its stdin was closed")

    async def abandon(self, why: str) -> None:
        """Close the pipe now; what is left is undelivered. Does nothing the second time."""
        if self._descriptor < 0:
            return
        self._scope.cancel()
        await self._ended.wait()
        self._broken = self._broken or why
        self._give_up()
        with suppress(OSError):
            os.close(self._descriptor)
        self._descriptor = -1

    async def _write(self) -> None:
        while True:
            while self._lines:
                line, prompted = self._lines[0]
                await write_all(self._descriptor, line, self._wrote)
                self._lines.popleft()
                self._written = 0
                self.prompted -= prompted
            self._empty.set()
            await self._more.wait()
            self._more, self._empty = anyio.Event(), anyio.Event()

    def _wrote(self, count: int) -> None:
        self._written = count

    def _give_up(self) -> None:
        missing = sum(len(line) for line, _ in self._lines) - self._written
        self._lines.clear()
        self._written = self.prompted = 0
        self._empty.set()
        if missing:
            self._undelivered(missing, self._broken)
