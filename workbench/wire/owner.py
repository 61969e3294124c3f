"""What a connection asks of whoever made it, and what it tells them of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from workbench.core.fold import ConnectionView
from workbench.core.jsonrpc import dumps
from workbench.wire.eras import Either

if TYPE_CHECKING:
    from workbench.wire.connection import Connection


class Owner(Protocol):
    """Who made a connection and wants to know what becomes of it. Called in the connection's loop."""

    def changed(self, what: str, connection: Connection, seq: int) -> None:
        """``what`` is ``connection``, ``call``, ``task`` or ``inbox``; ``seq`` the last frame it rests on."""
        ...

    def describe(self, connection: Connection, facts: dict[str, Any]) -> None:
        """Facts of the connection that a recording holds beside its frames."""
        ...

    def again(self, connection: Connection) -> Connection:
        """Connect to the target of a connection that is over once more, in its place."""
        ...


def agreed(conversation: Either) -> dict[str, Any]:
    """The facts of a connection whose handshake is done; objects as JSON text."""
    return {
        "era": conversation.era,
        "era_found": conversation.era_found or "initialize",
        "revision": conversation.revision,
        "client_info": dumps(conversation.client_info),
        "server_info": dumps(conversation.server_info),
        "client_capabilities": dumps(conversation.capabilities),
        "server_capabilities": dumps(conversation.server_capabilities),
    }


def ended(view: ConnectionView, now_ns: int) -> dict[str, Any]:
    """The facts of a connection that is over."""
    return {"closed_ns": now_ns, "closed_how": str(view.state), "exit_code": view.exit_code}
