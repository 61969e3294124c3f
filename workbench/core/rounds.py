"""Calls that take several rounds: what is asked in between, who answers it, and what becomes of it.

A ``Work`` is one call as its caller knows it. Each of its rounds is a request
of its own on the wire; what a result asks becomes requests of the peer like any
other, which the policy, a rule or a person answers. All of it is kept in the
one ``Work``, so calls that run side by side have nothing to do with each other.

Source: "Multi round-trip requests", 2026-07-28.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.core.actions import (
    Abandoned,
    Action,
    PeerCancelled,
    PeerRequest,
    PolicyAnswered,
    Remarked,
    Settled,
)
from workbench.core.asked import MAX_PEER_REQUESTS, Asked, Error, Open
from workbench.core.handshake import listed
from workbench.core.inflight import keep
from workbench.core.jsonrpc import INLINE_BYTES, Message, loads
from workbench.core.methods import has_capability, name_of
from workbench.core.mrtr import MAX_ROUNDS, Asking, Inner, asking, retry
from workbench.core.policy import ASKING
from workbench.core.question import Decision, Question, Reply


class Work:
    """One call of ours. ``id`` is its first request's, ``round`` that of the request which is
    unanswered now (``None`` while the server waits for us), ``last`` that of the last one, ``count``
    counts rounds from 1. ``due`` is whether the server waits for what it asked.

    ``params`` is what the caller gave; ``again`` is what goes out next. ``cured`` holds the faults
    that were cured once, so that none is tried twice.
    """

    def __init__(
        self, method: str, params: str | None, started: float, timeout: float | None, progress: bool
    ) -> None:
        self.id = 0
        self.round: int | None = None
        self.last = 0
        self.count = 0
        self.due = False
        self.method = method
        self.params = params
        self.again = params
        self.started = started
        self.timeout = timeout
        self.progress = progress
        self.cured: set[str] = set()
        self.seq = 0
        self.asked: tuple[tuple[str, str], ...] = ()
        self._state: str | None = None
        self._answers: dict[str, str] = {}
        self.waiting: dict[str, Inner] = {}

    def sent(self, id: int) -> None:
        """It has gone out under this id."""
        self.round = self.last = id
        self.due = False
        self.id = self.id or id
        self.count += 1

    def asks(self, asked: Asking, seq: int) -> None:
        """The last round was answered with this; the next one is made of it alone."""
        self.seq = seq
        self.due = bool(asked.inner)
        self.asked = tuple((inner.key, inner.method) for inner in asked.inner)
        self._state, self._answers, self.waiting = asked.state, {}, {}

    def give(self, inner: Inner, result: str) -> None:
        """An answer (JSON text of a result) for the next round."""
        self.waiting.pop(inner.id, None)
        self._answers[inner.key] = result

    def tools(self) -> list[str]:
        """The tool it calls, if it calls one."""
        if self.method != "tools/call" or self.params is None or len(self.params) > INLINE_BYTES:
            return []
        try:
            name = name_of(self.method, loads(self.params))
        except (ValueError, RecursionError):
            return []
        return [] if name is None else [name]

    def turn(self) -> str | None:
        """The params of the next round, when nothing is waited for."""
        self.again = retry(self.params, self._answers, self._state)
        return self.again


class Refusal(NamedTuple):
    """Why a call cannot go on: a sentence for its end."""

    why: str


class Rounds:
    """The calls of one connection that have not ended."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._works: dict[int, Work] = {}
        self._by_round: dict[int, Work] = {}
        self._by_inner: dict[str, Work] = {}

    def sent(self, work: Work, id: int) -> None:
        """The next round of a call has gone out."""
        work.sent(id)
        self._works[work.id] = work
        self._by_round[id] = work

    def answered(self, id: int) -> Work | None:
        """The call whose round this id was; that round is over."""
        work = self._by_round.pop(id, None)
        if work is not None:
            work.round = None
        return work

    def get(self, id: int) -> Work | None:
        """A call by the id its caller knows."""
        return self._works.get(id)

    def caller(self, id: int) -> int:
        """The id by which the caller of a round knows it."""
        work = self._by_round.get(id)
        return id if work is None else work.id

    def waiting(self) -> list[Work]:
        """The calls of which no round is unanswered: the server waits for us."""
        return [work for work in self._works.values() if work.round is None]

    def end(self, work: Work, seq: int) -> list[Action]:
        """A call is over: what it asked needs nobody any more."""
        self._works.pop(work.id, None)
        if work.round is not None:
            self._by_round.pop(work.round, None)
        taken: list[Action] = []
        for id in work.waiting:
            self._by_inner.pop(id, None)
            self._asked.open.pop(id, None)
            taken.append(PeerCancelled(id, None, seq))
        work.waiting = {}
        return [*taken, Abandoned(work.last)] if work.due else taken

    # What a result asks

    def ask(
        self, work: Work, message: Message, id: int, seq: int, server: str
    ) -> tuple[list[Action], Refusal | None]:
        """Take an ``input_required`` result, the answer to round ``id``: tell what it asks, and have it
        answered as far as nobody has to be waited for."""
        asked = asking(message, str(id))
        work.asks(asked, seq)
        actions: list[Action] = []
        if not asked.inner and asked.state is None:
            why = "The server asked for input and did not say for what, so the call was not sent again."
            return actions, Refusal(why)
        if work.count >= MAX_ROUNDS:
            return actions, Refusal(f"The server asked for input {work.count} times, which is where we stop.")
        undeclared = sorted({inner.method for inner in asked.inner if not self._declared(inner)})
        if undeclared:
            told = [PeerRequest(i.id, i.method, i.params, seq, False, i.message) for i in asked.inner]
            return [*actions, *told], _refusal(undeclared, "which we did not declare")
        refused: list[str] = []
        for inner in asked.inner:
            question = Question(inner.method, inner.params, work.tools, server)
            decision = self._asked.policy.decide(question, self._asked.offered)
            actions += self._told(work, inner, question, decision, seq)
            if decision.reply is not None and decision.reply.result is None:
                refused.append(inner.method)
        return actions, _refusal(sorted({*refused}), "which was refused", _ANSWER) if refused else None

    def _declared(self, inner: Inner) -> bool:
        capability = ASKING.get(inner.method)
        if capability is None or not has_capability(self._asked.offered, capability):
            return False
        decision = self._asked.policy.decide(Question(inner.method, inner.params), self._asked.offered)
        return decision.reply is None or decision.reply.by not in ("not offered", "mode not offered")

    def _told(
        self, work: Work, inner: Inner, question: Question, decision: Decision, seq: int
    ) -> list[Action]:
        reply = decision.reply
        told = PeerRequest(inner.id, inner.method, inner.params, seq, reply is None, inner.message)
        actions: list[Action] = [told, *(Remarked(work.id, remark) for remark in decision.remarks)]
        if reply is None:
            keep(self._asked.open, inner.id, Open(question, seq), MAX_PEER_REQUESTS)
            work.waiting[inner.id] = inner
            self._by_inner[inner.id] = work
            return actions
        return actions + self._replied(work, inner, reply)

    def _replied(self, work: Work, inner: Inner, reply: Reply) -> list[Action]:
        if reply.result is not None:
            work.give(inner, reply.result)
        by = f"{'rule' if reply.rule else 'policy'} {reply.by}"
        return [PolicyAnswered(inner.id, inner.method, by, work.id)]

    # Answers from outside

    def reconsidered(self, id_text: str) -> Reply | None:
        """What a rule says by now to something that is open, ``None`` where none does."""
        waiting = self._asked.open.get(id_text)
        if waiting is None or id_text not in self._by_inner:
            return None
        reply = self._asked.policy.decide(waiting.question, self._asked.offered).reply
        return reply if reply is not None and reply.rule else None

    def answer(
        self, id_text: str, result: str | None, error: Error | None
    ) -> tuple[Work | None, list[Action], Refusal | None]:
        """Take an answer to something a result asked: which call it belongs to (``None``: it is not
        open), what to tell, and whether the call is thereby refused. The eras differ here: there is
        no way to send an error, so an error means that the call does not go on."""
        work = self._by_inner.pop(id_text, None)
        self._asked.open.pop(id_text, None)
        inner = work.waiting.get(id_text) if work else None
        if work is None or inner is None:
            return None, [], None
        if error is not None:
            work.waiting.pop(id_text)
            return work, [Settled(id_text)], _refusal([inner.method], "which you refused")
        work.give(inner, "{}" if result is None else result)
        return work, [Settled(id_text)], None


_ANSWER = "; give an answer on the screen, or by a rule (--answer)"


def _refusal(methods: list[str], what: str, step: str = "") -> Refusal:
    return Refusal(f"The server asked for {listed(methods)}, {what}, so the call was not sent again{step}.")
