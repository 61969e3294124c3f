"""Serves a cast: every client that comes to a serving half gets a mock server of its own.

Nothing here opens a connection to anywhere or starts a process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.core.frame import Stream, Unit
from workbench.core.jsonrpc import Decoded
from workbench.errors import WorkbenchError
from workbench.replay.cast import Cast
from workbench.wire.serve_client import Live, serve_client
from workbench.wire.serving_gate import is_stateless
from workbench.wire.transport import Client


class Host:
    """Serves clients with a cast; ``serve`` is what a serving half runs for each of them.

    ``checkpoint`` is called before anything is answered and when a client has gone; ``failed`` is told
    when the recording cannot be read on, ``complain`` takes what was written to stderr. ``live`` makes a live
    server for a client that gets a recorded connection, by its name.
    """

    def __init__(
        self,
        cast: Cast,
        checkpoint: Callable[[], None] = lambda: None,
        failed: Callable[[WorkbenchError], None] = lambda _: None,
        complain: Callable[[bytes], None] | None = None,
        live: Callable[[str], Live] | None = None,
    ) -> None:
        self._cast = cast
        self._checkpoint = checkpoint
        self._failed = failed
        self._complain = complain
        self._live = live

    async def serve(self, client: Client) -> None:
        """Serve one client until it has gone, or its recorded server has."""
        first = await client.receive()
        if first is None:
            return
        try:
            number, server = self._cast.enter(
                client.name,
                modern=is_stateless(first.decoded),
                streams=client.streams,
                greeting=_greeting(first.decoded),
            )
            try:
                live = None if self._live is None else self._live(server.report.connection)
                await serve_client(server, client, first, self._checkpoint, self._complain, live)
            finally:
                self._cast.leave(number)
                self._checkpoint()
        except WorkbenchError as error:
            self._failed(error)


def _greeting(decoded: Decoded) -> Any:
    """The params of the ``initialize`` that a client begins with; ``None`` if it begins otherwise."""
    message = decoded.messages[0] if decoded.messages else None
    return message.value("params") if message is not None and message.method == "initialize" else None


class NoSink:
    """Takes what is seen on the wire, and keeps nothing of it."""

    def __init__(self) -> None:
        self._seq = 0
        self._streams = 0

    def put(self, unit: Unit) -> int:  # noqa: ARG002
        self._seq += 1
        return self._seq

    def has_room(self) -> bool:
        return True

    def new_stream(self) -> int:
        self._streams += 1
        return self._streams

    def stream(self, stream: Stream) -> None:
        """Nothing."""

    def finding(self, seq: int, rule: str, severity: str, pointer: str = "") -> None:
        """Nothing."""
