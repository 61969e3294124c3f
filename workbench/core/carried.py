"""Which HTTP stream belongs to which exchange.

What comes on the stream of a request's POST belongs to that request, and so does
what comes on a GET that takes up the same stream after it broke ("Resumability
and Redelivery", 2025-03-26 to 2025-11-25): it names the last event it knows.
The older HTTP+SSE has one stream for everything, told by its ``endpoint``
event; there nothing belongs to an exchange by its stream.

Part of the light path: standard library only.
"""

from __future__ import annotations

from collections import OrderedDict

from workbench.core.exchange import Exchange
from workbench.core.frame import Direction, Frame, Kind, Stream
from workbench.core.jsonrpc import loads

#: GETs that name an event and have brought no frame yet; streams that are known to go on with others.
MAX_RESUMES = 1_000

_Key = tuple[int, int]


class _Carrier:
    """The open exchanges of one stream; ``keys`` are the stream and those that took it up again."""

    __slots__ = ("exchanges", "keys", "last")

    def __init__(self, key: _Key) -> None:
        self.exchanges: dict[int, Exchange] = {}
        self.keys = [key]
        self.last: str | None = None


class Carried:
    """Fed with frames in order, and with the heads of streams before their first frames."""

    def __init__(self) -> None:
        self._carriers: dict[_Key, _Carrier] = {}
        self._resumes: dict[_Key, str] = {}
        self._shared: dict[int, int] = {}
        self._origins: OrderedDict[_Key, int] = OrderedDict()

    def head(self, stream: Stream) -> None:
        """Take what is known of a stream."""
        key = (stream.connection, stream.number)
        last = last_event_id(stream)
        if last is not None and key not in self._carriers:
            self._resumes[key] = last
            if len(self._resumes) > MAX_RESUMES:
                del self._resumes[next(iter(self._resumes))]

    def came(self, frame: Frame) -> None:
        """Take a frame that came on a stream, before anything is asked about it."""
        key = (frame.connection, frame.stream)
        if key in self._resumes:
            self._resume(key, self._resumes.pop(key))
        if frame.event is None or frame.direction is not Direction.TO_CLIENT:
            return
        if frame.kind is Kind.SSE and '"name":"endpoint"' in frame.event:
            self._shared[frame.connection] = frame.stream
        carrier = self._carriers.get(key)
        if carrier is not None and '"id"' in frame.event:
            carrier.last = event_id(frame.event)

    def follows(self, connection: int, stream: int, following: int) -> None:
        """What came on a stream goes on on another one: it was redirected, or is asked for again."""
        self._origins[connection, following] = self.origin(connection, stream)
        if len(self._origins) > MAX_RESUMES:
            self._origins.popitem(last=False)
        carrier = self._carriers.get((connection, stream))
        if carrier is not None and (connection, following) not in self._carriers:
            carrier.keys.append((connection, following))
            self._carriers[connection, following] = carrier
            self._resumes.pop((connection, following), None)

    def origin(self, connection: int, stream: int) -> int:
        """The stream with which began what goes on on this one."""
        return self._origins.get((connection, stream), stream)

    def _resume(self, key: _Key, last: str) -> None:
        for (connection, _), carrier in self._carriers.items():
            if connection == key[0] and carrier.last == last:
                carrier.keys.append(key)
                self._carriers[key] = carrier
                return

    def opened(self, exchange: Exchange) -> None:
        """A request was sent on a stream. What the server asks on it opens no exchange of its own."""
        if exchange.stream and exchange.direction is Direction.TO_SERVER:
            key = (exchange.connection, exchange.stream)
            carrier = self._carriers.get(key)
            if carrier is None:
                carrier = self._carriers[key] = _Carrier(key)
            carrier.exchanges[id(exchange)] = exchange

    def closed(self, exchange: Exchange) -> None:
        """It has its answer, or is not waited for any more."""
        carrier = self._carriers.get((exchange.connection, exchange.stream))
        if carrier is None or carrier.exchanges.pop(id(exchange), None) is None:
            return
        if not carrier.exchanges:
            for key in carrier.keys:
                del self._carriers[key]

    def on(self, frame: Frame) -> list[Exchange]:
        """The client's open exchanges whose stream a frame of the server came on."""
        if not frame.stream or frame.direction is not Direction.TO_CLIENT:
            return []
        carrier = self._carriers.get((frame.connection, frame.stream))
        return [] if carrier is None else list(carrier.exchanges.values())

    def shared(self, frame: Frame) -> bool:
        """Whether a frame came on the one stream that carries all of a connection."""
        return frame.stream != 0 and self._shared.get(frame.connection) == frame.stream


def last_event_id(stream: Stream) -> str | None:
    """The event after which a GET takes a stream up again, ``None`` for any other request."""
    if stream.verb != "GET":
        return None
    named = [value for name, value in stream.request_headers if name.lower() == "last-event-id"]
    return named[0] if named else None


def event_id(event: str) -> str | None:
    """The id in a frame's ``event``, if it has one that can be read."""
    try:
        found = loads(event)
    except (ValueError, RecursionError):
        return None
    identity = found.get("id") if isinstance(found, dict) else None
    return identity if isinstance(identity, str) else None
