"""A transport within one process: two ends of a pair of queues, for tests and for plugins.

    async with serve_memory("weather", serve, taps): ...
    Target(transport="memory", url="weather")

Both ends belong to one event loop. The wire carries lines, as stdio does, so a
recording of it replays wherever a recording of stdio does.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from workbench.config import Target
from workbench.core.actions import Send
from workbench.core.frame import Direction
from workbench.errors import UsageError
from workbench.wire.command import NotStarted
from workbench.wire.serving import LineClient, attend, let_go
from workbench.wire.tap import Tap
from workbench.wire.transport import Peer, Serve, Serving, Taps, TransportKind

#: Who serves in this process, by address.
_SERVED: dict[str, _Place] = {}


class _Place:
    """An address at which clients are served."""

    def __init__(self, serve: Serve, taps: Taps, group: anyio.abc.TaskGroup) -> None:
        self._serve = serve
        self._taps = taps
        self._group = group
        self.clients: dict[LineClient, anyio.Event] = {}

    def come(self, lines: MemoryObjectSendStream[bytes]) -> LineClient:
        """A client comes; what is sent to it goes into ``lines``."""
        tap = self._taps("")

        def write(line: bytes) -> None:
            try:
                lines.send_nowait(line)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                tap.process("undelivered", bytes=len(line), why="the client is gone")

        client = LineClient("", tap, write, lines.close)
        ended = self.clients[client] = anyio.Event()
        self._group.start_soon(self._attend, client, ended)
        return client

    async def _attend(self, client: LineClient, ended: anyio.Event) -> None:
        await attend(self._serve, client)
        client.inbox.close()
        client.hang_up()
        del self.clients[client]
        ended.set()


@asynccontextmanager
async def serve_memory(address: str, serve: Serve, taps: Taps) -> AsyncIterator[Serving]:
    """Serve whoever connects to ``address`` (any text) within this process and loop."""
    if address in _SERVED:
        raise UsageError(f"somebody serves at {address!r} already; choose another name")
    async with anyio.create_task_group() as group:
        place = _SERVED[address] = _Place(serve, taps, group)
        try:
            yield Serving(address, anyio.Event())
        finally:
            del _SERVED[address]
            with anyio.CancelScope(shield=True):
                for client, ended in list(place.clients.items()):
                    await let_go(client.inbox, ended)
            group.cancel_scope.cancel()


class MemoryTransport:
    """The client's end."""

    def __init__(self, tap: Tap, peer: Peer, client: LineClient) -> None:
        self.over = anyio.Event()
        self.forced = ""
        self._tap = tap
        self._peer = peer
        self._client = client

    def send(self, send: Send) -> int:
        """Hand a body over; one that holds line ends becomes several lines."""
        first = 0
        for line in send.body.split(b"\n"):
            seq, _ = self._tap.message(Direction.TO_SERVER, line)
            first = first or seq
            self._client.arrived(line)
        return first

    def abandon(self, id_text: str) -> None:
        """Nothing: there is one stream for all."""

    async def read(self, lines: MemoryObjectReceiveStream[bytes]) -> None:
        """Tell what comes, until the other end is closed."""
        async with lines:
            async for line in lines:
                self._peer.received(*self._tap.message(Direction.TO_CLIENT, line))
        self._tap.process("stdout_closed")
        self.over.set()


@asynccontextmanager
async def open_memory(target: Target, tap: Tap, peer: Peer) -> AsyncIterator[MemoryTransport]:
    """Connect to whoever serves at the target's URL in this process. Raises ``NotStarted``."""
    place = _SERVED.get(target.url)
    if place is None:
        why = f"Nobody serves at {target.url!r} in this process."
        tap.process("start_failed", why=why)
        raise NotStarted(why, "Serve there first; another process cannot be reached in this way.")
    lines = anyio.create_memory_object_stream[bytes](math.inf)
    client = place.come(lines[0])
    transport = MemoryTransport(tap, peer, client)
    async with anyio.create_task_group() as group:
        group.start_soon(partial(transport.read, lines[1]))
        try:
            yield transport
        finally:
            tap.process("stdin_closed")
            group.cancel_scope.cancel()
            lines[1].close()
            client.inbox.close()


class _Memory:
    """The kind."""

    def connect(self, target: Target, tap: Tap, peer: Peer) -> AbstractAsyncContextManager[MemoryTransport]:
        return open_memory(target, tap, peer)

    def serve(self, address: str, serve: Serve, taps: Taps) -> AbstractAsyncContextManager[Serving]:
        return serve_memory(address, serve, taps)


TRANSPORT: TransportKind = _Memory()
