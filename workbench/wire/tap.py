"""Tells a sink every frame, before anything parses it.

The tap sits below the parser. A body is handed to the sink first; only then is
it decoded, and only then does it go on to the fold and the conversation. What
goes out is handed over before it is written. So a recording holds what was on
the wire even when everything above the tap is wrong.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from workbench.core.frame import (
    Channel,
    Clock,
    Direction,
    Ending,
    Frame,
    Kind,
    Stream,
    StreamSink,
    Unit,
    carried_kind,
)
from workbench.core.jsonrpc import Decoded, decode, dumps
from workbench.core.methods import name_of
from workbench.wire.turns import Turn


class SystemClock:
    """The machine's clocks."""

    def wall_ns(self) -> int:
        return time.time_ns()

    def mono_ns(self) -> int:
        return time.monotonic_ns()


#: Sees every frame after the sink has it: the fold of the connection.
Observer = Callable[[Frame, Decoded | None], None]


class Tap:
    """The one place of a connection at which frames come to be.

    Every method returns the frame's ``seq``. All units are handed over whole, so the sink's
    ticket is the number the frame gets. ``turn`` is for whoever works through what comes.
    """

    def __init__(
        self,
        sink: StreamSink,
        connection: int,
        observe: Observer | None = None,
        clock: Clock | None = None,
        observe_stream: Callable[[Stream], None] | None = None,
        turn: Turn | None = None,
    ) -> None:
        self.sink = sink
        self.turn = turn or Turn()
        self.connection = connection
        self._observe = observe
        self._observe_stream = observe_stream
        self._clock = clock or SystemClock()

    def message(
        self,
        direction: Direction,
        body: bytes,
        ending: Ending = Ending.LF,
        channel: Channel = Channel.STDIO,
        stream: int = 0,
        event: str | None = None,
    ) -> tuple[int, Decoded]:
        """A line of the child's stdin or stdout, the body of an HTTP request or answer, or an event
        of an SSE stream; returns its ``seq`` and what it holds (nothing, if it is no message)."""
        unit = self._unit(direction, channel, body, ending, stream, event)
        seq = self.sink.put(unit)
        kind = carried_kind(channel, body, event)
        decoded = decode(body) if kind is None else Decoded(kind, ())
        if self._observe is not None:
            message = decoded.messages[0] if len(decoded.messages) == 1 else None
            method = message.method if message else None
            name = name_of(method, message.members.get("params")) if message else None
            identity = message.id if message else None
            self._observe(_frame(seq, unit, decoded.kind, method, identity, name), decoded)
        return seq, decoded

    def aside(self, direction: Direction, body: bytes, stream: int) -> int:
        """A body of an HTTP exchange that belongs to authorization, and is no message whatever it holds."""
        return self._plain(direction, Channel.AUTH, Kind.AUTH, body, Ending.NONE, stream)

    def stream(self, stream: Stream) -> None:
        """An HTTP exchange as it stands now; see ``StreamSink.stream``."""
        self.sink.stream(stream)
        if self._observe_stream is not None:
            self._observe_stream(stream)

    def wall_ns(self) -> int:
        """The time, by the clock that frames are stamped with."""
        return self._clock.wall_ns()

    def stderr(self, line: bytes, ending: Ending = Ending.LF) -> int:
        """A line the child wrote to stderr."""
        return self._plain(Direction.TO_CLIENT, Channel.STDERR, Kind.STDERR, line, ending)

    def process(self, event: str, **members: Any) -> int:
        """Something that happened to the process, told by nobody on the wire."""
        return self._told(Channel.PROCESS, Kind.PROCESS, {"event": event, **members})

    def note(self, event: str, **members: Any) -> int:
        """A remark about what happens, our own."""
        return self._told(Channel.NOTE, Kind.NOTE, {"event": event, **members})

    def _told(self, channel: Channel, kind: Kind, event: dict[str, Any]) -> int:
        body = dumps(event).encode("utf-8", "surrogateescape")
        return self._plain(Direction.NONE, channel, kind, body, Ending.NONE)

    def _plain(
        self, direction: Direction, channel: Channel, kind: Kind, body: bytes, ending: Ending, stream: int = 0
    ) -> int:
        unit = self._unit(direction, channel, body, ending, stream)
        seq = self.sink.put(unit)
        if self._observe is not None:
            self._observe(_frame(seq, unit, kind), None)
        return seq

    def _unit(
        self,
        direction: Direction,
        channel: Channel,
        body: bytes,
        ending: Ending,
        stream: int = 0,
        event: str | None = None,
    ) -> Unit:
        wall_ns, mono_ns = self._clock.wall_ns(), self._clock.mono_ns()
        return Unit(self.connection, direction, channel, body, wall_ns, mono_ns, True, ending, stream, event)


def _frame(
    seq: int,
    unit: Unit,
    kind: Kind,
    method: str | None = None,
    identity: str | None = None,
    name: str | None = None,
) -> Frame:
    return Frame(
        seq,
        unit.connection,
        unit.wall_ns,
        unit.mono_ns,
        unit.direction,
        unit.channel,
        kind,
        unit.data,
        len(unit.data),
        unit.ending,
        method,
        identity,
        name,
        stream=unit.stream,
        event=unit.event,
    )
