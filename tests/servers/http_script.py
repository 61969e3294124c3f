"""An HTTP server that sends exactly the bytes a test gives it, and remembers what it was asked.

``serve_http`` takes a table: a JSON-RPC method, or ``GET``, ``DELETE`` or ``POST`` for the rest, and
what to answer. An answer is the bytes themselves (``reply`` makes usual ones), a function that makes
them of what was asked, or an async function that writes them piece by piece; a list holds one for each
time, and its last one for all times after. What the table does not name is answered as a plain server
does: ``initialize`` with a session, a notification with 202, GET with 405, DELETE with 200.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import anyio
from anyio.abc import SocketStream

SESSION = "session-1"

#: What a server says when the test does not care.
RESULT = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "scripted", "version": "1"},
}


class Asked(NamedTuple):
    """A request as it came. Header names are in lower case; ``order`` has them as they stood."""

    verb: str
    path: str
    headers: dict[str, str]
    body: bytes
    order: tuple[tuple[str, str], ...]

    @property
    def message(self) -> Any:
        """The body's JSON, ``{}`` if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return {}

    @property
    def method(self) -> str:
        message = self.message
        return str(message.get("method", "")) if isinstance(message, dict) else ""

    @property
    def id(self) -> Any:
        return self.message.get("id")


class Wire:
    """The connection a request came on. An answer written by hand ends it, unless ``keep`` is set."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.keep = False

    async def write(self, *pieces: bytes) -> None:
        """Each piece by itself, so that the client sees it as soon as it is sent."""
        for piece in pieces:
            await self._stream.send(piece)
            await anyio.lowlevel.checkpoint()

    async def gone(self) -> None:
        """Wait until the client has closed the connection."""
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            while True:
                await self._stream.receive()

    def reset(self) -> None:
        """Let the connection end with a reset instead of an end."""
        raw = self._stream.extra(anyio.abc.SocketAttribute.raw_socket)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


Written = Callable[[Asked, Wire], Awaitable[None]]
Answer = bytes | Callable[[Asked], bytes] | Written | Sequence[Any]
Table = Mapping[str, Answer]


class Site:
    """A server at work. ``asked`` is everything it was asked, ``connections`` how many were made."""

    def __init__(self, table: Table, scheme: str) -> None:
        self.url = ""
        self.port = 0
        self.scheme = scheme
        self.asked: list[Asked] = []
        self.connections = 0
        self._table = dict(table)
        self._times: dict[str, int] = {}

    def of(self, key: str) -> list[Asked]:
        """What was asked with this verb or method."""
        return [each for each in self.asked if key in (each.verb, each.method)]

    def headers(self, key: str, name: str) -> list[str | None]:
        """A header of everything that was asked with a verb or method."""
        return [each.headers.get(name.lower()) for each in self.of(key)]

    def answer(self, asked: Asked) -> Any:
        for key in (asked.method, asked.verb):
            if key and key in self._table:
                answer = self._table[key]
                if isinstance(answer, (bytes, bytearray)) or callable(answer):
                    return answer
                time = self._times[key] = self._times.get(key, 0) + 1
                return answer[min(time, len(answer)) - 1]
        return plain(asked)

    async def handle(self, stream: SocketStream) -> None:
        self.connections += 1
        with suppress(anyio.BrokenResourceError, anyio.EndOfStream, anyio.ClosedResourceError):
            async with stream:
                reader = _Reader(stream)
                while (asked := await reader.request()) is not None:
                    self.asked.append(asked)
                    if not await self._answered(asked, Wire(stream)):
                        break

    async def _answered(self, asked: Asked, wire: Wire) -> bool:
        return await write_answer(self.answer(asked), asked, wire)


async def write_answer(answer: Any, asked: Asked, wire: Wire) -> bool:
    """Write one answer, of any kind but a list; returns whether the connection goes on."""
    if not isinstance(answer, bytes) and _is_written(answer):
        await answer(asked, wire)
        return wire.keep
    content: bytes = answer if isinstance(answer, bytes) else answer(asked)
    await wire.write(content)
    return b"connection: close" not in content.partition(b"\r\n\r\n")[0].lower()


def _is_written(answer: Any) -> bool:
    return bool(answer.__code__.co_flags & 0x80)  # a coroutine function


class _Reader:
    """Requests, one after the other, from what a connection brings."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._rest = b""

    async def request(self) -> Asked | None:
        while b"\r\n\r\n" not in self._rest:
            try:
                self._rest += await self._stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return None
            if not self._rest[:1].isalpha():  # no HTTP, but TLS
                return None
        head, _, self._rest = self._rest.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        order = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines))
        headers = {name.lower(): value for name, value in order}
        size = int(headers.get("content-length", "0"))
        while len(self._rest) < size:
            self._rest += await self._stream.receive()
        body, self._rest = self._rest[:size], self._rest[size:]
        verb, path, _ = first.split(" ", 2)
        return Asked(verb, path, headers, body, order)


# Answers


def reply(status: int = 200, body: bytes | str = b"", /, **headers: str) -> bytes:
    """A whole answer; ``content_type="text/html"`` makes a header of that name."""
    content = body.encode() if isinstance(body, str) else body
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    if status not in (202, 204) or content:
        fields.setdefault("content-length", str(len(content)))
    elif status == 202:
        fields.setdefault("content-length", "0")
    return head(status, fields) + content


def head(status: int, headers: Mapping[str, str]) -> bytes:
    """The head of an answer."""
    lines = [f"HTTP/1.1 {status} Because", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def message(asked: Asked, result: Any = None, **members: Any) -> bytes:
    """The JSON of an answer to what was asked; ``members`` replace its own."""
    value = {"jsonrpc": "2.0", "id": asked.id, "result": {} if result is None else result} | members
    return json.dumps({name: each for name, each in value.items() if each is not ...}).encode()


def as_json(asked: Asked, result: Any = None, **headers: str) -> bytes:
    """A usual answer as JSON."""
    return reply(200, message(asked, result), content_type="application/json", **headers)


def said(text: str) -> dict[str, Any]:
    """The result of a tool that says something."""
    return {"content": [{"type": "text", "text": text}]}


def tells(text: str) -> Callable[[Asked], bytes]:
    """An answer to ``tools/call`` with this text."""
    return lambda asked: as_json(asked, said(text))


#: The head of a stream that lasts until the connection ends.
EVENTS = head(200, {"content-type": "text/event-stream", "connection": "close"})

#: The same, where an end that the server did not mean is seen as such.
CHUNKED = head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})


def chunk(data: bytes) -> bytes:
    """A piece of a chunked answer; ``b""`` is its end."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def event(data: bytes | str = b"", **fields: Any) -> bytes:
    """An event: its fields, then its data."""
    content = data.encode() if isinstance(data, str) else data
    lines = [f"{name}: {value}\n".encode() for name, value in fields.items()]
    return b"".join(lines) + b"data: " + content + b"\n\n"


def streams(*events: Callable[[Asked], bytes] | bytes) -> Callable[[Asked], bytes]:
    """An SSE answer of these events, after which the stream ends."""
    return lambda asked: (
        EVENTS + b"".join(each if isinstance(each, bytes) else each(asked) for each in events)
    )


def answer_event(text: str, **fields: Any) -> Callable[[Asked], bytes]:
    """The answer to a ``tools/call`` as an event."""
    return lambda asked: event(message(asked, said(text)), **fields)


def plain(asked: Asked) -> bytes:
    """What a plain server answers."""
    if asked.verb == "GET":
        return reply(405)
    if asked.verb == "DELETE":
        return reply(200)
    if asked.method == "initialize":
        return as_json(asked, RESULT, Mcp_Session_Id=SESSION)
    if asked.method == "tools/list":
        return as_json(asked, {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})
    if "id" in asked.message and asked.method:
        return as_json(asked)
    return reply(202)


@asynccontextmanager
async def serve_http(table: Table | None = None, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    """Serve the table on a free port of 127.0.0.1 while the context lasts."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    site = Site(table or {}, "https" if tls else "http")
    site.port = listener.extra(anyio.abc.SocketAttribute.local_port)
    site.url = f"{site.scheme}://127.0.0.1:{site.port}/mcp"
    served: Any = listener
    if tls is not None:
        from anyio.streams.tls import TLSListener

        served = TLSListener(listener, tls, standard_compatible=False)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(served.serve, site.handle)
        try:
            yield site
        finally:
            group.cancel_scope.cancel()
