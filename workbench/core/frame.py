"""One thing that crossed a wire, and the words for it.

Everything in the workbench is a function of frames: the screen, the checks,
the exports and both replay engines read them, and nothing keeps a second
truth. A frame holds the exact bytes of its body; what they mean is worked out
elsewhere (``jsonrpc``) and can always be worked out again.

The values are named tuples, not dataclasses: a stand-in must start within a few
milliseconds of a bare interpreter, and importing ``dataclasses`` alone costs
more than all of ``core.frame``, ``core.lines`` and ``core.jsonrpc`` together.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple, Protocol


class Direction(IntEnum):
    """Which way a frame went. ``NONE`` is for what no peer sent (process events, notes)."""

    NONE = 0
    TO_SERVER = 1
    TO_CLIENT = 2


class Channel(IntEnum):
    """What carried a frame."""

    STDIO = 1
    STDERR = 2
    HTTP = 3
    SSE = 4
    AUTH = 5
    PROCESS = 6
    NOTE = 7


class Kind(IntEnum):
    """What a frame is. ``INVALID`` is anything on the wire that is no JSON-RPC message."""

    REQUEST = 1
    RESULT = 2
    ERROR = 3
    NOTIFICATION = 4
    BATCH = 5
    INVALID = 6
    STDERR = 7
    HTTP = 8
    SSE = 9
    AUTH = 10
    PROCESS = 11
    NOTE = 12


class Ending(IntEnum):
    """How a frame ended on a line-based wire. ``NONE``: the stream ended first, or no lines."""

    LF = 1
    NONE = 0


#: Kinds that answer a request.
ANSWERS = frozenset((Kind.RESULT, Kind.ERROR))

#: Kinds that are one JSON-RPC message.
MESSAGES = frozenset((Kind.REQUEST, Kind.RESULT, Kind.ERROR, Kind.NOTIFICATION))


class Span(NamedTuple):
    """A redacted place: ``offset`` and ``length`` of the placeholder in the stored body (bytes),
    and ``wire``, the length of what stood there on the wire (bytes)."""

    offset: int
    length: int
    wire: int


class Unit(NamedTuple):
    """What a transport hands over: one whole frame, or a chunk of a line-based stream.

    ``whole``: ``data`` is the body of exactly one frame (its line ending not included).
    Otherwise it is a piece of a byte stream that the recorder splits at ``\\n``; an empty
    chunk tells that the stream of this connection, channel and direction has ended.
    Times are nanoseconds: ``wall_ns`` since the epoch (UTC), ``mono_ns`` of the monotonic clock.
    """

    connection: int
    direction: Direction
    channel: Channel
    data: bytes
    wall_ns: int
    mono_ns: int
    whole: bool = True
    ending: Ending = Ending.LF


class Frame(NamedTuple):
    """One frame of a session.

    ``seq`` counts from 1 without gaps within a session. ``id`` is the JSON text of the message's
    id, so that ``1``, ``"1"`` and ``1.0`` differ; ``None`` when there is none. ``method`` and
    ``name`` (the tool or prompt name, or the resource URI) are those of the message itself; for
    an answer they are its request's, where the request is known. ``size`` is the number of
    bytes on the wire without the line ending; it differs from ``len(body)`` only where
    ``spans`` (redaction) says so.
    """

    seq: int
    connection: int
    wall_ns: int
    mono_ns: int
    direction: Direction
    channel: Channel
    kind: Kind
    body: bytes
    size: int
    ending: Ending = Ending.LF
    method: str | None = None
    id: str | None = None
    name: str | None = None
    spans: tuple[Span, ...] = ()


class Row(NamedTuple):
    """A frame as the frame log shows it: all but the body, of which ``preview`` holds the
    first bytes (at most ``PREVIEW_BYTES``, exactly as stored, so unsafe for a terminal).

    ``pair`` is the seq of the request an answer answers, or of the answer a request got.
    ``duration_ns`` is set on answers.
    """

    seq: int
    connection: int
    wall_ns: int
    mono_ns: int
    direction: Direction
    channel: Channel
    kind: Kind
    size: int
    preview: bytes
    method: str | None = None
    id: str | None = None
    name: str | None = None
    pair: int | None = None
    duration_ns: int | None = None


#: How much of a body a row of the log carries.
PREVIEW_BYTES = 240


class Sink(Protocol):
    """Where transports hand over what they see, before anything parses it.

    Handing over never blocks and never refuses. The order of handing over *is* the order of
    the frames: a transport hands a unit over before it writes it on, so no answer can ever be
    handed over before its request.
    """

    def put(self, unit: Unit) -> int:
        """Take one unit; returns its ticket, which for whole frames is the frame's ``seq``."""
        ...

    def has_room(self) -> bool:
        """False while the backlog is full: a transport asks before its next *read*."""
        ...


class Clock(Protocol):
    """Where time comes from; tests pass their own."""

    def wall_ns(self) -> int: ...

    def mono_ns(self) -> int: ...
