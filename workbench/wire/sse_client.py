"""The older HTTP with SSE, client half: a stream to listen to, and a place it names to POST to.

* A GET opens the stream. Its first event, ``endpoint``, names the URL for messages, which must be of
  the same server: a server must not be able to send our messages and headers elsewhere.
* Each message is POSTed there. The answer to that only acknowledges; replies come on the stream.
* There is no resuming. When the stream is lost, so is the connection.

Source: "HTTP with SSE", 2024-11-05; deprecated since 2025-03-26.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup

from workbench.config import Target
from workbench.core.actions import Send
from workbench.core.frame import Channel, Direction, Ending
from workbench.core.jsonrpc import Decoded, decode
from workbench.core.lifecycle import Event
from workbench.wire.http_authorizing import MOST_AGAIN, Authorizing, authorization_of, in_vain, used_by
from workbench.wire.http_clients import HttpClients, http_clients
from workbench.wire.http_errors import HttpFailed, Trouble, refused, unauthorized
from workbench.wire.http_events import Reading
from workbench.wire.http_exchange import Answer
from workbench.wire.http_posts import Post
from workbench.wire.http_requests import Requests
from workbench.wire.http_session import HttpSession
from workbench.wire.http_target import spoken_to
from workbench.wire.sse_endpoint import lost_prefix
from workbench.wire.sse_stream import LONGEST_REFUSAL, EndpointStream
from workbench.wire.stdio import LONGEST_LINE
from workbench.wire.tap import Tap
from workbench.wire.transport import Peer, Serve, Serving, Taps, TransportKind

if TYPE_CHECKING:
    from workbench.wire.oauth import Authorization

#: How long a message waits for the acknowledgement of the one before it, so that they stay in order
#: (seconds); and how long from then on, when that was in vain: some servers acknowledge a request only
#: with its reply, which may need the next message.
IN_ORDER = 5.0
IN_VAIN = 0.2

#: Answers to the server's own requests that wait while it does not take them; beyond it we stop reading.
MAX_PROMPTED = 1000

#: The longest acknowledgement that is taken for nothing more (bytes).
LONGEST_ACKNOWLEDGEMENT = 4096


class SseTransport:
    """A server that is spoken to over HTTP with SSE; made by ``open_sse``.

    ``over`` is never set by it: what ends the connection is told to the peer.
    """

    def __init__(
        self,
        target: Target,
        tap: Tap,
        peer: Peer,
        clients: HttpClients,
        authorization: Authorization | None,
    ) -> None:
        self.over = anyio.Event()
        self.forced = ""
        self._tap = tap
        self._peer = peer
        url, headers = spoken_to(target)
        self._headers = HttpSession(headers, tap)
        listening = Requests(clients, url, tap, self._has_room)
        self._authorizing = Authorizing(authorization, tap, self._headers)
        self._stream = EndpointStream(
            listening, self._headers, tap, self._received, self._lost, self._authorizing
        )
        self._messages = Requests(clients, url, tap, self._has_room)
        self._posts: dict[str, Post] = {}
        self._before = anyio.Event()
        self._before.set()
        self._addressed = False
        self._patience = IN_ORDER
        self._begun = False
        self._prompted = 0

    def attend(self, group: TaskGroup) -> None:
        """Where everything that is under way runs; cancelling it ends all."""
        self._group = group

    # What the connection wants

    def send(self, send: Send) -> int:
        """Hand a body over and POST it once it is known where to. Returns its frame's ``seq``."""
        outgoing = self._messages.begin("POST", self._headers.post(send.headers), send.body)
        seq, decoded = self._tap.message(
            Direction.TO_SERVER, send.body, Ending.NONE, Channel.HTTP, outgoing.number
        )
        post = Post(send, decoded, outgoing, not self._begun)
        self._posts.update(dict.fromkeys(post.waits, post))
        self._prompted += post.prompted
        before, self._before = self._before, anyio.Event()
        self._group.start_soon(self._deliver, post, before, self._before)
        return seq

    def abandon(self, id_text: str) -> None:
        """Nothing: there is one stream for all answers."""

    def _has_room(self) -> bool:
        return self._prompted < MAX_PROMPTED and self._tap.sink.has_room()

    # The stream

    def start(self) -> None:
        """Ask for the stream, and tell the peer when that leads nowhere."""

        async def reach() -> None:
            trouble = await self.reach()
            if trouble is not None:
                self._not_reached(trouble, self._stream.denied)

        self._group.start_soon(reach)

    async def reach(self, *, first: bool = False) -> Trouble | None:
        """Ask for the stream and wait for the endpoint; returns why there is none."""
        return await self._stream.open(self._group, first=first)

    def _not_reached(self, trouble: Trouble, denied: bool) -> None:
        if denied:
            self._peer.happened(Event.UNAUTHORIZED, trouble.why, trouble.next)
        else:
            self._tap.process("unreachable", step=trouble.step, why=trouble.why)
            self._peer.happened(Event.UNREACHABLE, trouble.why, trouble.next)

    def _lost(self, why: str) -> None:
        why = f"{why} This transport cannot take a stream up again."
        self._peer.happened(Event.LOST, why, "Connect again.")

    # A message's way

    async def _deliver(self, post: Post, before: anyio.Event, after: anyio.Event) -> None:
        try:
            await self._stream.found.wait()
            with anyio.move_on_after(self._patience) as limit:
                await before.wait()
            if limit.cancelled_caught:
                self._patience = IN_VAIN
            self._address(post)
            await self._exchange(post)
        except HttpFailed as failure:
            self._failed(post, failure.trouble)
        finally:
            after.set()
            self._prompted -= post.prompted
            if post.outgoing.how == "failed":
                post.outgoing.closed()

    async def _exchange(self, post: Post) -> None:
        for again in count(1):
            async with self._messages.answer(post.outgoing) as answer:
                used = used_by(post.outgoing.request)
                if not self._authorizing.concerns(answer, used):
                    await self._acknowledged(post, answer)
                    return
                await self._authorizing.take(answer)
            last = again > MOST_AGAIN
            trouble = in_vain(answer) if last else await self._authorizing.settle(answer, used)
            if trouble is not None:
                self._failed(post, trouble, denied=True)
                return
            number = self._authorizing.next_stream(answer.stream)
            headers = self._headers.post(post.send.headers)
            post.outgoing = self._messages.begin("POST", headers, post.send.body, number)

    def _address(self, post: Post) -> None:
        """Give a message that was there before the endpoint its URL."""
        endpoint = self._stream.endpoint
        assert endpoint is not None
        if not self._addressed:
            self._addressed = True
            self._messages.url = endpoint
        if post.outgoing.request.url != self._messages.url:
            headers = self._headers.post(post.send.headers)
            number = post.outgoing.number
            post.outgoing = self._messages.begin("POST", headers, post.send.body, number=number)

    async def _acknowledged(self, post: Post, answer: Answer) -> None:
        if answer.is_events:
            reading = Reading(self._tap, lambda seq, decoded: self._received(seq, decoded, post))
            await reading.read(answer)
            return
        body, cut = await answer.body(LONGEST_LINE if answer.succeeded else LONGEST_REFUSAL)
        self._take_body(post, answer, body)
        if answer.succeeded:
            if cut is not None:
                self._failed(post, cut)
        elif answer.status in (401, 403):
            challenges = answer.headers.get_list("www-authenticate")
            self._failed(post, unauthorized(answer.url, answer.status, challenges), denied=True)
        else:
            trouble = refused(answer.status, answer.media, body, answer.url)
            hint = lost_prefix(self._stream.url, answer.url) if answer.status in (404, 405) else ""
            self._failed(post, trouble._replace(next=hint or trouble.next))

    def _take_body(self, post: Post, answer: Answer, body: bytes) -> None:
        """The body of an acknowledgement: mostly nothing, or a word; a message counts as one."""
        if not body:
            return
        bare = answer.succeeded and len(body) <= LONGEST_ACKNOWLEDGEMENT and not decode(body).messages
        event = '{"ack":true}' if bare else None
        seq, decoded = self._tap.message(
            Direction.TO_CLIENT, body, Ending.NONE, Channel.HTTP, answer.stream, event
        )
        if decoded.messages:
            self._received(seq, decoded, post)

    def _received(self, seq: int, decoded: Decoded, post: Post | None = None) -> None:
        """A message of the server; in the answer to ``post``, if that is given."""
        answers = post.only if post is not None else None
        for each in {self._posts[message.id] for message in decoded.messages if message.id in self._posts}:
            each.settle(decoded, each is post)
            self._begun = self._begun or (each.opening and not each.waits)
        if post is not None:
            post.settle(decoded, True)
        for id_text in [id_text for id_text, each in self._posts.items() if not each.waits]:
            del self._posts[id_text]
        self._peer.received(seq, decoded, answers)

    def _failed(self, post: Post, trouble: Trouble, *, denied: bool = False) -> None:
        """A message was not taken, so what it asks gets no answer."""
        lost = sorted(post.waits)
        post.end()
        for id_text in lost:
            self._posts.pop(id_text, None)
        if post.opening and lost:
            self._not_reached(trouble, denied)
            return
        for id_text in lost:
            self._peer.unanswered(id_text, trouble.why, trouble.next)


@asynccontextmanager
async def sse_transport(
    target: Target, tap: Tap, peer: Peer, clients: HttpClients, authorization: Authorization | None
) -> AsyncIterator[SseTransport]:
    """The transport, which has not asked for anything yet. Raises ``NotStarted``."""
    transport = SseTransport(target, tap, peer, clients, authorization)
    async with anyio.create_task_group() as group:
        transport.attend(group)
        try:
            yield transport
        finally:
            group.cancel_scope.cancel()


@asynccontextmanager
async def open_sse(target: Target, tap: Tap, peer: Peer) -> AsyncIterator[SseTransport]:
    """Speak to a target's server; what is sent waits until the endpoint is known. Raises ``NotStarted``."""
    async with http_clients() as clients:
        authorization = authorization_of(target, tap, peer, clients)
        async with sse_transport(target, tap, peer, clients, authorization) as transport:
            transport.start()
            yield transport


class _Sse:
    """The kind."""

    def connect(self, target: Target, tap: Tap, peer: Peer) -> AbstractAsyncContextManager[SseTransport]:
        return open_sse(target, tap, peer)

    def serve(self, address: str, serve: Serve, taps: Taps) -> AbstractAsyncContextManager[Serving]:
        from workbench.wire.serving_http import serve_http

        return serve_http(address, serve, taps, path="/sse")


TRANSPORT: TransportKind = _Sse()
