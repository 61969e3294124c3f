"""What a transport is: a way to one server, and a way to stand in for one.

A transport is a small thing. Its client half (``connect``) is an async context
manager: entering it reaches the server, leaving it ends everything it began,
however it is left. In between it takes bodies and tells a ``Peer`` what came.
Its serving half (``serve``) is the same turned round: a function of yours runs for
each client that comes, takes bodies from it and sends bodies to it.

What every transport promises:

* Each unit that crosses the wire is handed to the ``Tap`` before anything else
  sees it, and what goes out before it is written.
* ``send`` never blocks and never raises for what a server does.
* A request that can get no answer any more is told (``Peer.unanswered``), so
  nobody waits for ever; one call that fails does not end the connection.

``stdio``, ``http`` and ``sse`` are ours. Another package brings its own with an
entry point of the group ``mcp_workbench.transports``: its name is the word
after ``--transport``, its value an object with the two methods of
``TransportKind``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol

import anyio

from workbench.core.actions import Send
from workbench.core.jsonrpc import Decoded
from workbench.core.lifecycle import Event
from workbench.errors import UsageError
from workbench.wire.tap import Tap

if TYPE_CHECKING:
    from workbench.config import Target
    from workbench.wire.oauth_logins import Logins

#: The group of entry points in which packages bring transports.
GROUP = "mcp_workbench.transports"

#: Our own, loaded when they are first used.
_OURS = {
    "stdio": "workbench.wire.stdio",
    "http": "workbench.wire.http_detect",
    "sse": "workbench.wire.sse_client",
    "memory": "workbench.wire.memory",
}


class Peer(Protocol):
    """What a transport tells of the other side. Called in the connection's loop.

    ``logins`` is how it comes by tokens, ``None`` where it is to ask for none.
    """

    logins: Logins | None

    def received(self, seq: int, decoded: Decoded, answers: str | None = None) -> None:
        """A frame of the server. ``answers`` is the id (JSON text) of the request on whose own
        stream it came as the answer, for answers that name no id of their own."""
        ...

    def heard(self) -> None:
        """The server has shown its first sign of life, a byte of anything. Only a transport that
        can tell so calls this."""
        ...

    def unanswered(self, id_text: str, why: str, next_step: str = "") -> None:
        """The request with this id can get no answer any more; ``why`` is a sentence."""
        ...

    def happened(self, event: Event, why: str = "", next_step: str = "") -> None:
        """The connection has moved on, in a way no message tells."""
        ...


class Transport(Protocol):
    """A server that has been reached.

    ``over`` is set when nothing more can come and nothing be sent. ``forced`` is the name of the
    signal that was needed to end a process, empty otherwise; it is known when the context is left.
    """

    over: anyio.Event
    forced: str

    def send(self, send: Send) -> int:
        """Hand a body over and write it when the other side takes it. Returns its frame's ``seq``
        (the first one's, where a body becomes several frames)."""
        ...

    def abandon(self, id_text: str) -> None:
        """Close what the answer to this request is awaited on, where there is such a thing."""
        ...


class TransportKind(Protocol):
    """A kind of transport, both halves."""

    def connect(self, target: Target, tap: Tap, peer: Peer) -> AbstractAsyncContextManager[Transport]:
        """Reach a target's server. Entering raises ``NotStarted`` when that is impossible at once."""
        ...

    def serve(self, address: str, serve: Serve, taps: Taps) -> AbstractAsyncContextManager[Serving]:
        """Stand where a server stands: at ``address``, ``serve`` runs for each client that comes, in a
        task of its own. ``taps`` makes the tap of each. Leaving the context lets every client go.
        Entering raises ``UsageError`` for an address that cannot be used."""
        ...


class Serving(NamedTuple):
    """A serving half at work. ``address`` is how clients must name it; ``over`` is set when no
    client can come any more and none is left."""

    address: str
    over: anyio.Event


class Received(NamedTuple):
    """A body that a client sent, as its frame ``seq``.

    ``stream`` is the number of what an answer to it can be sent on, and everything that belongs to
    that answer before it: on HTTP the request that brought it, 0 where one way serves for all.
    ``headers`` are those it came with, empty where there are none.
    """

    seq: int
    body: bytes
    decoded: Decoded
    stream: int = 0
    headers: tuple[tuple[str, str], ...] = ()


class Client(Protocol):
    """A client that has come to the serving half. Everything of it belongs to the serving loop.

    ``name`` is what it came to, where an address has names below it (``/mcp/NAME``), else empty.
    ``streams`` tells that each request it sends has a stream of its own. ``on_left`` is told the stream
    that it has left without having had its answer: in the stateless era that cancels the request, in
    the handshake era it says nothing.
    """

    name: str
    streams: bool
    tap: Tap
    on_left: Callable[[int], None]

    async def receive(self) -> Received | None:
        """The next body it sent, ``None`` when it has gone for good."""
        ...

    def send(self, body: bytes, stream: int = 0, *, apart: bool = False) -> None:
        """Send a message to it on the stream of a body it sent, or on its own (0). The answers to
        all requests that a stream brought end that stream. Never blocks; what can not be
        delivered any more is told by a process event. ``apart`` is for an answer that its client
        should not read together with what went before it."""
        ...

    def open(self, stream: int) -> None:
        """Begin the answer to what brought a stream, before there is a message to send on it, where
        answers have a beginning of their own."""
        ...

    def answer(self, stream: int, status: int, body: bytes = b"", headers: Headers = ()) -> None:
        """Answer what brought a stream with an HTTP status and a body instead of a message. Where
        there is no status, or its head is written, the body is sent as a message, if there is one."""
        ...

    def hang_up(self, stream: int = 0, retry: int | None = None, *, last: bool = False) -> None:
        """End a stream as it stands, without an answer. Where it can be taken up again, the client
        is told to wait ``retry`` milliseconds before that; with ``last`` it breaks and cannot be."""
        ...


#: HTTP headers, in their order.
Headers = tuple[tuple[str, str], ...]

#: Serves one client. When it returns, the client sees that its server is gone; when the client has
#: gone (``receive`` gave ``None``), it has a few seconds to return before it is cancelled.
Serve = Callable[[Client], Awaitable[None]]

#: Makes the tap for a client (its argument is the client's name), or for what is refused before it
#: belongs to any (the argument is then empty as well).
Taps = Callable[[str], Tap]


def find_transport(name: str) -> TransportKind:
    """The transport of this name. Raises ``UsageError`` when there is none."""
    home = _OURS.get(name)
    if home is not None:
        kind: TransportKind = import_module(home).TRANSPORT
        return kind
    # Looking for entry points is slow, so only an unknown name makes anybody look.
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP, name=name):
        found: TransportKind = entry.load()
        return found
    known = ", ".join(sorted({*_OURS, *(entry.name for entry in entry_points(group=GROUP))}))
    raise UsageError(f"no transport is named {name!r} (there: {known}); install the package that brings it")
