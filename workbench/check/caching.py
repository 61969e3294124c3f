"""Caching hints of results (2026-07-28)."""

from __future__ import annotations

from typing import Any

from workbench.check.rule import STATELESS, Rule
from workbench.check.watched import Hooks, Watched, params_of, result_of
from workbench.core.exchange import Exchange
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message
from workbench.core.methods import LIST_METHODS

_CACHING = "Utilities: Caching"
_LIST = '> {"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":$META}}'

CACHE_HINT_MISSING = Rule(
    "cache-hint-missing",
    "error",
    STATELESS,
    _CACHING,
    "A complete result of this method must have ttlMs and cacheScope; without them it is stale at once.",
    (
        "@ 2026-07-28",
        _LIST,
        '< {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","tools":[],"cacheScope":"public"}}',
    ),
)
CACHE_HINT_INVALID = Rule(
    "cache-hint-invalid",
    "error",
    STATELESS,
    _CACHING,
    "ttlMs is no integer from 0 on, or cacheScope is neither public nor private.",
    (
        "@ 2026-07-28",
        _LIST,
        '< {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","tools":[],"ttlMs":-1,'
        '"cacheScope":"public"}}',
    ),
)
CACHE_SCOPE_DIFFERS = Rule(
    "cache-scope-differs",
    "error",
    STATELESS,
    _CACHING,
    "The pages of one listing have different cacheScopes.",
    (
        "@ 2026-07-28",
        _LIST,
        '< {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","tools":[],"nextCursor":"a","ttlMs":1,'
        '"cacheScope":"public"}}',
        '> {"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"cursor":"a","_meta":$META}}',
        '< {"jsonrpc":"2.0","id":8,"result":{"resultType":"complete","tools":[],"ttlMs":1,'
        '"cacheScope":"private"}}',
    ),
)

RULES = (CACHE_HINT_MISSING, CACHE_HINT_INVALID, CACHE_SCOPE_DIFFERS)

_CACHEABLE = ("server/discover", "resources/read", *LIST_METHODS)


class Caching:
    """Looks at the results of the six cacheable methods."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        self._scopes: dict[str, Any] = {}
        hooks.on_request(self._on_request, *LIST_METHODS)
        hooks.on_answer(self._on_answer, *_CACHEABLE)

    def _on_request(self, exchange: Exchange, message: Message) -> None:
        if "cursor" not in params_of(message):
            self._scopes.pop(exchange.method, None)  # a listing begins

    def _on_answer(self, exchange: Exchange, message: Message) -> None:
        watched, result = self._watched, result_of(message)
        if not watched.modern or message.kind is not Kind.RESULT or not result:
            return
        if result.get("resultType", "complete") != "complete":
            return
        missing = [key for key in ("ttlMs", "cacheScope") if key not in result]
        if missing:
            watched.found(CACHE_HINT_MISSING, "/result", " and ".join(missing))
        ttl = result.get("ttlMs", 0)
        if type(ttl) is not int or ttl < 0:
            watched.found(CACHE_HINT_INVALID, "/result/ttlMs")
        scope = result.get("cacheScope", "public")
        if scope not in ("public", "private"):
            watched.found(CACHE_HINT_INVALID, "/result/cacheScope")
        elif exchange.method in LIST_METHODS and "cacheScope" in result:
            before = self._scopes.setdefault(exchange.method, scope)
            if before != scope:
                watched.found(CACHE_SCOPE_DIFFERS, "/result/cacheScope", f"{scope} after {before}")
