"""What a transport is: a way to one server, and a way to stand in for one.

A transport is a small thing. Its client half (``connect``) is an async context
manager: entering it reaches the server, leaving it ends everything it began,
however it is left. In between it takes bodies and tells a ``Peer`` what came.
Its serving half (``serve``) is the same turned round.

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

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from workbench.core.actions import Send
from workbench.core.jsonrpc import Decoded
from workbench.core.lifecycle import Event
from workbench.errors import UsageError
from workbench.wire.tap import Tap

if TYPE_CHECKING:
    from workbench.config import Target

#: The group of entry points in which packages bring transports.
GROUP = "mcp_workbench.transports"

#: Our own, loaded when they are first used.
_OURS = {
    "stdio": "workbench.wire.stdio",
    "http": "workbench.wire.http",
    "sse": "workbench.wire.http",
}


class Peer(Protocol):
    """What a transport tells of the other side. Called in the connection's loop."""

    def received(self, seq: int, decoded: Decoded, answers: str | None = None) -> None:
        """A frame of the server. ``answers`` is the id (JSON text) of the request on whose own
        stream it came as the answer, for answers that name no id of their own."""
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

    def serve(self, address: str, serve: Serve) -> AbstractAsyncContextManager[str]:
        """Stand where a server stands: at ``address``, ``serve`` is called for each client that
        comes. The context's value is the address as clients must name it."""
        ...


class Client(Protocol):
    """A client that has come to the serving half."""

    def send(self, body: bytes, answers: str | None = None) -> None:
        """Send a body to it: the answer to the request ``answers``, or on its own."""
        ...

    async def receive(self) -> bytes | None:
        """The next body it sent, ``None`` when it has gone."""
        ...


#: Serves one client until it is gone.
Serve = Callable[[Client], Any]


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
