"""The HTTP streams of a connection: what was sent on each, what came back, and how it ended.

The rules about HTTP are in modules of their own (``posts``, ``session``,
``events``, ``routing``); what they all need to know is kept here, once.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable

from workbench.check.watched import Hooks, Watched
from workbench.core.exchange import Exchange
from workbench.core.frame import Channel, Direction, Kind, Stream
from workbench.core.jsonrpc import Message

#: Streams, and requests on streams, that are remembered of a connection.
MAX_STREAMS = 1_000
MAX_REQUESTS = 1_000

#: Streams that are remembered although they are closed: their heads are large.
MAX_CLOSED = 100


class Carriage:
    """One stream. ``seq`` is its last frame, ``requests`` the keys of the requests it has carried to
    the server that have no answer, ``asks`` whether it carried any, ``sent`` whether anything.
    ``apart`` tells that it belongs to authorization, of which the rules of the transport say nothing.
    ``events`` counts what came as SSE, ``last_id`` is the last event id, ``retry`` the last delay (ms)."""

    __slots__ = (
        "apart",
        "asks",
        "body",
        "events",
        "last_id",
        "requests",
        "retry",
        "sent",
        "seq",
        "stream",
        "told_head",
    )

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.seq = 0
        self.sent = False
        self.asks = False
        self.told_head = False
        self.apart = False
        self.requests: set[tuple[int, int]] = set()
        self.events = 0
        self.body = False
        self.last_id: str | None = None
        self.retry: int | None = None

    def header(self, name: str) -> str | None:
        """A header of the request, by its name in lower case."""
        return _header(self.stream.request_headers, name)

    def answer_header(self, name: str) -> str | None:
        return _header(self.stream.response_headers, name)


def _header(headers: tuple[tuple[str, str], ...], name: str) -> str | None:
    for key, value in headers:
        if key.lower() == name:
            return value
    return None


OnCarriage = Callable[[Carriage], None]


class Traffic:
    """Tells checks of a stream that is ``opened`` (for a POST: once it is known what it carries), whose
    head has come (``answered``) and that has ``closed``. ``older`` is set on a connection of the
    HTTP+SSE transport of 2024-11-05, on which an answer comes on another stream than its request."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        self.streams: OrderedDict[int, Carriage] = OrderedDict()
        self.carried: OrderedDict[tuple[int, int], int] = OrderedDict()
        self.older = False
        self._over: deque[int] = deque()
        #: The stream that carried the request whose answer is at hand.
        self.asked_on: int | None = None
        self.opened: list[OnCarriage] = []
        self.answered: list[OnCarriage] = []
        self.closed: list[OnCarriage] = []
        self._apart: OrderedDict[int, None] = OrderedDict()
        hooks.frames.append(self._on_frame)
        hooks.streams.append(self._on_stream)
        hooks.requests.append(self._on_request)
        hooks.answers.append(self._on_answer)

    @property
    def here(self) -> Carriage | None:
        """The stream of the frame at hand."""
        number = self._watched.frame.stream
        return self.streams.get(number) if number else None

    def set_apart(self, number: int) -> None:
        """A stream belongs to authorization, one there is or one that comes."""
        if number in self.streams:
            self.streams[number].apart = True
        else:
            self._apart[number] = None
            if len(self._apart) > MAX_STREAMS:
                self._apart.popitem(last=False)

    def _on_stream(self, stream: Stream) -> None:
        carriage = self.streams.get(stream.number)
        if carriage is None:
            carriage = self.streams[stream.number] = Carriage(stream)
            carriage.apart = self._apart.pop(stream.number, 0) is None
            if len(self.streams) > MAX_STREAMS:
                self.streams.popitem(last=False)
            if stream.verb != "POST":
                self._tell(self.opened, carriage)
        carriage.stream = stream
        if stream.status is not None and not carriage.told_head and (carriage.sent or stream.verb != "POST"):
            carriage.told_head = True
            self._tell(self.answered, carriage)
        if stream.closed_how:
            self._tell(self.closed, carriage)
            self._over.append(stream.number)
            if len(self._over) > MAX_CLOSED:
                self.streams.pop(self._over.popleft(), None)

    def _on_frame(self) -> None:
        frame = self._watched.frame
        if not frame.stream:
            return
        carriage = self.here
        if carriage is None:
            if self._watched.stream is None:
                return
            carriage = self.streams[frame.stream] = Carriage(self._watched.stream)
        carriage.seq = frame.seq
        if frame.direction is Direction.TO_CLIENT:
            carriage.body = carriage.body or bool(frame.body)
            if frame.channel is Channel.SSE:
                carriage.events += 1
                if not self.older and frame.event is not None and '"name":"endpoint"' in frame.event:
                    self.older = True
        elif not carriage.sent:
            carriage.sent = True
            carriage.asks = any(each.kind is Kind.REQUEST for each in self._watched.decoded.messages)
            self._tell(self.opened, carriage)

    def _on_request(self, exchange: Exchange, _message: Message) -> None:
        carriage = self.here
        if carriage is not None and exchange.direction is Direction.TO_SERVER:
            carriage.requests.add(exchange.key)
            self.carried[exchange.key] = carriage.stream.number
            if len(self.carried) > MAX_REQUESTS:
                self.carried.popitem(last=False)

    def _on_answer(self, exchange: Exchange, _message: Message) -> None:
        self.asked_on = self.carried.pop(exchange.key, None)
        carriage = self.streams.get(self.asked_on or 0)
        if carriage is not None:
            carriage.requests.discard(exchange.key)

    def _tell(self, calls: list[OnCarriage], carriage: Carriage) -> None:
        for call in () if carriage.apart else calls:
            call(carriage)
