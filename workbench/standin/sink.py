"""What the transports of a stand-in tell, handed over to the recorder's process through the ring."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import count
from typing import Any

from workbench.core.frame import Stream, Unit
from workbench.standin.ring import Ring


class RingSink:
    """A ``StreamSink``. For one thread; connections and streams are numbered here, in their order."""

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        self._connections = 0
        self._streams = 0

    def put(self, unit: Unit) -> int:
        return self._ring.put(unit)

    def has_room(self) -> bool:
        return self._ring.has_room()

    def new_stream(self) -> int:
        self._streams += 1
        return self._streams

    def stream(self, stream: Stream) -> None:
        self._say("stream", list(stream))

    def finding(self, seq: int, rule: str, severity: str, pointer: str = "") -> None:
        """Nothing: a stand-in judges nobody. Whoever reads the recording finds it."""

    def connect(self, name: str, transport: str, target: str, secrets: Mapping[str, str]) -> int:
        """Open a connection of the recording; returns its number. See ``Recorder.connect``."""
        self._connections += 1
        self._say("connect", [name, transport, target, dict(secrets)])
        return self._connections

    def describe(self, connection: int, facts: Mapping[str, Any]) -> None:
        """Write down facts of a connection. See ``Recorder.describe``."""
        self._say("describe", [connection, dict(facts)])

    def _say(self, what: str, about: Any) -> None:
        self._ring.say(json.dumps([what, about]).encode())


class Unrecorded:
    """A ``StreamSink`` that keeps nothing: for the side of a bridge whose bodies the other side tells."""

    def __init__(self) -> None:
        self._frames = count(1)
        self._streams = count(1)

    def put(self, unit: Unit) -> int:  # noqa: ARG002
        return next(self._frames)

    def has_room(self) -> bool:
        return True

    def new_stream(self) -> int:
        return next(self._streams)

    def stream(self, stream: Stream) -> None:
        """Nothing."""

    def finding(self, seq: int, rule: str, severity: str, pointer: str = "") -> None:
        """Nothing."""
