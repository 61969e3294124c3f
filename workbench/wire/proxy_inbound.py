"""A client's request as it came in, and the way back to that client."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from workbench.wire.serving_exchange import LARGEST_BODY, Refused
from workbench.wire.serving_server import Wire

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

Raw = list[tuple[bytes, bytes]]


def _path_of(target: bytes) -> bytes:
    """Path and query of a request's target, which may be a whole URL (RFC 9112, 3.2)."""
    if target[:7].lower() in (b"http://", b"https:/"):
        rest = target.partition(b"//")[2]
        target = b"/" + rest.partition(b"/")[2]
    return target


class ClientLeft(Exception):
    """The client has closed its connection before its request was whole."""


class Inbound:
    """``headers`` are as they were written; ``target`` is path and query, in their own spelling.
    ``begun`` tells that the head of the answer is written."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.verb: str = scope["method"]
        self.begun = False
        self._wire: Wire = scope["state"]["wire"]
        self.headers: Raw = list(self._wire.headers)
        query: bytes = scope["query_string"]
        path: bytes = scope["raw_path"]
        self.target = _path_of(path + b"?" + query if query else path).decode("latin-1")
        client = scope.get("client")
        self.host = str(client[0]) if client else ""
        self._receive = receive
        self._send = send

    def header(self, name: str) -> str:
        """A header's value, the last one's where there are several, empty where there is none."""
        values = self.all(name)
        return values[-1] if values else ""

    def all(self, name: str) -> list[str]:
        wanted = name.encode("ascii")
        return [value.decode("latin-1") for given, value in self.headers if given.lower() == wanted]

    async def read(self) -> bytes:
        """The body. Raises ``Refused`` where it is too large or asks for no path, and ``ClientLeft``."""
        if not self.target.startswith("/") and self.target != "*":
            raise Refused(400, f"There is no path in {self.target[:200]!r}; ask for a path of the server.")
        parts: list[bytes] = []
        size = 0
        while True:
            event = await self._receive()
            if event["type"] == "http.disconnect":
                raise ClientLeft
            part: bytes = event.get("body", b"")
            size += len(part)
            if size > LARGEST_BODY:
                raise Refused(413, f"The body is larger than {LARGEST_BODY} bytes; send less at once.")
            parts.append(part)
            if not event.get("more_body", False):
                return b"".join(parts)

    async def left(self) -> None:
        """Wait until the client has gone, or has all of its answer."""
        while (await self._receive())["type"] != "http.disconnect":
            await anyio.lowlevel.checkpoint()

    # The answer

    async def head(
        self, status: int, headers: Raw, reason: bytes | None = None, *, together: bool = False
    ) -> None:
        """Write the head; ``together`` with the first of what comes after it, which must come soon."""
        self._wire.reason = reason
        self._wire.together = together
        self.begun = True
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def write(self, data: bytes) -> None:
        """Waits while the client does not read."""
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def finish(self, data: bytes = b"") -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": False})

    async def refuse(self, status: int, body: bytes, headers: tuple[tuple[str, str], ...] = ()) -> None:
        """Answer by ourselves, with JSON."""
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        size = str(len(body)).encode()
        more = [(b"content-type", b"application/json"), (b"content-length", size)]
        await self.head(status, raw + more, together=True)
        await self.finish(body)
