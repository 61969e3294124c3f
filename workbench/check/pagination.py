"""Pagination: cursors, and pages that lead nowhere."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from workbench.check.rule import ALL, Rule
from workbench.check.watched import Hooks, Watched, brief, params_of, result_of, short
from workbench.core.exchange import Exchange
from workbench.core.frame import Kind
from workbench.core.inflight import keep
from workbench.core.jsonrpc import Message
from workbench.core.methods import LIST_METHODS

_PAGINATION = "Utilities: Pagination"

CURSOR_NULL = Rule(
    "cursor-null",
    "warning",
    ALL,
    _PAGINATION,
    "The cursor is null; where there is no (further) page it should be left out.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/list"}',
        '< {"jsonrpc":"2.0","id":7,"result":{"tools":[],"nextCursor":null}}',
    ),
)
CURSOR_TYPE = Rule(
    "cursor-type",
    "error",
    ALL,
    _PAGINATION,
    "The cursor is not a string.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/list"}',
        '< {"jsonrpc":"2.0","id":7,"result":{"tools":[],"nextCursor":2}}',
    ),
)
CURSOR_LOOP = Rule(
    "cursor-loop",
    "error",
    ALL,
    _PAGINATION,
    "nextCursor names a page of this listing that was read before; a client without a guard reads for ever.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/list"}',
        '< {"jsonrpc":"2.0","id":7,"result":{"tools":[],"nextCursor":"a"}}',
        '> {"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"cursor":"a"}}',
        '< {"jsonrpc":"2.0","id":8,"result":{"tools":[],"nextCursor":"a"}}',
    ),
)
CURSOR_MADE_UP = Rule(
    "cursor-made-up",
    "warning",
    ALL,
    _PAGINATION,
    "The client sends a cursor that the server has not given it; cursors are opaque and only good where "
    "they came from.",
    ("@ 2025-11-25", '> {"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"2"}}'),
)
ITEMS_SHAPE = Rule(
    "items-shape",
    "error",
    ALL,
    "Schema: results of listings",
    "The listing holds no array of items, or items that are no objects; clients show nothing or fail.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/list"}',
        '< {"jsonrpc":"2.0","id":7,"result":{"tools":{}}}',
    ),
)

RULES = (CURSOR_NULL, CURSOR_TYPE, CURSOR_LOOP, CURSOR_MADE_UP, ITEMS_SHAPE)

#: Cursors of a listing that are remembered.
MAX_CURSORS = 10_000

_LISTINGS = {**LIST_METHODS, "tasks/list": "tasks"}


class Pagination:
    """Follows the pages of each listing."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        self._given: dict[str, OrderedDict[str, None]] = {each: OrderedDict() for each in _LISTINGS}
        self._pages: dict[str, OrderedDict[str, None]] = {each: OrderedDict() for each in _LISTINGS}
        hooks.on_request(self._on_request, *_LISTINGS)
        hooks.on_answer(self._on_answer, *_LISTINGS)

    def _on_request(self, exchange: Exchange, message: Message) -> None:
        params = params_of(message)
        if "cursor" not in params:
            self._pages[exchange.method].clear()  # a listing begins
        elif not isinstance(params["cursor"], str):
            self._odd(params["cursor"], "/params/cursor")
        elif brief(params["cursor"]) not in self._given[exchange.method]:
            self._watched.found(CURSOR_MADE_UP, "/params/cursor", params["cursor"])

    def _on_answer(self, exchange: Exchange, message: Message) -> None:
        if message.kind is not Kind.RESULT or message.raw:
            return
        result = result_of(message)
        self._items(result, _LISTINGS[exchange.method])
        if "nextCursor" not in result:
            return
        cursor = result["nextCursor"]
        if not isinstance(cursor, str):
            self._odd(cursor, "/result/nextCursor")
            return
        pages = self._pages[exchange.method]
        known = brief(cursor)
        if known in pages:
            self._watched.found(CURSOR_LOOP, "/result/nextCursor", cursor)
        keep(pages, known, None, MAX_CURSORS)
        keep(self._given[exchange.method], known, None, MAX_CURSORS)

    def _odd(self, cursor: Any, pointer: str) -> None:
        if cursor is None:
            self._watched.found(CURSOR_NULL, pointer)
        else:
            self._watched.found(CURSOR_TYPE, pointer, short(cursor))

    def _items(self, result: dict[str, Any], member: str) -> None:
        items = result.get(member)
        if not isinstance(items, list):
            if result.get("resultType", "complete") == "complete":
                self._watched.found(ITEMS_SHAPE, f"/result/{member}" if member in result else "/result")
            return
        for index, item in enumerate(items):
            if not isinstance(item, dict):
                self._watched.found(ITEMS_SHAPE, f"/result/{member}/{index}")
                return
