"""The client half of one connection in the stateless era (2026-07-28), without any I/O.

It has the methods of ``Conversation`` and differs in what they do. There is no
handshake: ``server/discover`` asks who is there, and every request says for
itself which revision it is of, who sends it and what the client can do. A
server sends no requests; what it wants to know comes in a result, and the
request is sent again with the answers, as another round of the same call.

Source: "Versioning", "Multi round-trip requests", "Subscriptions",
"Cancellation", "Logging" and "Caching", 2026-07-28.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.core import jsonrpc, subscriptions
from workbench.core.actions import (
    Action,
    Completed,
    EraFound,
    Late,
    Notified,
    Outcome,
    Remarked,
    Send,
)
from workbench.core.caching import Freshness
from workbench.core.calling import Calling, level_of, outcome
from workbench.core.discovery import DISCOVER, Discovery, Found
from workbench.core.envelope import Envelope
from workbench.core.frame import ANSWERS, Kind
from workbench.core.half import ClientHalf
from workbench.core.jsonrpc import Message, dumps
from workbench.core.lifecycle import OVER, Event, State
from workbench.core.listening import Listening
from workbench.core.methods import (
    INPUT_METHODS,
    LATEST_STATELESS,
    LIST_METHODS,
    LISTEN,
    STATELESS_REVISIONS,
    exists_in,
    has_capability,
)
from workbench.core.mrtr import COMPLETE, INPUT_REQUIRED, result_type
from workbench.core.peek import peek
from workbench.core.pending import Pending, Timeouts
from workbench.core.policy import Policy
from workbench.core.question import name_of_server
from workbench.core.rounds import Work
from workbench.core.routing import META
from workbench.core.stateful import SUBSCRIBING, Stateful
from workbench.core.subscriptions import Subscription
from workbench.core.works import Works

__all__ = ["StatelessConversation"]


class StatelessConversation(ClientHalf):
    """The client half of a connection; see the module's text, and ``Conversation`` for the words.

    ``offer`` is the revision to name. ``log_level`` opts in to log messages. ``own_streams`` tells
    that each request has a stream of its own (HTTP): closing it cancels the request, and headers
    repeat what the body says. ``schema_of`` gives the ``inputSchema`` of a listed tool by its name.
    With ``probing`` the era is not known yet, and a server that does not speak this one is left to
    another conversation (``EraFound``).
    """

    era = "modern"

    def __init__(
        self,
        *,
        offer: str = LATEST_STATELESS,
        capabilities: Mapping[str, Any],
        client_info: Mapping[str, Any],
        log_level: str | None = None,
        require: Sequence[str] = (),
        policy: Policy | None = None,
        timeouts: Timeouts | None = None,
        first_id: int = 1,
        calls: Calling | None = None,
        state: State = State.NEW,
        probing: bool = False,
        own_streams: bool = False,
        schema_of: Callable[[str], Any] = lambda _: None,
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
        self.speak = tuple(dict.fromkeys((offer, *reversed(STATELESS_REVISIONS))))
        self.log_level = log_level
        self.freshness = Freshness()
        self._discovery = Discovery(self.speak, self.require, probing)
        self._envelope = Envelope(
            self.client_info,
            self.capabilities,
            lambda: self.revision or self.offer,
            lambda: self.log_level,
            own_streams,
            schema_of,
        )
        self._listening = Listening(self.calls, self._envelope)
        self._works = Works(self.calls, self._envelope, self._asked, self.speak, own_streams)
        self._rounds = self._works.rounds
        self._stateful = Stateful(self.calls, self._works, self._listening)

    @property
    def probe(self) -> int | None:
        """The id of the ``server/discover`` that was sent, ``None`` before."""
        return self._discovery.id

    @property
    def looking(self) -> bool:
        """Whether the era is still looked for."""
        return self._discovery.probing and self.state is State.PROBING

    def offers(self, method: str) -> bool:
        if method in SUBSCRIBING:
            return has_capability(self.server_capabilities, "resources.subscribe")
        return exists_in(method, LATEST_STATELESS) and super().offers(method)

    # What the user wants

    def start(self, now: float) -> list[Action]:
        """Ask the server what it is: it runs and can be written to."""
        changed = self.happened(Event.START) + self.happened(Event.PROBED)
        self._discovery.begun(now)
        return [*changed[-1:], *self._ask_who(now)]

    def adopt(self, found: EraFound, now: float) -> list[Action]:
        """Go on from an answer to ``server/discover`` that another conversation has seen."""
        assert found.discovered is not None
        return self._on_discovered(found.discovered, now, None)

    def request(
        self,
        method: str,
        params: str | None,
        now: float,
        *,
        timeout: float | None = None,
        progress: bool = True,
    ) -> tuple[int, list[Action]]:
        """Send a request; returns its id and the actions. See ``Conversation.request``.

        What the handshake era had methods of its own for is done the way of this one:
        ``resources/subscribe`` becomes a subscription, and ``logging/setLevel`` the level that
        goes with each request. Every other method is sent, whatever it is.
        """
        if self.state in OVER:
            id = self.calls.new_id()
            return id, [Completed(id, Outcome("lost", 0.0, why="The connection is over; connect again."))]
        if method == "resources/subscribe" and subscriptions.uri_in(params) is not None:
            return self._stateful.subscribe(subscriptions.uri_in(params) or "", now, timeout)
        if method == "resources/unsubscribe":
            return self._stateful.unsubscribe(subscriptions.uri_in(params) or "")
        if method == "logging/setLevel":
            self.log_level = level_of(params)
            return self._stateful.done("This era has no logging/setLevel; the level goes with every request.")
        if method == LISTEN and timeout is None:
            timeout = math.inf
        work = Work(method, params, now, timeout, progress)
        send = self._works.send(work, now)
        if method == LISTEN:
            self._listening.all.add(Subscription(work.id, "", work.id))
        return work.id, [send]

    def notify(self, method: str, params: str | None = None) -> list[Action]:
        """Send a notification; ``params`` is JSON text and sent as it is."""
        return [self._envelope.notification(method, params)]

    def send_raw(self, body: bytes) -> list[Action]:
        sends = super().send_raw(body)
        return [self._envelope.headed(each) if isinstance(each, Send) else each for each in sends]

    def cancel(self, id: int, reason: str | None, now: float) -> list[Action]:
        """Give a request up and tell the peer. Nothing happens if it has ended."""
        work = self._rounds.get(id)
        if work is None:
            return []
        round, taken = work.round, self._rounds.end(work, work.seq)
        tell = [] if round is None else self._works.give_up(round, reason)
        self._listening.forget(round)
        why = reason or f"The request {work.method} was cancelled."
        return [*tell, *taken, Completed(id, Outcome("cancelled", now - work.started, why=why))]

    def answer(
        self,
        id_text: str,
        result: str | None = None,
        error: tuple[int, str, str | None] | None = None,
        *,
        about: str = "user",  # noqa: ARG002 - nothing is sent for an answer alone
        now: float | None = None,
    ) -> list[Action]:
        """Answer something that a result asked. An error means that the call does not go on. ``now``
        is when (the next round begins then)."""
        work, actions, refusal = self._rounds.answer(id_text, result, error)
        if work is None:
            return []
        when = work.started if now is None else now
        if refusal is not None:
            return [*actions, *self._works.refused(work, refusal.why, work.seq, when)]
        return [*actions, *self._works.next_round(work, when)]

    def reconsider(self, id_text: str, now: float | None = None) -> list[Action]:
        reply = self._rounds.reconsidered(id_text)
        if reply is None:
            return []
        error = None if reply.result is not None else (reply.code, reply.message, None)
        return self.answer(id_text, reply.result, error, now=now)

    def watch(self) -> list[Action]:
        """Ask to be told of every change of a list that the server says it tells."""
        return self._listening.watch(self.server_capabilities)

    # What happens

    def heard(self, now: float) -> list[Action]:
        """The peer has shown a sign of life, whatever it was: from now on a probe has only so long."""
        self._discovery.heard(now)
        return []

    def lost(self, why: str, now: float | None = None, next_step: str = "") -> list[Action]:
        actions = [self._works.known(each) for each in super().lost(why, now, next_step)]
        for work in self._rounds.waiting():
            seconds = 0.0 if now is None else now - work.started
            work.due = False  # nobody waits any more
            actions += [*self._rounds.end(work, 0), Completed(work.id, Outcome("lost", seconds, why=why))]
        self._listening.all.clear()
        self._discovery.over()
        return actions

    def next_deadline(self) -> float | None:
        """When ``tick`` has something to do, ``None`` if never."""
        deadlines = (self.calls.next_deadline(), self._listening.all.next_due(), self._discovery.deadline)
        return min((each for each in deadlines if each is not None), default=None)

    def tick(self, now: float) -> list[Action]:
        """End the requests whose time is over, and ask again for what was lost."""
        actions: list[Action] = []
        for call, ended in self.calls.expired(now):
            actions += self._expired(call, ended, now)
        actions += self._listening.due(now)
        found = self._discovery.expired(now)
        if found is not None:
            self.calls.give_up(self._discovery.id or 0)
            actions.append(found)
        return actions

    def unanswered(self, id_text: str, why: str, now: float) -> list[Action]:
        """The request with this id can get no answer any more; the connection goes on."""
        waits = self._listening.lost(id_text, why, now)
        if waits:
            return waits
        call = self.calls.unanswered(id_text)
        if call is None:
            return []
        if call.id == self._discovery.id:
            return self._found(self._discovery.unanswered(why))
        self._listening.forget(call.id)
        return self._works.failed(call, Outcome("lost", call.age(now), why=why), now)

    # Frames

    def _receive(self, message: Message, seq: int, now: float, status: int | None) -> list[Action]:
        if message.kind is Kind.REQUEST:
            return []
        if message.kind is Kind.NOTIFICATION:
            return self._on_notification(message, seq, now)
        if message.kind in ANSWERS and message.id is not None:
            return self._on_answer(message, seq, now, status)
        return []

    def _on_notification(self, message: Message, seq: int, now: float) -> list[Action]:
        method = message.method or ""
        if method == "notifications/progress":
            return [self._works.known(each) for each in self.calls.progressed(message, seq, now)]
        if method == "notifications/cancelled":
            ended = self._listening.cancelled(message)
            return [*ended, *self._works.closed(peek(message, "params", "requestId"))] if ended else []
        told: list[Action] = []
        if method in subscriptions.SUBSCRIBED and self.state is State.READY:
            subscription = self._listening.all.heard(message)
            if subscription is not None and subscription.caller is not None:
                told += self._stateful.acknowledged(subscription, now)
            uri = peek(message, "params", "uri")
            self.freshness.changed(method, uri if isinstance(uri, str) else None)
        return [*told, Notified(method, peek(message, "params"), seq, message)]

    def _on_answer(self, message: Message, seq: int, now: float, status: int | None) -> list[Action]:
        ended = self._listening.answered(message)
        if ended:
            return ended
        call = self.calls.answered(message, seq)
        if call is None:
            return []
        if isinstance(call, Late):
            return [call]
        if call.id == self._discovery.id:
            return self._on_discovered(message, now, status)
        if self._works.cures.is_listing(call.id):
            return self._works.listed(call.id, message, seq, now)
        work = self._rounds.answered(call.id)
        if work is None:
            return [Completed(call.id, outcome(call, message, seq, now))]
        self._listening.forget(call.id)
        if message.kind is Kind.ERROR:
            return self._cure(work, message, seq, now, status) or self._works.end(work, message, seq, now)
        return self._on_result(work, call, message, seq, now)

    def _on_result(self, work: Work, call: Pending, message: Message, seq: int, now: float) -> list[Action]:
        info = peek(message, "result", "_meta", META + "serverInfo")
        if isinstance(info, dict):
            self.server_info = info
        kind = result_type(message)
        if kind == INPUT_REQUIRED and work.method in INPUT_METHODS:
            server = name_of_server(self.server_info)
            actions, refusal = self._rounds.ask(work, message, call.id, seq, server)
            if refusal is not None:
                return [*actions, *self._works.refused(work, refusal.why, seq, now, message)]
            return [*actions, *self._works.next_round(work, now)]
        told: list[Action] = []
        if kind not in (None, COMPLETE):
            text = f"The result's resultType is {dumps(kind)[:60]}; it is shown as it came."
            told = [Remarked(work.id, text)]
        if kind in (None, COMPLETE) and work.count == 1:
            self.freshness.take(work.method, _asked_with(work), message, now)
        return [*told, *self._works.end(work, message, seq, now)]

    # Discovery

    def _ask_who(self, now: float) -> list[Action]:
        discovery = self._discovery
        timeout = discovery.timeout(self.timeouts.start)
        call = self.calls.open(DISCOVER, self._envelope.params(None), now, timeout, False)
        discovery.id = call.id
        about = "probe" if discovery.probing else DISCOVER
        return [self._envelope.request(call.id, DISCOVER, call.params, about)]

    def _on_discovered(self, message: Message, now: float, status: int | None) -> list[Action]:
        if self.state not in (State.PROBING, State.INITIALIZING):
            return []
        found = self._discovery.answered(message, status)
        self.revision = found.version or self.revision
        if found.again:
            return self._ask_who(now)
        return self._found(found)

    def _found(self, found: Found) -> list[Action]:
        actions: list[Action] = [] if found.era is None else [found.era]
        if found.event is None:
            return actions
        self.revision = self.revision or self.offer
        self.server_info, self.server_capabilities, self.instructions = found.server
        actions += [Remarked(None, found.remark)] if found.remark else []
        return [*actions, *self.happened(found.event, found.why, found.next)]

    # Ends

    def _cure(self, work: Work, message: Message, seq: int, now: float, status: int | None) -> list[Action]:
        """Send a request again where its error says what to do: once with a revision of the server's,
        once with the headers that the tool asks for by now. Empty where it does not."""
        work.seq, work.asked = seq, ()
        version = self._works.cures.version(work, message, self.revision)
        if version is None:
            return self._works.with_headers(work, message, seq, now, status)
        self.revision = version
        return self._works.again(work, now)

    def _expired(self, call: Pending, ended: Outcome, now: float) -> list[Action]:
        if call.id == self._discovery.id:
            why = f"The server did not answer server/discover within {call.timeout:.3g} s."
            step = "Look at its stderr; if it is still starting, give it longer with --start-timeout."
            return self.happened(Event.TIMED_OUT, why, step)
        self._listening.forget(call.id)
        return [*self._works.told_given_up(call.id, "timed out"), *self._works.failed(call, ended, now)]


def _asked_with(work: Work) -> str | None:
    """What tells two requests of a cacheable method apart: the cursor of a page, the URI of a resource."""
    try:
        params = jsonrpc.loads(work.params or "{}")
    except (ValueError, RecursionError):
        return None
    value = (
        params.get("cursor" if work.method in LIST_METHODS else "uri") if isinstance(params, dict) else None
    )
    return value if isinstance(value, str) else None
