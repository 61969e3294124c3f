"""What a server has: its four listings, what went wrong with them, and subscriptions."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from workbench.core.actions import error_sentence
from workbench.core.exchanges import Exchange
from workbench.core.frame import Kind
from workbench.core.inflight import keep
from workbench.core.jsonrpc import Message, id_text
from workbench.core.listing import Listing
from workbench.core.methods import LIST_METHODS, LISTEN, gate_of, has_capability
from workbench.core.peek import peek, peek_items
from workbench.core.subscriptions import SUBSCRIPTION_KEY
from workbench.core.view import Item

#: URIs whose subscription and last update are remembered.
MAX_URIS = 10_000

METHOD_NOT_FOUND = -32601


class Catalog:
    """The listings by method. ``errors`` tells of each listing that failed why, ``notes`` what is
    strange about one that came. ``updates`` maps a resource's URI to its last update's frame."""

    def __init__(self) -> None:
        self.listings = {method: Listing(method) for method in LIST_METHODS}
        self.errors: dict[str, str] = {}
        self.notes: dict[str, str] = {}
        self.subscribed: frozenset[str] = frozenset()
        self.updates: OrderedDict[str, int] = OrderedDict()
        self._told_updates: dict[str, int] | None = {}
        self._listened: OrderedDict[str, frozenset[str]] = OrderedDict()  # listen request's id -> its URIs
        self._listens: OrderedDict[int, str] = OrderedDict()  # its own stream -> listen request's id
        self._cursors: dict[tuple[int, int], Any] = {}  # key of an open listing request -> its cursor

    def items(self, method: str) -> tuple[Item, ...]:
        return self.listings[method].items

    @property
    def listed(self) -> frozenset[str]:
        return frozenset(method for method, listing in self.listings.items() if listing.complete)

    @property
    def told_updates(self) -> dict[str, int]:
        """A copy of ``updates`` that nobody changes."""
        if self._told_updates is None:
            self._told_updates = dict(self.updates)
        return self._told_updates

    def asked(self, exchange: Exchange, message: Message) -> None:
        """Take a request of the client."""
        if exchange.method == LISTEN and exchange.stream:
            keep(self._listens, exchange.stream, exchange.id, MAX_URIS)
        if exchange.method in LIST_METHODS:
            self._cursors[exchange.key] = peek(message, "params", "cursor")
            if len(self._cursors) > MAX_URIS:
                del self._cursors[next(iter(self._cursors))]

    def answered(self, exchange: Exchange, message: Message, capabilities: dict[str, Any]) -> None:
        """Take an answer of the server; ``capabilities`` are what it offers."""
        if exchange.method == LISTEN:
            self.unlistened(exchange.id)
        if exchange.method in LIST_METHODS:
            cursor = self._cursors.pop(exchange.key, None)
            self._take_page(exchange.method, cursor, message, capabilities)
        elif message.kind is Kind.RESULT and exchange.name is not None:
            if exchange.method == "resources/subscribe" and len(self.subscribed) < MAX_URIS:
                self.subscribed |= {exchange.name}
            elif exchange.method == "resources/unsubscribe":
                self.subscribed -= {exchange.name}

    def acknowledged(self, message: Message) -> None:
        """Take the acknowledgement of a subscription (2026-07-28): what it names is subscribed to."""
        identity = peek(message, "params", "_meta", SUBSCRIPTION_KEY)
        uris = peek(message, "params", "notifications", "resourceSubscriptions")
        named = (
            frozenset(uri for uri in uris if isinstance(uri, str)) if isinstance(uris, list) else frozenset()
        )
        if named and len(self.subscribed) + len(named) <= MAX_URIS:
            keep(self._listened, id_text(identity), named, MAX_URIS)
            self.subscribed |= named

    def unlistened(self, id: str) -> None:
        """A request is over: if it was a subscription, nothing comes of it any more."""
        gone = self._listened.pop(id, frozenset())
        if gone:
            still = frozenset[str]().union(*self._listened.values())
            self.subscribed -= gone - still

    def stream_ended(self, stream: int) -> None:
        """A stream is closed or lost, and with it a subscription that came on it."""
        id = self._listens.pop(stream, None)
        if id is not None:
            self.unlistened(id)

    def updated(self, message: Message, seq: int) -> None:
        """Take a ``notifications/resources/updated``."""
        uri = peek(message, "params", "uri")
        if isinstance(uri, str):
            self.updates[uri] = seq
            self._told_updates = None
            if len(self.updates) > MAX_URIS:
                self.updates.popitem(last=False)

    def asks(self, tool: str) -> None:
        """A call of this tool was seen to ask the client something."""
        self.listings["tools/list"].mark(tool, "asks")

    def _take_page(self, method: str, cursor: Any, message: Message, capabilities: dict[str, Any]) -> None:
        gate = gate_of(method)
        offered = has_capability(capabilities, gate)
        if message.kind is Kind.ERROR:
            error = peek(message, "error")
            not_found = isinstance(error, dict) and error.get("code") == METHOD_NOT_FOUND
            lie = f"The server offers {gate}, but answered: " if offered and not_found else ""
            self._tell(self.errors, method, f"{lie}{error_sentence(error)[:500]}")
            return
        values = peek_items(message, "result", LIST_METHODS[method])
        if values is None:
            self._tell(self.errors, method, f"The result holds no array {LIST_METHODS[method]}.")
            return
        self._tell(self.errors, method, "")
        listing = self.listings[method]
        listing.take(cursor, values, peek(message, "result", "nextCursor"))
        note = ""
        if values and not offered:
            note = f"The server does not offer {gate}, but lists {LIST_METHODS[method]}."
        elif listing.left_out:
            note = f"{listing.left_out:,} more are not shown."
        self._tell(self.notes, method, note)

    @staticmethod
    def _tell(sentences: dict[str, str], method: str, sentence: str) -> None:
        if sentence:
            sentences[method] = sentence
        else:
            sentences.pop(method, None)
