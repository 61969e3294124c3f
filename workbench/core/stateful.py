"""What a caller asks for by a method of the handshake era, done the way of the stateless one.

A subscription to a resource is a request whose stream stays open ("Subscriptions",
2026-07-28). Each method gives the id of the request and what is to be done, as
``Conversation.request`` does.
"""

from __future__ import annotations

from workbench.core import subscriptions
from workbench.core.actions import Action, Completed, Outcome, Remarked
from workbench.core.calling import Calling
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message
from workbench.core.listening import Listening
from workbench.core.methods import LISTEN
from workbench.core.rounds import Work
from workbench.core.subscriptions import Subscription
from workbench.core.works import Works

#: Methods of the handshake era that become listen filters.
SUBSCRIBING = ("resources/subscribe", "resources/unsubscribe")

#: The result of a request that was fulfilled without being sent.
_DONE = Message(Kind.RESULT, members={"result": {}})


class Stateful:
    """Those of one connection."""

    def __init__(self, calls: Calling, works: Works, listening: Listening) -> None:
        self._calls = calls
        self._works = works
        self._listening = listening

    def subscribe(self, uri: str, now: float, timeout: float | None) -> tuple[int, list[Action]]:
        """Listen to what changes of a resource."""
        if self._listening.all.of(uri) is not None:
            return self.done("It is subscribed to already.")
        wanted = subscriptions.resource(uri)
        work = Work(LISTEN, f'{{"notifications":{wanted}}}', now, timeout, False)
        send = self._works.send(work, now)
        self._listening.all.add(Subscription(work.id, wanted, work.id, uri))
        return work.id, [send]

    def unsubscribe(self, uri: str) -> tuple[int, list[Action]]:
        """Listen to a resource no longer."""
        subscription = self._listening.all.of(uri)
        if subscription is None:
            return self.done("It is not subscribed to.")
        self._listening.all.remove(subscription)
        self._calls.forget(subscription.id)
        id, done = self.done("")
        told = (
            [] if subscription.due is not None else self._works.told_given_up(subscription.id, "unsubscribed")
        )
        return id, [*told, *done]

    def acknowledged(self, subscription: Subscription, now: float) -> list[Action]:
        """The first notification of a subscription somebody waits for: the waiting is over, and the
        request goes on. (A listen request that a caller sent itself ends with its own answer.)"""
        if subscription.uri is None:
            return []
        call = self._calls.unanswered(str(subscription.id))
        work = self._works.rounds.answered(subscription.id)
        subscription.caller = None
        if call is None or work is None:
            return []
        return [*self._works.rounds.end(work, 0), Completed(work.id, Outcome("result", call.age(now), _DONE))]

    def done(self, remark: str) -> tuple[int, list[Action]]:
        """A request that is fulfilled without being sent."""
        id = self._calls.new_id()
        told: list[Action] = [Remarked(id, remark)] if remark else []
        return id, [*told, Completed(id, Outcome("result", 0.0, _DONE))]
