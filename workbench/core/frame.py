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


def carried_kind(channel: Channel, body: bytes, event: str | None = None) -> Kind | None:
    """The kind of something on an HTTP connection that is no message whatever its body holds: an
    answer without a body or with one that only acknowledges, a comment, a priming event, the
    ``endpoint`` of the older transport.
    ``None`` where the body decides. ``event`` is as in ``Unit``."""
    if channel == Channel.HTTP:
        bare = not body or (event is not None and '"ack":true' in event)
        return Kind.HTTP if bare else None
    if channel == Channel.SSE:
        bare = not body or (event is not None and ('"comment":true' in event or '"name":"endpoint"' in event))
        return Kind.SSE if bare else None
    return None


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
    ``stream`` is the number of the ``Stream`` it came on, 0 for none. ``event`` is set for an event
    of an SSE stream that had more than data: a JSON object with ``id``, ``name``, ``retry`` (ms)
    and ``comment`` (true for a comment), each only where it was there and in their order, ``eol`` where
    all lines end with CRLF or CR, and ``raw`` where the bytes cannot be made again from these and the
    data (``sse.write_event`` does that). A word that only acknowledges a POST of the older HTTP with
    SSE has ``{"ack":true}``.
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
    stream: int = 0
    event: str | None = None


class Stream(NamedTuple):
    """One HTTP request and what came back on it: everything but the bodies, which are frames.

    ``number`` counts from 1 within a session and is what frames name in ``stream``. ``verb`` is the
    HTTP method; ``url`` is the whole URL. Headers are in their order, as on the wire; ``status`` and
    ``response_headers`` are those of the answer, ``None`` and empty while there is none.
    ``encoding`` is the content encoding, empty for none, and ``wire_bytes`` the size of the answer's
    body before decoding where the two differ. Times are wall clock nanoseconds. ``closed_how`` is
    ``end`` (the answer is complete), ``cut`` (it ended too early), ``closed`` (by us), ``failed`` (no
    answer came), or empty while it is open.
    """

    number: int
    connection: int
    verb: str
    url: str
    request_headers: tuple[tuple[str, str], ...]
    opened_ns: int
    status: int | None = None
    response_headers: tuple[tuple[str, str], ...] = ()
    encoding: str = ""
    wire_bytes: int | None = None
    closed_ns: int | None = None
    closed_how: str = ""


class Frame(NamedTuple):
    """One frame of a session.

    ``seq`` counts from 1 without gaps within a session. ``id`` is the JSON text of the message's
    id, so that ``1``, ``"1"`` and ``1.0`` differ; ``None`` when there is none. ``method`` and
    ``name`` (the tool or prompt name, or the resource URI) are those of the message itself; for
    an answer they are its request's, where the request is known. ``size`` is the number of
    bytes on the wire without the line ending; it differs from ``len(body)`` only where
    ``spans`` (redaction) says so. ``stream`` and ``event`` are as in ``Unit``.
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
    stream: int = 0
    event: str | None = None


class Row(NamedTuple):
    """A frame as the frame log shows it: all but the body, of which ``preview`` holds the
    first bytes (at most ``PREVIEW_BYTES``, exactly as stored, so unsafe for a terminal).

    ``pair`` is the seq of the request an answer answers, or of the answer a request got.
    ``duration_ns`` is set on answers. ``findings`` are the ids of the rules it breaks. ``status`` is
    that of the HTTP answer a frame to the client came with.
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
    stream: int = 0
    findings: tuple[str, ...] = ()
    status: int | None = None


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


class StreamSink(Sink, Protocol):
    """A sink that also takes HTTP streams and findings."""

    def new_stream(self) -> int:
        """A number for a stream that nothing else of the session has."""
        ...

    def stream(self, stream: Stream) -> None:
        """Take a stream as it stands now: when it is opened (before its first frame), when its
        answer's head has come, and when it is closed."""
        ...

    def finding(self, seq: int, rule: str, severity: str, pointer: str = "") -> None:
        """Take a finding about a frame that has been handed over: derived, and never waited for."""
        ...


class Clock(Protocol):
    """Where time comes from; tests pass their own."""

    def wall_ns(self) -> int: ...

    def mono_ns(self) -> int: ...
