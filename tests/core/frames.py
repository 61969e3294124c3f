"""Frames for tests: a tape that numbers and stamps what is put on it."""

from __future__ import annotations

import json
from typing import Any

from workbench.core.frame import Channel, Direction, Frame, Kind
from workbench.core.jsonrpc import decode

#: Time between two frames of a tape, unless a test says otherwise.
TICK_NS = 1_000_000


class Tape:
    """Collects the frames of one connection in order; each method returns the frame it added."""

    def __init__(self, connection: int = 1) -> None:
        self.connection = connection
        self.frames: list[Frame] = []
        self.now_ns = 0

    def to_server(self, body: Any) -> Frame:
        return self._message(Direction.TO_SERVER, body)

    def to_client(self, body: Any) -> Frame:
        return self._message(Direction.TO_CLIENT, body)

    def ask(self, identity: Any, method: str, params: Any = None, *, peer: bool = False) -> Frame:
        """A request of the client, or of the server if ``peer``."""
        body = {"jsonrpc": "2.0", "id": identity, "method": method}
        if params is not None:
            body["params"] = params
        return self.to_client(body) if peer else self.to_server(body)

    def reply(self, identity: Any, result: Any, *, peer: bool = False) -> Frame:
        """A result of the server, or of the client if ``peer``."""
        body = {"jsonrpc": "2.0", "id": identity, "result": result}
        return self.to_server(body) if peer else self.to_client(body)

    def fail(self, identity: Any, code: int, message: str, *, peer: bool = False) -> Frame:
        body = {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}
        return self.to_server(body) if peer else self.to_client(body)

    def tell(self, method: str, params: Any = None, *, peer: bool = True) -> Frame:
        """A notification of the server, or of the client if not ``peer``."""
        body: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            body["params"] = params
        return self.to_client(body) if peer else self.to_server(body)

    def process(self, event: str, **facts: Any) -> Frame:
        body = json.dumps({"event": event, **facts}).encode()
        return self._add(Direction.NONE, Channel.PROCESS, Kind.PROCESS, body)

    def note(self, event: str, **facts: Any) -> Frame:
        body = json.dumps({"event": event, **facts}).encode()
        return self._add(Direction.NONE, Channel.NOTE, Kind.NOTE, body)

    def stderr(self, line: bytes) -> Frame:
        return self._add(Direction.TO_CLIENT, Channel.STDERR, Kind.STDERR, line)

    def handshake(
        self, capabilities: Any = None, *, revision: str = "2025-11-25", client: Any = None
    ) -> None:
        """initialize (id 0), its answer and initialized."""
        self.ask(
            0,
            "initialize",
            {"protocolVersion": revision, "capabilities": client or {}, "clientInfo": {"name": "bench"}},
        )
        answer = {
            "protocolVersion": revision,
            "capabilities": capabilities or {},
            "serverInfo": {"name": "s"},
        }
        self.reply(0, answer)
        self.tell("notifications/initialized", peer=False)

    def _message(self, direction: Direction, body: Any) -> Frame:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self._add(direction, Channel.STDIO, decode(data).kind, data)

    def _add(self, direction: Direction, channel: Channel, kind: Kind, body: bytes) -> Frame:
        self.now_ns += TICK_NS
        seq = len(self.frames) + 1
        frame = Frame(
            seq, self.connection, self.now_ns, self.now_ns, direction, channel, kind, body, len(body)
        )
        self.frames.append(frame)
        return frame
