"""What every serving half is made of: what a client has sent, and a client that has one way for all."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable

import anyio

from workbench.core.frame import Direction, Ending
from workbench.wire.tap import Tap
from workbench.wire.transport import Client, Headers, Received, Serve

_LOG = logging.getLogger(__name__)

#: Bodies of a client that wait for whoever serves it. Beyond it nothing more is read from that client.
MOST_WAITING = 1_000

#: How long whoever serves a client has to end by itself when the client has gone (seconds).
PARTING = 5.0


class Inbox:
    """What a client sent and nobody has taken yet, in order."""

    def __init__(self) -> None:
        self.over = False
        self._waiting: deque[Received] = deque()
        self._changed = anyio.Event()

    def put(self, received: Received) -> None:
        """Never blocks; ask for ``room`` before reading on."""
        if not self.over:
            self._waiting.append(received)
            self._change()

    def close(self) -> None:
        """Nothing more comes; what waits can still be taken."""
        self.over = True
        self._change()

    def has_room(self) -> bool:
        return len(self._waiting) < MOST_WAITING

    async def room(self) -> None:
        """Wait until there is room, or nothing more is taken."""
        while not (self.over or self.has_room()):
            await self._changed.wait()

    async def take(self) -> Received | None:
        """The next body, ``None`` at the end."""
        while not self._waiting:
            if self.over:
                return None
            await self._changed.wait()
        received = self._waiting.popleft()
        if len(self._waiting) == MOST_WAITING - 1:
            self._change()
        return received

    def _change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class LineClient:
    """A client of a wire that carries lines, both ways on one stream each.

    ``write`` takes a line without its end and never blocks; ``end`` ends the stream to the client.
    """

    def __init__(self, name: str, tap: Tap, write: Callable[[bytes], None], end: Callable[[], None]) -> None:
        self.name = name
        self.streams = False
        self.tap = tap
        self.inbox = Inbox()
        self.on_left: Callable[[int], None] = lambda _: None
        self._write = write
        self._end = end
        self._ended = False

    def arrived(self, line: bytes, ending: Ending = Ending.LF) -> None:
        """A line has come from the client."""
        seq, decoded = self.tap.message(Direction.TO_SERVER, line, ending)
        self.inbox.put(Received(seq, line, decoded))

    async def receive(self) -> Received | None:
        return await self.inbox.take()

    def send(self, body: bytes, stream: int = 0, *, apart: bool = False) -> None:  # noqa: ARG002
        """Write a body; one that holds line ends becomes several lines."""
        for line in body.split(b"\n"):
            if self._ended:
                self.tap.process("undelivered", bytes=len(line) + 1, why="the stream was closed already")
            else:
                self.tap.message(Direction.TO_CLIENT, line)
                self._write(line)

    def open(self, stream: int) -> None:
        """Nothing: answers have no beginning here."""

    def answer(self, stream: int, status: int, body: bytes = b"", headers: Headers = ()) -> None:  # noqa: ARG002
        """Send the body, if there is one: there are no statuses here."""
        if body:
            self.send(body)

    def hang_up(self, stream: int = 0, retry: int | None = None, *, last: bool = False) -> None:  # noqa: ARG002
        """End the stream to the client; it may still send."""
        if not self._ended:
            self._ended = True
            self.tap.process("stdout_closed")
            self._end()


async def attend(serve: Serve, client: Client) -> None:
    """Serve a client. What goes wrong in serving it ends with it, and is in the log file."""
    try:
        await serve(client)
    except Exception:
        _LOG.exception("serving %s", client.name or "a client")


async def let_go(inbox: Inbox, ended: anyio.Event) -> None:
    """Nothing more comes from this client: wait until it is served, as long as that may take."""
    inbox.close()
    with anyio.move_on_after(PARTING):
        await ended.wait()
