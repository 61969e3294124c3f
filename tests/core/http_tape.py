"""Frames of an HTTP connection for tests."""

from __future__ import annotations

import json
from typing import Any

from tests.core.frames import Tape
from workbench.core.frame import Channel, Direction, Frame, Stream, carried_kind
from workbench.core.jsonrpc import decode

URL = "http://127.0.0.1:8000/mcp"


class HttpTape(Tape):
    """A tape whose messages go on numbered streams."""

    def post(self, stream: int, body: Any) -> Frame:
        """The body of a POST."""
        return self.carried(Direction.TO_SERVER, Channel.HTTP, stream, body)

    def body(self, stream: int, body: Any) -> Frame:
        """The body of an answer, empty for none."""
        return self.carried(Direction.TO_CLIENT, Channel.HTTP, stream, body)

    def event(self, stream: int, body: Any, **event: Any) -> Frame:
        """An event of an SSE stream, with what it has beside its data."""
        text = json.dumps(event, separators=(",", ":")) if event else None
        return self.carried(Direction.TO_CLIENT, Channel.SSE, stream, body, text)

    def carried(
        self, way: Direction, channel: Channel, stream: int, body: Any, event: str | None = None
    ) -> Frame:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = carried_kind(channel, data, event) or decode(data).kind
        frame = self._add(way, channel, kind, data)._replace(stream=stream, event=event)
        self.frames[-1] = frame
        return frame


def call(identity: Any, method: str = "tools/call", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}


def result(identity: Any, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "result": members}


def note(method: str = "notifications/message", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def head(number: int, verb: str = "POST", connection: int = 1, **more: Any) -> Stream:
    return Stream(number, connection, verb, URL, more.pop("request_headers", ()), 1_000, **more)
