"""Gives a mock server a client of any serving half: HTTP, the older HTTP with SSE, streams in memory.

``wire/serve.py`` does the same for the pipes of a process, without an event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from workbench.core.frame import Ending
from workbench.errors import WorkbenchError
from workbench.replay.actions import (
    Action,
    Eof,
    Exit,
    Forward,
    Gone,
    HangUp,
    Injected,
    Open,
    Reply,
    Send,
    Stderr,
    Withdraw,
)
from workbench.replay.server import MockServer
from workbench.wire.serve import patience
from workbench.wire.transport import Client, Received

#: How long a live server has to answer a client that has written its last word, and how often it is looked
#: whether it has (seconds).
LAST_ANSWERS = 2.0
_LOOK = 0.01


class Live(Protocol):
    """A live server that is asked what a recording has no answer for."""

    async def ask(self, method: str, params: str | None) -> bytes:
        """Send a request (``params`` is JSON text); the body of its answer, under any id. Raises
        ``WorkbenchError`` where none comes."""
        ...


async def serve_client(
    server: MockServer,
    client: Client,
    first: Received | None = None,
    checkpoint: Callable[[], None] = lambda: None,
    complain: Callable[[bytes], None] | None = None,
    live: Live | None = None,
) -> int | None:
    """Serve a client until it has gone or the recorded server ends.

    ``first`` is a body that has been received already. Returns the exit status of a recorded server
    that ended by itself, else ``None``. ``checkpoint`` is called before anything is answered;
    ``complain`` takes the lines of stderr, where they have a place. ``live`` is asked what the recording has
    no answer for, where the mock's options say so.
    """
    trouble: WorkbenchError | None = None
    async with anyio.create_task_group() as group:
        stage = _Stage(server, client, checkpoint, complain, live, group)
        try:
            await _attend(stage, server, client, first)
        except WorkbenchError as error:
            # Raised again outside of the task group, which would wrap it.
            trouble = error
        group.cancel_scope.cancel()
    if trouble is not None:
        raise trouble
    return stage.code


async def _attend(stage: _Stage, server: MockServer, client: Client, first: Received | None) -> None:
    client.on_left = stage.left
    stage.perform(server.start())
    if first is not None:
        stage.take(first)
    while not stage.over:
        with anyio.move_on_after(patience(server)) as limit:
            received = await client.receive()
            if received is None:
                break
            stage.take(received)
        if limit.cancelled_caught:
            stage.perform(server.release() if server.due is None else server.tick())
    with anyio.move_on_after(LAST_ANSWERS):
        await stage.answered()


class _Stage:
    """Performs what the mock decides. ``over`` tells that nothing more is to come."""

    def __init__(
        self,
        server: MockServer,
        client: Client,
        checkpoint: Callable[[], None],
        complain: Callable[[bytes], None] | None,
        live: Live | None,
        group: TaskGroup,
    ) -> None:
        self._server = server
        self._client = client
        self._checkpoint = checkpoint
        self._complain = complain
        self._live = live
        self._group = group
        #: What the live server is being asked, by id.
        self._asked: dict[str, anyio.CancelScope] = {}
        self.over = False
        self.code: int | None = None

    def take(self, received: Received) -> None:
        self.perform(self._server.feed(received.body, received.stream))

    def left(self, stream: int) -> None:
        """The client has closed a stream of its own accord."""
        self.perform(self._server.left(stream))

    def perform(self, actions: Iterable[Action]) -> None:
        self._checkpoint()
        for action in actions:
            if isinstance(action, Send):
                self._send(action)
            elif isinstance(action, Reply):
                media = (("content-type", action.media),) if action.media else ()
                self._client.answer(action.stream, action.status, action.body, media)
            elif isinstance(action, Open):
                self._client.open(action.stream)
            elif isinstance(action, HangUp):
                self._client.hang_up(action.stream, action.retry or None, last=action.last)
            elif isinstance(action, Stderr):
                self._stderr(action)
            elif isinstance(action, Injected):
                self._client.tap.note("fault", **action._asdict())
            elif isinstance(action, Forward):
                self._group.start_soon(self._ask, action)
            elif isinstance(action, Withdraw):
                scope = self._asked.get(action.id)
                if scope is not None:
                    scope.cancel()
            else:
                self._end(action)

    async def answered(self) -> None:
        """Wait until a live server has answered everything: who has written all may still be reading."""
        while self._asked:
            await anyio.sleep(_LOOK)

    async def _ask(self, forward: Forward) -> None:
        assert self._live is not None, "nothing goes live unless it was asked for"
        with anyio.CancelScope() as scope:
            self._asked[forward.id] = scope
            try:
                body = await self._live.ask(forward.method, forward.params)
            except WorkbenchError as error:
                self.perform(self._server.did_not_come(forward, str(error)))
            else:
                self._client.tap.note("live", id=forward.id, method=forward.method)
                self.perform(self._server.came(forward, body))
        del self._asked[forward.id]

    def _stderr(self, line: Stderr) -> None:
        if self._complain is not None:
            self._complain(line.body + (b"\n" if line.ending is Ending.LF else b""))
        else:
            self._server.report.note("What the recorded server wrote to stderr has no place here.")

    def _send(self, send: Send) -> None:
        if send.stream and send.status != 200:
            self._client.answer(send.stream, send.status, send.body)
        else:
            self._client.send(send.body, send.stream, apart=send.apart)
        if send.ending is Ending.NONE and not self._client.streams:
            self._client.hang_up()

    def _end(self, action: Eof | Exit | Gone) -> None:
        if isinstance(action, Exit):
            self.code = action.code
        if isinstance(action, Eof) and not self._client.streams:
            # It can still be told something.
            self._client.hang_up()
        else:
            self.over = True
