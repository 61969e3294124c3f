"""Who answers whom: frames in, exchanges out.

An exchange is a request and the answer to it, with what belongs to it. Requests
are told apart by connection, direction and the JSON text of their id, because
both sides may use ``8`` at once, ``8`` is not ``"8"``, and a file holds several
connections. Nothing here raises, whatever a peer sends.

What else a side sends belongs to an exchange by its progress token or its
related task, else by the HTTP stream it came on (``carried``); on a wire without
streams also when exactly one exchange is open (pings and listings not counted).
Several open leave it ambiguous.

Part of the light path: standard library only.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from typing import Any

from workbench.core.carried import Carried
from workbench.core.exchange import Answered, Event, Exchange, GaveUp, Opened, Orphaned, Told
from workbench.core.frame import ANSWERS, MESSAGES, Channel, Direction, Frame, Kind, Stream
from workbench.core.jsonrpc import Decoded, Message, decode, id_text, loads
from workbench.core.methods import LIST_METHODS, name_of
from workbench.core.peek import peek

__all__ = [
    "Answered",
    "Event",
    "Exchange",
    "GaveUp",
    "Opened",
    "Orphaned",
    "Pairing",
    "Told",
    "exchanges",
]

#: Requests that are held open at once for a connection; the oldest beyond it counts as unanswered.
MAX_OPEN = 100_000

#: Answered requests that are remembered, to tell a second answer from an unknown one.
MAX_REMEMBERED = 256

#: Tasks that are remembered.
MAX_TASKS = 1_000

#: Requests that nobody waits for any more and that are still open for a late answer.
MAX_GIVEN_UP = 200

RELATED_TASK = "io.modelcontextprotocol/related-task"

#: Process events that tell of a request that is not waited for any more.
_GIVEN_UP = ("timeout", "unanswered")

#: One of them is in every process event that matters here.
_TELLING = (b'"timeout"', b'"unanswered"', b'"next"', b'"fallback"')

#: Frames that are no message whatever their body looks like.
_CARRIED = frozenset((Kind.HTTP, Kind.SSE, Kind.AUTH))

#: Exchanges that own nothing only because they are open.
_BARE = frozenset(("ping", "initialize", *LIST_METHODS))


_Key = tuple[int, Direction, str]


class Pairing:
    """Pairs frame by frame; ``take`` returns what each message of a frame is.

    ``keep_related`` is off where only pairs are wanted. ``live`` is a connection that may run for days:
    of what was given up, and may never be answered, only the newest is open then.
    """

    def __init__(self, *, keep_related: bool = True, live: bool = False) -> None:
        self.keep_related = keep_related
        self._live = live
        #: Requests without an answer, oldest first.
        self.open: OrderedDict[_Key, list[Exchange]] = OrderedDict()
        self._tokens: dict[_Key, Exchange] = {}
        self._tasks: OrderedDict[_Key, Exchange] = OrderedDict()
        self._answered: OrderedDict[_Key, None] = OrderedDict()
        #: Per connection and direction: open exchanges that may own what comes meanwhile.
        self._owners: dict[tuple[int, Direction], dict[int, Exchange]] = {}
        self._given_up: deque[tuple[_Key, Exchange]] = deque()
        self._carried = Carried()

    def head(self, stream: Stream) -> None:
        """Take what is known of an HTTP stream, before its first frame."""
        self._carried.head(stream)

    @property
    def quiet(self) -> bool:
        """Whether nothing is open, so that what comes later belongs to nothing that was."""
        return not self.open and not self._tasks

    def origin(self, frame: Frame) -> int:
        """The HTTP stream on which the request went out to which what came on a frame's stream belongs."""
        return self._carried.origin(frame.connection, frame.stream)

    def take(self, frame: Frame, decoded: Decoded | None = None) -> list[Event]:
        """Take the next frame; ``decoded`` is what ``decode`` said of its body, if known already."""
        if frame.channel is Channel.PROCESS:
            return self._take_process(frame)
        if frame.direction is Direction.NONE or frame.channel is Channel.STDERR:
            return []
        if frame.stream:
            self._carried.came(frame)
            if frame.kind in _CARRIED:
                return []
        events: list[Event] = []
        for index, message in enumerate((decoded or decode(frame.body)).messages):
            if message.kind is Kind.REQUEST:
                events.append(self._on_request(frame, index, message))
            elif message.kind in ANSWERS:
                events.append(self._on_answer(frame, message))
            elif message.kind in MESSAGES:
                events.append(self._on_notification(frame, message))
        return events

    def candidates(self, frame: Frame) -> list[Exchange]:
        """The open exchanges of the other side that what ``frame`` holds may belong to; ask before
        ``take``. Pings, listings and cancelled requests are not among them, but where the frame
        came on their own stream."""
        carrying = self._carried.on(frame)
        if carrying or not self._one_for_all(frame):
            return carrying
        return list(self._owners.get((frame.connection, _other(frame.direction)), {}).values())

    def _on_request(self, frame: Frame, index: int, message: Message) -> Opened:
        name = name_of(message.method, _params(message))
        exchange = Exchange(frame, index, message, name)
        owner, how = self._owner(frame, message)
        self._belongs(owner, frame.seq)
        key = (frame.connection, frame.direction, exchange.id)
        if len(self.open) >= MAX_OPEN:
            self._drop_oldest()
        self.open.setdefault(key, []).append(exchange)
        self._carried.opened(exchange)
        token = peek(message, "params", "_meta", "progressToken")
        if token is not None:
            exchange.token = id_text(token)
            self._tokens[(frame.connection, frame.direction, exchange.token)] = exchange
        if exchange.method not in _BARE:
            self._owners.setdefault(key[:2], {})[id(exchange)] = exchange
        return Opened(exchange, message, owner, how)

    def _on_answer(self, frame: Frame, message: Message) -> Answered | Orphaned:
        identity = self._named(frame, message)
        if identity is None:
            return Orphaned(frame.seq, frame.direction, message, "no-id")
        key = (frame.connection, _other(frame.direction), identity)
        waiting = self.open.get(key)
        if not waiting:
            why = "duplicate-answer" if key in self._answered else "unknown-id"
            return Orphaned(frame.seq, frame.direction, message, why)
        exchange = waiting[0]
        self._close(key, exchange)
        self._answered[key] = None
        if len(self._answered) > MAX_REMEMBERED:
            self._answered.popitem(last=False)
        exchange.answer = frame.seq
        exchange.kind = message.kind
        exchange.ended_ns = frame.mono_ns
        exchange.late = exchange.given_up is not None
        task = peek(message, "result", "task", "taskId")
        if isinstance(task, str):
            self._on_task(key, exchange, task)
        return Answered(exchange, message)

    def _named(self, frame: Frame, message: Message) -> str | None:
        """The id an answer names; for one that names none, that of the only request of its stream."""
        if message.id is not None and message.id != "null":
            return message.id
        asked = self._carried.on(frame)
        return asked[0].id if len(asked) == 1 else message.id

    def _on_task(self, key: _Key, exchange: Exchange, task: str) -> None:
        """The answer is a task: it owns what names it, and its token lives on (2025-11-25)."""
        self._tasks[(*key[:2], task)] = exchange
        if exchange.token is not None:
            self._tokens[(*key[:2], exchange.token)] = exchange
        if len(self._tasks) > MAX_TASKS:
            (connection, direction, _), oldest = self._tasks.popitem(last=False)
            self._tokens.pop((connection, direction, oldest.token or ""), None)

    def _on_notification(self, frame: Frame, message: Message) -> Told:
        owner, how = None, "none"
        if message.method == "notifications/progress":
            token = peek(message, "params", "progressToken")
            if token is not None:
                owner = self._tokens.get((frame.connection, _other(frame.direction), id_text(token)))
                how = "token" if owner else "none"
        elif message.method == "notifications/cancelled":
            owner = self._cancelled(frame, message)
            how = "cancel" if owner else "none"
        else:
            owner, how = self._owner(frame, message)
        self._belongs(owner, frame.seq)
        return Told(frame.seq, frame.direction, message, owner, how)

    def _cancelled(self, frame: Frame, message: Message) -> Exchange | None:
        identity = peek(message, "params", "requestId")
        if identity is None:
            return None
        return self._give_up((frame.connection, frame.direction, id_text(identity)), frame.seq)

    def _give_up(self, key: _Key, seq: int) -> Exchange | None:
        """Mark the oldest open request of a key; it stays open for its late answer."""
        for exchange in self.open.get(key, ()):
            if exchange.given_up is None:
                exchange.given_up = seq
                self._owners.get(key[:2], {}).pop(id(exchange), None)
                if self._live:
                    self._drop_given_up(key, exchange)
                return exchange
        return None

    def _drop_given_up(self, key: _Key, exchange: Exchange) -> None:
        self._given_up.append((key, exchange))
        if len(self._given_up) > MAX_GIVEN_UP:
            key, exchange = self._given_up.popleft()
            if exchange in self.open.get(key, ()):
                self._close(key, exchange)

    def _take_process(self, frame: Frame) -> list[Event]:
        if not any(word in frame.body for word in _TELLING):
            return []
        try:
            event = loads(frame.body)
        except (ValueError, RecursionError):
            return []
        if not isinstance(event, dict):
            return []
        stream, following = event.get("stream"), event.get("next")
        if isinstance(stream, int) and isinstance(following, int):
            self._carried.follows(frame.connection, stream, following)
        if event.get("event") == "fallback":
            self._again(frame.connection)
        if event.get("event") not in _GIVEN_UP:
            return []
        key = (frame.connection, Direction.TO_SERVER, str(event.get("id")))
        exchange = self._give_up(key, frame.seq)
        return [GaveUp(exchange)] if exchange else []

    def _again(self, connection: int) -> None:
        """The older transport is tried: what was asked in vain is sent again, as it was."""
        for key in [key for key in self.open if key[:2] == (connection, Direction.TO_SERVER)]:
            for exchange in list(self.open[key]):
                self._close(key, exchange)

    def _owner(self, frame: Frame, message: Message) -> tuple[Exchange | None, str]:
        """What an unsolicited message belongs to: an exchange the *other* side began."""
        side = (frame.connection, _other(frame.direction))
        task = peek(message, "params", "_meta", RELATED_TASK, "taskId")
        if isinstance(task, str):
            owner = self._tasks.get((*side, task))
            if owner is not None:
                return owner, "task"
        carrying = self._carried.on(frame)
        if len(carrying) == 1:
            return carrying[0], "stream"
        if carrying:
            return None, "ambiguous"
        owners = self._owners.get(side)
        if not owners or not self._one_for_all(frame):
            return None, "none"
        if len(owners) > 1:
            return None, "ambiguous"
        return next(iter(owners.values())), "only"

    def _one_for_all(self, frame: Frame) -> bool:
        """Whether one stream carries everything, so that only what is open tells what belongs where."""
        return frame.channel in (Channel.STDIO, Channel.STDERR) or self._carried.shared(frame)

    def _belongs(self, owner: Exchange | None, seq: int) -> None:
        if owner is not None and self.keep_related:
            owner.related.append(seq)

    def _close(self, key: _Key, exchange: Exchange) -> None:
        waiting = self.open[key]
        waiting.remove(exchange)
        if not waiting:
            del self.open[key]
        self._owners.get(key[:2], {}).pop(id(exchange), None)
        self._carried.closed(exchange)
        token = exchange.token
        if token is not None and self._tokens.get((*key[:2], token)) is exchange:
            del self._tokens[(*key[:2], token)]

    def _drop_oldest(self) -> None:
        key = next(iter(self.open))
        self._close(key, self.open[key][0])


def exchanges(frames: Iterable[Frame]) -> list[Exchange]:
    """All exchanges of some frames, in the order of their requests."""
    pairing = Pairing()
    found: list[Exchange] = []
    for frame in frames:
        found += [event.exchange for event in pairing.take(frame) if isinstance(event, Opened)]
    return found


def _other(direction: Direction) -> Direction:
    return Direction.TO_CLIENT if direction is Direction.TO_SERVER else Direction.TO_SERVER


def _params(message: Message) -> Any:
    """The parsed params; of a large body only the members a message is known by."""
    if "params" in message.members or "params" not in message.raw:
        return message.members.get("params")
    return {key: peek(message, "params", key) for key in ("name", "uri", "taskId", "ref")}
