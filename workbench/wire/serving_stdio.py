"""The stdio transport, serving half: this process's own pipes, and one client that holds their ends.

The pipes are shared with whoever else holds them, and so is the setting that
makes them non-blocking. So it is left alone: a pipe that is ready is read once,
and written no more than it takes without blocking.

Source: "Transports: stdio", all revisions.
"""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.lowlevel import checkpoint

from workbench.core.frame import Ending
from workbench.core.lines import LineSplitter
from workbench.errors import UsageError
from workbench.wire.pipes import CHUNK
from workbench.wire.serving import LineClient, attend, let_go
from workbench.wire.tap import Tap
from workbench.wire.transport import Serve, Serving, Taps

#: What a pipe that is ready takes without blocking.
WRITE_BYTES = select.PIPE_BUF

#: A line longer than this is handed over in pieces: no row of a recording can hold more than 1 GB.
LONGEST_LINE = 512 * 1024 * 1024

#: How long a client has to read what is left when everything is over (seconds).
LAST_WORDS = 5.0

#: How long a reader waits before it asks again whether there is room (seconds).
_ROOM = 0.01


@asynccontextmanager
async def serve_stdio(
    address: str, serve: Serve, taps: Taps, *, stdin: int = 0, stdout: int = 1
) -> AsyncIterator[Serving]:
    """Serve whoever started this process, over the descriptors ``stdin`` and ``stdout``.

    There is one client, and its place has no name: ``address`` is empty, or ``-``.
    """
    if address not in ("", "-"):
        raise UsageError(f"a server over stdio has no address, and {address!r} was given; leave it away")
    tap = taps("")
    writer = _Writer(stdout, tap)
    client = LineClient("", tap, writer.add, writer.close)
    ended = anyio.Event()

    async def attended() -> None:
        await attend(serve, client)
        writer.close()
        with anyio.move_on_after(LAST_WORDS):
            await writer.done.wait()
        ended.set()

    async with anyio.create_task_group() as group:
        for work in (_read, writer.run, attended):
            group.start_soon(work, *((stdin, client) if work is _read else ()))
        try:
            yield Serving("-", ended)
        finally:
            with anyio.CancelScope(shield=True):
                await let_go(client.inbox, ended)
            group.cancel_scope.cancel()


async def _read(descriptor: int, client: LineClient) -> None:
    splitter = LineSplitter()
    while True:
        while not (client.inbox.has_room() and client.tap.sink.has_room()):
            await anyio.sleep(_ROOM)
        chunk = await _chunk(descriptor)
        if not chunk:
            break
        for line in splitter.feed(chunk):
            client.arrived(line)
        if splitter.pending > LONGEST_LINE:
            client.arrived(splitter.end() or b"", Ending.NONE)
    rest = splitter.end()
    if rest is not None:
        client.arrived(rest, Ending.NONE)
    client.tap.process("stdin_closed")
    client.inbox.close()


async def _chunk(descriptor: int) -> bytes:
    await _ready(anyio.wait_readable, descriptor)
    try:
        return os.read(descriptor, CHUNK)
    except OSError:
        return b""


async def _ready(wait: Callable[[int], Awaitable[None]], descriptor: int) -> None:
    await checkpoint()
    with suppress(PermissionError):  # a plain file: it cannot be waited for, and is always ready
        await wait(descriptor)


class _Writer:
    """Writes lines in order, in its own task. ``done`` is set when nothing more will be written."""

    def __init__(self, descriptor: int, tap: Tap) -> None:
        self.done = anyio.Event()
        self._descriptor = descriptor
        self._tap = tap
        self._lines: deque[bytes] = deque()
        self._more = anyio.Event()
        self._closing = False

    def add(self, line: bytes) -> None:
        self._lines.append(line + b"\n")
        if self.done.is_set():
            self._give_up("the client does not read any more")
        self._more.set()

    def close(self) -> None:
        """Let the client see the end of the stream after what is left."""
        self._closing = True
        self._more.set()

    async def run(self) -> None:
        try:
            while not (self._closing and not self._lines):
                while self._lines:
                    await self._write(self._lines[0])
                    self._lines.popleft()
                if not self._closing:
                    await self._more.wait()
                    self._more = anyio.Event()
        except OSError as error:
            self._give_up(error.strerror or "the pipe is broken")
        finally:
            _close(self._descriptor)
            self.done.set()

    async def _write(self, line: bytes) -> None:
        view = memoryview(line)
        while view:
            await _ready(anyio.wait_writable, self._descriptor)
            with suppress(BlockingIOError):
                view = view[os.write(self._descriptor, view[:WRITE_BYTES]) :]

    def _give_up(self, why: str) -> None:
        missing = sum(map(len, self._lines))
        self._lines.clear()
        self._tap.process("undelivered", bytes=missing, why=why)


def _close(descriptor: int) -> None:
    """End the stream; the number stays taken, so that it cannot come to mean another file."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
