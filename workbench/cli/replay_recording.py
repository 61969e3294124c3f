"""``replay server -o``: records a replay as if it were the server it stands in for."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from workbench.core.frame import Channel, Direction, Ending, Unit
from workbench.core.jsonrpc import dumps
from workbench.standin.handshake import Overheard
from workbench.store.recorder import Recorder


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


def _complain(sentence: str) -> None:
    sys.stderr.write(f"mcp-workbench: {sentence}\n")
