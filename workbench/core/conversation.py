"""The client half of one connection, without any I/O (handshake era).

A conversation is told what came (``receive``), what the user wants
(``request``, ``notify``, ``cancel``, ``answer``, ``send_raw``), that time has
passed (``tick``) and that the peer is gone (``lost``). Each call returns
actions. It never raises on anything a peer does: what the protocol does not
have becomes ``Odd``, and the conversation goes on.

Three rules carry the weight:

* An answer belongs to a request only if the JSON text of their ids is equal, so
  ``1`` and ``"1"`` differ, and an id is never used twice; a late answer can
  therefore never be taken for the answer to a later call.
* Nothing of a large body is parsed here; an ``Outcome`` carries it on.
* What is sent is what was given: params travel as text.

Source: protocol revisions 2024-11-05 to 2025-11-25, sections "Lifecycle",
"Cancellation", "Progress", "Ping" and "Timeouts".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.core import jsonrpc
from workbench.core.actions import (
    Action,
    Completed,
    Late,
    Notified,
    Odd,
    Outcome,
    PeerCancelled,
    PeerRequest,
    Progressed,
    Remarked,
    Send,
    StateChanged,
)
from workbench.core.asked import Asked
from workbench.core.calling import Calling, cancelled, level_of, outcome
from workbench.core.frame import ANSWERS, Kind
from workbench.core.handshake import judge
from workbench.core.jsonrpc import Decoded, Message, dumps
from workbench.core.lifecycle import OVER, Event, State, advance
from workbench.core.methods import BATCH_REVISION, HANDSHAKE_REVISIONS, LATEST_HANDSHAKE
from workbench.core.peek import peek
from workbench.core.pending import Timeouts
from workbench.core.policy import Policy
from workbench.core.question import name_of_server

__all__ = [
    "Action",
    "Completed",
    "Conversation",
    "Late",
    "Notified",
    "Odd",
    "Outcome",
    "PeerCancelled",
    "PeerRequest",
    "Policy",
    "Progressed",
    "Remarked",
    "Send",
    "StateChanged",
    "Timeouts",
]


class Conversation:
    """The client half of a connection; see the module's text.

    ``offer`` is the revision to name (any string), ``accept`` those we can live with beside it,
    ``capabilities`` and ``client_info`` go out as they are, ``require`` are dotted server
    capabilities without which the connection is of no use. All times are seconds of one
    monotonic clock.
    """

    def __init__(
        self,
        *,
        offer: str = LATEST_HANDSHAKE,
        capabilities: Mapping[str, Any],
        client_info: Mapping[str, Any],
        accept: Sequence[str] = HANDSHAKE_REVISIONS,
        require: Sequence[str] = (),
        policy: Policy | None = None,
        timeouts: Timeouts | None = None,
        first_id: int = 1,
    ) -> None:
        self.offer = offer
        self.capabilities = dict(capabilities)
        self.client_info = dict(client_info)
        self.accept = tuple(accept)
        self.require = tuple(require)
        self.timeouts = timeouts or Timeouts()
        self.state = State.NEW
        self.revision: str | None = None
        self.server_info: Any = None
        self.server_capabilities: dict[str, Any] = {}
        self.instructions: str | None = None
        #: The level last asked for with ``logging/setLevel`` and granted.
        self.log_level: str | None = None
        self._initialize: int | None = None
        self._calls = Calling(first_id, self.timeouts)
        self._asked = Asked(
            policy or Policy(),
            self.capabilities,
            lambda: name_of_server(self.server_info),
            self._calls.tools,
        )

    @property
    def policy(self) -> Policy:
        return self._asked.policy

    @property
    def peer_requests(self) -> Mapping[str, str]:
        """Requests of the peer that wait for an answer, oldest first: id (JSON text) -> method."""
        return self._asked.methods

    # What the user wants

    def start(self, now: float) -> list[Action]:
        """Begin the handshake: the peer runs and can be written to."""
        params = {
            "protocolVersion": self.offer,
            "capabilities": self.capabilities,
            "clientInfo": self.client_info,
        }
        changed = self.happened(Event.START) + self.happened(Event.OFFERED)
        self._initialize, sends = self.request(
            "initialize", dumps(params), now, timeout=self.timeouts.start, progress=False
        )
        return [*changed[-1:], *sends]

    def request(
        self,
        method: str,
        params: str | None,
        now: float,
        *,
        timeout: float | None = None,
        progress: bool = True,
    ) -> tuple[int, list[Action]]:
        """Send a request; returns its id and the actions.

        ``params`` is JSON text and sent as it is, even if it is not JSON. With ``progress`` a
        token is put into it, for the methods that can report any. ``timeout`` is in seconds,
        ``None`` for the usual one, ``math.inf`` for none. On a connection that is over the
        request ends at once as ``lost``.
        """
        if self.state in OVER:
            id = self._calls.new_id()
            return id, [Completed(id, Outcome("lost", 0.0, why="The connection is over; connect again."))]
        call = self._calls.open(method, params, now, timeout, progress)
        return call.id, [Send(jsonrpc.request(str(call.id), method, call.params), method, str(call.id))]

    def notify(self, method: str, params: str | None = None) -> list[Action]:
        """Send a notification; ``params`` is JSON text and sent as it is."""
        return [Send(jsonrpc.notification(method, params), method)]

    def send_raw(self, body: bytes) -> list[Action]:
        """Send any bytes. Ids of requests in them are noted, so that their answers are no surprise,
        and an answer in them to a request of the peer counts as given."""
        for message in jsonrpc.decode(body).messages:
            if message.id is None:
                continue
            if message.kind is Kind.REQUEST:
                self._calls.remember_raw(message.id)
            elif message.kind in ANSWERS:
                self._asked.open.pop(message.id, None)
        return [Send(body, "raw")]

    def cancel(self, id: int, reason: str | None, now: float) -> list[Action]:
        """Give a request up and tell the peer. Nothing happens if it has ended, or is ``initialize``,
        which the protocol forbids to cancel."""
        return [] if id == self._initialize else self._calls.cancel(id, reason, now)

    def answer(
        self,
        id_text: str,
        result: str | None = None,
        error: tuple[int, str, str | None] | None = None,
        *,
        about: str = "user",
    ) -> list[Action]:
        """Answer a request of the peer, with the JSON text of a result or with an error (code,
        message, JSON text of data or ``None``). Nothing happens if it is not open (any more)."""
        return self._asked.answer(id_text, result, error, about)

    def reconsider(self, id_text: str) -> list[Action]:
        """Answer an open request of the peer if a rule does so now."""
        return self._asked.reconsider(id_text)

    def closing(self) -> list[Action]:
        """We have begun to end the connection; its end will be no failure."""
        return self.happened(Event.CLOSE)

    # What happens

    def happened(self, event: Event, why: str = "", next_step: str = "") -> list[Action]:
        """Move on in the lifecycle, for events that no message carries."""
        state = advance(self.state, event)
        if state is self.state:
            return []
        self.state = state
        return [StateChanged(state, why, next_step)]

    def lost(self, why: str, now: float | None = None, next_step: str = "") -> list[Action]:
        """The peer is gone: what waits ends at once. ``why`` and ``next_step`` are sentences;
        without ``now`` the lost requests are told to have taken no time."""
        actions = self.happened(Event.ENDED, why, next_step) + self._calls.lost(why, now)
        self._asked.open.clear()
        return actions

    def next_deadline(self) -> float | None:
        """When ``tick`` has something to do, ``None`` if never."""
        return self._calls.next_deadline()

    def tick(self, now: float) -> list[Action]:
        """End the requests whose time is over."""
        actions: list[Action] = []
        for call, ended in self._calls.expired(now):
            if call.id == self._initialize:
                actions += self.happened(
                    Event.TIMED_OUT,
                    f"The server did not answer initialize within {call.timeout:.3g} s.",
                    "Look at its stderr; if it is still starting, give it longer with --start-timeout.",
                )
            else:
                actions.append(cancelled(call.id, "timed out"))
            actions.append(Completed(call.id, ended))
        return actions

    def unanswered(self, id_text: str, why: str, now: float) -> list[Action]:
        """The request with this id can get no answer any more; the connection goes on, unless it
        was the handshake's."""
        call = self._calls.unanswered(id_text)
        if call is None:
            return []
        ended: list[Action] = [Completed(call.id, Outcome("lost", call.age(now), why=why))]
        return self.happened(Event.LOST, why) + ended if call.id == self._initialize else ended

    def receive(self, decoded: Decoded, seq: int, now: float, answers: str | None = None) -> list[Action]:
        """Take a frame of the peer; ``seq`` is its number, ``answers`` the id of the request on whose
        own stream it came. Never raises."""
        if answers is not None and len(decoded.messages) == 1:
            decoded = _addressed(decoded, answers)
        actions: list[Action] = []
        self._asked.within = answers
        for message in decoded.messages:
            actions += self._receive(message, seq, now)
            if message.kind is not decoded.kind:
                actions += [Odd(defect, seq) for defect in message.defects]
        actions += [Odd(defect, seq) for defect in decoded.defects]
        if decoded.kind is Kind.BATCH and self.revision != BATCH_REVISION:
            actions.append(Odd("batch", seq))
        return actions

    # Inside

    def _receive(self, message: Message, seq: int, now: float) -> list[Action]:
        if message.kind is Kind.REQUEST:
            return self._early(message, seq) + self._asked.take(message, seq)
        if message.kind is Kind.NOTIFICATION:
            return self._on_notification(message, seq, now)
        if message.kind in ANSWERS and message.id is not None:
            return self._on_answer(message, seq, now)
        return []

    def _early(self, message: Message, seq: int) -> list[Action]:
        before = self.state in (State.NEW, State.STARTING, State.INITIALIZING)
        return [Odd("early-request", seq)] if before and message.method != "ping" else []

    def _on_notification(self, message: Message, seq: int, now: float) -> list[Action]:
        if message.method == "notifications/progress":
            return self._calls.progressed(message, seq, now)
        if message.method == "notifications/cancelled":
            return self._asked.cancelled(message, seq)
        return [Notified(message.method or "", peek(message, "params"), seq, message)]

    def _on_answer(self, message: Message, seq: int, now: float) -> list[Action]:
        call = self._calls.answered(message, seq)
        if call is None:
            return []
        if isinstance(call, (Late, Odd)):
            return [call]
        done = Completed(call.id, outcome(call, message, seq, now))
        if call.id == self._initialize:
            return [*self._on_initialized(message), done]
        if call.method == "logging/setLevel" and message.kind is Kind.RESULT:
            self.log_level = level_of(call.params)
        return [done]

    def _on_initialized(self, message: Message) -> list[Action]:
        if self.state is not State.INITIALIZING:
            return []
        verdict = judge(message, self.offer, self.accept, self.require)
        self._learn(verdict.result)
        changed = self.happened(verdict.event, verdict.why, verdict.next)
        if verdict.event is Event.AGREED:
            return [*self.notify("notifications/initialized"), *changed]
        return changed

    def _learn(self, result: dict[str, Any]) -> None:
        version = result.get("protocolVersion")
        capabilities = result.get("capabilities")
        instructions = result.get("instructions")
        self.revision = version if isinstance(version, str) else None
        self.server_info = result.get("serverInfo")
        self.server_capabilities = capabilities if isinstance(capabilities, dict) else {}
        self.instructions = instructions if isinstance(instructions, str) else None


def _addressed(decoded: Decoded, answers: str) -> Decoded:
    """An error that names no request, or null, is the answer to the request it came back for
    (the envelope allows it where the id could not be read, and servers do so on HTTP)."""
    message = decoded.messages[0]
    if message.kind is Kind.ERROR and message.id in (None, "null"):
        return decoded._replace(messages=(message._replace(id=answers),))
    return decoded
