"""Gives a mock server a client of any serving half: HTTP, the older HTTP with SSE, streams in memory.

``wire/serve.py`` does the same for the pipes of a process, without an event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import anyio

from workbench.core.frame import Ending
from workbench.replay.actions import Action, Eof, Exit, Gone, HangUp, Injected, Reply, Send, Stderr
from workbench.replay.server import MockServer
from workbench.wire.serve import patience
from workbench.wire.transport import Client, Received


async def serve_client(
    server: MockServer,
    client: Client,
    first: Received | None = None,
    checkpoint: Callable[[], None] = lambda: None,
    complain: Callable[[bytes], None] | None = None,
) -> int | None:
    """Serve a client until it has gone or the recorded server ends.

    ``first`` is a body that has been received already. Returns the exit status of a recorded server
    that ended by itself, else ``None``. ``checkpoint`` is called before anything is answered;
    ``complain`` takes the lines of stderr, where they have a place.
    """
    stage = _Stage(server, client, checkpoint, complain)
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
    return stage.code


class _Stage:
    """Performs what the mock decides. ``over`` tells that nothing more is to come."""

    def __init__(
        self,
        server: MockServer,
        client: Client,
        checkpoint: Callable[[], None],
        complain: Callable[[bytes], None] | None,
    ) -> None:
        self._server = server
        self._client = client
        self._checkpoint = checkpoint
        self._complain = complain
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
            elif isinstance(action, HangUp):
                self._client.hang_up(action.stream, action.retry or None, last=action.last)
            elif isinstance(action, Stderr):
                self._stderr(action)
            elif isinstance(action, Injected):
                self._client.tap.note("fault", **action._asdict())
            else:
                self._end(action)

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
