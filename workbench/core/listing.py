"""A listing as it is read page by page, and what changed since the one before.

Pages are chained by their cursors, because two listings of the same kind may
be under way at once. A complete listing replaces the one before it; items that
were added, changed or removed keep their mark for the rest of the session, so
a change is not missed because the list was read twice.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Any

from workbench.core.routing import annotated
from workbench.core.signature import cut, prompt_signature, signature
from workbench.core.view import Item

#: Items of one listing that are kept; what comes after them is only counted.
MAX_ITEMS = 50_000

#: Pages of unfinished listings that are remembered, by the cursor that follows them.
MAX_CHAINS = 16

#: Removed items that stay on the list.
MAX_REMOVED = 1_000

#: Characters of titles and descriptions; the whole text is in ``Item.value``.
MAX_TITLE = 500

#: The mark of a tool whose arguments cannot be repeated in headers as its schema wants; the reason
#: follows it. Such a tool is called without these headers.
WRONG_HEADERS = "headers"

KINDS = {
    "tools/list": "tool",
    "resources/list": "resource",
    "resources/templates/list": "template",
    "prompts/list": "prompt",
}

#: The member an item is called by.
_KEYS = {"tool": "name", "resource": "uri", "template": "uriTemplate", "prompt": "name"}


class Listing:
    """All items of one kind. ``items`` is what to show; ``complete`` once read to its end;
    ``left_out`` counts items beyond ``MAX_ITEMS``."""

    def __init__(self, method: str) -> None:
        self.kind = KINDS[method]
        self.items: tuple[Item, ...] = ()
        self.complete = False
        self.left_out = 0
        self._chains: OrderedDict[str, tuple[list[Item], frozenset[str]]] = OrderedDict()

    def take(self, cursor: Any, values: list[Any] | None, next_cursor: Any) -> bool:
        """Take one page: the cursor it was asked with (``None`` for the first), its items and
        its ``nextCursor``. Returns whether ``items`` has changed."""
        before: list[Item] = []
        seen: frozenset[str] = frozenset()
        if isinstance(cursor, str):
            if cursor not in self._chains:
                return False  # a page that was asked for by itself
            before, seen = self._chains[cursor]
        items = before + [self._item(value) for value in values or ()]
        self.left_out = max(0, len(items) - MAX_ITEMS)
        del items[MAX_ITEMS:]
        if isinstance(next_cursor, str) and next_cursor not in seen:
            self._chains[next_cursor] = (items, seen | {next_cursor})
            self._chains.move_to_end(next_cursor)
            if len(self._chains) > MAX_CHAINS:
                self._chains.popitem(last=False)
            if self.complete:
                return False
            self.items = tuple(items)
            return True
        self._finish(items)
        return True

    def mark(self, name: str, mark: str) -> None:
        """Add a mark to an item of that name."""
        self.items = tuple(
            replace(item, marks=(*item.marks, mark)) if item.name == name and mark not in item.marks else item
            for item in self.items
        )

    def _finish(self, items: list[Item]) -> None:
        if self.complete:
            items = _compared(items, self.items)
        self.items = tuple(items)
        self.complete = True
        self._chains.clear()

    def _item(self, value: Any) -> Item:
        if not isinstance(value, dict):
            return Item(self.kind, "", "(not an object)", "", {"": value}, marks=("invalid",))
        key = value.get(_KEYS[self.kind])
        name = key if isinstance(key, str) else ""
        description = value.get("description")
        return Item(
            self.kind,
            name,
            _title(value, name),
            cut(description, MAX_TITLE) if isinstance(description, str) else "",
            value,
            _signature(self.kind, value),
            _marks(self.kind, value, name),
        )


def _title(value: dict[str, Any], name: str) -> str:
    """What to show: title, else the annotations' title, else the name (2025-06-18, "Tools")."""
    annotations = value.get("annotations")
    hinted = annotations.get("title") if isinstance(annotations, dict) else None
    for text in (value.get("title"), hinted, value.get("name"), name):
        if isinstance(text, str) and text:
            return cut(text, MAX_TITLE)
    return "(no name)"


def _signature(kind: str, value: dict[str, Any]) -> str:
    if kind == "tool":
        return signature(value.get("inputSchema"))
    if kind == "prompt":
        return prompt_signature(value.get("arguments"))
    mime = value.get("mimeType")
    return cut(mime, MAX_TITLE) if isinstance(mime, str) else ""


def _marks(kind: str, value: dict[str, Any], name: str) -> tuple[str, ...]:
    marks: list[str] = [] if name else ["invalid"]
    if kind != "tool":
        return tuple(marks)
    hints = value.get("annotations")
    if isinstance(hints, dict):
        for key, mark in (
            ("readOnlyHint", "read-only"),
            ("destructiveHint", "destructive"),
            ("idempotentHint", "idempotent"),
        ):
            if hints.get(key) is True:
                marks.append(mark)
    execution = value.get("execution")
    if isinstance(execution, dict) and execution.get("taskSupport") in ("optional", "required"):
        marks.append("task")
    marks += [f"{WRONG_HEADERS}: {fault}" for fault in annotated(value.get("inputSchema")).faults[:1]]
    return tuple(marks)


def _compared(items: list[Item], before: tuple[Item, ...]) -> list[Item]:
    """The new items with their marks of change, and after them those that are gone."""
    known: dict[str, list[Item]] = {}
    for item in before:
        known.setdefault(item.name, []).append(item)
    compared = [_change(item, known) for item in items]
    gone = [
        item if item.change == "removed" else replace(item, change="removed")
        for same in known.values()
        for item in same
    ]
    return compared + gone[-MAX_REMOVED:]


def _change(item: Item, known: dict[str, list[Item]]) -> Item:
    same = known.get(item.name)
    if not same:
        return replace(item, change="added")
    old = same.pop(0)
    if old.change == "removed":
        change = "added"
    elif _equal(old.value, item.value):
        change = old.change
    else:
        change = old.change or "changed"
    learned = tuple(mark for mark in old.marks if mark == "asks" and mark not in item.marks)
    return replace(item, change=change, marks=(*item.marks, *learned)) if change or learned else item


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except RecursionError:
        return False
