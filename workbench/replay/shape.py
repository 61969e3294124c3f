"""The shape of JSON values: their keys and types, whatever they hold.

For servers whose data is alive. An array may have any length; each item must
have the shape of one of the recorded items, and where none was recorded any will do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.replay.diff import ABSENT, MAX_DIFFERENCES, Difference, step

#: Deeper than this a value has the shape of any other.
MAX_DEPTH = 60

_MEMBERS = {str: "string", bool: "boolean", type(None): "null", dict: "object", list: "array"}


def shape_differences(recorded: Any, live: Any, excuse: Callable[[str, Any, Any], bool]) -> list[Difference]:
    """Every place whose keys or type differ, at most ``MAX_DIFFERENCES``."""
    found: list[Difference] = []
    stack: list[tuple[str, Any, Any]] = [("", recorded, live)]
    while stack and len(found) < MAX_DIFFERENCES:
        pointer, left, right = stack.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            stack += [
                (step(pointer, key), left.get(key, ABSENT), right.get(key, ABSENT))
                for key in reversed(dict.fromkeys([*left, *right]))
            ]
        elif isinstance(left, list) and isinstance(right, list):
            stack += reversed(_items(pointer, left, right))
        elif type_word(left) != type_word(right) and not excuse(pointer, left, right):
            why = f"{type_word(left)} when recorded, {type_word(right)} now"
            found.append(Difference(pointer, left, right, why))
    return found


def _items(pointer: str, left: list[Any], right: list[Any]) -> list[tuple[str, Any, Any]]:
    """The live items that have no recorded one of their shape, each beside the nearest by place."""
    if not left:
        return []
    known = {shape(item) for item in left}
    return [
        (f"{pointer}/{place}", left[min(place, len(left) - 1)], item)
        for place, item in enumerate(right)
        if shape(item) not in known
    ]


def shape(value: Any, depth: int = 0) -> Any:
    """A value that is equal for values of one shape, and can be a key."""
    if depth >= MAX_DEPTH:
        return "…"
    if isinstance(value, dict):
        return "object", tuple(sorted((key, shape(item, depth + 1)) for key, item in value.items()))
    if isinstance(value, list):
        return "array", frozenset(shape(item, depth + 1) for item in value)
    return type_word(value)


def type_word(value: Any) -> str:
    """The name of a value's type in JSON, ``absent`` for none."""
    if value is ABSENT:
        return "absent"
    return _MEMBERS.get(type(value), "string" if isinstance(value, str) else "number")
