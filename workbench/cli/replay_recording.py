"""``replay server -o``: records a replay as if it were the server it stands in for."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from workbench.core.frame import Channel, Direction, Ending, Frame, Kind, Unit
from workbench.core.jsonrpc import Decoded, Message, dumps
from workbench.core.parties import Parties
from workbench.standin.handshake import Overheard
from workbench.store.recorder import Recorder
from workbench.wire.tap import Tap


class Recording:
    """A recording with one connection. Raises ``RecordingError`` if it cannot be made."""

    def __init__(self, path: str, name: str, source: str) -> None:
        self._recorder = Recorder(path, name=name, origin="replay", on_trouble=_complain)
        self._connection = self._recorder.connect(name, "stdio", f"replay server {source}")
        self._overheard = Overheard()
        self._event("started", pid=os.getpid(), command=["mcp-workbench", "replay", "server", source])

    def tap(self, direction: Direction, channel: Channel, body: bytes, ending: Ending) -> None:
        """Take one frame."""
        now = time.time_ns(), time.monotonic_ns()
        unit = Unit(self._connection, direction, channel, body, *now, True, ending)
        self._recorder.put(unit)
        if not self._overheard.over:
            line = unit._replace(data=body + b"\n")
            facts = self._overheard.take(line)
            if facts:
                self._recorder.describe(self._connection, **facts)

    def close(self, ended: str, code: int | None) -> None:
        """Write down how it ended: ``code`` is the status of a server that ended by itself."""
        if ended.startswith("signal:"):
            how = self._event("signal", name=ended.partition(":")[2])
        elif code is None:
            how = self._event("stdin_closed")
        else:
            how = self._event("exited", code=code)
            self._recorder.describe(self._connection, exit_code=code)
        self._recorder.describe(self._connection, closed_ns=time.time_ns(), closed_how=how)
        self._recorder.close(ended)

    def _event(self, event: str, **members: Any) -> str:
        body = dumps({"event": event, **members}).encode("utf-8", "surrogateescape")
        self.tap(Direction.NONE, Channel.PROCESS, body, Ending.NONE)
        return event


class HttpRecording:
    """A recording of a replay over HTTP, or within a process, with a connection for each client."""

    def __init__(self, path: str, name: str, source: str, transport: str = "http") -> None:
        self._recorder = Recorder(path, name=name, origin="replay", on_trouble=_complain)
        self._name = name
        self._source = source
        self._transport = transport
        self._open: list[int] = []

    def tap(self, _place: str) -> Tap:
        """The tap of a client that has come."""
        number = self._recorder.connect(self._name, self._transport, f"replay server {self._source}")
        self._open.append(number)
        facts = _Facts(number, self._recorder)
        return Tap(self._recorder, number, facts.take)

    def close(self) -> None:
        for number in self._open:
            self._recorder.describe(number, closed_ns=time.time_ns(), closed_how="closed")
        self._recorder.close()


class _Facts:
    """Writes down who talks to whom on a connection, once they have said it."""

    def __init__(self, connection: int, recorder: Recorder) -> None:
        self._connection = connection
        self._recorder = recorder
        self._parties = Parties()
        self._asked: tuple[str, str] | None = None
        self._told = False

    def take(self, frame: Frame, decoded: Decoded | None) -> None:
        """Take a frame as it passes."""
        for message in () if decoded is None or self._told else decoded.messages:
            if frame.direction is Direction.TO_SERVER and message.kind is Kind.REQUEST:
                self._request(message)
            elif self._asked is not None and message.kind is Kind.RESULT and message.id == self._asked[1]:
                take = self._parties.answered if self._asked[0] == "initialize" else self._parties.discovered
                take(message)
                self._tell()

    def _request(self, message: Message) -> None:
        if message.method == "initialize":
            self._parties.asked(message)
        elif not self._parties.stateless(message):
            return
        elif message.method != "server/discover":
            self._tell()
            return
        self._asked = message.method or "", message.id or ""

    def _tell(self) -> None:
        self._told = True
        parties = self._parties
        self._recorder.describe(
            self._connection,
            era=parties.era or "modern",
            era_found="initialize" if parties.era == "legacy" else "what the client says",
            revision=parties.revision,
            client_info=dumps(parties.client_info),
            server_info=dumps(parties.server_info),
            client_capabilities=dumps(parties.client_capabilities),
            server_capabilities=dumps(parties.server_capabilities),
        )


def _complain(sentence: str) -> None:
    sys.stderr.write(f"mcp-workbench: {sentence}\n")
