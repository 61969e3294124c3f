"""The life of one connection: its server is started, talked to and ended.

The conversation decides and this performs: what is to be sent goes through the
transport, what has happened goes to whoever waits for it, and what no other
frame tells becomes a frame. Whatever a server does ends here as a state.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

import anyio

from workbench.config import Target
from workbench.core.actions import (
    Abandon,
    Action,
    EraFound,
    Notified,
    Relisten,
    Relistened,
    Send,
    StateChanged,
    sentence,
)
from workbench.core.fold import ConnectionFold
from workbench.core.frame import Clock, Frame, Stream, StreamSink
from workbench.core.jsonrpc import Decoded
from workbench.core.lifecycle import FAILED, OVER, Event, State
from workbench.core.stateless import StatelessConversation
from workbench.errors import UsageError
from workbench.wire.command import NotStarted
from workbench.wire.dealings import Dealings
from workbench.wire.eras import Either, Eras
from workbench.wire.listings import Listings
from workbench.wire.oauth_logins import Logins
from workbench.wire.publishing import Publisher
from workbench.wire.sightings import Sightings
from workbench.wire.tap import Tap
from workbench.wire.timekeeping import Timekeeper
from workbench.wire.transport import Transport, find_transport
from workbench.wire.turns import Turn
from workbench.wire.waiting import first_of

_LOG = logging.getLogger(__name__)

#: What is sent because the server asked, and not because we did.
_ANSWERED = ("policy", "rule")


class Life:
    """Lived once, by ``run``, in a task of its own.

    ``settled`` is set when the handshake has ended, well or not; ``was_ready`` says which.
    Setting ``stopping`` ends the connection, ``finished`` is set when nothing of it is left.
    ``conversation`` is the one that is held now; another one takes its place when the server turns
    out to speak the other era. ``logins`` is how the server's tokens are come by, ``None`` for not at all.
    """

    def __init__(
        self,
        target: Target,
        sink: StreamSink,
        fold: ConnectionFold,
        eras: Eras,
        listings: Listings,
        changed: Callable[[str, int], None],
        turn: Turn,
        clock: Clock | None = None,
        logins: Logins | None = None,
    ) -> None:
        self.logins = logins
        self.settled = anyio.Event()
        self.stopping = anyio.Event()
        self.finished = anyio.Event()
        self.was_ready = False
        self.on_ready: Callable[[], None] = lambda: None
        self.on_notified: Callable[[str], None] = lambda _: None
        self.on_end: Callable[[], None] = lambda: None
        self.publisher = Publisher(fold, lambda seq: changed("connection", seq), sink)
        self._tap = Tap(sink, fold.view.number, self._seen, clock, self._seen_stream, turn)
        self.dealings = Dealings(self._tap, changed)
        self._target = target
        self.conversation: Either = eras.first()
        self._eras = eras
        self._listings = listings
        self._time = Timekeeper(lambda: self.conversation.next_deadline(), self._on_time)
        self._transport: Transport | None = None
        self._again = anyio.Event()
        self._sightings = Sightings()

    @property
    def can_send(self) -> bool:
        """Whether there is a server to send to."""
        return self._transport is not None

    async def run(self) -> None:
        """Start the server, talk to it, end it. Never raises but for a cancellation."""
        try:
            if self.conversation.era_found and not self._eras.given:
                self._tap.process("era", era=self.conversation.era, found=self.conversation.era_found)
            again = not self.stopping.is_set()
            while again:
                again = await self._converse()
        except NotStarted as failure:
            self.perform(self.conversation.happened(Event.START))
            self.perform(self.conversation.happened(Event.START_FAILED, failure.why, failure.next_step))
        except UsageError as failure:  # no transport has this name
            self.perform(self.conversation.happened(Event.START))
            why, _, step = str(failure).partition("; ")
            self.perform(self.conversation.happened(Event.START_FAILED, sentence(why), sentence(step)))
        except Exception:
            _LOG.exception("connection %s", self.publisher.view.name)
            why = "The workbench itself failed on this connection."
            self.perform(self.conversation.lost(why, time.monotonic(), "See the log file; connect again."))
        finally:
            self._end()

    def perform(self, actions: Sequence[Action]) -> None:
        """Do what the conversation has decided."""
        for action in actions:
            if isinstance(action, Send):
                self._send(action)
            elif isinstance(action, StateChanged):
                self._on_state(action)
            elif isinstance(action, Notified):
                self.dealings.notified(action)
                self.on_notified(action.method)
            elif isinstance(action, EraFound):
                self._turn(action)
            elif isinstance(action, (Relisten, Relistened)):
                self._relisten(action)
            elif isinstance(action, Abandon):
                if self._transport is not None:
                    self._transport.abandon(action.id)
            else:
                self.dealings.take(action)
        if actions:
            self._time.moved()

    def _send(self, action: Send) -> None:
        if self._transport is not None:
            if action.about == "probe":
                self._tap.note("probe", id=action.id)
            if action.id is not None and not action.about.startswith(_ANSWERED):
                self._tap.turn.asked()
            self.dealings.sent(action, self._transport.send(action))

    async def _converse(self) -> bool:
        """Reach the server and talk to it; returns whether it is to be started once more."""
        again = self._again = anyio.Event()
        kind = find_transport(self._target.transport)
        async with kind.connect(self._target, self._tap, self) as transport:
            self._transport = transport
            self.perform(self.conversation.start(time.monotonic()))
            async with anyio.create_task_group() as group:
                self._listings.attend(group)
                self.dealings.attend(group)
                group.start_soon(self._time.run)
                await first_of(transport.over, self.stopping, again)
                self._part(transport)
                group.cancel_scope.cancel()
        if transport.forced and not again.is_set():
            view = self.publisher.view
            self.perform(self.conversation.happened(Event.FORCED, view.why, view.next_step))
        return again.is_set() and not self.stopping.is_set()

    def _part(self, transport: Transport) -> None:
        """The talk is over: by the server, by us, or to begin anew."""
        conversation = self.conversation
        if not transport.over.is_set():
            if not self._again.is_set():
                self.perform(conversation.closing())
        elif self._restarts and isinstance(conversation, StatelessConversation) and conversation.looking:
            found = "the server ended when it was asked server/discover"
            why = "It ended when it was asked server/discover, which other servers do not mind."
            self._turn(EraFound("legacy", found, why))
        elif conversation.state not in OVER and not self._again.is_set():
            self._lose()
        if self._again.is_set():
            self._transport = None

    def _relisten(self, action: Relisten | Relistened) -> None:
        """Tell that a subscription's stream is lost, or gives its place to the one asked for now."""
        stream = self._sightings.stream_of(action.id)
        if isinstance(action, Relistened):
            self._tap.process(
                "stream", stream=stream, verb="POST", state="closed", why="It is asked for again."
            )
            return
        seconds, why, attempt = action.seconds, action.why, action.attempt
        self._tap.process(
            "reconnect", stream=stream, seconds=seconds, why=why, attempt=attempt, resumes=False
        )

    # Which era

    @property
    def _restarts(self) -> bool:
        """Whether there is a process that can be started anew."""
        return self._target.transport == "stdio"

    def _turn(self, found: EraFound) -> None:
        """The era is known: another conversation goes on, if this one is not of it."""
        before = self.conversation
        why = self._eras.given or found.found
        if found.era == "auto":
            self._eras.refuted()
        elif found.era != before.era or not before.era_found or self._eras.given:
            self._tap.process("era", era=found.era, found=why)
        if found.era == before.era:
            before.era_found = before.era_found or why
            return
        now = time.monotonic()
        self.conversation = self._eras.after(found, before)
        if found.era != "auto":
            self.conversation.era_found = why
        if found.restart and self._restarts:
            self._tap.process("restart", why=found.restart)
            self.perform(before.calls.lost(found.restart, now))
            self._again.set()
        elif found.discovered is not None and isinstance(self.conversation, StatelessConversation):
            self.perform(self.conversation.adopt(found, now))
        else:
            self.perform(self.conversation.start(now))

    def _seen(self, frame: Frame, decoded: Decoded | None) -> None:
        self.publisher.seen(frame, decoded)
        self._sightings.frame(frame)

    def _seen_stream(self, stream: Stream) -> None:
        self.publisher.seen_stream(stream)
        self._sightings.stream(stream)

    # What the transport tells (``Peer``)

    def received(self, seq: int, decoded: Decoded, answers: str | None = None) -> None:
        """A frame of the server."""
        status = self._sightings.status
        self.perform(self.conversation.receive(decoded, seq, time.monotonic(), answers, status))

    def heard(self) -> None:
        """The server lives."""
        self.conversation.heard(time.monotonic())
        self._time.moved()

    def unanswered(self, id_text: str, why: str, next_step: str = "") -> None:
        """A request of ours can get no answer any more."""
        actions = self.conversation.unanswered(id_text, f"{why} {next_step}".rstrip(), time.monotonic())
        if actions:
            self._tap.process("unanswered", id=id_text, why=why)
        self.perform(actions)

    def happened(self, event: Event, why: str = "", next_step: str = "") -> None:
        """The connection has moved on, in a way no message tells."""
        self.perform(self.conversation.happened(event, why, next_step))

    def _on_time(self) -> None:
        self.perform(self.conversation.tick(time.monotonic()))

    def _lose(self) -> None:
        """The server went by itself, or closed its stdout; the fold knows the words for an exit."""
        view = self.publisher.view
        gone = view.state in OVER
        why = view.why if gone else "The server closed its stdout, so nothing more can come from it."
        step = view.next_step if gone else "Read its stderr, then connect again."
        self.perform(self.conversation.lost(why, time.monotonic(), step))

    def _on_state(self, action: StateChanged) -> None:
        if action.state is State.READY:
            self.was_ready = True
            self._eras.settled(self.conversation)
            self.on_ready()
            self.settled.set()
        elif action.state in FAILED:
            view = self.publisher.view
            # A frame tells what no other frame tells: an exit or a signal speaks for itself.
            if view.state is not action.state or view.next_step != action.next:
                self._tap.process("failed", state=str(action.state), why=action.why, next=action.next)
            self.stopping.set()
            self.settled.set()
        self.publisher.publish()

    def _end(self) -> None:
        """What is true of every connection that is over."""
        conversation = self.conversation
        if conversation.state not in OVER:
            self.perform(conversation.closing())
        self.perform(conversation.lost("The connection was closed.", time.monotonic()))
        if self.publisher.view.state not in OVER:
            # The end of a process speaks for itself; nothing tells that of another transport.
            self._tap.process("closed")
        self._transport = None
        self._tap.turn.gone()
        self._listings.stop()
        self.dealings.forget(self.publisher.last_seq)
        self.publisher.publish()
        self.on_end()
        self.settled.set()
        self.finished.set()
