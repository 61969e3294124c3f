"""One end of a pipe on the event loop: read chunks, write bodies, never block.

asyncio's stream readers stop at 64 KiB a line and its transports keep buffers of
their own; a debugger wants neither. These read and write the descriptor itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import anyio
from anyio.lowlevel import checkpoint

from workbench.core.frame import Ending
from workbench.core.lines import LineSplitter
from workbench.wire.turns import Turn, take_all

#: What is read at once. It is also what a Linux pipe holds.
CHUNK = 64 * 1024

#: How long a reader waits before it asks again whether the sink has room (seconds).
_ROOM = 0.01

#: Takes a line and how it ended.
TakeLine = Callable[[bytes, Ending], None]


async def read_chunk(descriptor: int) -> bytes:
    """The next bytes of a pipe, ``b""`` at its end. Other tasks always get their turn."""
    await checkpoint()
    while True:
        try:
            return os.read(descriptor, CHUNK)
        except BlockingIOError:
            await anyio.wait_readable(descriptor)
        except OSError:
            return b""


async def read_lines(
    descriptor: int,
    take: TakeLine,
    has_room: Callable[[], bool],
    longest: int,
    turn: Turn,
    heard: Callable[[], None] = lambda: None,
) -> None:
    """Give every line of a pipe to ``take``, until the pipe ends. ``heard`` is called for whatever
    comes, before it is a line.

    A line of more than ``longest`` bytes is given in pieces (``Ending.NONE``), so that a peer
    that never ends its line cannot take all memory. Reading pauses while there is no room.
    """
    splitter = LineSplitter()

    def take_line(line: bytes) -> None:
        take(line, Ending.LF)

    while True:
        while not has_room():
            await anyio.sleep(_ROOM)
        chunk = await read_chunk(descriptor)
        if not chunk:
            break
        heard()
        await take_all(splitter.feed(chunk), take_line, turn)
        if splitter.pending > longest:
            take(splitter.end() or b"", Ending.NONE)
    rest = splitter.end()
    if rest is not None:
        take(rest, Ending.NONE)


async def write_all(descriptor: int, body: bytes, progress: Callable[[int], None]) -> None:
    """Write a body; ``progress`` is told after each write how many bytes of it are out.
    Raises ``OSError`` when the other side is gone."""
    view = memoryview(body)
    written = 0
    await checkpoint()
    while written < len(view):
        try:
            written += os.write(descriptor, view[written : written + CHUNK])
        except BlockingIOError:
            await anyio.wait_writable(descriptor)
            continue
        progress(written)
        if written < len(view):
            await checkpoint()
