"""A proxy within a test, and an origin that answers with the very bytes it is told to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.abc import SocketStream

from tests.wire.stage import MemorySink
from workbench.config import Target
from workbench.wire.proxy import open_proxy, origin_for
from workbench.wire.proxy_clients import Client
from workbench.wire.serving_server import listen
from workbench.wire.tap import Tap


class Recorded(MemorySink):
    """What a proxy has told. ``facts`` are what it said of each connection, by number."""

    def __init__(self) -> None:
        super().__init__()
        self.facts: dict[int, dict[str, Any]] = {}

    def new(self) -> Client:
        number = len(self.facts) + 1
        facts = self.facts[number] = {}
        return Client(Tap(self, number), lambda **told: facts.update(told))


@asynccontextmanager
async def before(
    url: str, *, hosts: tuple[str, ...] = (), headers: dict[str, str] | None = None
) -> AsyncIterator[tuple[str, Recorded]]:
    """A proxy before a URL: the URL that clients use, and what was told."""
    recorded = Recorded()
    origin = origin_for(Target(transport="http", url=url, headers=headers or {}), hosts)
    async with open_proxy(listen("127.0.0.1", 0), origin, recorded.new) as proxy:
        yield proxy.address, recorded


#: Answers one request: it gets its head and body, and the connection to write to.
Answers = Callable[[bytes, SocketStream], Awaitable[None]]


class Origin:
    """A server of raw bytes. ``got`` are the requests it had, whole; ``left`` is set when a client has gone."""

    def __init__(self, answers: Answers) -> None:
        self.port = 0
        self.got: list[bytes] = []
        self.left = anyio.Event()
        self._answers = answers

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    async def serve(self, stream: SocketStream) -> None:
        async with stream:
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                request = await read_message(stream)
                self.got.append(request)
                async with anyio.create_task_group() as group:
                    group.start_soon(self._watch, stream, group.cancel_scope)
                    await self._answers(request, stream)
                    group.cancel_scope.cancel()

    async def _watch(self, stream: SocketStream, scope: anyio.CancelScope) -> None:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await stream.receive()
        self.left.set()
        scope.cancel()


async def read_message(stream: SocketStream) -> bytes:
    """A request or an answer that says how long it is, as it stands on the wire."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += await stream.receive()
    head, _, body = data.partition(b"\r\n\r\n")
    size = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            size = int(line.partition(b":")[2])
    while len(body) < size:
        body += await stream.receive()
    return head + b"\r\n\r\n" + body


@asynccontextmanager
async def origin_of(answers: Answers | bytes) -> AsyncIterator[Origin]:
    """An origin on a free port. Bytes are sent as they are, and then the connection is closed."""

    async def same(_request: bytes, stream: SocketStream) -> None:
        assert isinstance(answers, bytes)
        await stream.send(answers)

    origin = Origin(same if isinstance(answers, bytes) else answers)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    origin.port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, origin.serve)
        try:
            yield origin
        finally:
            group.cancel_scope.cancel()


async def ask(url: str, request: bytes) -> bytes:
    """What comes back for a request of these bytes, to the end of the connection or of the answer."""
    host, _, port = url.partition("//")[2].partition("/")[0].partition(":")
    data = b""
    async with await anyio.connect_tcp(host, int(port)) as stream:
        await stream.send(request)
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            return await read_message(stream)
    return data


def answer(body: bytes, *lines: bytes, status: bytes = b"200 OK") -> bytes:
    """An answer with these header lines, and how long it is."""
    head = (b"HTTP/1.1 " + status, *lines, b"Content-Length: %d" % len(body), b"Connection: close")
    return b"\r\n".join(head) + b"\r\n\r\n" + body
