"""A reverse proxy that records: stands before an HTTP server, and passes on whatever comes.

    async with open_proxy(listen("127.0.0.1", 0), origin_for(target), new_client) as proxy:
        ...  # proxy.address is the URL to give to clients

What it promises:

* Everything is passed on as it comes and as it is: a piece of an answer before the next one is there, an
  encoded body as it was encoded. What must change is in ``proxy_heads``, and that is all.
* Each request is sent once. Whoever wants it sent again sends it again.
* Frames are told before what they tell of is passed on, so the order of a recording is the order of
  what each side could know.
* When a client leaves, the server sees that at once.

Source: RFC 9110, 7.6 ("Message Forwarding"); "Streamable HTTP", 2025-03-26 to 2026-07-28.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

import anyio

from workbench.config import Target
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Decoded, decode, error
from workbench.wire.decoding import Decoder
from workbench.wire.http_clients import HttpClients, http_clients
from workbench.wire.http_errors import HTTP_ERRORS, Trouble, trouble_of
from workbench.wire.http_library import httpx
from workbench.wire.http_target import check_headers, spoken_to
from workbench.wire.proxy_clients import Asked, Client, Clients
from workbench.wire.proxy_heads import FirstEvent, downwards, upwards
from workbench.wire.proxy_inbound import ClientLeft, Inbound
from workbench.wire.proxy_passage import Passage
from workbench.wire.serving_exchange import Refused
from workbench.wire.serving_gate import check_origin
from workbench.wire.serving_server import address_of, running

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

#: How long a connection to the server is kept for the next request (seconds): less than servers do, of
#: which many wait for 5, because a request that meets a closing connection cannot be sent again.
KEPT = 2.0

#: An answer up to this size, if it says so, is passed on as one packet with its head (bytes).
SHORT = 64 * 1024

#: How long closing a connection may take that is not read to its end (seconds).
_CLOSING = 1.0

#: How long is waited before it is asked again whether the sink has room (seconds).
_ROOM = 0.01


class Origin(NamedTuple):
    """The server. ``url`` is what clients want of it; ``headers`` are put into every request, ``hosts``
    are names by which the proxy may be called, ``anywhere`` lets other machines come."""

    url: httpx.URL
    headers: Mapping[str, str] = {}
    hosts: tuple[str, ...] = ()
    anywhere: bool = False


def origin_for(target: Target, hosts: tuple[str, ...] = (), anywhere: bool = False) -> Origin:
    """The origin of a target's URL. Raises ``NotStarted`` for what is none."""
    url, headers = spoken_to(target)
    check_headers(headers)
    return Origin(url, headers, hosts, anywhere)


class Proxy:
    """An ASGI application. ``address`` is what clients use in place of the server's URL."""

    def __init__(self, origin: Origin, ours: str, clients: Clients, http: HttpClients) -> None:
        self._origin = origin
        self._ours = ours
        self._clients = clients
        self._http = http.of(origin.url)
        #: Those whose answer has no end of its own.
        self._streaming: set[anyio.CancelScope] = set()

    @property
    def address(self) -> str:
        return self._ours + self._origin.url.raw_path.decode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        inbound = Inbound(scope, receive, send)
        try:
            check_origin(inbound, self._origin.hosts, self._origin.anywhere)
            body = await inbound.read()
            async with anyio.create_task_group() as group:
                group.start_soon(_watch, inbound, group.cancel_scope)
                try:
                    await self._pass(inbound, body, group.cancel_scope)
                finally:
                    self._streaming.discard(group.cancel_scope)
                group.cancel_scope.cancel()
        except ClientLeft:
            pass  # nothing was sent on, so nothing has happened
        except Refused as refused:
            await inbound.refuse(refused.status, refused.body, refused.headers)

    def leave(self) -> None:
        """End the streams, which would go on for ever."""
        for scope in list(self._streaming):
            scope.cancel()

    async def _pass(self, inbound: Inbound, body: bytes, scope: anyio.CancelScope) -> None:
        target = inbound.target.encode("latin-1")
        try:
            url = self._origin.url.copy_with(raw_path=b"/" if target == b"*" else target)
        except (httpx.InvalidURL, ValueError):
            raise Refused(400, f"{inbound.target[:200]!r} is no path; ask for one of the server.") from None
        headers = upwards(inbound.headers, url, self._origin.headers.items())
        content = body if body or inbound.verb == "POST" else None
        request = httpx.Request(inbound.verb, url, headers=headers, content=content)
        # As it was written: httpx has its own spelling of what need not be escaped.
        request.extensions["target"] = target
        passage = self._begin(inbound, request, body)
        try:
            response = await self._http.send(request, stream=True)
        except HTTP_ERRORS as failure:
            await self._refuse(inbound, passage, trouble_of(url, failure))
            return
        except BaseException:
            passage.left()
            raise
        try:
            passage.answered(response)
            if passage.frames.events:
                self._streaming.add(scope)
            await self._answer(inbound, passage, response)
        except BaseException:
            passage.left()
            raise
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSING):
                await response.aclose()
            passage.closed(response.num_bytes_downloaded)

    def _begin(self, inbound: Inbound, request: httpx.Request, body: bytes) -> Passage:
        text = b"".join(Decoder(inbound.header("content-encoding")).feed(body))
        asked = Asked(
            inbound.verb,
            inbound.target,
            inbound.header("mcp-session-id"),
            inbound.header("mcp-protocol-version"),
            "text/event-stream" in inbound.header("accept"),
            (inbound.host, inbound.header("user-agent")),
            decode(text) if text else Decoded(Kind.HTTP, ()),
        )
        of_protocol = bool(asked.session or asked.version or asked.decoded.messages) or (
            inbound.target == self._origin.url.raw_path.decode("ascii")
        )
        passage = Passage(asked, self._clients, request, inbound.header("last-event-id"), of_protocol)
        passage.asked(text)
        return passage

    async def _refuse(self, inbound: Inbound, passage: Passage, trouble: Trouble) -> None:
        passage.failed(trouble)
        sentence = f"{trouble.why} {trouble.next}".strip()
        await inbound.refuse(502, error(passage.id, -32000, sentence))

    async def _answer(self, inbound: Inbound, passage: Passage, response: httpx.Response) -> None:
        asked = response.request.url
        headers = downwards(response.headers.raw, asked, self._origin.url, self._ours)
        reason = response.extensions.get("reason_phrase")
        frames = passage.frames
        left = _length(response)
        # What says how long it is, and is short, has its body at hand.
        together = 0 <= left <= SHORT and not frames.events
        await inbound.head(response.status_code, headers, reason, together=together)
        rewrites = passage.may_be_older and not response.headers.get("content-encoding")
        first = FirstEvent(asked, self._origin.url, self._ours) if rewrites else None
        try:
            async for chunk in response.aiter_raw():
                events = frames.feed(chunk)
                left -= len(chunk)
                if left == 0:
                    # The client will have all of it, and may act on it.
                    frames.end()
                if first is not None and not first.over:
                    chunk = first.take(chunk, events)
                if chunk:
                    await inbound.write(chunk)
                while not frames.tap.sink.has_room():
                    await anyio.sleep(_ROOM)
        except HTTP_ERRORS as failure:
            await inbound.write(first.rest() if first is not None else b"")
            passage.cut(trouble_of(asked, failure, answered=True))
            return  # without an end, which the client will see as what it is
        passage.ended()
        await inbound.finish(first.rest() if first is not None else b"")


async def _watch(inbound: Inbound, scope: anyio.CancelScope) -> None:
    await inbound.left()
    scope.cancel()


def _length(response: httpx.Response) -> int:
    """How many bytes come, -1 where that is not said."""
    text = response.headers.get("content-length", "")
    return int(text) if text.isdecimal() and len(text) < 19 else -1


@asynccontextmanager
async def open_proxy(
    listening: socket.socket, origin: Origin, new: Callable[[], Client]
) -> AsyncIterator[Proxy]:
    """Stand before a server, at a socket that listens; ``new`` makes a client of the recording.

    Raises ``NotStarted`` where the environment does not let HTTP be used. Leaving the context ends what
    is under way.
    """
    clients = Clients(new)
    async with http_clients(KEPT) as http:
        proxy = Proxy(origin, address_of(listening), clients, http)
        try:
            async with running(proxy, listening):
                try:
                    yield proxy
                finally:
                    proxy.leave()
        finally:
            clients.end()
