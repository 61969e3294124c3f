"""Sessions written in a few lines, for the tests of replay."""

from __future__ import annotations

import json
from typing import Any

from workbench.core.frame import Channel, Direction, Ending, Frame, Kind
from workbench.core.jsonrpc import Message, decode
from workbench.core.methods import name_of
from workbench.replay.actions import Eof, Exit, Send, Stderr
from workbench.replay.options import Options
from workbench.replay.report import Report
from workbench.replay.script import build
from workbench.replay.server import MockServer


class Tape:
    """Frames of one connection: ``c`` is sent by the client, ``s`` by the server."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []

    def c(self, body: Any) -> Tape:
        return self._add(Direction.TO_SERVER, Channel.STDIO, body)

    def s(self, body: Any) -> Tape:
        return self._add(Direction.TO_CLIENT, Channel.STDIO, body)

    def err(self, line: bytes) -> Tape:
        return self._add(Direction.TO_CLIENT, Channel.STDERR, line)

    def event(self, **event: Any) -> Tape:
        return self.process(event)

    def process(self, event: Any) -> Tape:
        return self._add(Direction.NONE, Channel.PROCESS, event)

    def hello(self) -> Tape:
        """A handshake."""
        self.c(request(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={}))
        self.s(
            result(
                1,
                protocolVersion="2025-11-25",
                capabilities={"tools": {}},
                serverInfo={"name": "x", "version": "1"},
            )
        )
        return self.c(note("notifications/initialized"))

    def _add(self, direction: Direction, channel: Channel, body: Any) -> Tape:
        data = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()
        seq = len(self.frames) + 1
        decoded = decode(data)
        # As a recorder knows it.
        alone = (
            decoded.messages[0]
            if len(decoded.messages) == 1 and channel is Channel.STDIO
            else Message(Kind.INVALID)
        )
        self.frames.append(
            Frame(
                seq=seq,
                connection=1,
                wall_ns=seq,
                mono_ns=seq,
                direction=direction,
                channel=channel,
                kind=decoded.kind,
                body=data,
                size=len(data),
                ending=Ending.LF,
                method=alone.method,
                id=alone.id,
                name=name_of(alone.method, alone.value("params")),
            )
        )
        return self


def request(id: Any, method: str, **params: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": id, "method": method}
    return {**body, "params": params} if params else body


def call(id: Any, tool: str, token: Any = None, **arguments: Any) -> dict[str, Any]:
    meta = {} if token is None else {"_meta": {"progressToken": token}}
    return request(id, "tools/call", name=tool, arguments=arguments, **meta)


def note(method: str, **params: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    return {**body, "params": params} if params else body


def progress(token: Any, value: float) -> dict[str, Any]:
    return note("notifications/progress", progressToken=token, progress=value)


def result(id: Any, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": members}


def text(id: Any, words: str) -> dict[str, Any]:
    return result(id, content=[{"type": "text", "text": words}])


class Live:
    """A live client talking to the mock made of a tape."""

    def __init__(self, tape: Tape, **options: Any) -> None:
        self.report = Report("tape.db", "one")
        self.server = MockServer(build(tape.frames), self.report, Options(**options))
        self.stderr: list[bytes] = []
        self.exit: int | None = None
        self.closed_stdout = False
        self.first = self._taken(self.server.start())

    def say(self, body: Any) -> list[Any]:
        """Send one body; returns the parsed bodies (or raw bytes) that come back."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self._taken(self.server.feed(data))

    def hello(self) -> list[Any]:
        answers = self.say(
            request(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
        )
        return answers + self.say(note("notifications/initialized"))

    def release(self) -> list[Any]:
        """Be silent for so long that the mock gives up waiting."""
        return self._taken(self.server.release())

    def _taken(self, actions: list[Any]) -> list[Any]:
        taken = []
        for action in actions:
            if isinstance(action, Send):
                try:
                    taken.append(json.loads(action.body))
                except (ValueError, RecursionError):
                    taken.append(action.body)
            elif isinstance(action, Stderr):
                self.stderr.append(action.body)
            elif isinstance(action, Eof):
                self.closed_stdout = True
            elif isinstance(action, Exit):
                self.exit = action.code
        return taken
