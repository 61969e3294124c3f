"""Which HTTP transport a URL speaks: streamable HTTP, or the older one with SSE.

The first request is POSTed. A server of the older transport refuses that, so
the URL is then asked for a stream, and if its first event is an ``endpoint``, the
same conversation goes on there with the same request. A refusal for want of
authorization, or in the words of the stateless era, is what it is.

Source: "Streamable HTTP: backwards compatibility", 2025-03-26 to 2026-07-28.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio

from workbench.config import Target
from workbench.core.actions import Send
from workbench.core.jsonrpc import Decoded
from workbench.core.methods import REVISIONS
from workbench.core.probing import judge
from workbench.wire.http import HttpTransport, open_http
from workbench.wire.http_authorizing import authorization_of
from workbench.wire.http_clients import http_clients
from workbench.wire.http_errors import Trouble
from workbench.wire.sse_client import SseTransport, sse_transport
from workbench.wire.tap import Tap
from workbench.wire.transport import Peer, Serve, Serving, Taps, Transport, TransportKind

#: Statuses with which a server of the older transport refuses a POST to the URL of its stream.
OLDER = frozenset((400, 404, 405))


class DetectingTransport:
    """Streamable HTTP, until ``initialize`` is refused and the older transport goes on with it."""

    def __init__(self, http: HttpTransport, sse: SseTransport, tap: Tap) -> None:
        self.over = anyio.Event()
        self.forced = ""
        self._sse = sse
        self._tap = tap
        self._now: Transport = http
        http.otherwise = self._otherwise

    def send(self, send: Send) -> int:
        return self._now.send(send)

    def abandon(self, id_text: str) -> None:
        self._now.abandon(id_text)

    async def _otherwise(self, send: Send, status: int, decoded: Decoded, trouble: Trouble) -> bool:
        if not may_be_older(status, decoded) or await self._sse.reach(first=True) is not None:
            return False
        self._tap.process("fallback", to="sse", why=trouble.why)
        self._now = self._sse
        self._sse.send(send)
        return True


def may_be_older(status: int, decoded: Decoded) -> bool:
    """Whether a refusal of ``initialize`` may come from a server of the older transport: not if it
    speaks of authorization, nor in the words of the stateless era."""
    return status in OLDER and not any(
        judge(message, REVISIONS[-1:], status).era == "modern" for message in decoded.messages
    )


@asynccontextmanager
async def open_detecting(target: Target, tap: Tap, peer: Peer) -> AsyncIterator[DetectingTransport]:
    """Speak to a target's server, whichever transport it has. Raises ``NotStarted``."""
    async with http_clients() as clients:
        authorization = authorization_of(target, tap, peer, clients)
        async with (
            sse_transport(target, tap, peer, clients, authorization) as sse,
            open_http(target, tap, peer, clients, authorization) as http,
        ):
            yield DetectingTransport(http, sse, tap)


class _Http:
    """The kind: ``connect`` finds out what a URL speaks, ``serve`` speaks all of it."""

    def connect(
        self, target: Target, tap: Tap, peer: Peer
    ) -> AbstractAsyncContextManager[DetectingTransport]:
        return open_detecting(target, tap, peer)

    def serve(self, address: str, serve: Serve, taps: Taps) -> AbstractAsyncContextManager[Serving]:
        from workbench.wire.serving_http import serve_http

        return serve_http(address, serve, taps)


TRANSPORT: TransportKind = _Http()
