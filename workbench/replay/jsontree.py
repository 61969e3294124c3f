"""JSON as a tree that keeps what comparing needs: duplicate members, and numbers as written."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from workbench.core.jsonrpc import Number, dumps

#: A member by name and how often that name came before, an element by what it is known by.
Key = tuple[str, Any]

#: Strings up to this size are looked into for JSON.
MAX_WITHIN = 16 * 1024 * 1024

#: Digits that Python reads as an int without being told to.
_DIGITS = 4_000


#: How a text begins that may be an object or an array.
_JSON = re.compile(r"\s*[\[{]")

#: Lines of two texts are aligned by what they say as long as their product is below this.
_ALIGNED = 4_000_000


class Members(list[tuple[str, Any]]):
    """An object: its members in their order, equal names each there."""

    def __repr__(self) -> str:
        return f"{{{super().__repr__()}}}"


class TextLines(list[str]):
    """The lines of a text."""


def _integer(text: str) -> int | Number:
    return Number(text) if text == "-0" or len(text) > _DIGITS else int(text)


_READER = json.JSONDecoder(
    strict=False,
    object_pairs_hook=Members,
    parse_int=_integer,
    parse_float=Number,
    parse_constant=Number,
)


def read(text: str) -> Any:
    """The value of a JSON text; a text that is none, or is nested too deeply, as it stands."""
    try:
        return _READER.decode(text)
    except (ValueError, RecursionError):
        return text


def opened(values: Sequence[Any]) -> list[Any] | None:
    """The values as branches of one type to go on into, ``None`` where there is no such way.

    Strings that all hold an object, or all an array, are that; of several lines, their lines.
    """
    first = values[0]
    if isinstance(first, str):
        return _within(values) if all(isinstance(value, str) for value in values) else None
    if not isinstance(first, list) or any(type(value) is not type(first) for value in values):
        return None
    return list(values) if any(values) else None


def _within(texts: Sequence[str]) -> list[Any] | None:
    if any(len(text) > MAX_WITHIN for text in texts):
        return None
    if all(_JSON.match(text) for text in texts):
        inner = [read(text) for text in texts]
        if all(isinstance(value, list) for value in inner):
            return opened(inner)
    if any("\n" in text for text in texts):
        return [TextLines(text.split("\n")) for text in texts]
    return None


def alike(values: Sequence[Any]) -> bool:
    """Whether values are the same down to their leaves. What equals in Python but not in JSON
    (``true`` and ``1``) does not read the same."""
    first = values[0]
    try:
        return all(value == first and repr(value) == repr(first) for value in values[1:])
    except RecursionError:
        return False


def kind_of(value: Any) -> str:
    """The JSON type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, Members):
        return "object"
    if isinstance(value, list):
        return "array"
    return "string" if isinstance(value, str) else "number"


def short(value: Any, most: int) -> str:
    """The JSON text of a value, of a long one its beginning."""
    if isinstance(value, str):
        return dumps(value[:most])
    if isinstance(value, Members):
        return "{}" if not value else f"{{ {len(value):,} members }}"
    if isinstance(value, list):
        return "[]" if not value else f"[ {len(value):,} elements ]"
    if isinstance(value, Number):
        return value.text[:most]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return dumps(value)


def children(values: Sequence[Any]) -> list[dict[Key, tuple[str, Any]]]:
    """Members, elements or lines of branches of one type by what they are known by, with the step
    to them and their value."""
    if isinstance(values[0], Members):
        return [_members(value) for value in values]
    if isinstance(values[0], TextLines):
        keys = [_lines_known_by(place, values[0], value) for place, value in enumerate(values)]
    else:
        keys = [_known_by(value) for value in values]
    first = 1 if isinstance(values[0], TextLines) else 0
    return [
        {key: (str(place), item) for place, (key, item) in enumerate(zip(known, value, strict=True), first)}
        for known, value in zip(keys, values, strict=True)
    ]


def _members(value: Members) -> dict[Key, tuple[str, Any]]:
    found: dict[Key, tuple[str, Any]] = {}
    times: dict[str, int] = {}
    for name, item in value:
        nth = times.get(name, 0)
        times[name] = nth + 1
        found[name, nth] = (name, item)
    return found


def _known_by(items: list[Any]) -> list[Key]:
    """What each element of an array is known by: ``name``, ``uri`` or ``id`` where all elements
    have one of their own, else its place."""
    by_place: list[Key] = [("", place) for place in range(len(items))]
    if not items or not all(isinstance(item, Members) for item in items):
        return by_place
    for member in ("name", "uri", "id"):
        names = [_own_name(item, member) for item in items]
        if all(name is not None for name in names) and len(set(names)) == len(names):
            return [(member, name) for name in names]
    return by_place


def _own_name(item: Members, member: str) -> str | None:
    value = next((value for name, value in item if name == member), None)
    if isinstance(value, str):
        return f"s{value}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"i{value}"
    return None


def _lines_known_by(column: int, first: TextLines, lines: TextLines) -> list[Key]:
    """The line of the first text that each line is, or stands in the place of."""
    known: list[Key] = [("", place) for place in range(len(lines))]
    if lines is first or len(first) * len(lines) > _ALIGNED:
        return known
    known = [(f"line {column}", place) for place in range(len(lines))]
    for what, start, end, there, last in SequenceMatcher(None, first, lines, autojunk=False).get_opcodes():
        if what in ("equal", "replace"):
            for before, after in zip(range(start, end), range(there, last), strict=False):
                known[after] = ("", before)
    return known
