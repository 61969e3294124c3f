"""The subscriptions of one connection: asking for them, losing them, and asking again."""

from __future__ import annotations

from typing import Any

from workbench.core import jsonrpc
from workbench.core.actions import Action, Outcome, Relisten, Relistened, Remarked, Send, Unlistened
from workbench.core.calling import Calling
from workbench.core.envelope import Envelope
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message
from workbench.core.methods import LISTEN
from workbench.core.peek import peek
from workbench.core.subscriptions import Subscription, Subscriptions, changes_of


class Listening:
    """``all`` are the subscriptions that are not over. Those that nobody waits for are our own to
    keep; one that somebody waits for is a call like any other until it is acknowledged."""

    def __init__(self, calls: Calling, envelope: Envelope) -> None:
        self.all = Subscriptions()
        self._calls = calls
        self._envelope = envelope

    def watch(self, capabilities: Any) -> list[Action]:
        """Ask to be told of every change of a list that the server says it tells, once."""
        wanted = changes_of(capabilities)
        if wanted is None or any(each.uri is None and each.caller is None for each in self.all):
            return []
        subscription = Subscription(self._calls.new_id(), wanted)
        self.all.add(subscription)
        return [self._ask(subscription)]

    def due(self, now: float) -> list[Action]:
        """Ask again for those whose pause is over."""
        actions: list[Action] = []
        for subscription in self.all.due(now):
            before, id = subscription.id, self._calls.new_id()
            self.all.renamed(subscription, id)
            actions += [Relistened(before, id), self._ask(subscription)]
        return actions

    def lost(self, id_text: str, why: str, now: float) -> list[Action]:
        """The stream of the request with this id is gone; nothing if it is no subscription of ours."""
        subscription = self._own(id_text)
        if subscription is None:
            return []
        pause = subscription.lost(now)
        return [Relisten(subscription.id, pause, subscription.attempt, why)]

    def answered(self, message: Message) -> list[Action]:
        """Take an answer: that to a listen request ends it. Nothing if it is to something else."""
        subscription = self._own(message.id)
        if subscription is None:
            return []
        how = "ended it"
        if message.kind is Kind.ERROR:
            how = f"refused it: {Outcome('error', 0.0, message).sentence[:300]}"
        return self._ended(subscription, f"The server was asked to tell of changes and {how}.")

    def cancelled(self, message: Message) -> list[Action]:
        """Take a ``notifications/cancelled``: the server may end a subscription so, and nothing else."""
        identity = peek(message, "params", "requestId")
        subscription = None if identity is None else self.all.get(jsonrpc.id_text(identity))
        if subscription is None:
            return []
        return self._ended(subscription, "The server has ended the subscription.")

    def _ended(self, subscription: Subscription, remark: str) -> list[Action]:
        self.all.remove(subscription)
        told: list[Action] = [] if subscription.uri is None else [Unlistened(subscription.uri)]
        return [*told, Remarked(None, remark)]

    def forget(self, id: int | None) -> None:
        """The request with this id is over."""
        subscription = None if id is None else self.all.get(str(id))
        if subscription is not None:
            self.all.remove(subscription)

    def _own(self, id_text: str | None) -> Subscription | None:
        subscription = self.all.get(id_text)
        return subscription if subscription is not None and subscription.caller is None else None

    def _ask(self, subscription: Subscription) -> Send:
        params = self._envelope.params(subscription.params)
        return self._envelope.request(subscription.id, LISTEN, params)
