"""One HTTP request and its answer, told to the sink as a ``Stream`` at every step."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

import anyio

from workbench.core.frame import Stream
from workbench.wire.http_errors import HTTP_ERRORS, HttpFailed, Trouble, trouble_of
from workbench.wire.http_library import httpx
from workbench.wire.tap import Tap

#: How long a reader waits before it asks again whether the sink has room (seconds).
_ROOM = 0.01

#: What an SSE stream begins with, and types that are never one whatever they begin with.
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
NO_EVENTS = frozenset(("application/json", "text/html"))


class Outgoing:
    """A request that has been told to the sink, and what is known of its answer."""

    def __init__(self, tap: Tap, request: httpx.Request, number: int = 0) -> None:
        self.request = request
        self.number = number or tap.sink.new_stream()
        self.how = "failed"
        #: Whether all of it has been handed to the network, and whether over a new connection.
        self.sent = False
        self.connected = False
        self._tap = tap
        self._told = Stream(
            self.number,
            tap.connection,
            request.method,
            str(request.url),
            plain(request.headers),
            tap.wall_ns(),
        )
        tap.stream(self._told)

    def belongs_to(self, tap: Tap) -> None:
        """It turns out to be another connection's."""
        self._tap = tap
        self._told = self._told._replace(connection=tap.connection)
        tap.stream(self._told)

    def has_room(self) -> bool:
        """Whether the sink has. An acknowledgement is read also while too many of them are awaited."""
        return self._tap.sink.has_room()

    async def trace(self, event: str, _info: dict[str, Any]) -> None:
        """Called by httpx at every step."""
        if event.endswith(".send_request_body.complete"):
            self.sent = True
        elif event == "connection.connect_tcp.started":
            self.connected = True

    def answered(self, response: httpx.Response) -> None:
        """The head of the answer has come."""
        self.how = "closed"
        self._told = self._told._replace(
            status=response.status_code,
            response_headers=plain(response.headers),
            encoding=response.headers.get("content-encoding", ""),
        )
        self._tap.stream(self._told)

    def closed(self, wire_bytes: int | None = None) -> None:
        """Nothing more comes of it, which is told once. ``wire_bytes`` counts where the body was encoded."""
        if self._told.closed_how:
            return
        size = wire_bytes if self._told.encoding else None
        self._told = self._told._replace(closed_ns=self._tap.wall_ns(), closed_how=self.how, wire_bytes=size)
        self._tap.stream(self._told)


def plain(headers: httpx.Headers) -> tuple[tuple[str, str], ...]:
    """Headers as they stand on the wire, as text."""
    return tuple(
        (name.decode("latin-1"), value.decode("utf-8", "surrogateescape")) for name, value in headers.raw
    )


def begins_events(body: bytes) -> bool:
    """Whether a body begins as an SSE stream does."""
    return body.startswith(_FIELDS)


class Answer:
    """The answer to a request: its head is here, its body comes."""

    def __init__(self, response: httpx.Response, outgoing: Outgoing, has_room: Callable[[], bool]) -> None:
        self.status = response.status_code
        self.headers = response.headers
        self.url = response.request.url
        self.stream = outgoing.number
        self.media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        self._response = response
        self._outgoing = outgoing
        self._has_room = has_room
        self._source = self._pieces()
        self._first: bytes | None = None

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_events(self) -> bool:
        return self.succeeded and self.media == "text/event-stream"

    async def carries_events(self) -> bool:
        """Whether the body is an SSE stream. Some servers send one under another type: where the type
        says nothing else, the first bytes decide. Raises ``HttpFailed``."""
        if not self.succeeded or self.media in NO_EVENTS:
            return False
        if not self.is_events and self._first is None:
            self._first = await anext(self._source, b"")
        return self.is_events or begins_events(self._first or b"")

    async def chunks(self, has_room: Callable[[], bool] | None = None) -> AsyncGenerator[bytes, None]:
        """The body, decoded, as it comes; pauses while there is no room. Raises ``HttpFailed`` when
        it breaks off."""
        has_room = has_room or self._has_room
        if self._first:
            yield self._first
        async for piece in self._source:
            yield piece
            while not has_room():
                await anyio.sleep(_ROOM)

    async def _pieces(self) -> AsyncGenerator[bytes, None]:
        try:
            async for piece in self._response.aiter_bytes():
                yield piece
        except HTTP_ERRORS as error:
            self._outgoing.how = "cut"
            raise HttpFailed(trouble_of(self.url, error, answered=True)) from error
        self._outgoing.how = "end"

    async def body(self, longest: int) -> tuple[bytes, Trouble | None]:
        """The whole body, or its first ``longest`` bytes; with what cut it short, if anything did."""
        pieces: list[bytes] = []
        size = 0
        try:
            async for piece in self.chunks(self._outgoing.has_room):
                pieces.append(piece)
                size += len(piece)
                if size >= longest:
                    why = f"The answer is longer than {longest:,} bytes; the rest was not read."
                    return b"".join(pieces), Trouble(why, "Ask for less at once.")
        except HttpFailed as failure:
            return b"".join(pieces), failure.trouble
        return b"".join(pieces), None
