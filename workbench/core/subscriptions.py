"""What we have asked a stateless server to tell us of: ``subscriptions/listen`` and its notifications.

Each subscription is one long request. Its first message is an acknowledgement
of what the server will tell, then come notifications that name it, and it ends
with a result, with the server's ``notifications/cancelled``, with ours, or
because its stream is lost; then it is asked for again, later each time.

    opening -> open -> ended
       ^         |
       |         v
       +----- waiting

Source: "Subscriptions", 2026-07-28. The revision names two ways for a server
to end one (a result, a cancelled notification); both are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.core.jsonrpc import Message, dumps, id_text, loads
from workbench.core.peek import peek
from workbench.core.routing import META

SUBSCRIPTION_KEY = META + "subscriptionId"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

#: Notifications that come only because of a subscription.
SUBSCRIBED = frozenset(
    (
        ACKNOWLEDGED,
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
        "notifications/tasks",
    )
)

#: How long is waited before a lost subscription is asked for again (seconds): the first time, and
#: at most. It doubles in between.
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0

#: What each kind of list is called in a filter.
_LISTS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}


class Subscription:
    """One subscription. ``id`` is that of the request it is asked for with now, ``caller`` that of
    the request as somebody waits for it, ``None`` when nobody does. ``filter`` is JSON text.
    ``due`` is when it is asked for again, while it waits for that."""

    def __init__(self, id: int, filter: str, caller: int | None = None, uri: str | None = None) -> None:
        self.id = id
        self.filter = filter
        self.caller = caller
        self.uri = uri
        self.state = "opening"
        self.attempt = 0
        self.due: float | None = None

    @property
    def params(self) -> str:
        return f'{{"notifications":{self.filter}}}'

    def lost(self, now: float) -> float:
        """The stream is gone; returns the seconds until it is asked for again."""
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(self.attempt, 16))
        self.attempt += 1
        self.state, self.due = "waiting", now + pause
        return pause

    def again(self, id: int) -> None:
        """It is asked for again under this id."""
        self.id, self.state, self.due = id, "opening", None

    def acknowledged(self) -> None:
        self.state, self.attempt = "open", 0


class Subscriptions:
    """Those of one connection that are not over."""

    def __init__(self) -> None:
        self._all: dict[int, Subscription] = {}

    def __iter__(self) -> Iterator[Subscription]:
        return iter(list(self._all.values()))

    def __len__(self) -> int:
        return len(self._all)

    def add(self, subscription: Subscription) -> None:
        self._all[subscription.id] = subscription

    def get(self, id_text: str | None) -> Subscription | None:
        """The subscription that is now asked for under this id (JSON text)."""
        return next((each for each in self if each.due is None and str(each.id) == id_text), None)

    def of(self, uri: str) -> Subscription | None:
        return next((each for each in self if each.uri == uri), None)

    def remove(self, subscription: Subscription) -> None:
        self._all = {each.id: each for each in self if each is not subscription}

    def renamed(self, subscription: Subscription, id: int) -> None:
        """It is asked for again under another id."""
        subscription.again(id)
        self._all = {each.id: each for each in self}

    def clear(self) -> None:
        self._all.clear()

    def next_due(self) -> float | None:
        return min((each.due for each in self if each.due is not None), default=None)

    def due(self, now: float) -> list[Subscription]:
        return [each for each in self if each.due is not None and each.due <= now]

    def heard(self, message: Message) -> Subscription | None:
        """Take a notification: whose it is, if that can be told."""
        identity = peek(message, "params", "_meta", SUBSCRIPTION_KEY)
        subscription = self._whose(identity)
        if subscription is not None and message.method == ACKNOWLEDGED:
            subscription.acknowledged()
        return subscription

    def _whose(self, identity: Any) -> Subscription | None:
        asked = [each for each in self if each.due is None]
        if identity is None:
            return asked[0] if len(asked) == 1 else None
        exact = self.get(id_text(identity))
        if exact is not None:
            return exact
        return self.get(identity) if isinstance(identity, str) else None


def changes_of(capabilities: Any) -> str | None:
    """The filter (JSON text) for all lists of which a server says that it tells their changes."""
    wanted = {
        member: True
        for name, member in _LISTS.items()
        if isinstance(capabilities, dict)
        and isinstance(capabilities.get(name), dict)
        and capabilities[name].get("listChanged") is True
    }
    return dumps(wanted) if wanted else None


def resource(uri: str) -> str:
    """The filter (JSON text) for one resource."""
    return dumps({"resourceSubscriptions": [uri]})


def uri_in(params: str | None) -> str | None:
    """The URI in the params of a ``resources/subscribe``."""
    try:
        value = loads(params or "")
    except (ValueError, RecursionError):
        return None
    uri = value.get("uri") if isinstance(value, dict) else None
    return uri if isinstance(uri, str) else None
