"""How long what a server told stays fresh ("Caching", 2026-07-28).

A hint is kept for each method and what it was asked with, so each page of a
listing is fresh or not by itself. Nothing is ever read again because a time is
over: a hint says what may still be shown without asking, not when to ask.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from workbench.core.inflight import keep
from workbench.core.jsonrpc import Message
from workbench.core.methods import CACHEABLE_METHODS, CHANGED_LISTS
from workbench.core.peek import number, peek

#: Hints that are kept: the pages of all listings, and resources that were read.
MAX_HINTS = 10_000


class Hint(NamedTuple):
    """What a result said of itself: ``ttl`` is in seconds (0 for nothing, or nothing readable),
    ``scope`` is ``public``, ``private`` or empty, ``taken`` is when it came (monotonic seconds)."""

    ttl: float
    scope: str
    taken: float

    def fresh(self, now: float) -> bool:
        return now < self.taken + self.ttl


class Freshness:
    """The hints of one connection by method and ``asked``: a cursor, a URI, or ``None``."""

    def __init__(self) -> None:
        self._hints: OrderedDict[tuple[str, str | None], Hint] = OrderedDict()

    def take(self, method: str, asked: str | None, message: Message, now: float) -> None:
        """Take a complete result. (One that came by way of a further round is never given here.)"""
        if method not in CACHEABLE_METHODS:
            return
        ttl = number(peek(message, "result", "ttlMs"))
        scope = peek(message, "result", "cacheScope")
        told = scope if scope in ("public", "private") else ""
        hint = Hint(max(0.0, ttl or 0.0) / 1000, told, now)
        keep(self._hints, (method, asked), hint, MAX_HINTS)

    def hint(self, method: str, asked: str | None = None) -> Hint | None:
        return self._hints.get((method, asked))

    def is_fresh(self, method: str, asked: str | None, now: float) -> bool:
        """Whether what was told last may still be taken for true."""
        hint = self._hints.get((method, asked))
        return hint is not None and hint.fresh(now)

    def changed(self, notification: str, uri: str | None = None) -> None:
        """Take a notification that says what is not fresh any more. An updated resource may be one
        within the resource that was named, so all that were read below it go too."""
        stale = CHANGED_LISTS.get(notification, ())
        for method, asked in list(self._hints):
            read = notification == "notifications/resources/updated" and method == "resources/read"
            if method in stale or (read and uri is not None and _within(asked or "", uri)):
                del self._hints[(method, asked)]


def _within(one: str, other: str) -> bool:
    return one == other or one.startswith(other.rstrip("/") + "/") or other.startswith(one.rstrip("/") + "/")
