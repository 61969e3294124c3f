"""Subscriptions: ``subscriptions/listen`` and what comes on it (2026-07-28)."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from workbench.check.answers import other_type
from workbench.check.rule import STATELESS, Rule
from workbench.check.watched import META_SUBSCRIPTION, Hooks, Watched, inner, params_of, result_of
from workbench.core.exchange import Exchange, Told
from workbench.core.frame import Kind
from workbench.core.inflight import keep
from workbench.core.jsonrpc import Message, id_text

_LISTEN = "Utilities: Subscriptions"
_ASK = (
    '> {"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":'
    '{"toolsListChanged":true},"_meta":$META}}'
)
_ID = '"_meta":{"io.modelcontextprotocol/subscriptionId":7}'
_ACK = (
    '< {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":'
    '{"toolsListChanged":true},' + _ID + "}}"
)

LISTEN_NOT_ACKNOWLEDGED = Rule(
    "listen-not-acknowledged",
    "error",
    STATELESS,
    _LISTEN,
    "The first message of a subscription is not its acknowledgement, so the client cannot know what is told.",
    (
        "@ 2026-07-28",
        _ASK,
        '< {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{' + _ID + "}}",
    ),
)
LISTEN_ACKNOWLEDGED_TWICE = Rule(
    "listen-acknowledged-twice",
    "error",
    STATELESS,
    _LISTEN,
    "The subscription was acknowledged before.",
    ("@ 2026-07-28", _ASK, _ACK, _ACK),
)
LISTEN_ACKNOWLEDGED_MORE = Rule(
    "listen-acknowledged-more",
    "error",
    STATELESS,
    _LISTEN,
    "The server acknowledges something that was not asked for.",
    (
        "@ 2026-07-28",
        _ASK,
        '< {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":'
        '{"promptsListChanged":true},' + _ID + "}}",
    ),
)
LISTEN_KIND_UNREQUESTED = Rule(
    "listen-kind-unrequested",
    "error",
    STATELESS,
    _LISTEN,
    "The notification is of a kind that the subscription did not ask for.",
    (
        "@ 2026-07-28",
        _ASK,
        _ACK,
        '< {"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{' + _ID + "}}",
    ),
)
SUBSCRIPTION_ID_MISSING = Rule(
    "subscription-id-missing",
    "error",
    STATELESS,
    _LISTEN,
    "The message does not name its subscription in _meta, so the client cannot tell to which it belongs.",
    ("@ 2026-07-28", _ASK, _ACK, '< {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'),
)
SUBSCRIPTION_ID_UNKNOWN = Rule(
    "subscription-id-unknown",
    "error",
    STATELESS,
    _LISTEN,
    "The subscriptionId is that of no open subscriptions/listen.",
    (
        "@ 2026-07-28",
        _ASK,
        _ACK,
        '< {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":'
        '{"io.modelcontextprotocol/subscriptionId":8}}}',
    ),
)
SUBSCRIPTION_ID_TYPE = Rule(
    "subscription-id-type",
    "error",
    STATELESS,
    _LISTEN,
    "The subscriptionId is the id of the request in another type; it keeps its JSON type.",
    (
        "@ 2026-07-28",
        _ASK,
        _ACK,
        '< {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":'
        '{"io.modelcontextprotocol/subscriptionId":"7"}}}',
    ),
)

RULES = (
    LISTEN_NOT_ACKNOWLEDGED,
    LISTEN_ACKNOWLEDGED_TWICE,
    LISTEN_ACKNOWLEDGED_MORE,
    LISTEN_KIND_UNREQUESTED,
    SUBSCRIPTION_ID_MISSING,
    SUBSCRIPTION_ID_UNKNOWN,
    SUBSCRIPTION_ID_TYPE,
)

#: Subscriptions that are followed at once on one connection.
MAX_SUBSCRIPTIONS = 1_000

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

#: The member of the filter that asks for a kind of notification.
_ASKS = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
    "notifications/resources/updated": "resourceSubscriptions",
    "notifications/tasks": "taskIds",
}


class _Subscription:
    __slots__ = ("acknowledged", "filter", "flagged")

    def __init__(self, wanted: Any) -> None:
        self.filter = wanted if isinstance(wanted, dict) else {}
        self.acknowledged = False
        self.flagged = False  # that it is not acknowledged has been told


class Listen:
    """Follows every open subscription, by the JSON text of its id."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        self._open: OrderedDict[str, _Subscription] = OrderedDict()
        hooks.on_request(self._on_listen, "subscriptions/listen")
        hooks.on_answer(self._on_end, "subscriptions/listen")
        hooks.on_told(self._on_told, _ACKNOWLEDGED, *_ASKS)

    def _on_listen(self, exchange: Exchange, message: Message) -> None:
        keep(
            self._open, exchange.id, _Subscription(params_of(message).get("notifications")), MAX_SUBSCRIPTIONS
        )

    def _on_end(self, exchange: Exchange, message: Message) -> None:
        subscription = self._open.pop(exchange.id, None)
        if message.kind is not Kind.RESULT:
            return
        if subscription is not None and not subscription.acknowledged and not subscription.flagged:
            self._watched.found(LISTEN_NOT_ACKNOWLEDGED)
        named = inner(result_of(message), "_meta", META_SUBSCRIPTION)
        if named is None:
            self._watched.found(SUBSCRIPTION_ID_MISSING, "/result")
        elif id_text(named) == other_type(exchange.id):
            self._watched.found(SUBSCRIPTION_ID_TYPE, f"/result/_meta/{_escaped(META_SUBSCRIPTION)}")

    def _on_told(self, told: Told) -> None:
        watched = self._watched
        if not watched.modern or not watched.from_server:
            return
        subscription = self._of(told.message)
        if subscription is None:
            return
        if told.message.method == _ACKNOWLEDGED:
            self._acknowledge(subscription, params_of(told.message).get("notifications"))
            return
        if not subscription.acknowledged and not subscription.flagged:
            subscription.flagged = True
            watched.found(LISTEN_NOT_ACKNOWLEDGED)
        kind = _ASKS[told.message.method or ""]
        if not subscription.filter.get(kind):
            watched.found(LISTEN_KIND_UNREQUESTED, "/method", kind)

    def _of(self, message: Message) -> _Subscription | None:
        watched = self._watched
        named = inner(params_of(message), "_meta", META_SUBSCRIPTION)
        at = f"/params/_meta/{_escaped(META_SUBSCRIPTION)}"
        if named is None:
            watched.found(SUBSCRIPTION_ID_MISSING, "/params" if "params" in message.members else "")
            return None
        text = id_text(named)
        if text in self._open:
            return self._open[text]
        if other_type(text) in self._open:
            watched.found(SUBSCRIPTION_ID_TYPE, at, text)
            return self._open[other_type(text)]
        watched.found(SUBSCRIPTION_ID_UNKNOWN, at, text)
        return None

    def _acknowledge(self, subscription: _Subscription, agreed: Any) -> None:
        watched = self._watched
        if subscription.acknowledged:
            watched.found(LISTEN_ACKNOWLEDGED_TWICE)
        subscription.acknowledged = True
        for kind, value in list(agreed.items())[:100] if isinstance(agreed, dict) else ():
            if value and not subscription.filter.get(kind):
                watched.found(LISTEN_ACKNOWLEDGED_MORE, f"/params/notifications/{kind}", kind)


def _escaped(key: str) -> str:
    """A key as a part of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")
