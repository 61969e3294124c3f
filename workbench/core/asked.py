"""Requests of the peer: answered at once by the policy, or open until somebody answers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from workbench.core import jsonrpc
from workbench.core.actions import Action, Odd, PeerCancelled, PeerRequest, Remarked, Send
from workbench.core.inflight import keep
from workbench.core.jsonrpc import Message
from workbench.core.peek import peek
from workbench.core.policy import Policy
from workbench.core.question import Question, Reply

#: Requests of the peer that are kept open at once; the oldest beyond it are forgotten unanswered.
MAX_PEER_REQUESTS = 10_000

#: An error: code, message, JSON text of data or ``None``.
Error = tuple[int, str, str | None]


class Open(NamedTuple):
    """A request of the peer that waits for an answer."""

    question: Question
    seq: int


class Asked:
    """What the peer asks. ``open`` holds the requests that wait for an answer by their id (JSON
    text), oldest first; ``offered`` are our capabilities. ``server`` gives what the server calls
    itself, and ``tools`` the names of the tools that run: all of them, or the one that the request
    with an id (JSON text) calls; ``within`` is that id where the transport tells it."""

    def __init__(
        self,
        policy: Policy,
        offered: Mapping[str, object],
        server: Callable[[], str] = str,
        tools: Callable[[str | None], Sequence[str]] = lambda _: (),
    ) -> None:
        self.policy = policy
        self.offered = offered
        self.within: str | None = None
        self.open: OrderedDict[str, Open] = OrderedDict()
        self._server = server
        self._tools = tools

    @property
    def methods(self) -> dict[str, str]:
        """The methods of the open requests, by id."""
        return {id: waiting.question.method for id, waiting in self.open.items()}

    def take(self, message: Message, seq: int) -> list[Action]:
        """Take a request: it is told, and answered if the policy has an answer."""
        id = message.id or "null"
        during = partial(self._tools, self.within)
        question = Question(message.method or "", peek(message, "params"), during, self._server())
        actions: list[Action] = [Odd("reused-id", seq)] if id in self.open else []
        reply, remarks = self.policy.decide(question, self.offered)
        keep(self.open, id, Open(question, seq), MAX_PEER_REQUESTS)
        actions.append(PeerRequest(id, question.method, question.params, seq, reply is None, message))
        actions += [Remarked(None, remark) for remark in remarks]
        return actions if reply is None else actions + self._replied(id, reply)

    def reconsider(self, id_text: str) -> list[Action]:
        """Ask the policy anew about a request that is open: a rule may have come that answers it."""
        waiting = self.open.get(id_text)
        if waiting is None:
            return []
        reply, _ = self.policy.decide(waiting.question, self.offered)
        return self._replied(id_text, reply) if reply is not None and reply.rule else []

    def _replied(self, id_text: str, reply: Reply) -> list[Action]:
        error = None if reply.result is not None else (reply.code, reply.message, None)
        return self.answer(id_text, reply.result, error, f"{'rule' if reply.rule else 'policy'} {reply.by}")

    def answer(self, id_text: str, result: str | None, error: Error | None, about: str) -> list[Action]:
        """Answer a request, once; nothing if it is not open."""
        if self.open.pop(id_text, None) is None:
            return []
        if error is not None:
            body = jsonrpc.error(id_text, *error)
        else:
            body = jsonrpc.result(id_text, "{}" if result is None else result)
        return [Send(body, about, id_text)]

    def cancelled(self, message: Message, seq: int) -> list[Action]:
        """Take a ``notifications/cancelled``: the peer wants no answer any more."""
        identity = peek(message, "params", "requestId")
        id = None if identity is None else jsonrpc.id_text(identity)
        if id is None or self.open.pop(id, None) is None:
            return [Odd("unknown-cancel", seq)]
        reason = peek(message, "params", "reason")
        return [PeerCancelled(id, reason if isinstance(reason, str) else None, seq)]
