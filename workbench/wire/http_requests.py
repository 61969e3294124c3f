"""One HTTP request after another: sent, told as a ``Stream``, its answer read piece by piece.

What is decided here is what a program may do on its own: follow a redirect that
stays at the same server, and send a request anew if it is certain that the
server never had it. Nothing else is ever sent twice or anywhere else, no cookie
is kept, and no credential is taken from ``.netrc``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio

from workbench.wire.command import NotStarted
from workbench.wire.http_clients import HttpClients
from workbench.wire.http_errors import HTTP_ERRORS, HttpFailed, Trouble, place_of, trouble_of
from workbench.wire.http_exchange import Answer, Outgoing, plain
from workbench.wire.http_library import httpx
from workbench.wire.http_redirects import MOST_REDIRECTS, PERMANENT, REDIRECTS, follow
from workbench.wire.tap import Tap

#: How long closing a connection may take that is not read to its end (seconds).
_CLOSING = 1.0

Headers = Sequence[tuple[str, str]]


class Requests:
    """Sends the requests of one connection to one URL, which only a permanent redirect changes.

    Making it raises ``NotStarted`` where the environment does not let HTTP be used.
    """

    def __init__(self, clients: HttpClients, url: httpx.URL, tap: Tap, has_room: Callable[[], bool]) -> None:
        self.url = url
        self._clients = clients
        clients.of(url)
        self._tap = tap
        self._has_room = has_room

    def begin(self, verb: str, headers: Headers, body: bytes | None = None, number: int = 0) -> Outgoing:
        """A request, told to the sink and not yet sent. ``number`` is its stream's, if it has one already."""
        return self._outgoing(verb, self.url, headers, body, number)

    def _outgoing(
        self, verb: str, url: httpx.URL, headers: Headers, body: bytes | None, number: int = 0
    ) -> Outgoing:
        encoded = [
            (name.encode("ascii"), value.encode("utf-8", "surrogateescape")) for name, value in headers
        ]
        request = self._clients.of(url).build_request(verb, url, headers=encoded, content=body)
        outgoing = Outgoing(self._tap, request, number)
        request.extensions["trace"] = outgoing.trace
        return outgoing

    @asynccontextmanager
    async def answer(self, outgoing: Outgoing) -> AsyncIterator[Answer]:
        """Send it and wait for the head of the answer; redirects that may be followed are.

        Raises ``HttpFailed``. Leaving the context closes the answer, read to its end or not.
        """
        for _ in range(MOST_REDIRECTS + 1):
            outgoing, response = await self._send(outgoing)
            try:
                further = self._redirected(outgoing, response)
                if further is None:
                    yield Answer(response, outgoing, self._has_room)
                    return
                outgoing.how = "end"
            finally:
                await self._close(outgoing, response)
            outgoing = further
        outgoing.closed()
        why = f"{place_of(self.url)} redirects more than {MOST_REDIRECTS} times."
        raise HttpFailed(Trouble(why, "Give the URL that it ends at."))

    def _redirected(self, outgoing: Outgoing, response: httpx.Response) -> Outgoing | None:
        """The request to go on with. Raises ``HttpFailed`` for a redirect that is not followed."""
        if response.status_code not in REDIRECTS:
            return None
        request = outgoing.request
        url = follow(request, response)
        headers = [(name, value) for name, value in plain(request.headers) if name.lower() != "host"]
        number = self._tap.sink.new_stream()
        self._tap.process(
            "redirect",
            **{"from": str(request.url)},
            to=str(url),
            status=response.status_code,
            stream=outgoing.number,
            next=number,
        )
        if response.status_code in PERMANENT:
            self.url = url
        body = request.content if request.method == "POST" else None
        try:
            return self._outgoing(request.method, url, headers, body, number)
        except NotStarted as failure:  # it leads to TLS, which was not needed before
            raise HttpFailed(Trouble(failure.why, failure.next_step, "tls")) from None

    async def _send(self, outgoing: Outgoing) -> tuple[Outgoing, httpx.Response]:
        try:
            return outgoing, await self._sent(outgoing)
        except HttpFailed:
            if outgoing.sent or outgoing.connected:
                raise
        # A connection that was kept open had been closed by the other side, and nobody has read a whole
        # request from it: this, and only this, may be sent again.
        request = outgoing.request
        again = self._outgoing(request.method, request.url, plain(request.headers), request.content)
        why = "A connection that was kept open had been closed by the other side."
        numbers = {"stream": outgoing.number, "next": again.number}
        self._tap.process("reconnect", **numbers, seconds=0, why=why, attempt=1, resumes=False)
        return again, await self._sent(again)

    async def _sent(self, outgoing: Outgoing) -> httpx.Response:
        try:
            response = await self._clients.of(outgoing.request.url).send(outgoing.request, stream=True)
        except HTTP_ERRORS as error:
            outgoing.closed()
            raise HttpFailed(trouble_of(outgoing.request.url, error)) from error
        except BaseException:
            outgoing.how = "closed"
            outgoing.closed()
            raise
        outgoing.answered(response)
        return response

    async def _close(self, outgoing: Outgoing, response: httpx.Response) -> None:
        with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSING):
            await response.aclose()
        outgoing.closed(response.num_bytes_downloaded)
