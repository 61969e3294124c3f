"""The stream of the older HTTP with SSE: asked for once, read to its end.

Its first event should be ``endpoint``. What else comes are messages, and when it
ends, whatever the reason, nothing takes it up again.

Source: "HTTP with SSE", 2024-11-05.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import anyio
from anyio.abc import TaskGroup

from workbench.core.frame import Channel, Direction, Ending, Kind
from workbench.core.jsonrpc import Decoded
from workbench.core.sse import ServerEvent, SseParser
from workbench.wire.http_authorizing import MOST_AGAIN, Authorizing, used_by
from workbench.wire.http_errors import HttpFailed, Trouble, no_message, place_of, refused, unauthorized
from workbench.wire.http_exchange import Answer
from workbench.wire.http_library import httpx
from workbench.wire.http_requests import Requests
from workbench.wire.http_session import GET, HttpSession
from workbench.wire.sse_endpoint import endpoint_of
from workbench.wire.tap import Tap
from workbench.wire.turns import take_all

#: How long the server has to open the stream and name the endpoint, and how long when it is only
#: asked whether this is what it speaks (seconds).
ENDPOINT = 30.0
FIRST = 10.0

#: The longest body of an answer that is no stream; the rest is not read (bytes).
LONGEST_REFUSAL = 1024 * 1024

IS_IT = "Is it the URL of a server with the older HTTP with SSE? Newer ones are reached with --http URL."


class EndpointStream:
    """``endpoint`` is where messages go, known when ``found`` is set; ``url`` is the stream's own after
    redirects. ``denied`` tells that there is none for want of authorization.

    ``received`` takes the messages, ``lost`` is told why the stream has ended after the endpoint was found.
    """

    def __init__(
        self,
        requests: Requests,
        headers: HttpSession,
        tap: Tap,
        received: Callable[[int, Decoded], None],
        lost: Callable[[str], None],
        authorizing: Authorizing,
    ) -> None:
        self.url = requests.url
        self.endpoint: httpx.URL | None = None
        self.found = anyio.Event()
        self.denied = False
        self._requests = requests
        self._headers = headers
        self._tap = tap
        self._received = received
        self._lost = lost
        self._authorizing = authorizing
        self._settled = anyio.Event()
        self._trouble: Trouble | None = None

    async def open(self, group: TaskGroup, *, first: bool = False) -> Trouble | None:
        """Ask for the stream and wait for the endpoint; returns why there is none. It is then read on
        in ``group``. With ``first`` the endpoint must be the first event, which tells this
        transport from others."""
        group.start_soon(self._run, first, FIRST if first else ENDPOINT)
        await self._settled.wait()
        return self._trouble

    def _settle(self, trouble: Trouble | None) -> None:
        if not self._settled.is_set():
            self._trouble = trouble
            self._settled.set()

    async def _run(self, first: bool, patience: float) -> None:
        number = 0
        for again in count(1):
            refused = await self._ask(first, patience, number, again > MOST_AGAIN)
            if refused is None:
                return
            answer, used = refused
            trouble = await self._authorizing.settle(answer, used)
            if trouble is not None:
                self.denied = True
                self._settle(trouble)
                return
            number = self._authorizing.next_stream(answer.stream)

    async def _ask(self, first: bool, patience: float, number: int, last: bool) -> tuple[Answer, str] | None:
        """Ask once; an answer that wants another token is returned with what it was asked with."""
        outgoing = self._requests.begin("GET", self._headers.other(GET), number=number)
        used = used_by(outgoing.request)
        refused: Answer | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(self._expect, group.cancel_scope, patience)
            try:
                async with self._requests.answer(outgoing) as answer:
                    self.url = answer.url
                    if answer.is_events:
                        self._authorizing.concerns(answer, used)
                        await self._follow(answer, first)
                    elif self._authorizing.concerns(answer, used) and not last:
                        await self._authorizing.take(answer)
                        refused = answer
                        group.cancel_scope.cancel()  # nobody waits for the endpoint while somebody logs in
                    else:
                        await self._refused(answer)
            except HttpFailed as failure:
                self._settle(failure.trouble)
        return None if refused is None else (refused, used)

    async def _expect(self, reading: anyio.CancelScope, patience: float) -> None:
        with anyio.move_on_after(patience) as limit:
            await self._settled.wait()
        if limit.cancelled_caught:
            place = place_of(self.url)
            why = f"{place} named no endpoint to send to within {patience:g} s of being asked for a stream."
            self._settle(Trouble(why, IS_IT))
            reading.cancel()

    async def _refused(self, answer: Answer) -> None:
        body, _ = await answer.body(LONGEST_REFUSAL)
        if body:
            self._tap.message(Direction.TO_CLIENT, body, Ending.NONE, Channel.HTTP, answer.stream)
        trouble = refused(answer.status, answer.media, body, answer.url)
        if answer.status in (401, 403):
            self.denied = True
            trouble = unauthorized(answer.url, answer.status, answer.headers.get_list("www-authenticate"))
        elif answer.succeeded:
            trouble = no_message(answer.status, answer.media, body, answer.url)
        elif answer.status in (404, 405):
            step = f"Check the path of the URL ({answer.url.path}); often it is /sse, and newer servers have"
            trouble = trouble._replace(next=f"{step} streamable HTTP: --http URL.")
        self._told(answer, "refused", status=answer.status, why=trouble.why)
        self._settle(trouble)

    async def _follow(self, answer: Answer, first: bool) -> None:
        """Read the stream to its end, or to where it is clear that there is no endpoint."""
        self._told(answer, "open", status=answer.status)
        why = "The server closed the stream."
        try:
            await self._read(answer, first)
        except HttpFailed as failure:
            why = failure.trouble.why
        except BaseException:
            self._told(answer, "closed")
            raise
        if self._trouble is not None:
            self._told(answer, "closed")
            return
        self._told(answer, "lost", why=why)
        self._settle(Trouble(f"{why} It had not named an endpoint to send to.", IS_IT))
        if self.endpoint is not None:
            self._lost(why)

    async def _read(self, answer: Answer, first: bool) -> None:
        parser = SseParser()

        def take(event: ServerEvent) -> None:
            self._on_event(event, answer, first)

        try:
            async for chunk in answer.chunks():
                await take_all(parser.feed(chunk), take, self._tap.turn)
                if self._trouble is not None:
                    return
        finally:
            for event in parser.end():
                self._on_event(event, answer, first)

    def _on_event(self, event: ServerEvent, answer: Answer, first: bool) -> None:
        seq, decoded = self._tap.message(
            Direction.TO_CLIENT, event.data, Ending.NONE, Channel.SSE, answer.stream, event.described
        )
        if event.name == "endpoint" and not self._settled.is_set():
            self._on_endpoint(endpoint_of(event.data, answer.url))
        elif first and not event.comment and not self._settled.is_set():
            self._settle(Trouble("The first event of the stream is no endpoint.", IS_IT))
        elif decoded.kind is not Kind.SSE:
            self._received(seq, decoded)

    def _on_endpoint(self, found: httpx.URL | Trouble) -> None:
        if isinstance(found, Trouble):
            self._settle(found)
        else:
            self.endpoint = found
            self.found.set()
            self._settle(None)

    def _told(self, answer: Answer, state: str, **more: object) -> None:
        self._tap.process("stream", stream=answer.stream, verb="GET", state=state, **more)
