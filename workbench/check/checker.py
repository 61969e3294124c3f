"""Finds what breaks the protocol, frame by frame, on one connection.

A checker only looks: it is the same beside a live connection and over a
recording, it never raises whatever a peer sends, and it holds a bounded amount
however long a connection lives. Bodies above ``jsonrpc.INLINE_BYTES`` are
checked by their envelope and by what ``peek`` finds; nothing else of them is
parsed.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable

from workbench.check.agreement import Agreement
from workbench.check.answers import Answers
from workbench.check.authorization import Authorization
from workbench.check.batches import Batches
from workbench.check.caching import Caching
from workbench.check.cancelling import Cancelling
from workbench.check.completion import Completion
from workbench.check.elicitation import Elicitation
from workbench.check.envelope import Envelope
from workbench.check.errors import Errors
from workbench.check.events import Events
from workbench.check.fields import Fields
from workbench.check.handshake import Handshake
from workbench.check.ids import Ids
from workbench.check.listen import Listen
from workbench.check.logs import Logs
from workbench.check.methods import Methods
from workbench.check.names import Names
from workbench.check.pagination import Pagination
from workbench.check.posts import Posts
from workbench.check.progress import Progress
from workbench.check.roots import Roots
from workbench.check.rounds import Rounds
from workbench.check.routing import Routing
from workbench.check.rule import Finding
from workbench.check.sampling import Sampling
from workbench.check.session import Session
from workbench.check.stateless import Stateless
from workbench.check.traffic import MAX_CLOSED, MAX_STREAMS, Traffic
from workbench.check.watched import Hooks, Watched
from workbench.core.exchange import Answered, Event, Opened, Orphaned, Told
from workbench.core.frame import Channel, Direction, Frame, Stream, carried_kind
from workbench.core.inflight import keep
from workbench.core.jsonrpc import Decoded, decode, loads

#: What looks at HTTP, before the rest: it says which bodies need not be messages.
HTTP_CHECKS: tuple[Callable[[Watched, Hooks, Traffic], object], ...] = (Session, Posts, Events, Routing)

#: What looks at messages, in the order in which it does.
CHECKS: tuple[Callable[[Watched, Hooks], object], ...] = (
    Envelope,
    Batches,
    Ids,
    Answers,
    Handshake,
    Methods,
    Errors,
    Progress,
    Cancelling,
    Pagination,
    Completion,
    Sampling,
    Elicitation,
    Roots,
    Logs,
    Names,
    Fields,
    Stateless,
    Caching,
    Rounds,
    Listen,
)

_ON_THE_WIRE = frozenset((Channel.STDIO, Channel.HTTP, Channel.SSE))


class Checker:
    """Checks one connection; every frame of it is given in order, whatever channel it is of."""

    def __init__(self) -> None:
        self._streams: OrderedDict[int, Stream] = OrderedDict()
        self._over: deque[int] = deque()
        self._held: OrderedDict[int, list[Finding]] = OrderedDict()
        self._last = 0
        self._begin()

    def _begin(self) -> None:
        self._watched = Watched()
        self._hooks = Hooks()
        Agreement(self._watched, self._hooks)
        self._traffic = Traffic(self._watched, self._hooks)
        self._authorization = Authorization(self._watched)
        for looks_at_http in HTTP_CHECKS:
            looks_at_http(self._watched, self._hooks, self._traffic)
        for looks in CHECKS:
            looks(self._watched, self._hooks)

    def take(
        self, frame: Frame, decoded: Decoded | None = None, stream: Stream | None = None
    ) -> list[Finding]:
        """Take the next frame; ``decoded`` is what ``decode`` said of its body and ``stream`` the HTTP
        stream it came on, where they are known already. Returns what it breaks."""
        watched = self._watched
        if frame.channel is Channel.AUTH and frame.stream:
            # What was found on it before it was known to be no stream of the transport.
            self._held.pop(frame.stream, None)
        watched.findings = self._due(frame) if self._held else []
        self._last = frame.seq
        if frame.channel is Channel.PROCESS:
            return self._on_process(frame)
        if frame.channel is Channel.AUTH:
            return self._on_authorization(frame)
        if frame.channel not in _ON_THE_WIRE or frame.direction is Direction.NONE:
            return watched.findings
        watched.frame = frame
        watched.decoded = decoded or _decoded(frame)
        watched.stream = stream or (self._streams.get(frame.stream) if frame.stream else None)
        watched.excused = False
        for look in self._hooks.frames:
            look()
        for event in watched.pairing.take(frame, watched.decoded):
            self._on_event(event)
        return watched.findings

    def take_stream(self, stream: Stream) -> list[Finding]:
        """Take an HTTP stream as it stands now: opened, answered or closed. What is found on a stream
        without any frame is told with the frame that tells of it, at the latest when it is closed."""
        self._watched.findings = []
        self._watched.pairing.head(stream)
        self._streams[stream.number] = stream
        if len(self._streams) > MAX_STREAMS:
            self._streams.popitem(last=False)
        for look in self._hooks.streams:
            look(stream)
        if stream.closed_how:
            self._over.append(stream.number)
            if len(self._over) > MAX_CLOSED:
                self._streams.pop(self._over.popleft(), None)
            return [*self._release(stream.number, self._last), *self._placed(self._last)]
        found = self._watched.findings
        homeless = [finding for finding in found if not finding.seq]
        if not homeless:
            return found
        keep(self._held, stream.number, self._held.get(stream.number, []) + homeless, MAX_STREAMS)
        return [finding for finding in found if finding.seq]

    def _placed(self, seq: int) -> list[Finding]:
        """What was just found, each with a frame."""
        return [each if each.seq else each._replace(seq=seq) for each in self._watched.findings]

    def _release(self, stream: int, seq: int) -> list[Finding]:
        return [finding._replace(seq=seq) for finding in self._held.pop(stream, ())]

    def _due(self, frame: Frame) -> list[Finding]:
        """What was found on the stream that a frame came on, or tells of."""
        number: object = frame.stream
        if frame.channel is Channel.PROCESS and b'"stream"' in frame.body:
            try:
                event = loads(frame.body)
            except (ValueError, RecursionError):
                event = None
            number = event.get("stream") if isinstance(event, dict) else None
        return self._release(number, frame.seq) if isinstance(number, int) else []

    def _on_authorization(self, frame: Frame) -> list[Finding]:
        if frame.stream:
            self._traffic.set_apart(frame.stream)
        self._authorization.take(frame)
        return self._watched.findings

    def _on_process(self, frame: Frame) -> list[Finding]:
        if b'"event":"restart"' in frame.body:
            self._begin()  # another process: nothing that was said to the first one holds
        else:
            self._watched.pairing.take(frame)
        return self._watched.findings

    def _on_event(self, event: Event) -> None:
        hooks = self._hooks
        if isinstance(event, Opened):
            for see in hooks.requests:
                see(event.exchange, event.message)
            for see in hooks.request_of.get(event.exchange.method, ()):
                see(event.exchange, event.message)
        elif isinstance(event, Answered):
            for see in hooks.answers:
                see(event.exchange, event.message)
            for see in hooks.answer_of.get(event.exchange.method, ()):
                see(event.exchange, event.message)
        elif isinstance(event, Told):
            for tell in hooks.told:
                tell(event)
            for tell in hooks.told_of.get(event.message.method or "", ()):
                tell(event)
        elif isinstance(event, Orphaned):
            for lose in hooks.orphans:
                lose(event)


def _decoded(frame: Frame) -> Decoded:
    kind = carried_kind(frame.channel, frame.body, frame.event)
    return decode(frame.body) if kind is None else Decoded(kind, ())
