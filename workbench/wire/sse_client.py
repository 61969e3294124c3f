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

import anyio
import httpx
from anyio.abc import TaskGroup

from workbench.config import Target
from workbench.core.actions import Send
from workbench.core.frame import Channel, Direction, Ending, Kind
from workbench.core.jsonrpc import Decoded, decode
from workbench.core.lifecycle import Event
from workbench.core.sse import ServerEvent, SseParser
from workbench.wire.http import basic_of, url_of
from workbench.wire.http_errors import HttpFailed, Trouble, no_message, place_of, refused, unauthorized
from workbench.wire.http_events import Reading
from workbench.wire.http_posts import Post
from workbench.wire.http_requests import Answer, Requests, make_client
from workbench.wire.http_session import GET, HttpSession
from workbench.wire.sse_endpoint import endpoint_of, lost_prefix
from workbench.wire.stdio import LONGEST_LINE
from workbench.wire.tap import Tap
from workbench.wire.transport import Peer, Serve, Serving, Taps

#: How long the server has to open the stream and name the endpoint, and how long when it is only
#: asked whether this is what it speaks (seconds).
ENDPOINT = 30.0
FIRST = 10.0

#: How long a message waits for the acknowledgement of the one before it, so that they stay in order
#: (seconds). Some servers acknowledge a request only with its reply, which may need the next message.
IN_ORDER = 1.0

#: Answers to the server's own requests that wait while it does not take them; beyond it we stop reading.
MAX_PROMPTED = 1000

#: The longest acknowledgement that is looked at, and the longest refusal that is read (bytes).
LONGEST_ACKNOWLEDGEMENT = 4096
LONGEST_REFUSAL = 1024 * 1024


class SseTransport:
    """A server that is spoken to over HTTP with SSE; made by ``open_sse``.

    ``over`` is never set by it: what ends the connection is told to the peer.
    """

    def __init__(self, target: Target, tap: Tap, peer: Peer, client: httpx.AsyncClient) -> None:
        self.over = anyio.Event()
        self.forced = ""
        self._tap = tap
        self._peer = peer
        url = url_of(target)
        self._headers = HttpSession({**basic_of(url), **target.headers}, tap)
        bare = url.copy_with(username=None, password=None, fragment=None)
        self._stream = Requests(client, bare, tap, self._has_room)
        self._messages = Requests(client, bare, tap, self._has_room)
        self._posts: dict[str, Post] = {}
        self._before = anyio.Event()
        self._before.set()
        self._found = anyio.Event()
        self._settled = anyio.Event()
        self._trouble: Trouble | None = None
        self._denied = False
        self._hint = ""
        self._begun = False
        self._prompted = 0

    def attend(self, group: TaskGroup) -> None:
        """Where everything that is under way runs; cancelling it ends all."""
        self._group = group

    # What the connection wants

    def send(self, send: Send) -> int:
        """Hand a body over and POST it once it is known where to. Returns its frame's ``seq``."""
        headers = self._headers.post(send.headers)
        outgoing = self._messages.begin("POST", headers, send.body)
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

    # Finding the endpoint

    def start(self) -> None:
        """Ask for the stream, and tell the peer when that leads nowhere."""

        async def reach() -> None:
            trouble = await self.reach()
            if trouble is not None:
                self._tell(trouble)

        self._group.start_soon(reach)

    async def reach(self, *, first: bool = False) -> Trouble | None:
        """Ask for the stream and wait for the endpoint; returns why there is none. With ``first``
        it must be the first event, which tells this transport from others."""
        self._group.start_soon(self._listen, first, FIRST if first else ENDPOINT)
        await self._settled.wait()
        return self._trouble

    def _tell(self, trouble: Trouble) -> None:
        if self._denied:
            self._peer.happened(Event.UNAUTHORIZED, trouble.why, trouble.next)
        else:
            self._tap.process("unreachable", step=trouble.step, why=trouble.why)
            self._peer.happened(Event.UNREACHABLE, trouble.why, trouble.next)

    def _settle(self, trouble: Trouble | None) -> None:
        if not self._settled.is_set():
            self._trouble = trouble
            if trouble is None:
                self._found.set()
            self._settled.set()

    async def _listen(self, first: bool, patience: float) -> None:
        outgoing = self._stream.begin("GET", self._headers.other(GET))
        with anyio.CancelScope() as scope:
            self._group.start_soon(self._expect_endpoint, scope, patience)
            try:
                async with self._stream.answer(outgoing) as answer:
                    if answer.is_events:
                        await self._follow(answer, first)
                    else:
                        await self._refused(answer)
            except HttpFailed as failure:
                self._settle(failure.trouble)

    async def _refused(self, answer: Answer) -> None:
        body, _ = await answer.body(LONGEST_REFUSAL)
        if body:
            self._tap.message(Direction.TO_CLIENT, body, Ending.NONE, Channel.HTTP, answer.stream)
        trouble = refused(answer.status, answer.media, body, answer.url)
        if answer.status in (401, 403):
            self._denied = True
            trouble = unauthorized(answer.url, answer.status, answer.headers.get_list("www-authenticate"))
        elif answer.succeeded:
            trouble = no_message(answer.status, answer.media, body, answer.url)
        elif answer.status in (404, 405):
            step = f"Check the path of the URL ({answer.url.path}); often it is /sse, and newer servers have"
            trouble = trouble._replace(next=f"{step} streamable HTTP: --http URL.")
        self._told(answer, "refused", status=answer.status, why=trouble.why)
        self._settle(trouble)

    async def _follow(self, answer: Answer, first: bool) -> None:
        """Read the stream to its end."""
        self._told(answer, "open", status=answer.status)
        why = "The server closed the stream."
        try:
            await self._read(answer, first)
        except HttpFailed as failure:
            why = failure.trouble.why
        except BaseException:
            self._told(answer, "closed")
            raise
        if self._settled.is_set() and self._trouble is not None:
            self._told(answer, "closed")
            return
        self._told(answer, "lost", why=why)
        self._settle(Trouble(f"{why} It had not named an endpoint to send to.", _IS_IT))
        if self._trouble is None:
            why = f"{why} This transport cannot take a stream up again."
            self._peer.happened(Event.LOST, why, "Connect again.")

    async def _expect_endpoint(self, listening: anyio.CancelScope, patience: float) -> None:
        with anyio.move_on_after(patience) as limit:
            await self._settled.wait()
        if limit.cancelled_caught:
            place = place_of(self._stream.url)
            why = f"{place} named no endpoint to send to within {patience:g} s of being asked for a stream."
            self._settle(Trouble(why, _IS_IT))
            listening.cancel()

    async def _read(self, answer: Answer, first: bool) -> None:
        parser = SseParser()
        try:
            async for chunk in answer.chunks():
                for event in parser.feed(chunk):
                    self._on_event(event, answer, first)
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
            self._on_endpoint(event, answer)
        elif first and not event.comment and not self._settled.is_set():
            self._settle(Trouble("The first event of the stream is no endpoint.", _IS_IT))
        elif decoded.kind is not Kind.SSE:
            self._received(seq, decoded)

    def _on_endpoint(self, event: ServerEvent, answer: Answer) -> None:
        found = endpoint_of(event.data, answer.url)
        if isinstance(found, Trouble):
            self._settle(found)
        else:
            self._messages.url = found
            self._hint = lost_prefix(answer.url, found)
            self._settle(None)

    def _told(self, answer: Answer, state: str, **more: object) -> None:
        self._tap.process("stream", stream=answer.stream, verb="GET", state=state, **more)

    # A message's way

    async def _deliver(self, post: Post, before: anyio.Event, after: anyio.Event) -> None:
        try:
            await self._found.wait()
            with anyio.move_on_after(IN_ORDER):
                await before.wait()
            if post.outgoing.request.url != self._messages.url:
                headers = self._headers.post(post.send.headers)
                post.outgoing = self._messages.begin(
                    "POST", headers, post.send.body, number=post.outgoing.number
                )
            async with self._messages.answer(post.outgoing) as answer:
                await self._acknowledged(post, answer)
        except HttpFailed as failure:
            self._failed(post, failure.trouble)
        finally:
            after.set()
            self._prompted -= post.prompted
            if post.outgoing.how == "failed":
                post.outgoing.closed()

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
            hint = self._hint if answer.status in (404, 405) else ""
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
            self._denied = denied
            self._tell(trouble)
            return
        for id_text in lost:
            self._peer.unanswered(id_text, trouble.why, trouble.next)


_IS_IT = "Is it the URL of a server with the older HTTP with SSE? Newer ones are reached with --http URL."


@asynccontextmanager
async def sse_transport(target: Target, tap: Tap, peer: Peer) -> AsyncIterator[SseTransport]:
    """The transport, which has not asked for anything yet. Raises ``NotStarted``."""
    client = make_client()
    try:
        transport = SseTransport(target, tap, peer, client)
        async with anyio.create_task_group() as group:
            transport.attend(group)
            try:
                yield transport
            finally:
                group.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await client.aclose()


@asynccontextmanager
async def open_sse(target: Target, tap: Tap, peer: Peer) -> AsyncIterator[SseTransport]:
    """Speak to a target's server; what is sent waits until the endpoint is known. Raises ``NotStarted``."""
    async with sse_transport(target, tap, peer) as transport:
        transport.start()
        yield transport


class _Sse:
    """The kind."""

    def connect(self, target: Target, tap: Tap, peer: Peer) -> AbstractAsyncContextManager[SseTransport]:
        return open_sse(target, tap, peer)

    def serve(self, address: str, serve: Serve, taps: Taps) -> AbstractAsyncContextManager[Serving]:
        from workbench.wire.serving_http import serve_http

        return serve_http(address, serve, taps, path="/sse")


TRANSPORT = _Sse()
