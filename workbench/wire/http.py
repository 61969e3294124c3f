"""The streamable HTTP transport, client half: one URL to which every message is POSTed.

What the transport promises beyond ``transport``:

* One request that fails fails alone: the connection goes on, and the call is
  told in a sentence why it has no answer.
* A broken answer is asked for again where the server allows it. Nothing is ever
  POSTed twice that the server may have read.
* Nothing is sent anywhere but to the target's own server.
* Leaving the context ends every task and socket at once; only the DELETE that
  ends a session may take as long as the target's shutdown timeout.

Source: "Streamable HTTP", 2025-03-26 to 2026-07-28.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup

from workbench.config import Target
from workbench.core.actions import Send
from workbench.core.frame import ANSWERS, Channel, Direction, Ending, Kind
from workbench.core.jsonrpc import Decoded
from workbench.core.lifecycle import Event
from workbench.wire.http_authorizing import MOST_AGAIN, Authorizing, in_vain, used_by
from workbench.wire.http_clients import HttpClients
from workbench.wire.http_errors import HttpFailed, Trouble
from workbench.wire.http_events import Reading
from workbench.wire.http_exchange import Answer
from workbench.wire.http_listening import Listening
from workbench.wire.http_posts import Post, given_up
from workbench.wire.http_refusals import LONGEST_REFUSAL, denied, forgets_session, trouble_in
from workbench.wire.http_requests import Requests
from workbench.wire.http_session import HttpSession
from workbench.wire.http_target import spoken_to
from workbench.wire.stdio import LONGEST_LINE
from workbench.wire.tap import Tap
from workbench.wire.transport import Peer

if TYPE_CHECKING:
    from workbench.wire.oauth import Authorization

#: Answers to the server's own requests that wait while it does not take them; beyond it we stop reading.
MAX_PROMPTED = 1000

#: So many of them are sent at once, each over a connection of its own.
PROMPTED_AT_ONCE = 16

#: How long a request waits for the handshake to be taken before it is sent all the same (seconds).
SETTLING = 5.0

#: How long after that it waits for the stream on which the server asks (seconds). Servers lose what they
#: ask before it is there; some send its head only with the first event.
LISTENING_FIRST = 0.5

#: How long an answer may take that comes on another stream than its request's, which has ended (seconds).
ELSEWHERE = 1.0

#: Asked when ``initialize`` was refused: it gets the send, the status, what the answer holds and why, and
#: says whether it has taken the request over, so that nobody is told that the server is not to be reached.
Otherwise = Callable[[Send, int, Decoded, Trouble], Awaitable[bool]]


class HttpTransport:
    """A server that is spoken to over HTTP; made by ``open_http``.

    ``over`` is never set by it: a server that cannot be reached now may be reached for the next call.
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
        self._target = target
        self._tap = tap
        self._peer = peer
        url, headers = spoken_to(target)
        self._session = HttpSession(headers, tap)
        self._requests = Requests(clients, url, tap, self._has_room)
        self._authorizing = Authorizing(authorization, tap, self._session)
        self._listening = Listening(self._requests, self._session, tap, self._authorizing)
        self._posts: dict[str, Post] = {}
        self._begun = False
        self._accepted = anyio.Event()
        self._accepted.set()
        self.otherwise: Otherwise | None = None
        self._prompted = 0
        self._slots = anyio.CapacityLimiter(PROMPTED_AT_ONCE)

    def attend(self, group: TaskGroup) -> None:
        """Where everything that is under way runs; cancelling it ends all."""
        self._group = group

    # What the connection wants

    def send(self, send: Send) -> int:
        """Hand a body over and POST it. Returns its frame's ``seq``."""
        outgoing = self._requests.begin("POST", self._session.post(send.headers), send.body)
        seq, decoded = self._tap.message(
            Direction.TO_SERVER, send.body, Ending.NONE, Channel.HTTP, outgoing.number
        )
        post = Post(send, decoded, outgoing, not self._begun)
        self._posts.update(dict.fromkeys(post.ids, post))
        self._give_up(given_up(decoded))
        before = self._accepted
        if post.method == "notifications/initialized":
            self._accepted = anyio.Event()
        self._prompted += post.prompted
        self._group.start_soon(self._deliver, post, before)
        return seq

    def abandon(self, id_text: str) -> None:
        """Close the stream on which this answer is awaited, which cancels the request (2026-07-28)."""
        post = self._posts.get(id_text)
        if post is not None:
            post.end()
            post.scope.cancel()

    def _give_up(self, id_text: str | None) -> None:
        post = self._posts.get(id_text) if id_text is not None else None
        if post is not None:
            post.given_up = True

    def _has_room(self) -> bool:
        return self._prompted < MAX_PROMPTED and self._tap.sink.has_room()

    # A body's way

    async def _deliver(self, post: Post, before: anyio.Event) -> None:
        try:
            with post.scope:
                await self._turn(before)
                if post.prompted:
                    async with self._slots:
                        await self._exchange(post)
                else:
                    await self._exchange(post)
        except HttpFailed as failure:
            self._failed(post, failure.trouble)
        finally:
            self._prompted -= post.prompted
            if post.method == "notifications/initialized" and not post.accepted:
                self._accepted.set()
            if post.outgoing.how == "failed":
                post.outgoing.closed()
            for id_text in post.ids:
                if self._posts.get(id_text) is post:
                    del self._posts[id_text]

    async def _turn(self, before: anyio.Event) -> None:
        """Servers refuse what overtakes the end of the handshake."""
        with anyio.move_on_after(SETTLING):
            await before.wait()

    async def _exchange(self, post: Post) -> None:
        for again in count(1):
            refused = await self._asked(post)
            if refused is None:
                return
            used = used_by(post.outgoing.request)
            last = again > MOST_AGAIN
            trouble = in_vain(refused) if last else await self._authorizing.settle(refused, used)
            if trouble is not None:
                self._denied(post, trouble)
                return
            number = self._authorizing.next_stream(refused.stream)
            headers = self._session.post(post.send.headers)
            post.outgoing = self._requests.begin("POST", headers, post.send.body, number)

    async def _asked(self, post: Post) -> Answer | None:
        """Send it, and read what comes; an answer that wants another token is returned."""
        reading = Reading(self._tap, lambda seq, decoded: self._received(seq, decoded, post))
        why = "The server closed the stream before it answered."
        async with self._requests.answer(post.outgoing) as answer:
            self._session.answered(answer, post.method == "initialize")
            self._on_head(post, answer)
            if self._authorizing.concerns(answer, used_by(post.outgoing.request)):
                await self._authorizing.take(answer)
                return answer
            if not await answer.carries_events():
                await self._take_body(post, answer)
                return None
            number = answer.stream
            try:
                with post.lingering():
                    await reading.read(answer)
            except HttpFailed as failure:
                why = failure.trouble.why
            finally:
                self._on_end(post, answer, why)
        if reading.last_id and not self._session.is_stateless:
            why = await self._listening.resume(post, reading, number, why)
        await self._without_answer(post, Trouble(why, "Send the request again."))
        return None

    def _on_head(self, post: Post, answer: Answer) -> None:
        if post.method == "notifications/initialized" and answer.succeeded:
            self._group.start_soon(self._listening.keep, Reading(self._tap, self._received))
            self._group.start_soon(self._settle, self._accepted)
            post.accepted = True
        elif post.method == "subscriptions/listen" and answer.is_events:
            self._stream(answer, "open", status=answer.status)

    async def _settle(self, accepted: anyio.Event) -> None:
        with anyio.move_on_after(LISTENING_FIRST):
            await self._listening.begun.wait()
        accepted.set()

    def _on_end(self, post: Post, answer: Answer, why: str) -> None:
        if post.method != "subscriptions/listen":
            return
        if post.waits:
            self._stream(answer, "lost", why=why)
        else:
            self._stream(answer, "closed")

    def _stream(self, answer: Answer, state: str, **more: object) -> None:
        self._tap.process("stream", stream=answer.stream, verb="POST", state=state, **more)

    # Answers

    def _received(self, seq: int, decoded: Decoded, post: Post | None = None) -> None:
        """A message of the server on any stream; on the stream of ``post``, if it is its."""
        answers = post.only if post is not None else None
        kinds = {message.kind for message in decoded.messages}
        if kinds & ANSWERS:
            if post is not None and post.opening and Kind.RESULT in kinds:
                self._begun = True
            waiting = {self._posts[each.id] for each in decoded.messages if each.id in self._posts}
            for each in waiting if post is None else waiting | {post}:
                each.settle(decoded, each is post)
        self._peer.received(seq, decoded, answers)

    async def _take_body(self, post: Post, answer: Answer) -> None:
        body, cut = await answer.body(LONGEST_LINE if answer.succeeded else LONGEST_REFUSAL)
        if not body and not post.waits and answer.succeeded:
            return
        seq, decoded = self._tap.message(Direction.TO_CLIENT, body, Ending.NONE, Channel.HTTP, answer.stream)
        if self._session.id and post.method != "initialize" and forgets_session(answer, body, decoded):
            self._lose_session(answer, body)
        elif denied(answer) and post.opening:
            self._denied(post, trouble_in(answer, body))
        elif await self._taken_over(post, answer, body, decoded):
            post.end()
        elif answer.succeeded or decoded.messages:
            self._received(seq, decoded, post)
        if not answer.succeeded:
            self._ended(post, trouble_in(answer, body))
        else:
            await self._without_answer(post, cut or trouble_in(answer, body))

    async def _taken_over(self, post: Post, answer: Answer, body: bytes, decoded: Decoded) -> bool:
        """Whether another transport goes on with ``initialize``, which this one was refused."""
        if self.otherwise is None or answer.succeeded or not post.opening or post.method != "initialize":
            return False
        trouble = trouble_in(answer, body)
        return await self.otherwise(post.send, answer.status, decoded, trouble)

    async def _without_answer(self, post: Post, trouble: Trouble) -> None:
        """Nothing more comes on the post's own stream."""
        if post.waits and self._listening.open:
            # It may be on its way on the other stream.
            with anyio.move_on_after(ELSEWHERE):
                await post.done.wait()
        self._ended(post, trouble)

    def _denied(self, post: Post, trouble: Trouble) -> None:
        """Access was refused, and that is the end of it."""
        if post.opening:
            post.end()
            self._peer.happened(Event.UNAUTHORIZED, trouble.why, trouble.next)
        else:
            self._unanswered(post, trouble)

    def _ended(self, post: Post, trouble: Trouble) -> None:
        if post.method == "initialize" and post.opening and post.waits:
            post.end()
            self._unreachable(trouble)
        self._unanswered(post, trouble)

    def _unanswered(self, post: Post, trouble: Trouble) -> None:
        lost = sorted(post.waits)
        post.end()
        for id_text in lost:
            self._peer.unanswered(id_text, trouble.why, trouble.next)

    # What ends more than one request

    def _failed(self, post: Post, trouble: Trouble) -> None:
        """No answer, or no whole one, has come over the network."""
        if post.opening and post.waits and (post.method == "initialize" or trouble.step != "http"):
            post.end()
            self._unreachable(trouble)
        else:
            self._unanswered(post, trouble)

    def _unreachable(self, trouble: Trouble) -> None:
        self._tap.process("unreachable", step=trouble.step, why=trouble.why)
        self._peer.happened(Event.UNREACHABLE, trouble.why, trouble.next)

    def _lose_session(self, answer: Answer, body: bytes) -> None:
        why = f"The server does not know this session any more. {trouble_in(answer, body).why}"
        step = "Connect again for a new session."
        self._session.lost()
        for post in set(self._posts.values()):
            self._unanswered(post, Trouble(why, step))
        self._peer.happened(Event.SESSION_LOST, why, step)

    async def end_session(self) -> None:
        """Tell the server that the session is over, if there is one."""
        if not self._session.id:
            return
        with anyio.move_on_after(self._target.timeouts.shutdown) as limit:
            try:
                outgoing = self._requests.begin("DELETE", self._session.other())
                async with self._requests.answer(outgoing) as answer:
                    body, _ = await answer.body(LONGEST_REFUSAL)
                    if body:
                        self._tap.message(Direction.TO_CLIENT, body, Ending.NONE, Channel.HTTP, answer.stream)
                    kept = "" if answer.succeeded else f"It answered with status {answer.status}."
                    self._session.ended(kept)
            except HttpFailed as failure:
                self._session.ended(failure.trouble.why)
        if limit.cancelled_caught:
            self._session.ended("It did not answer in time.")


@asynccontextmanager
async def open_http(
    target: Target, tap: Tap, peer: Peer, clients: HttpClients, authorization: Authorization | None
) -> AsyncIterator[HttpTransport]:
    """Speak to a target's server; nothing is sent before the first ``send``. Raises ``NotStarted``."""
    transport = HttpTransport(target, tap, peer, clients, authorization)
    try:
        async with anyio.create_task_group() as group:
            transport.attend(group)
            try:
                yield transport
            finally:
                group.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await transport.end_session()
