"""Log messages, and the levels they are asked for with."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from workbench.check.rule import ALL, STATELESS, Rule
from workbench.check.watched import META_LOG_LEVEL, Hooks, Watched, inner, params_of, short
from workbench.core.exchange import Exchange, Told
from workbench.core.frame import Kind
from workbench.core.inflight import keep
from workbench.core.jsonrpc import Message
from workbench.core.methods import LOG_LEVELS

_LOGGING = "Utilities: Logging"

LOG_LEVEL_UNKNOWN = Rule(
    "log-level-unknown",
    "error",
    ALL,
    _LOGGING,
    "The level is none of the eight of RFC 5424 (warn and trace are common and wrong).",
    (
        "@ 2025-11-25",
        '< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warn","data":"x"}}',
    ),
)
LOG_UNASKED = Rule(
    "log-unasked",
    "error",
    STATELESS,
    _LOGGING,
    "The server sends a log message, and no request that it works on has asked for any with logLevel.",
    (
        "@ 2026-07-28",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":$META}}',
        '< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}',
    ),
)
LOG_BELOW_LEVEL = Rule(
    "log-below-level",
    "warning",
    ALL,
    _LOGGING,
    "The log message is below the level that was asked for.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":"error"}}',
        '< {"jsonrpc":"2.0","id":7,"result":{}}',
        '< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}',
    ),
)

RULES = (LOG_LEVEL_UNKNOWN, LOG_UNASKED, LOG_BELOW_LEVEL)

#: Open requests with a level of their own that are remembered.
MAX_LEVELS = 10_000

_RANK = {level: rank for rank, level in enumerate(LOG_LEVELS)}


class Logs:
    """Holds every log message to what was asked for: by ``logging/setLevel``, or by the request."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        self._asked: OrderedDict[tuple[int, int], str] = OrderedDict()
        self._level: str | None = None
        hooks.requests.append(self._on_request)
        hooks.answers.append(self._on_answer)
        hooks.on_told(self._on_message, "notifications/message")

    def _on_request(self, exchange: Exchange, message: Message) -> None:
        if self._watched.modern:
            level = inner(params_of(message), "_meta", META_LOG_LEVEL)
        elif exchange.method == "logging/setLevel":
            level = params_of(message).get("level")
        else:
            return
        if isinstance(level, str):
            keep(self._asked, exchange.key, level, MAX_LEVELS)
            self._known(level, "/params")

    def _on_answer(self, exchange: Exchange, message: Message) -> None:
        level = self._asked.pop(exchange.key, None) if self._asked else None
        if level is not None and exchange.method == "logging/setLevel" and message.kind is Kind.RESULT:
            self._level = level

    def _on_message(self, told: Told) -> None:
        watched = self._watched
        level = params_of(told.message).get("level")
        if told.message.raw or not watched.from_server or not self._known(level, "/params/level"):
            return
        wanted: Iterable[str | None] = (self._level,)
        if watched.modern:
            if not self._asked:
                watched.found(LOG_UNASKED)
                return
            owner = told.owner
            wanted = (self._asked.get(owner.key),) if owner is not None else self._asked.values()
            if owner is not None and owner.key not in self._asked:
                watched.found(LOG_UNASKED, "", f"{owner.method} of frame {owner.request}")
                return
        lowest = min((_RANK.get(each or "", 0) for each in wanted), default=0)
        if _RANK[str(level)] < lowest:
            watched.found(LOG_BELOW_LEVEL, "/params/level", f"{level}, asked for {LOG_LEVELS[lowest]}")

    def _known(self, level: Any, pointer: str) -> bool:
        if isinstance(level, str) and level in _RANK:
            return True
        self._watched.found(LOG_LEVEL_UNKNOWN, pointer, short(level))
        return False
