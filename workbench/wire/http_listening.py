"""The streams a client asks for with GET: what the server says on its own, and what was broken off.

Source: "Listening for Messages from the Server" and "Resumability and
Redelivery", 2025-03-26 to 2025-11-25. Reconnecting is always a GET with
``Last-Event-ID``, whichever request had opened the stream.
"""

from __future__ import annotations

import anyio

from workbench.core.frame import Channel, Direction, Ending
from workbench.wire.http_authorizing import Authorizing, used_by
from workbench.wire.http_errors import HttpFailed, refused
from workbench.wire.http_events import Reading
from workbench.wire.http_exchange import Answer
from workbench.wire.http_posts import Post
from workbench.wire.http_refusals import LONGEST_REFUSAL
from workbench.wire.http_requests import Requests
from workbench.wire.http_session import GET, HttpSession
from workbench.wire.tap import Tap

#: The longest wait between two attempts that got nothing (seconds).
LONGEST_BACK_OFF = 30.0

#: A stream that was open so long was no failure, even if nothing came on it (seconds).
LASTING = 30.0

#: How often in a row a broken answer is asked for without getting anything of it.
RESUMES = 5

#: Answers to a GET that may be others the next time; every other one is final.
_PASSING = frozenset((408, 425, 429, 500, 502, 503, 504))


class Listening:
    """Opens streams with GET and keeps them open."""

    def __init__(self, requests: Requests, session: HttpSession, tap: Tap, authorizing: Authorizing) -> None:
        #: The number of the stream that is open for what the server says on its own, 0 for none.
        self.open = 0
        #: Set when it is known for the first time whether there is such a stream.
        self.begun = anyio.Event()
        self._requests = requests
        self._session = session
        self._tap = tap
        self._authorizing = authorizing

    async def keep(self, reading: Reading) -> None:
        """Listen for as long as the connection lives, or until the server refuses."""
        number = self._tap.sink.new_stream()
        fruitless = 0
        while True:
            before, began = reading.events, anyio.current_time()
            why = await self._listen(reading, number)
            if why is None:
                return
            useful = reading.events > before or anyio.current_time() - began >= LASTING
            fruitless = 0 if useful else fruitless + 1
            number = await self._wait(reading, number, why, max(1, fruitless), bool(reading.last_id))

    async def _listen(self, reading: Reading, number: int) -> str | None:
        """One connection; returns why it ended, or ``None`` if there is to be no other."""
        headers = [*GET, *_resuming(reading)]
        outgoing = self._requests.begin("GET", self._session.other(headers), number=number)
        try:
            async with self._requests.answer(outgoing) as answer:
                self.begun.set()
                if not answer.is_events:
                    return await self._refused(answer, used_by(outgoing.request))
                self.open = answer.stream
                self._stream(answer.stream, "open", answer.status)
                try:
                    await reading.read(answer)
                except HttpFailed as failure:
                    self._stream(answer.stream, "lost", why=failure.trouble.why)
                    raise
                except BaseException:
                    self._stream(answer.stream, "closed")
                    raise
                why = "The server closed the stream."
                self._stream(answer.stream, "lost", why=why)
                return why
        except HttpFailed as failure:
            return failure.trouble.why
        finally:
            self.open = 0
            self.begun.set()

    async def _refused(self, answer: Answer, used: str) -> str | None:
        why = await self._told(answer)
        self._stream(answer.stream, "refused", answer.status, why)
        return why if await self._may_pass(answer, used) else None

    async def _may_pass(self, answer: Answer, used: str) -> bool:
        """Whether the answer may be another one the next time, which it is with another token."""
        if self._authorizing.concerns(answer, used):
            return await self._authorizing.settle(answer, used) is None
        return answer.status in _PASSING

    async def _told(self, answer: Answer) -> str:
        """Record the body of an answer that is no stream; returns what it says, in a sentence."""
        body, _ = await answer.body(LONGEST_REFUSAL)
        if body:
            self._tap.message(Direction.TO_CLIENT, body, Ending.NONE, Channel.HTTP, answer.stream)
        return refused(answer.status, answer.media, body, answer.url).why

    async def resume(self, post: Post, reading: Reading, number: int, why: str) -> str:
        """Ask for the rest of a broken answer until it is there. Returns why it is not, if it is not."""
        fruitless = 0
        while post.waits and not post.given_up and fruitless < RESUMES:
            number = await self._wait(reading, number, why, fruitless + 1, True)
            if not post.waits or post.given_up:  # in the meantime
                break
            before = reading.events
            try:
                final, why = await self._resumed(post, reading, number)
                if final:
                    return f"The stream ended before the answer. Asked for the rest, {why}"
            except HttpFailed as failure:
                why = failure.trouble.why
            fruitless = 0 if reading.events > before else fruitless + 1
        return why

    async def _resumed(self, post: Post, reading: Reading, number: int) -> tuple[bool, str]:
        """Ask once; returns whether it is of no use to ask again, and why there may be no answer."""
        headers = [*GET, *_resuming(reading)]
        outgoing = self._requests.begin("GET", self._session.other(headers), number=number)
        async with self._requests.answer(outgoing) as answer:
            if not answer.is_events:
                why = await self._told(answer)
                return not await self._may_pass(answer, used_by(outgoing.request)), why
            with post.lingering():
                await reading.read(answer)
        return False, "The server closed the stream before it answered."

    async def _wait(self, reading: Reading, number: int, why: str, attempt: int, resumes: bool) -> int:
        """Wait before the next attempt, which is told; returns the number of its stream."""
        seconds = reading.wait * 2 ** min(attempt - 1, 10)
        seconds = min(seconds, max(LONGEST_BACK_OFF, reading.wait))
        following = self._tap.sink.new_stream()
        self._tap.process(
            "reconnect",
            stream=number,
            seconds=seconds,
            why=why,
            attempt=attempt,
            resumes=resumes,
            next=following,
        )
        await anyio.sleep(seconds)
        return following

    def _stream(self, number: int, state: str, status: int | None = None, why: str = "") -> None:
        more = {} if status is None else {"status": status}
        if why:
            self._tap.process("stream", stream=number, verb="GET", state=state, why=why, **more)
        else:
            self._tap.process("stream", stream=number, verb="GET", state=state, **more)


def _resuming(reading: Reading) -> list[tuple[str, str]]:
    return [("Last-Event-ID", reading.last_id)] if reading.last_id else []
