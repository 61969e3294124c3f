"""The client half of one connection, without any I/O (handshake era).

A conversation is told what came (``receive``), what the user wants
(``request``, ``notify``, ``cancel``, ``answer``, ``send_raw``), that time has
passed (``tick``) and that the peer is gone (``lost``). Each call returns
actions. It never raises on anything a peer does: what the protocol does not
have is found by the checks, and the conversation goes on.

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

from workbench.core import jsonrpc, probing
from workbench.core.actions import (
    Action,
    Completed,
    EraFound,
    Late,
    Notified,
    Outcome,
    PeerCancelled,
    PeerRequest,
    Progressed,
    Remarked,
    Send,
    StateChanged,
)
from workbench.core.calling import Calling, cancelled, level_of, outcome
from workbench.core.frame import ANSWERS, Kind
from workbench.core.half import ClientHalf
from workbench.core.handshake import judge
from workbench.core.jsonrpc import Message, dumps
from workbench.core.lifecycle import OVER, Event, State
from workbench.core.methods import HANDSHAKE_REVISIONS, LATEST_HANDSHAKE, STATELESS_REVISIONS
from workbench.core.peek import peek
from workbench.core.pending import Timeouts
from workbench.core.policy import Policy
from workbench.core.routing import VERSION_HEADER, VERSION_HEADER_SINCE

__all__ = [
    "Action",
    "Completed",
    "Conversation",
    "Late",
    "Notified",
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


class Conversation(ClientHalf):
    """The client half of a connection; see the module's text.

    ``offer`` is the revision to name (any string), ``accept`` those we can live with beside it,
    ``capabilities`` and ``client_info`` go out as they are, ``require`` are dotted server
    capabilities without which the connection is of no use. All times are seconds of one
    monotonic clock. ``calls`` and ``state`` are those of a conversation this one goes on from,
    ``probe`` is the id of its ``server/discover`` where that may still be answered. ``doubt`` tells
    why the era is only supposed, so that a refusal can change it: ``probed`` or ``known``.
    """

    era = "legacy"

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
        calls: Calling | None = None,
        state: State = State.NEW,
        probe: int | None = None,
        doubt: str = "",
    ) -> None:
        super().__init__(
            capabilities=capabilities,
            client_info=client_info,
            require=require,
            policy=policy,
            timeouts=timeouts,
            calls=calls,
            first_id=first_id,
            state=state,
        )
        self.offer = offer
        self.accept = tuple(accept)
        self._probe = probe
        self._doubt = doubt
        self._initialize: int | None = None

    # What the user wants

    def start(self, now: float) -> list[Action]:
        """Begin the handshake: the peer runs and can be written to."""
        params = {
            "protocolVersion": self.offer,
            "capabilities": self.capabilities,
            "clientInfo": self.client_info,
        }
        begun = self.happened(Event.START) if self.state is not State.PROBING else []
        changed = begun + self.happened(Event.OFFERED)
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
            id = self.calls.new_id()
            return id, [Completed(id, Outcome("lost", 0.0, why="The connection is over; connect again."))]
        call = self.calls.open(method, params, now, timeout, progress)
        sent = Send(jsonrpc.request(str(call.id), method, call.params), method, str(call.id))
        return call.id, self._headed([sent])

    def notify(self, method: str, params: str | None = None) -> list[Action]:
        """Send a notification; ``params`` is JSON text and sent as it is."""
        return self._headed([Send(jsonrpc.notification(method, params), method)])

    def send_raw(self, body: bytes) -> list[Action]:
        return self._headed(super().send_raw(body))

    def cancel(self, id: int, reason: str | None, now: float) -> list[Action]:
        """Give a request up and tell the peer. Nothing happens if it has ended, or is ``initialize``,
        which the protocol forbids to cancel."""
        return [] if id == self._initialize else self._headed(self.calls.cancel(id, reason, now))

    def answer(
        self,
        id_text: str,
        result: str | None = None,
        error: tuple[int, str, str | None] | None = None,
        *,
        about: str = "user",
        now: float | None = None,  # noqa: ARG002 - only another round begins at a time
    ) -> list[Action]:
        """Answer a request of the peer, with the JSON text of a result or with an error (code,
        message, JSON text of data or ``None``). Nothing happens if it is not open (any more)."""
        return self._headed(self._asked.answer(id_text, result, error, about))

    def reconsider(self, id_text: str, now: float | None = None) -> list[Action]:
        """Answer an open request of the peer if a rule does so now."""
        return self._headed(super().reconsider(id_text, now))

    def report(
        self, id_text: str, progress: float, total: float | None = None, message: str | None = None
    ) -> list[Action]:
        return self._headed(self._asked.report(id_text, progress, total, message))

    # What happens

    def heard(self, now: float) -> list[Action]:  # noqa: ARG002 - only a probe has use for it
        """The peer has shown a sign of life, whatever it was."""
        return []

    def watch(self) -> list[Action]:
        """Ask to be told of changes; here the server tells by itself."""
        return []

    def next_deadline(self) -> float | None:
        """When ``tick`` has something to do, ``None`` if never."""
        return self.calls.next_deadline()

    def tick(self, now: float) -> list[Action]:
        """End the requests whose time is over. A person who thinks about what the server asked is no
        reason to give up what it asked that for."""
        actions: list[Action] = []
        waited_for = self.state is State.READY and bool(self._asked.open)
        for call, ended in self.calls.expired(now, waited_for=waited_for):
            if call.id == self._initialize:
                actions += self.happened(
                    Event.TIMED_OUT,
                    f"The server did not answer initialize within {call.timeout:.3g} s.",
                    "Look at its stderr; if it is still starting, give it longer with --start-timeout.",
                )
            else:
                actions.append(cancelled(call.id, "timed out"))
            actions.append(Completed(call.id, ended))
        return self._headed(actions)

    def unanswered(self, id_text: str, why: str, now: float) -> list[Action]:
        """The request with this id can get no answer any more; the connection goes on, unless it
        was the handshake's."""
        call = self.calls.unanswered(id_text)
        if call is None:
            return []
        ended: list[Action] = [Completed(call.id, Outcome("lost", call.age(now), why=why))]
        return self.happened(Event.LOST, why) + ended if call.id == self._initialize else ended

    # Inside

    def _receive(self, message: Message, seq: int, now: float, status: int | None) -> list[Action]:
        return self._headed(self._taken(message, seq, now, status))

    def _taken(self, message: Message, seq: int, now: float, status: int | None) -> list[Action]:
        if message.kind is Kind.REQUEST:
            return self._asked.take(message, seq)
        if message.kind is Kind.NOTIFICATION:
            return self._on_notification(message, seq, now)
        if message.kind in ANSWERS and message.id is not None:
            return self._on_answer(message, seq, now, status)
        return []

    def _on_notification(self, message: Message, seq: int, now: float) -> list[Action]:
        if message.method == "notifications/progress":
            return self.calls.progressed(message, seq, now)
        if message.method == "notifications/cancelled":
            return self._asked.cancelled(message, seq)
        return [Notified(message.method or "", peek(message, "params"), seq, message)]

    def _on_answer(self, message: Message, seq: int, now: float, status: int | None) -> list[Action]:
        turned = self._decided_late(message, seq, now, status)
        if turned:
            return turned
        call = self.calls.answered(message, seq)
        if call is None:
            return []
        if isinstance(call, Late):
            return [call]
        done = Completed(call.id, outcome(call, message, seq, now))
        if call.id == self._initialize:
            return self._on_initialized(message, done)
        if call.method == "logging/setLevel" and message.kind is Kind.RESULT:
            self.log_level = level_of(call.params)
        return [done]

    def _on_initialized(self, message: Message, done: Completed) -> list[Action]:
        if self.state is not State.INITIALIZING:
            return [done]
        if message.kind is Kind.ERROR and self._doubt:
            other = probing.other_era(message, self._doubt)
            if other is not None:
                return [done, other]
        verdict = judge(message, self.offer, self.accept, self.require)
        self._learn(verdict.result)
        changed = self.happened(verdict.event, verdict.why, verdict.next)
        if verdict.event is Event.AGREED:
            return [*self.notify("notifications/initialized"), *changed, done]
        return [*changed, done]

    def _decided_late(self, message: Message, seq: int, now: float, status: int | None) -> list[Action]:
        """The first recognisable answer decides about the era: the one to ``server/discover`` does, if
        it comes after its time but before the one to ``initialize`` and speaks for the stateless era."""
        if self._probe is None or message.id != str(self._probe) or self.state is not State.INITIALIZING:
            return []
        finding = probing.judge(message, STATELESS_REVISIONS, status)
        if finding.era != "modern":
            return []
        self.calls.recall(self._probe)
        ended = self.calls.give_up(self._initialize or 0)
        found = f"{finding.found}, before it answered initialize"
        actions: list[Action] = [EraFound("modern", found, "", message, seq)]
        if ended is not None:
            why = "The server turned out to speak the stateless era."
            actions.insert(0, Completed(ended.id, Outcome("cancelled", ended.age(now), why=why)))
        return actions

    def _headed(self, actions: list[Action]) -> list[Action]:
        """What is sent names the agreed revision, where the transport has headers ("Transports:
        protocol version header", since 2025-06-18)."""
        revision = self.revision
        if revision is None or revision < VERSION_HEADER_SINCE:
            return actions
        header = ((VERSION_HEADER, revision),)
        return [each._replace(headers=header) if isinstance(each, Send) else each for each in actions]

    def _learn(self, result: dict[str, Any]) -> None:
        version = result.get("protocolVersion")
        capabilities = result.get("capabilities")
        instructions = result.get("instructions")
        self.revision = version if isinstance(version, str) else None
        self.server_info = result.get("serverInfo")
        self.server_capabilities = capabilities if isinstance(capabilities, dict) else {}
        self.instructions = instructions if isinstance(instructions, str) else None
