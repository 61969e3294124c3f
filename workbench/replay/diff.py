"""What differs between a recorded and a live JSON value, by JSON pointer (RFC 6901).

Numbers compare by value, objects without key order, arrays in order. A
placeholder of the redactor in the recorded value equals any live string, or
part of one; which live secret it is must be the same wherever its number stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

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

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def match(self, recorded: str, live: Any) -> str | None:
        """``None`` if the live value fits the recorded string with placeholders, else why not."""
        if not isinstance(live, str):
            return "a string expected"
        numbers: list[str] = []
        pattern = ""
        at = 0
        for found in _PLACEHOLDER.finditer(recorded):
            pattern += re.escape(recorded[at : found.start()]) + "(.*)"
            numbers.append(found[1])
            at = found.end()
        fits = re.fullmatch(pattern + re.escape(recorded[at:]), live, re.DOTALL)
        if fits is None:
            return "the text around the secret differs"
        for number, secret in zip(numbers, fits.groups(), strict=True):
            if self.known.get(number, secret) != secret:
                return "same secret expected"
        self.known.update(zip(numbers, fits.groups(), strict=True))
        return None


def has_placeholder(value: Any) -> bool:
    return any(isinstance(leaf, str) and "<redacted:" in leaf for leaf in _leaves(value))


def differences(recorded: Any, live: Any, secrets: Secrets | None = None) -> list[Difference]:
    """Every place that differs, at most ``MAX_DIFFERENCES``; none when equal."""
    found: list[Difference] = []
    stack: list[tuple[str, Any, Any]] = [("", recorded, live)]
    while stack and len(found) < MAX_DIFFERENCES:
        pointer, left, right = stack.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            stack += [
                (f"{pointer}/{_escape(key)}", left.get(key, ABSENT), right.get(key, ABSENT))
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
        elif not same(left, right):
            found.append(Difference(pointer, left, right))
    return found


def same(left: Any, right: Any) -> bool:
    """Whether two scalars are equal as JSON: ``1`` equals ``1.0``, ``true`` does not equal ``1``."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    return type(left) is type(right) and bool(left == right)


def canonical(value: Any) -> str:
    """A text that is equal for values that are equal in the sense of ``differences``."""
    if isinstance(value, dict):
        inner = ",".join(f"{key!r}:{canonical(value[key])}" for key in sorted(value))
        return f"{{{inner}}}"
    if isinstance(value, list):
        return f"[{','.join(map(canonical, value))}]"
    if isinstance(value, float) and value.is_integer():
        return repr(int(value))
    if isinstance(value, float):
        return float.__repr__(value)
    return repr(value)


def _at(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else ABSENT


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _leaves(value: Any) -> Iterator[Any]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
        else:
            yield item
