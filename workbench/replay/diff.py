"""What differs between a recorded and a live JSON value, by JSON pointer (RFC 6901).

Numbers compare by value, objects without key order, arrays in order. A
placeholder of the redactor in the recorded value equals any live string, or
part of one; which live secret it is must be the same wherever its number stands.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from workbench.core.jsonrpc import Number, leaves

#: Differences beyond this are not listed; one is enough to miss.
MAX_DIFFERENCES = 50

_PLACEHOLDER = re.compile(r"<redacted:(\d+) [^<>\"\\]{1,80}>")


class Missing:
    """Stands for a member that is not there."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = Missing()


class Difference(NamedTuple):
    """One place that differs; ``ABSENT`` on the side that has nothing there."""

    pointer: str
    recorded: Any
    live: Any
    why: str = ""


class Secrets:
    """Which live text each placeholder stands for, settled at first use."""

    def __init__(self, known: dict[str, str] | None = None) -> None:
        self.known = dict(known or {})

    def trial(self) -> Secrets:
        """A copy to compare with, kept only if everything agrees."""
        return Secrets(self.known)

    def match(self, recorded: str, live: Any) -> str | None:
        """``None`` if the live value fits the recorded string with placeholders, else why not."""
        if not isinstance(live, str):
            return "a string expected"
        pieces = _PLACEHOLDER.split(recorded)
        found = self._found(pieces[::2], pieces[1::2], live)
        if found is None:
            return "the text around the secret differs"
        for number, secret in found:
            if self.known.setdefault(number, secret) != secret:
                return "same secret expected"
        return None

    def _found(self, around: list[str], numbers: list[str], live: str) -> list[tuple[str, str]] | None:
        """What stands at each placeholder: searched from left to right, each text around it at its
        first place, so that the time is linear; the last one must end the string."""
        if not live.startswith(around[0]):
            return None
        found: list[tuple[str, str]] = []
        at = len(around[0])
        for index, (number, text) in enumerate(zip(numbers, around[1:], strict=True)):
            known = self.known.get(number)
            if index == len(numbers) - 1:
                end = len(live) - len(text)
                if end < at or not live.endswith(text):
                    return None
            elif known is not None and live.startswith(known + text, at):
                end = at + len(known)
            else:
                end = live.find(text, at)
                if end < 0:
                    return None
            found.append((number, live[at:end]))
            at = end + len(text)
        return found


def has_placeholder(value: Any) -> bool:
    return any(isinstance(leaf, str) and "<redacted:" in leaf for leaf in leaves(value))


def differences(
    recorded: Any,
    live: Any,
    secrets: Secrets | None = None,
    excuse: Callable[[str, Any, Any], bool] | None = None,
) -> list[Difference]:
    """Every place that differs, at most ``MAX_DIFFERENCES``; none when equal. ``excuse`` is asked of
    each, by its pointer and values, and says whether it may."""
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
            stack += [
                (f"{pointer}/{index}", _at(left, index), _at(right, index))
                for index in reversed(range(max(len(left), len(right))))
            ]
        elif isinstance(left, str) and secrets is not None and _PLACEHOLDER.search(left):
            why = secrets.match(left, right)
            if why:
                found.append(Difference(pointer, left, right, why))
        elif not same(left, right) and not (excuse and excuse(pointer, left, right)):
            found.append(Difference(pointer, left, right))
    return found


def same(left: Any, right: Any) -> bool:
    """Whether two scalars are equal as JSON: ``1`` equals ``1.0``, ``true`` does not equal ``1``."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return _number(left) == _number(right)
    return type(left) is type(right) and bool(left == right)


def canonical(value: Any) -> str:
    """A text that is equal for values that are equal in the sense of ``differences``."""
    try:
        text = _WRITER.encode(value)
    except RecursionError:
        return "".join(_canonical(value))
    # Only a number with a fraction or an exponent is written in several ways. What looks like one may
    # stand in a string, but looking at every value costs more than all the rest.
    return "".join(_canonical(value)) if _FRACTION.search(text) else text


_WRITER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False)
_FRACTION = re.compile(r"\d[.e]|NaN|Infinity")


class _Mark(str):
    """Text that is already canonical."""


def _canonical(value: Any) -> Iterator[str]:
    """The same for any depth and any number, without recursion."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, _Mark):
            yield item
        elif isinstance(item, dict):
            inner: list[Any] = []
            for key in sorted(item):
                inner += (_Mark(f"{',' if inner else ''}{json.dumps(key)}:"), item[key])
            stack += reversed([_Mark("{"), *inner, _Mark("}")])
        elif isinstance(item, list):
            inner = []
            for part in item:
                inner += (_Mark("," if inner else ""), part)
            stack += reversed([_Mark("["), *inner, _Mark("]")])
        elif isinstance(item, float):
            yield str(_number(item))
        else:
            yield json.dumps(item)


def _number(value: int | float) -> int | float | str:
    """A value that is equal for equal numbers; what no float can hold is known by its spelling."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return value.text if isinstance(value, Number) else str(value)
        if value.is_integer():
            return int(value)
        return float(value)
    return value


def _at(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else ABSENT


def step(pointer: str, key: str) -> str:
    """The pointer to a member of what a pointer leads to."""
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"


def parts_of(pointer: str) -> tuple[str, ...]:
    """The steps of a pointer, unescaped (RFC 6901, 3)."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def pointer_of(path: Iterable[str]) -> str:
    """The pointer with these steps."""
    return "".join(step("", part) for part in path)


def at(value: Any, pointer: str) -> Any:
    """What a pointer leads to in a value, ``ABSENT`` if nothing."""
    return at_path(value, parts_of(pointer))


def at_path(value: Any, path: Iterable[str]) -> Any:
    """What the steps of a pointer lead to, ``ABSENT`` if nothing."""
    for key in path:
        if isinstance(value, dict):
            value = value.get(key, ABSENT)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return ABSENT
    return value
