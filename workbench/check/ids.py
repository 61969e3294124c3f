"""Ids of requests, which tell one request from another."""

from __future__ import annotations

from collections import OrderedDict

from workbench.check.rule import ALL, Rule
from workbench.check.watched import Hooks, Watched, brief
from workbench.core.exchange import Exchange
from workbench.core.frame import Direction
from workbench.core.inflight import keep
from workbench.core.jsonrpc import Message

ID_REUSED = Rule(
    "id-reused",
    "error",
    ALL,
    "Base protocol: Requests",
    "The sender has used this id before: until 2025-11-25 an id is used once in a session, in 2026-07-28 "
    "only requests that wait for their answers must differ. An answer may reach the wrong request.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"ping"}',
        '< {"jsonrpc":"2.0","id":7,"result":{}}',
        '> {"jsonrpc":"2.0","id":7,"method":"tools/list"}',
    ),
)

RULES = (ID_REUSED,)

#: Ids remembered of a side that does not simply count.
MAX_IDS = 1_000


class Used:
    """The ids one side has used: those of a side that counts need no room."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._first = 0
        self._others: OrderedDict[str, None] = OrderedDict()

    def again(self, id_text: str) -> bool:
        """Take an id (JSON text) and say whether it was used before."""
        number = int(id_text) if id_text.isdecimal() and id_text.isascii() and len(id_text) < 16 else None
        if number is not None and str(number) == id_text:
            if self._next is None:
                self._first = self._next = number
            if number == self._next and id_text not in self._others:
                self._next += 1
                return False
            if self._first <= number < self._next:
                return True
        known = brief(id_text)
        if known in self._others:
            return True
        keep(self._others, known, None, MAX_IDS)
        return False


class Ids:
    """``id-reused``, by the rule of the era."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        self._used: dict[Direction, Used] = {}
        hooks.requests.append(self._on_request)

    def _on_request(self, exchange: Exchange, message: Message) -> None:
        watched = self._watched
        if exchange.method == "initialize":
            self._used.clear()  # a session begins; what was asked before, to find the era, is no part of it
        direction = exchange.direction
        used = self._used.get(direction)
        if used is None:
            used = self._used[direction] = Used()
        again = used.again(exchange.id)
        if message.id == "null":
            return
        open_twice = len(watched.pairing.open.get((exchange.connection, direction, exchange.id), ())) > 1
        if open_twice or (again and not watched.modern):
            watched.found(ID_REUSED, "/id", f"id {exchange.id}")
