"""Streams of events: which message comes on which of them, and how they are resumed."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

from workbench.check.rule import ALL, Rule
from workbench.check.traffic import Carriage, Traffic
from workbench.check.watched import Hooks, Watched, brief
from workbench.core.exchange import Exchange
from workbench.core.frame import Channel, Direction, Kind
from workbench.core.inflight import keep
from workbench.core.jsonrpc import Message, loads
from workbench.core.methods import REVISIONS

_STREAMS = "Transports: Streamable HTTP, Multiple connections"
_RESUMING = "Transports: Streamable HTTP, Resumability and redelivery"
_HTTP = (REVISIONS[1], REVISIONS[4])
_SESSIONS = (REVISIONS[1], REVISIONS[3])
_PING = '{"jsonrpc":"2.0","id":7,"method":"ping"}'
_PONG = '{"jsonrpc":"2.0","id":7,"result":{}}'
_CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'

STREAM_WITHOUT_ANSWER = Rule(
    "stream-without-answer",
    "error",
    _HTTP,
    "Transports: Streamable HTTP, Sending messages",
    "What came back for a POST ended without the answer to its request, and without an event id to resume "
    "it from.",
    ("@http 2025-11-25", "1 POST /mcp => 200 Content-Type: text/event-stream", f"1> {_PING}", "1 end"),
)
ANSWER_ON_OTHER_STREAM = Rule(
    "answer-on-other-stream",
    "error",
    _HTTP,
    _STREAMS,
    "The answer came on another stream than the one its request was posted on.",
    (
        "@http 2025-11-25",
        "1 GET /mcp => 200 Content-Type: text/event-stream",
        "2 POST /mcp => 200 Content-Type: text/event-stream",
        f"2> {_PING}",
        f"1: {{}} {_PONG}",
    ),
)
MESSAGE_ON_TWO_STREAMS = Rule(
    "message-on-two-streams",
    "error",
    _SESSIONS,
    _STREAMS,
    "The same message came on two streams; each goes to exactly one.",
    (
        "@http 2025-11-25",
        "1 GET /mcp => 200 Content-Type: text/event-stream",
        "2 POST /mcp => 200 Content-Type: text/event-stream",
        f"2> {_PING}",
        f"2: {{}} {_CHANGED}",
        f"1: {{}} {_CHANGED}",
        f"2: {{}} {_PONG}",
    ),
)
EVENT_ID_REUSED = Rule(
    "event-id-reused",
    "error",
    _SESSIONS,
    _RESUMING,
    "The event id was used before in this session, so nobody can resume from it.",
    (
        "@http 2025-11-25",
        "1 GET /mcp => 200 Content-Type: text/event-stream",
        f'1: {{"id":"e1"}} {_CHANGED}',
        '1: {"id":"e1"} {"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}',
    ),
)
RETRY_NOT_RESPECTED = Rule(
    "retry-not-respected",
    "error",
    (REVISIONS[3], REVISIONS[3]),
    _RESUMING,
    "The client came back sooner than the server had asked for with retry.",
    (
        "@http 2025-11-25",
        "1 GET /mcp => 200 Content-Type: text/event-stream",
        f'1: {{"id":"e1","retry":2000}} {_CHANGED}',
        "1 end",
        "+ 0.5",
        "2 GET /mcp Last-Event-ID: e1 => 200 Content-Type: text/event-stream",
        '! {"event":"stream","stream":2,"verb":"GET","state":"open","status":200}',
    ),
)
SSE_OLD_TRANSPORT = Rule(
    "old-sse-transport",
    "info",
    ALL,
    "Transports: HTTP+SSE (2024-11-05, deprecated since 2025-03-26)",
    "The connection uses the HTTP+SSE transport, which Streamable HTTP has replaced.",
    (
        "1 GET /sse => 200 Content-Type: text/event-stream",
        '1: {"name":"endpoint"} /messages?sessionId=1',
    ),
)

RULES = (
    STREAM_WITHOUT_ANSWER,
    ANSWER_ON_OTHER_STREAM,
    MESSAGE_ON_TWO_STREAMS,
    EVENT_ID_REUSED,
    RETRY_NOT_RESPECTED,
    SSE_OLD_TRANSPORT,
)

#: Event ids that are remembered of a session.
MAX_EVENT_IDS = 10_000

#: Messages of the server that are remembered, and how long, to see them come again on another stream.
MAX_MESSAGES = 100
SAME_WITHIN_NS = 1_000_000_000


class _Came(NamedTuple):
    """When a message came last, and on which stream."""

    stream: int
    verb: str
    mono_ns: int


class Events:
    """Looks at every SSE event, and at streams when they end."""

    def __init__(self, watched: Watched, hooks: Hooks, traffic: Traffic) -> None:
        self._watched = watched
        self._traffic = traffic
        self._ids: OrderedDict[str, int] = OrderedDict()
        self._messages: OrderedDict[bytes, _Came] = OrderedDict()
        self._told_old = False
        hooks.frames.append(self._on_frame)
        hooks.answers.append(self._on_answer)
        traffic.opened.append(self._on_opened)
        traffic.closed.append(self._on_closed)

    def _on_frame(self) -> None:
        watched = self._watched
        frame, carriage = watched.frame, self._traffic.here
        if frame.channel is not Channel.SSE or carriage is None:
            return
        if self._traffic.older and not self._told_old:
            self._told_old = True
            watched.found(SSE_OLD_TRANSPORT)
        if frame.event is not None:
            self._on_members(frame.event, carriage)
        if watched.decoded.kind in (Kind.REQUEST, Kind.NOTIFICATION) and not watched.modern:
            self._on_message(frame.body, carriage)

    def _on_members(self, text: str, carriage: Carriage) -> None:
        try:
            event: Any = loads(text)
        except (ValueError, RecursionError):
            return
        if not isinstance(event, dict):
            return
        identity, retry = event.get("id"), event.get("retry")
        if type(retry) is int:
            carriage.retry = retry
        if isinstance(identity, str) and identity:
            known = brief(identity)
            if known in self._ids:
                self._watched.found(EVENT_ID_REUSED, detail=identity)
            keep(self._ids, known, carriage.stream.number, MAX_EVENT_IDS)
            carriage.last_id = known

    def _on_message(self, body: bytes, carriage: Carriage) -> None:
        frame, stream = self._watched.frame, carriage.stream
        before = self._messages.get(body)
        if (
            before is not None
            and before.stream != stream.number
            and frame.mono_ns - before.mono_ns < SAME_WITHIN_NS
        ):
            # Two calls may each be told the same on their own streams; no two requests have one id.
            twice = "GET" in (before.verb, stream.verb) or self._watched.decoded.kind is Kind.REQUEST
            if twice and carriage.header("last-event-id") is None:
                self._watched.found(
                    MESSAGE_ON_TWO_STREAMS, detail=f"streams {before.stream} and {stream.number}"
                )
        elif len(body) <= 4096:
            keep(self._messages, body, _Came(stream.number, stream.verb, frame.mono_ns), MAX_MESSAGES)

    def _on_answer(self, exchange: Exchange, _message: Message) -> None:
        carriage = self._traffic.here
        if carriage is None or exchange.direction is not Direction.TO_SERVER or self._traffic.older:
            return
        asked_on = self._traffic.asked_on
        # A redirect, and a stream that is taken up again, go on with the one it was asked on.
        if asked_on is None or asked_on == self._watched.pairing.origin(self._watched.frame):
            return
        if carriage.header("last-event-id") is None:
            self._watched.found(
                ANSWER_ON_OTHER_STREAM, detail=f"stream {carriage.stream.number}, asked on {asked_on}"
            )

    def _on_opened(self, carriage: Carriage) -> None:
        last = brief(carriage.header("last-event-id") or "")
        before = self._traffic.streams.get(self._ids.get(last, 0))
        if before is None or before.retry is None or before.stream.closed_ns is None:
            return
        waited = carriage.stream.opened_ns - before.stream.closed_ns
        # A clock counts in steps, and a stream is noted a moment after it has ended.
        if before.last_id == last and waited < (before.retry - 10) * 1_000_000:
            detail = f"after {waited / 1e9:.2f} s instead of {before.retry / 1000:g}"
            self._watched.found(RETRY_NOT_RESPECTED, detail=detail, seq=carriage.seq)

    def _on_closed(self, carriage: Carriage) -> None:
        stream = carriage.stream
        if not carriage.requests or self._traffic.older or stream.closed_how not in ("end", "cut"):
            return
        resumable = carriage.last_id is not None and not self._watched.modern
        if stream.status == 200 and not resumable:
            self._watched.found(STREAM_WITHOUT_ANSWER, seq=carriage.seq)
