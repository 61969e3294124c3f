"""The questions of a live server: the recorded one that each is, and what is answered.

A question gets the answer that was recorded for the same one, under its live id. One in
other words, during the call that it belonged to, gets it too and is told; one that was
not recorded is answered like nobody were there, and told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from workbench.core import jsonrpc
from workbench.core.jsonrpc import Message
from workbench.core.peek import peek
from workbench.core.policy import Policy
from workbench.core.question import Question, Reply
from workbench.replay import identity
from workbench.replay.actions import Write
from workbench.replay.correlate import Correlations
from workbench.replay.judging import Judge
from workbench.replay.lines import Answering, Line, Run
from workbench.replay.reading import params_of
from workbench.replay.spans import items
from workbench.replay.turns import ClientScript, Query
from workbench.replay.veil import Veil
from workbench.replay.verification import CHANGED, EXTRA, Questioned, Verification


class Questions:
    """``answering`` are those whose recorded answer has not gone out yet, ``asked`` the keys of all that
    were asked. What differs goes to ``told``."""

    def __init__(
        self,
        script: ClientScript,
        runs: Mapping[int, Run],
        judge: Judge,
        correlations: Correlations,
        veil: Veil,
        policy: Policy,
        told: Verification,
    ) -> None:
        self.answering: list[Answering] = []
        self.asked: set[int] = set()
        self._offered = script.offered
        self._runs = runs
        self._judge = judge
        self._correlations = correlations
        self._veil = veil
        self._policy = policy
        self._told = told
        self._unasked: dict[tuple[int, str], deque[Query]] = {}
        for query in script.queries.values():
            self._unasked.setdefault((query.connection, query.method), deque()).append(query)

    def take(self, line: Line, message: Message, seq: int) -> list[Write]:
        """A question has come, as the live frame ``seq``; returns what is answered at once."""
        id = message.id or "null"
        if message.method == "ping":
            return [Write(line.connection, jsonrpc.result(id, "{}"))]
        query = self._recorded(line, message)
        if query is None:
            write, how = self._unrecorded(line, id, message)
            self._extra(line, message, seq, how)
            return [write]
        self.asked.add(query.key)
        self._correlations.learn(query.seq, query.params, params_of(message))
        self.answering.append(Answering(query, line, id, message))
        return []

    def taken_back(self, line: Line, id: str | None) -> None:
        """The server has cancelled a question of its own."""
        self.answering = [each for each in self.answering if each.line is not line or each.id != id]

    def left(self, connection: int) -> None:
        """Nobody waits for an answer on a connection any more."""
        self.answering = [each for each in self.answering if each.query.connection != connection]

    def answer(self, each: Answering) -> list[Write]:
        """The recorded progress and answer, under the live token and id."""
        self.answering.remove(each)
        query = each.query
        writes: list[Write] = []
        token = peek(each.message, "params", "_meta", "progressToken")
        for body, seq in query.notes if token is not None else ():
            writes += self._filled(each, identity.put(body, identity.TOKEN, jsonrpc.id_text(token)), seq)
        if query.answer is not None and query.answer[0]:
            put = identity.put(query.answer[0], identity.ID, each.id)
            writes += self._filled(each, put, query.answer[1]) or [self._nobody(each)]
        return writes

    def decline(self, each: Answering) -> Write:
        """Answer a question like nobody were there, because no answer to it was recorded."""
        self.answering.remove(each)
        self._told.note(
            f"#{each.query.seq} {each.query.method} had no answer when it was recorded; "
            "it was declined because the server waits for one."
        )
        return self._nobody(each)

    def in_batch(self, body: bytes, place: int, key: int) -> bytes:
        """A batch of ours with the live id in the answer to a question, which has its answer with that."""
        each = next((each for each in self.answering if each.query.key == key), None)
        spans = items(body)
        if each is None or place >= len(spans):
            return body
        self.answering.remove(each)
        start, end = spans[place]
        return body[:start] + identity.put(body[start:end], identity.ID, each.id) + body[end:]

    def decide(self, line: Line, message: Message, seq: int) -> Reply:
        """What is answered to something that a result asks and that was not recorded; it is told."""
        reply = self._reply(line, message)
        self._extra(line, message, seq, reply.by)
        return reply

    def _recorded(self, line: Line, message: Message) -> Query | None:
        """The first recorded question that asks the same and has not been asked, else one that asks it
        in other words, while the request it belongs to is open."""
        waiting = self._unasked.get((line.connection, message.method or ""), deque())
        params = params_of(message)
        for query in waiting:
            if self._judge.asks_alike(query.method, query.params, params):
                waiting.remove(query)
                return query
        for query in waiting:
            if self._is_open(query) and self._judge.asks_in_shape(query.method, query.params, params):
                waiting.remove(query)
                found = self._judge.asks_otherwise(query.method, query.params, params)
                self._told.question(Questioned(CHANGED, line.connection, query.seq, query.method, "", found))
                return query
        return None

    def _is_open(self, query: Query) -> bool:
        """Whether the request that a question belonged to waits for its answer."""
        owner = None if query.owner is None else self._runs[query.owner]
        return owner is None or (owner.began >= 0 and not owner.done)

    def _filled(self, each: Answering, body: bytes, seq: int) -> list[Write]:
        filled = self._veil.filled(self._correlations.applied(body))
        if filled is not None:
            return [Write(each.line.connection, filled, seq)]
        self._told.note(f"#{seq} was not sent as recorded: a secret in it is not known.")
        return []

    def _nobody(self, each: Answering) -> Write:
        return self._unrecorded(each.line, each.id, each.message)[0]

    def _unrecorded(self, line: Line, id: str, message: Message) -> tuple[Write, str]:
        """What is answered where nobody is there, and in a word."""
        reply = self._reply(line, message)
        if reply.result is not None:
            return Write(line.connection, jsonrpc.result(id, reply.result)), reply.by
        return Write(line.connection, jsonrpc.error(id, reply.code, reply.message, reply.data)), reply.by

    def _reply(self, line: Line, message: Message) -> Reply:
        question = Question(message.method or "", params_of(message), line.tool_names)
        reply = self._policy.decide(question, self._offered.get(line.connection, {})).reply
        return reply or Reply("declined", None, -32601, f"Method not found: {message.method}")

    def _extra(self, line: Line, message: Message, seq: int, how: str) -> None:
        self._told.question(Questioned(EXTRA, line.connection, seq, message.method or "", how))
