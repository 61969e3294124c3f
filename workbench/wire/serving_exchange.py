"""One HTTP request that a client made of us, and our answer to it, tapped below the parser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.core.frame import Channel, Direction, Stream
from workbench.core.jsonrpc import Decoded, dumps, error
from workbench.core.sse import write_event
from workbench.wire.tap import Tap
from workbench.wire.transport import Headers

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

#: The body of one request, in bytes; a larger one is refused with 413.
LARGEST_BODY = 256 * 1024 * 1024

JSON = "application/json"
EVENTS = "text/event-stream"

#: What ends a line in an event stream, so that it cannot stand in one.
_LINE_ENDS = re.compile(rb"\r\n|\r|\n")

#: What an event stream is sent with. Proxies must pass events on as they come.
EVENT_HEADERS: Headers = (
    ("content-type", EVENTS),
    ("cache-control", "no-cache, no-transform"),
    ("x-accel-buffering", "no"),
)


class Refused(Exception):
    """A request is not taken: an HTTP status, and a JSON-RPC error that says why."""

    def __init__(
        self,
        status: int,
        why: str,
        *,
        code: int = -32000,
        id_text: str | None = None,
        data: str | None = None,
        headers: Headers = (),
    ) -> None:
        super().__init__(why)
        self.status = status
        self.body = error(id_text, code, why, data)
        self.headers = headers


class Exchange:
    """A request and its answer. ``begin`` says whose it is; from then on it is a stream.

    ``headers`` are the request's in their order, ``begun`` tells that the answer's head is written.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.requests import Request

        self.verb: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope["query_string"]
        self.headers: Headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]
        )
        self.begun = False
        self.number = 0
        self.tap: Tap | None = None
        self._request = Request(scope, receive)
        self._receive = receive
        self._send = send
        self._cut: Callable[[], None] = scope["state"]["wire"].cut
        self._stream: Stream | None = None
        self._more: Headers = ()
        self._ending = False

    @property
    def cut(self) -> bool:
        """Whether the client left before the answer was complete."""
        return self._stream is not None and self._stream.closed_how == "cut"

    def header(self, name: str) -> str | None:
        """The value of a request header, the last one's where there are several."""
        values = self.all(name)
        return values[-1] if values else None

    def all(self, name: str) -> list[str]:
        return [value for given, value in self.headers if given.lower() == name]

    async def read(self) -> bytes:
        """The request's body. Raises ``Refused`` where it is too large."""
        parts: list[bytes] = []
        size = 0
        async for part in self._request.stream():
            size += len(part)
            if size > LARGEST_BODY:
                raise Refused(413, f"The body is larger than {LARGEST_BODY} bytes; send less at once.")
            parts.append(part)
        return b"".join(parts)

    def begin(self, tap: Tap) -> int:
        """Make it a stream of this tap; returns its number."""
        self.tap = tap
        self.number = tap.sink.new_stream()
        self._tell(
            Stream(
                self.number, tap.connection, self.verb, str(self._request.url), self.headers, tap.wall_ns()
            )
        )
        return self.number

    def take(self, body: bytes) -> tuple[int, Decoded]:
        """Tap the request's body; returns its frame's ``seq`` and what it holds."""
        assert self.tap is not None
        return self.tap.message(Direction.TO_SERVER, body, channel=Channel.HTTP, stream=self.number)

    async def left(self) -> None:
        """Wait until the client has left, after the body was read."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if not self._ending:
            self.closed("cut")

    def tell(self, state: str, status: int | None = None) -> None:
        """Tell what becomes of a stream that is there for long: ``open``, ``closed`` or ``lost``."""
        assert self.tap is not None
        more = {} if status is None else {"status": status}
        self.tap.process("stream", stream=self.number, verb=self.verb, state=state, **more)

    # The answer

    async def respond(self, status: int, body: bytes = b"", headers: Headers = ()) -> None:
        """Answer with a whole body (JSON, unless the headers say otherwise). What is taken without a
        word is told by its status alone."""
        assert self.tap is not None
        if body and not any(name.lower() == "content-type" for name, _ in headers):
            headers = (*headers, ("content-type", JSON))
        await self.head(status, (*headers, ("content-length", str(len(body)))))
        if body or status >= 300:
            self.tap.message(Direction.TO_CLIENT, body, channel=Channel.HTTP, stream=self.number)
        await self._finish(body, "end")

    async def refuse(self, refused: Refused) -> None:
        await self.respond(refused.status, refused.body, refused.headers)

    def add(self, name: str, value: str) -> None:
        """Put one more header into the answer's head."""
        self._more = (*self._more, (name, value))

    async def open_events(self) -> None:
        """Begin an event stream."""
        await self.head(200, EVENT_HEADERS)

    async def head(self, status: int, headers: Headers) -> None:
        """Write the answer's head."""
        assert self._stream is not None
        self.begun = True
        headers = (*headers, *self._more)
        self._tell(self._stream._replace(status=status, response_headers=headers))
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})

    async def event(
        self, body: bytes, name: str | None, identity: str | None, retry: int | None = None
    ) -> None:
        """Write an event of an event stream."""
        assert self.tap is not None
        body = b"\n".join(_LINE_ENDS.split(body))
        fields = {"name": name, "id": identity, "retry": retry}
        fields = {field: value for field, value in fields.items() if value is not None}
        event = dumps(fields) if fields else None
        self.tap.message(Direction.TO_CLIENT, body, channel=Channel.SSE, stream=self.number, event=event)
        data = write_event(body, fields)
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    def abort(self) -> None:
        """Break the connection, whatever has been answered by now."""
        self._ending = True
        self.closed("cut" if self.begun else "failed")
        self._cut()

    async def finish(self, how: str = "end") -> None:
        """End the answer."""
        await self._finish(b"", how)

    async def _finish(self, body: bytes, how: str) -> None:
        self._ending = True
        await self._send({"type": "http.response.body", "body": body, "more_body": False})
        self.closed(how)

    def closed(self, how: str) -> None:
        """The answer is over, in one of the ways of ``Stream.closed_how``."""
        assert self.tap is not None
        assert self._stream is not None
        if not self._stream.closed_how:
            self._tell(self._stream._replace(closed_ns=self.tap.wall_ns(), closed_how=how))

    def _tell(self, stream: Stream) -> None:
        assert self.tap is not None
        self._stream = stream
        self.tap.stream(stream)
