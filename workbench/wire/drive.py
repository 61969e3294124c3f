"""Gives a mock client real servers: each recorded connection one, over whatever transport it takes.

The mock decides and this performs: bodies go out through a transport, what comes goes
to the mock, and time passes. A server that cannot be reached, hangs or dies ends as
a verdict of the mock's, never as an exception.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence

import anyio
from anyio.abc import TaskGroup

from workbench.config import Target
from workbench.core import routing
from workbench.core.actions import Send
from workbench.core.frame import Channel, Frame
from workbench.core.jsonrpc import Decoded, decode, loads
from workbench.core.lifecycle import Event
from workbench.core.peek import peek
from workbench.errors import UsageError
from workbench.replay.actions import ClientAction, Connect, Leave, Write
from workbench.replay.client import MockClient
from workbench.wire.command import NotStarted
from workbench.wire.oauth_logins import Logins
from workbench.wire.tap import Tap
from workbench.wire.timekeeping import Timekeeper
from workbench.wire.transport import Transport, find_transport
from workbench.wire.waiting import first_of

#: What a transport tells after which nothing more can be asked.
_ENDS = frozenset((Event.UNREACHABLE, Event.UNAUTHORIZED, Event.SESSION_LOST))

#: A request that is given up by closing its stream has this long to reach the server first (seconds):
#: nothing tells when it has been read.
ARRIVES = 0.2

#: Makes the tap of a recorded connection, with what is to see each frame.
Taps = Callable[[int, Callable[[Frame, Decoded | None], None]], Tap]


async def drive(client: MockClient, targets: dict[int, Target], taps: Taps) -> None:
    """Run a mock client until it is over. ``targets`` are the servers by recorded connection."""
    driver = _Driver(client, targets, taps)
    await driver.run()


class _Driver:
    group: TaskGroup

    def __init__(self, client: MockClient, targets: dict[int, Target], taps: Taps) -> None:
        self.client = client
        self._targets = targets
        self._taps = taps
        self._lines: dict[int, _Line] = {}
        self._over = anyio.Event()
        self._time = Timekeeper(client.deadline, lambda: self.perform(client.tick(time.monotonic())))

    async def run(self) -> None:
        async with anyio.create_task_group() as timing, anyio.create_task_group() as group:
            self.group = group
            timing.start_soon(self._keep_time)
            self.perform(self.client.next(time.monotonic()))
            await self._over.wait()
            for line in self._lines.values():
                line.leaving.set()

    async def _keep_time(self) -> None:
        async with anyio.create_task_group() as keeping:
            keeping.start_soon(self._time.run)
            await self._over.wait()
            keeping.cancel_scope.cancel()

    def perform(self, actions: Sequence[ClientAction]) -> None:
        """Do what the mock has decided."""
        for action in actions:
            if isinstance(action, Connect):
                line = _Line(self, action.connection, self._targets[action.connection], self._taps)
                self._lines[action.connection] = line
                self.group.start_soon(line.run)
            elif isinstance(action, Write):
                self._lines[action.connection].write(action)
            elif isinstance(action, Leave):
                self._lines[action.connection].leaving.set()
        if self.client.over:
            self._over.set()
        self._time.moved()


class _Line:
    """One connection. It is the ``Peer`` of its transport."""

    logins: Logins | None = Logins()

    def __init__(self, driver: _Driver, number: int, target: Target, taps: Taps) -> None:
        self.leaving = anyio.Event()
        self._driver = driver
        self._number = number
        self._target = target
        self._tap = taps(number, self._saw)
        self._transport: Transport | None = None
        self._body = 0, b""
        self._code: int | None = None
        self._exit = ""

    async def run(self) -> None:
        """Reach the server, stay until it has gone or is left, and end it."""
        try:
            kind = find_transport(self._target.transport)
            async with kind.connect(self._target, self._tap, self) as transport:
                self._transport = transport
                self._perform(self._driver.client.opened(self._number, time.monotonic()))
                await first_of(transport.over, self.leaving)
                if transport.over.is_set() and not self.leaving.is_set():
                    self._ended(self._exit or "The server closed its stdout.")
            if self._target.transport != "stdio":
                # The end of a process speaks for itself; nothing tells that of another transport.
                self._tap.process("closed")
        except NotStarted as failure:
            self._ended(f"{failure.why} {failure.next_step}".rstrip())
        except UsageError as failure:  # no transport has this name
            self._ended(f"{failure}.")
        finally:
            self._transport = None

    def write(self, write: Write) -> None:
        """Hand a body to the transport, with the headers that go with it."""
        transport = self._transport
        if transport is None:
            return
        decoded = decode(write.body)
        modern = self._is_modern(decoded)
        if write.cancels is not None and modern and self._target.transport == "http":
            # In the stateless era a closed stream says it, and nothing else does ("Cancellation").
            self._driver.group.start_soon(self._abandon, transport, write.cancels)
            return
        message = decoded.messages[0] if len(decoded.messages) == 1 else None
        about = "raw" if message is None else message.method or "answer"
        identity = None if message is None else message.id
        transport.send(Send(write.body, about, identity, self._headers(decoded)))

    async def _abandon(self, transport: Transport, identity: str) -> None:
        await anyio.sleep(ARRIVES)
        transport.abandon(identity)

    def _is_modern(self, decoded: Decoded) -> bool:
        if any(peek(each, "params", "_meta", routing.VERSION_KEY) is not None for each in decoded.messages):
            self._modern = True
        return self._modern

    _modern = False

    def _headers(self, decoded: Decoded) -> tuple[tuple[str, str], ...]:
        if self._target.transport == "stdio":
            return ()
        client = self._driver.client
        if self._modern and len(decoded.messages) == 1:
            message = decoded.messages[0]
            tool = peek(message, "params", "name") if message.method == "tools/call" else None
            schema = client.schema(self._number, tool) if isinstance(tool, str) else None
            return routing.headers(message, None, schema)
        revision = client.revision(self._number)
        if revision is None or revision < routing.VERSION_HEADER_SINCE:
            return ()
        return ((routing.VERSION_HEADER, routing.encode(revision)),)

    # What the transport tells (``Peer``), and what the tap sees before it

    def received(self, seq: int, decoded: Decoded, answers: str | None = None) -> None:
        """A frame of the server."""
        body = self._body[1] if self._body[0] == seq else b""
        now = time.monotonic()
        self._perform(
            self._driver.client.feed(
                body, now, connection=self._number, decoded=decoded, seq=seq, answers=answers
            )
        )

    def heard(self) -> None:
        """The server lives; the mock waits for what it says."""

    def unanswered(self, id_text: str, why: str, next_step: str = "") -> None:  # noqa: ARG002
        """A request can get no answer any more; the next step is the user's, not a verdict's."""
        self._tap.process("unanswered", id=id_text, why=why)
        self._perform(self._driver.client.unanswered(self._number, id_text, why, time.monotonic()))

    def happened(self, event: Event, why: str = "", next_step: str = "") -> None:
        """The connection has moved on, in a way no message tells."""
        if event in _ENDS:
            self._ended(f"{why} {next_step}".rstrip())
            self.leaving.set()

    def _ended(self, why: str) -> None:
        self._perform(self._driver.client.ended(self._number, why, time.monotonic(), self._code))

    def _perform(self, actions: Sequence[ClientAction]) -> None:
        self._driver.perform(actions)

    def _saw(self, frame: Frame, decoded: Decoded | None) -> None:
        if frame.channel is Channel.PROCESS:
            self._happened(loads(frame.body))
        elif decoded is not None:
            self._body = frame.seq, frame.body

    def _happened(self, event: dict[str, object]) -> None:
        if event.get("event") != "exited":
            return
        code, name = event.get("code"), event.get("signal")
        if isinstance(code, int):
            self._code, self._exit = code, f"The server exited with status {code}."
        else:
            self._exit = f"The server was ended by signal {name}."
            self._code = 128 + int(getattr(signal, f"SIG{name}", 15))
