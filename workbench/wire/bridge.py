"""Between a client that a serving half has and a server on another transport: what either says goes on.

Bodies go on as they are, but for names that would collide (``bridge_names``), and for line ends between the
tokens of JSON, which a wire of lines cannot carry. What only one of the transports has a word for is said
in the other's: a stream that a client of the stateless era leaves is a cancellation over stdio and the
reverse, a request that HTTP gives no answer is answered with an error.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio

from workbench.config import Target
from workbench.core import routing
from workbench.core.actions import Send
from workbench.core.frame import Channel, Frame
from workbench.core.jsonrpc import Decoded, decode, error, id_text, notification
from workbench.core.lifecycle import Event
from workbench.core.peek import peek, peek_items
from workbench.wire.bridge_names import Names
from workbench.wire.command import NotStarted
from workbench.wire.oauth_logins import Logins
from workbench.wire.proxy_clients import Client as Party
from workbench.wire.tap import Observer, Tap
from workbench.wire.transport import Client, Received, Transport, find_transport

#: Tools whose schema is remembered, for the headers that repeat arguments.
MOST_TOOLS = 10_000

#: Makes the party that the recording knows the client as: a connection of its own, with what is to
#: see each frame of it.
Come = Callable[[Observer], Party]


async def bridge(client: Client, target: Target, come: Come, complain: Callable[[bytes], None]) -> None:
    """Pass on what a client and a server of its own say to each other, until either has gone.

    ``complain`` gets the lines that a process writes to stderr.
    """
    between = _Bridge(client, target, come, complain)
    await between.run()


class _Bridge:
    """It is the ``Peer`` of the server's transport. The client is who authorizes."""

    logins: Logins | None = None

    def __init__(self, client: Client, target: Target, come: Come, complain: Callable[[bytes], None]) -> None:
        self._client = client
        self._target = target
        self._complain = complain
        self._party = come(self._saw)
        self._names = Names()
        self._lost = anyio.Event()
        self._transport: Transport | None = None
        self._body = 0, b""
        self._revision: str | None = None
        self._schemas: dict[str, object] = {}
        client.on_left = self._left

    @property
    def _tap(self) -> Tap:
        return self._party.tap

    async def run(self) -> None:
        try:
            kind = find_transport(self._target.transport)
            async with kind.connect(self._target, self._tap, self) as transport:
                self._transport = transport
                async with anyio.create_task_group() as group:

                    async def end_with(event: anyio.Event) -> None:
                        await event.wait()
                        group.cancel_scope.cancel()

                    group.start_soon(end_with, transport.over)
                    group.start_soon(end_with, self._lost)
                    while (received := await self._client.receive()) is not None:
                        self._take(received, transport)
                    group.cancel_scope.cancel()
            self._answer_all("The server has gone.")
        except NotStarted as failure:
            await self._refuse_first(f"{failure.why} {failure.next_step}".rstrip())
        finally:
            self._transport = None
            self._party.ended("closed")

    async def _refuse_first(self, why: str) -> None:
        """Tell the client why there is no server, when it asks for the first time."""
        while (received := await self._client.receive()) is not None:
            self._names.asked(received.body, received.decoded, received.stream)
            if self._names.open:
                self._answer_all(why)
                return

    # What the client says

    def _take(self, received: Received, transport: Transport) -> None:
        decoded = received.decoded
        stdio = self._target.transport == "stdio"
        body = self._names.asked(received.body, decoded, received.stream)
        if body is not received.body:
            decoded = decode(body)
        self._party.says(decoded)
        message = decoded.messages[0] if len(decoded.messages) == 1 else None
        if message is not None and message.method == "notifications/cancelled" and not stdio:
            name = id_text(peek(message, "params", "requestId"))
            asked = self._names.open.get(name)
            if asked is not None and asked.stateless:
                # In the stateless era a closed stream says it, and nothing else does ("Cancellation").
                self._names.close(name)
                transport.abandon(name)
                return
        about = "raw" if message is None else message.method or "answer"
        identity = None if message is None else message.id
        transport.send(Send(_line(body) if stdio else body, about, identity, self._headers(decoded)))

    def _headers(self, decoded: Decoded) -> tuple[tuple[str, str], ...]:
        """What an HTTP request repeats of its body, as a client over HTTP would."""
        if self._target.transport == "stdio" or len(decoded.messages) != 1:
            return ()
        message = decoded.messages[0]
        if peek(message, "params", "_meta", routing.VERSION_KEY) is not None:
            tool = peek(message, "params", "name") if message.method == "tools/call" else None
            return routing.headers(message, None, self._schemas.get(tool) if isinstance(tool, str) else None)
        if self._revision is None or self._revision < routing.VERSION_HEADER_SINCE:
            return ()
        return ((routing.VERSION_HEADER, routing.encode(self._revision)),)

    def _left(self, stream: int) -> None:
        for name in self._names.left(stream):
            if self._transport is not None:
                body = notification("notifications/cancelled", f'{{"requestId":{name}}}')
                self._transport.send(Send(body, "cancel", name))

    # What the server's transport tells (``Peer``), and what the tap sees before it

    def received(self, seq: int, decoded: Decoded, answers: str | None = None) -> None:
        """A frame of the server."""
        if self._body[0] != seq or not decoded.messages:
            return
        for message in decoded.messages:
            self._party.hears(message)
        self._revision = self._party.parties.revision or self._revision
        self._remember(decoded)
        body, stream = self._names.told(self._body[1], decoded, answers)
        self._client.send(body if self._client.streams else _line(body), stream)

    def heard(self) -> None:
        """The server lives; the client waits for what it says."""

    def unanswered(self, id_text: str, why: str, next_step: str = "") -> None:
        """A request can get no answer any more."""
        asked = self._names.close(id_text)
        if asked is not None:
            self._tap.process("unanswered", id=id_text, why=why)
            self._client.send(error(asked.id, -32000, f"{why} {next_step}".rstrip()), asked.stream)

    def happened(self, event: Event, why: str = "", next_step: str = "") -> None:
        """The connection has moved on, in a way no message tells."""
        if event in (Event.UNREACHABLE, Event.UNAUTHORIZED, Event.SESSION_LOST):
            self._answer_all(f"{why} {next_step}".rstrip())
        if event is Event.SESSION_LOST:
            self._lost.set()

    def _answer_all(self, why: str) -> None:
        for name in list(self._names.open):
            self.unanswered(name, why)

    def _remember(self, decoded: Decoded) -> None:
        """Keep what tools say of their arguments, which headers may have to repeat."""
        if self._target.transport == "stdio":
            return
        for message in decoded.messages:
            for tool in peek_items(message, "result", "tools") or ():
                named = isinstance(tool, dict) and isinstance(tool.get("name"), str)
                if named and len(self._schemas) < MOST_TOOLS:
                    self._schemas[tool["name"]] = tool.get("inputSchema")

    def _saw(self, frame: Frame, decoded: Decoded | None) -> None:
        if frame.channel is Channel.STDERR:
            self._complain(frame.body + b"\n")
        elif decoded is not None:
            self._body = frame.seq, frame.body


def _line(body: bytes) -> bytes:
    """A body as one line: in JSON, line ends can only stand between tokens."""
    return body.replace(b"\r", b" ").replace(b"\n", b" ") if b"\n" in body else body
