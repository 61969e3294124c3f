"""What panes show of one connection: a pure function of its frames.

The same fold runs beside a live connection and over an opened recording, so
both look the same. It never raises, whatever a peer sent, and it holds a
bounded amount however long a connection lives: the frames themselves are in the
recording.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Any

from workbench.core.asked_tasks import AskedTasks
from workbench.core.catalog import Catalog
from workbench.core.exchanges import Answered, Exchange, GaveUp, Opened, Pairing, Told
from workbench.core.frame import Channel, Direction, Frame, Kind, Stream
from workbench.core.handshake import judge
from workbench.core.http_story import HttpStory
from workbench.core.inflight import InFlight, keep
from workbench.core.jsonrpc import Decoded, Message, decode, id_text, loads
from workbench.core.lifecycle import OVER, Event, State
from workbench.core.logbook import Logbook
from workbench.core.methods import CHANGED_LISTS, LISTEN, REVISIONS
from workbench.core.parties import META, Parties
from workbench.core.peek import peek
from workbench.core.peer_story import PeerStory
from workbench.core.policy import ASKING
from workbench.core.story import TOLD_STDERR, Story
from workbench.core.subscriptions import ACKNOWLEDGED
from workbench.core.view import ConnectionView, FindingCounts, Item, LogEntry, OpenCall, PeerCall, Step
from workbench.core.within import AskedWithin

__all__ = ["ConnectionFold", "ConnectionView", "Item", "LogEntry", "OpenCall", "PeerCall", "Step"]

#: Open ``logging/setLevel`` requests whose level is remembered until they are answered.
MAX_LEVELS = 100

#: Process events with which whatever was open ends.
_ENDING = ("exited", "closed", "failed", "restart", "fallback")

#: Frames of HTTP that hold no message.
_CARRIED = frozenset((Kind.HTTP, Kind.SSE, Kind.AUTH))


class ConnectionFold:
    """Folds the frames of one connection. ``advance`` and ``snapshot`` belong to one thread; what
    ``snapshot`` returns is immutable and may go anywhere."""

    def __init__(self, number: int, name: str = "", transport: str = "stdio", target: str = "") -> None:
        self._head = ConnectionView(number, name, transport, target)
        self._view: ConnectionView | None = self._head
        self._pairing = Pairing(keep_related=False, live=True)
        self._story = Story()
        self._http_story = HttpStory(self._story)
        self._peer_story = PeerStory(self._story)
        self._parties = Parties()
        self._catalog = Catalog()
        self._logbook = Logbook()
        self._inflight = InFlight()
        self._within = AskedWithin(self._inflight, self._story)
        self._asked_tasks = AskedTasks(self._inflight, self._peer_story)
        self._levels: OrderedDict[tuple[int, int], str] = OrderedDict()
        self._handshake_done = False
        self._frames = 0
        self._changes = 0
        self._errors = 0
        self._findings: dict[str, int] = dict.fromkeys(FindingCounts._fields, 0)
        self._latency_ns: int | None = None
        self._log_level: str | None = None

    @property
    def view(self) -> ConnectionView:
        """The same as ``snapshot()``."""
        return self.snapshot()

    def schema_of(self, tool: str) -> Any:
        """The ``inputSchema`` of a listed tool, ``None`` where it is not listed."""
        listed = self._catalog.items("tools/list")
        return next((each.value.get("inputSchema") for each in listed if each.name == tool), None)

    def advance(self, frame: Frame, decoded: Decoded | None = None) -> None:
        """Take the next frame; ``decoded`` is what ``decode`` said of its body, if known already."""
        self._frames += 1
        self._view = None
        if frame.channel is Channel.STDERR:
            self._logbook.take_stderr(frame)
        elif frame.channel in (Channel.PROCESS, Channel.NOTE):
            self._on_event(frame)
        elif frame.channel is Channel.AUTH and frame.direction is Direction.NONE:
            self._http_story.authorization(frame)
        elif frame.direction is not Direction.NONE:
            if frame.stream:
                self._story.streams.came(frame)
            if frame.kind in _CARRIED:
                self._pairing.take(frame)
                return
            self._on_messages(frame, decoded or decode(frame.body))

    def found(self, severity: str) -> None:
        """Count a finding of the checks, which look beside the fold."""
        self._findings[severity] += 1
        self._view = None

    def stream(self, stream: Stream) -> None:
        """Take an HTTP stream as it stands now; before its first frame, if it is known then."""
        self._view = None
        self._changes += 1
        self._pairing.head(stream)
        self._story.streams.head(stream)

    def snapshot(self) -> ConnectionView:
        """What there is to show now. Cheap when nothing has changed, and about 10 µs when something has."""
        if self._view is None:
            self._view = self._snapshot()
        return self._view

    def _snapshot(self) -> ConnectionView:
        story, parties, catalog = self._story, self._parties, self._catalog
        http = self._http_story
        return replace(
            self._head,
            version=self._frames + self._changes,
            state=story.state,
            why=story.why,
            next_step=story.next_step,
            command=story.command,
            cwd=story.cwd,
            pid=story.pid,
            exit_code=story.exit_code,
            signal=story.signal,
            steps=story.steps,
            streams=story.streams.told,
            reconnects=story.streams.reconnects,
            session_id=http.session_id,
            session=http.session,
            era=http.era or parties.era,
            era_found=http.era_found,
            offered=parties.offered,
            revision=parties.revision,
            client_info=parties.client_info,
            server_info=parties.server_info,
            client_capabilities=parties.client_capabilities,
            server_capabilities=parties.server_capabilities,
            agreed=parties.agreed,
            instructions=parties.instructions,
            tools=catalog.items("tools/list"),
            resources=catalog.items("resources/list"),
            templates=catalog.items("resources/templates/list"),
            prompts=catalog.items("prompts/list"),
            listed=catalog.listed,
            list_errors=dict(catalog.errors),
            list_notes=dict(catalog.notes),
            subscribed=catalog.subscribed,
            updates=catalog.told_updates,
            log_level=self._log_level,
            logs=self._logbook.logs,
            log_count=self._logbook.log_count,
            stderr=self._logbook.stderr,
            stderr_count=self._logbook.stderr_count,
            frames=self._frames,
            errors=self._errors,
            findings=FindingCounts(**self._findings),
            latency_ns=self._latency_ns,
            open_calls=self._inflight.calls,
            peer_requests=self._inflight.asked,
        )

    # Messages

    def _on_messages(self, frame: Frame, decoded: Decoded) -> None:
        for event in self._pairing.take(frame, decoded):
            if isinstance(event, Opened):
                if event.exchange.direction is Direction.TO_SERVER:
                    self._on_request(frame, event.exchange, event.message)
                else:
                    self._on_peer_request(frame, event)
            elif isinstance(event, Answered):
                if event.exchange.direction is Direction.TO_SERVER:
                    self._on_answer(frame, event.exchange, event.message)
                else:
                    self._on_peer_answer(frame, event.exchange, event.message)
            elif isinstance(event, Told):
                self._on_notification(frame, event)

    def _on_request(self, frame: Frame, exchange: Exchange, message: Message) -> None:
        if exchange.method == "initialize":
            self._parties.asked(message)
            self._story.happened(Event.START)
            self._story.happened(Event.OFFERED)
            self._story.step(frame, "initialize", f"#{frame.seq}")
        elif exchange.method == "server/discover":
            self._parties.stateless(message)
            self._story.happened(Event.START)
            self._story.happened(Event.PROBED)
            self._story.step(frame, "server/discover", f"#{frame.seq}")
        elif exchange.method != "ping":
            stateless = self._parties.stateless(message)
            if stateless:
                wanted = peek(message, "params", "_meta", f"{META}logLevel")
                self._log_level = wanted if isinstance(wanted, str) else None
            self._used(stateless)
        if exchange.method == "logging/setLevel":
            level = peek(message, "params", "level")
            keep(self._levels, exchange.key, level if isinstance(level, str) else "", MAX_LEVELS)
        self._catalog.asked(exchange, message)
        self._within.asked(frame, exchange, message)
        self._inflight.call_opened(frame, exchange)

    def _used(self, stateless: bool = False) -> None:
        """The client goes on after the handshake's answer: to it, the connection is ready. Without a
        handshake it is, as soon as it asks for anything."""
        if stateless:
            self._discovered()
        elif self._handshake_done:
            self._story.happened(Event.AGREED)

    def _discovered(self) -> None:
        if self._story.state in OVER:
            return
        for event in (Event.START, Event.PROBED, Event.DISCOVERED):
            self._story.happened(event)

    def _on_answer(self, frame: Frame, exchange: Exchange, message: Message) -> None:
        self._inflight.call_ended(exchange)
        self._story.streams.settled(exchange.stream)
        failed = message.kind is Kind.ERROR or peek(message, "result", "isError") is True
        # A server of the older era refuses the question for its era, and is right to.
        if failed and exchange.method != "server/discover":
            self._errors += 1
        if exchange.late:
            self._story.step(frame, "late answer", f"#{frame.seq}, to {exchange.method} #{exchange.request}")
            return
        if exchange.method == "initialize":
            self._on_initialized(frame, exchange, message)
            return
        if exchange.method == "server/discover":
            label = "result" if message.kind is Kind.RESULT else "error"
            self._story.step(frame, label, f"#{frame.seq}", exchange.duration_ns)
            if message.kind is Kind.RESULT:
                self._parties.discovered(message)
            return
        self._latency_ns = exchange.duration_ns
        level = self._levels.pop(exchange.key, "")
        if level and message.kind is Kind.RESULT:
            self._log_level = level
        if self._within.answered(frame, exchange, message) and exchange.method == "tools/call":
            self._catalog.asks(exchange.name or "")
        self._catalog.answered(exchange, message, self._parties.server_capabilities)

    def _on_initialized(self, frame: Frame, exchange: Exchange, message: Message) -> None:
        label = "result" if message.kind is Kind.RESULT else "error"
        self._story.step(frame, label, f"#{frame.seq}", exchange.duration_ns)
        if message.kind is Kind.RESULT:
            self._parties.answered(message)
        # Which revision is acceptable is the client's matter; here only a refusal is final.
        offer = self._parties.offered or ""
        verdict = judge(message, offer, (self._parties.revision or "", *REVISIONS), ())
        if verdict.event is Event.REFUSED:
            self._story.happened(Event.REFUSED, verdict.why, verdict.next)
        else:
            self._handshake_done = True

    def _on_peer_request(self, frame: Frame, event: Opened) -> None:
        exchange = event.exchange
        if exchange.method == "ping":
            return
        self._inflight.peer_asked(frame, exchange, event.message)
        self._peer_story.asked(frame, exchange)
        owner = event.owner
        if owner is not None and owner.method == "tools/call" and exchange.method in ASKING:
            self._catalog.asks(owner.name or "")

    def _on_peer_answer(self, frame: Frame, exchange: Exchange, message: Message) -> None:
        if self._asked_tasks.answered(frame, exchange, message):
            return
        self._inflight.peer_ended(exchange)
        self._peer_story.answered(frame, exchange, message.kind)

    def _on_notification(self, frame: Frame, event: Told) -> None:
        method, to_client = event.message.method or "", frame.direction is Direction.TO_CLIENT
        if event.how == "cancel" and event.owner is not None:
            self._on_cancelled(event.owner)
        elif to_client and method == "notifications/cancelled":
            self._on_unlistened(frame, event.message)
        elif not to_client:
            if method == "notifications/initialized":
                self._story.step(frame, "initialized", f"#{frame.seq}")
                self._used()
            elif method == "notifications/tasks/status":
                self._asked_tasks.told(frame, peek(event.message, "params"))
        elif event.how == "token" and event.owner is not None:
            self._inflight.progressed(event.owner, event.message)
        elif method == "notifications/message":
            self._logbook.take_log(frame, event.message)
        elif method == ACKNOWLEDGED:
            self._catalog.acknowledged(event.message)
        elif method in CHANGED_LISTS:
            self._story.list_changed(frame, method.split("/")[1])
        elif method == "notifications/resources/updated":
            self._catalog.updated(event.message, frame.seq)

    def _on_cancelled(self, exchange: Exchange) -> None:
        if exchange.direction is Direction.TO_SERVER:
            self._inflight.call_ended(exchange)
            self._catalog.unlistened(exchange.id)
            return
        self._inflight.peer_ended(exchange)
        self._peer_story.cancelled(exchange)

    def _on_unlistened(self, frame: Frame, message: Message) -> None:
        """A stateless server may cancel one thing of the client's, a subscription, and so ends it."""
        key = (frame.connection, Direction.TO_SERVER, id_text(peek(message, "params", "requestId")))
        for exchange in self._pairing.open.get(key, ()):
            if exchange.method == LISTEN:
                self._on_cancelled(exchange)

    # What no peer sent

    def _on_event(self, frame: Frame) -> None:
        try:
            event: Any = loads(frame.body)
        except (ValueError, RecursionError):
            return
        if not isinstance(event, dict):
            return
        if frame.channel is Channel.NOTE:
            self._on_note(frame, event)
            return
        for gone in self._pairing.take(frame):
            if isinstance(gone, GaveUp):
                self._inflight.call_ended(gone.exchange)
                self._story.streams.settled(gone.exchange.stream)
        self._story.process(frame, event, self._logbook.last_stderr(TOLD_STDERR))
        self._http_story.process(frame, event)
        if event.get("event") == "stream" and event.get("state") in ("closed", "lost"):
            stream = event.get("stream")
            self._catalog.stream_ended(stream if isinstance(stream, int) else 0)
        if event.get("event") == "abandoned":
            self._within.abandoned(str(event.get("id")))
        elif event.get("event") == "restart":
            self._handshake_done = False
        elif event.get("event") == "era" and event.get("era") == "modern":
            self._discovered()
        over = self._story.state in (*OVER, State.STARTING) or event.get("event") == "fallback"
        if event.get("event") in _ENDING and over:
            self._inflight.clear()

    def _on_note(self, frame: Frame, event: dict[str, Any]) -> None:
        name = event.get("event")
        if name == "answered":
            by, identity = event.get("by"), event.get("id")
            if isinstance(by, str) and isinstance(identity, str):
                self._peer_story.answered_by(identity, by)
        elif name == "gap":
            self._story.step(frame, "gap", f"{event.get('frames')} frames were not recorded")
