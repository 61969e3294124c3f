"""What differs between two JSON values as a person would say it: items that belong together are held
against each other, wherever they stand in their lists.

Items of a list belong together by a ``name``, ``uri`` or ``id`` of their own where each has
one, else by place after what is the same at both ends. So a tool that is gone is one
difference, and so is a list that came in another order. Pointers lead into the live
value; only what is there no more has its place in the recorded one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple

from workbench.replay.diff import ABSENT, MAX_DIFFERENCES, Difference, canonical, same, step

#: Members that an item of a list is known by.
KEYS = ("name", "uri", "uriTemplate", "id")

#: Items of a list that are put in order by what they hold; longer ones are compared by place.
MAX_SORTED = 10_000

#: What is said of a list that has the same items in another order.
REORDERED = "the same items in another order"

#: Two places to compare: pointer, recorded and live value.
Spot = tuple[str, Any, Any]

Excuse = Callable[[str, Any, Any], bool]


class _Lists(NamedTuple):
    """Two lists side by side: places to go on with, and what differs about the lists themselves."""

    spots: list[Spot]
    found: list[Difference]


def aligned_differences(recorded: Any, live: Any, excuse: Excuse) -> list[Difference]:
    """Every place that differs, at most ``MAX_DIFFERENCES``; ``excuse`` says of each whether it may."""
    found: list[Difference] = []
    stack: list[Spot] = [("", recorded, live)]
    while stack and len(found) < MAX_DIFFERENCES:
        pointer, left, right = stack.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            stack += [
                (step(pointer, key), left.get(key, ABSENT), right.get(key, ABSENT))
                for key in reversed(dict.fromkeys([*left, *right]))
            ]
        elif isinstance(left, list) and isinstance(right, list):
            lists = _lists(pointer, left, right)
            found += [each for each in lists.found if not excuse(each.pointer, each.recorded, each.live)]
            stack += reversed(lists.spots)
        elif not same(left, right) and not excuse(pointer, left, right):
            found.append(Difference(pointer, left, right))
    return found[:MAX_DIFFERENCES]


def _lists(pointer: str, left: list[Any], right: list[Any]) -> _Lists:
    for key in KEYS:
        was, now = _by_key(key, left), _by_key(key, right)
        if was and now and was.keys() & now.keys():
            return _by_name(pointer, was, now)
    if len(left) == len(right):
        if _is_reordered(left, right):
            return _Lists([], [Difference(pointer, left, right, REORDERED)])
        return _Lists([(f"{pointer}/{at}", *both) for at, both in _beside(left, right)], [])
    return _by_place(pointer, left, right)


def _by_key(key: str, items: list[Any]) -> dict[Hashable, tuple[int, Any]]:
    """The items by a member of their own, empty where not each has one."""
    found: dict[Hashable, tuple[int, Any]] = {}
    for at, item in enumerate(items):
        named = item.get(key) if isinstance(item, dict) else None
        if not isinstance(named, (str, int)) or named in found:
            return {}
        found[named] = at, item
    return found


def _by_name(
    pointer: str, was: dict[Hashable, tuple[int, Any]], now: dict[Hashable, tuple[int, Any]]
) -> _Lists:
    found: list[Difference] = []
    common = [name for name in was if name in now]
    order = [name for name in now if name in was]
    if common != order:
        moved = next(name for name, other in zip(common, order, strict=True) if name != other)
        why = f"{REORDERED}: {str(moved)[:100]!r} was item {was[moved][0]} and is item {now[moved][0]}"
        left, right = ([item for _, item in each.values()] for each in (was, now))
        found.append(Difference(pointer, left, right, why))
    found += [
        Difference(f"{pointer}/{at}", item, ABSENT) for name, (at, item) in was.items() if name not in now
    ]
    found += [
        Difference(f"{pointer}/{at}", ABSENT, item) for name, (at, item) in now.items() if name not in was
    ]
    return _Lists([(f"{pointer}/{now[name][0]}", was[name][1], now[name][1]) for name in order], found)


def _by_place(pointer: str, left: list[Any], right: list[Any]) -> _Lists:
    """Lists of different lengths: what is the same at both ends stays out of it."""
    shorter = min(len(left), len(right))
    head = 0
    while head < shorter and _equal(left[head], right[head]):
        head += 1
    tail = 0
    while tail < shorter - head and _equal(left[-1 - tail], right[-1 - tail]):
        tail += 1
    was, now = left[head : len(left) - tail], right[head : len(right) - tail]
    spots = [(f"{pointer}/{head + at}", *both) for at, both in _beside(was, now)]
    more = range(min(len(was), len(now)), max(len(was), len(now)))
    found = [
        Difference(f"{pointer}/{head + at}", was[at], ABSENT)
        if len(was) > len(now)
        else Difference(f"{pointer}/{head + at}", ABSENT, now[at])
        for at in more
    ]
    return _Lists(spots, found)


def _beside(left: list[Any], right: list[Any]) -> Iterator[tuple[int, tuple[Any, Any]]]:
    return enumerate(zip(left, right, strict=False))


def _is_reordered(left: list[Any], right: list[Any]) -> bool:
    if not 1 < len(left) <= MAX_SORTED or all(map(_equal, left, right)):
        return False
    return sorted(map(canonical, left)) == sorted(map(canonical, right))


def _equal(left: Any, right: Any) -> bool:
    return bool(left is right) or canonical(left) == canonical(right)
