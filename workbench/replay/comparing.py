"""Two to four JSON texts held against each other: their leaves line by line, what differs marked.

The first text is what the others are held against. Object members belong together
by name, array elements by their ``name``, ``uri`` or ``id`` member where they have
one of their own, else by place; numbers compare by value, as in a replay. What is
shown is the token as it was written (``1.0``, integers of any size). A text within
the texts (a tool's answer as JSON in a string) is looked into as well.

Pure, and slow for large texts (a second and more for 5 MB of small values), so
call it where nobody waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from workbench.replay.diff import same
from workbench.replay.jsontree import (
    Key,
    Members,
    TextLines,
    alike,
    children,
    kind_of,
    opened,
    read,
    short,
)

#: Lines that are kept, and how many of them for what is the same everywhere; differences beyond
#: them are counted and not shown. About 0.5 kB each.
MAX_LINES = 100_000
MAX_SAME = 20_000

#: Differences of shape that are named.
MAX_SHAPES = 12

#: Characters of a value that are kept for its line.
MAX_VALUE = 4_000

K = TypeVar("K")

_ABSENT = object()
_NOTHING: dict[Key, tuple[str, Any]] = {}


class Side(NamedTuple):
    """What one text has on a line. ``mark``: ``~`` changed, ``+`` added, ``-`` missing, blank the
    same; ``path`` as it is there (``results[0].id``), ``value`` JSON text, ``None`` for absent."""

    mark: str
    path: str
    value: str | None


class Verdict(NamedTuple):
    """How a text differs from the first one: numbers of places, and its shape in words such as
    ``+ results[].lang``."""

    changed: int = 0
    added: int = 0
    missing: int = 0
    shape: tuple[str, ...] = ()

    @property
    def differences(self) -> int:
        return self.changed + self.added + self.missing

    @property
    def sentence(self) -> str:
        """``2 differences: 1 changed, 1 added``, ``the same``."""
        if not self.differences:
            return "the same"
        told = [
            f"{number:,} {word}"
            for number, word in ((self.changed, "changed"), (self.added, "added"), (self.missing, "missing"))
            if number
        ]
        noun = "difference" if self.differences == 1 else "differences"
        return f"{self.differences:,} {noun}: {', '.join(told)}"


class Comparison(NamedTuple):
    """``lines`` have a side for each text, ``None`` where the text took no part; ``verdicts``
    likewise. ``left`` places were not kept, a branch that is the same everywhere counts as one."""

    lines: list[tuple[Side | None, ...]]
    verdicts: tuple[Verdict | None, ...]
    left: int = 0

    def different(self) -> list[int]:
        """The places of the lines that differ."""
        return [place for place, line in enumerate(self.lines) if any(side and side.mark for side in line)]


def compare(texts: Sequence[str | None]) -> Comparison:
    """Hold JSON texts against the first that is there; ``None`` takes no part. Never raises: what
    is no JSON is compared as a text."""
    taking_part = [place for place, text in enumerate(texts) if text is not None]
    values = [read(text) for text in texts if text is not None]
    walk = _Walk(len(values))
    walk.go(values)
    spread = {place: column for column, place in enumerate(taking_part)}
    lines = [
        tuple(line[spread[place]] if place in spread else None for place in range(len(texts)))
        for line in walk.lines
    ]
    verdicts = [walk.verdict(spread[place]) if place in spread else None for place in range(len(texts))]
    return Comparison(lines, tuple(verdicts), walk.left)


class _Spot(NamedTuple):
    """One place in the texts: its value in each (``_ABSENT`` where it is not), the path in each,
    the path without indices, and the marks of a difference that began above it."""

    values: tuple[Any, ...]
    paths: tuple[str, ...]
    shape: str
    marks: tuple[str, ...] = ()


class _Walk:
    """Through all texts at once, in their order."""

    def __init__(self, columns: int) -> None:
        self.lines: list[tuple[Side, ...]] = []
        self.left = 0
        self._same = 0
        self._counts = [{"~": 0, "+": 0, "-": 0} for _ in range(columns)]
        self._shapes: list[dict[str, set[str]]] = [{} for _ in range(columns)]

    def go(self, values: Sequence[Any]) -> None:
        stack = [_Spot(tuple(values), ("",) * len(values), "")] if values else []
        while stack:
            spot = stack.pop()
            self._note_shape(spot)
            if self._same > MAX_SAME and not spot.marks and alike(spot.values):
                self.left += 1
                continue
            inner = _inner(spot.values)
            marks = spot.marks or self._marks(spot.values, inner is not None)
            if inner is None:
                self._line(spot, marks)
            else:
                stack.extend(reversed(list(_below(spot, inner, marks if any(marks) else ()))))

    def _marks(self, values: tuple[Any, ...], branches: bool) -> tuple[str, ...]:
        """Where a difference begins here, its mark in each text; counted once."""
        first, *others = values
        marks = [_mark(first, other, branches) for other in others]
        for column, mark in enumerate(marks, 1):
            if mark:
                self._counts[column][mark] += 1
        return (_own(marks), *marks)

    def _line(self, spot: _Spot, marks: tuple[str, ...]) -> None:
        same = not any(marks)
        self._same += same
        if len(self.lines) >= MAX_LINES or (same and self._same > MAX_SAME):
            self.left += 1
            return
        paths = [path for path, value in zip(spot.paths, spot.values, strict=True) if value is not _ABSENT]
        self.lines.append(
            tuple(
                Side(mark, paths[0], None) if value is _ABSENT else Side(mark, path, short(value, MAX_VALUE))
                for mark, path, value in zip(marks, spot.paths, spot.values, strict=True)
            )
        )

    def _note_shape(self, spot: _Spot) -> None:
        for shapes, value in zip(self._shapes, spot.values, strict=True):
            if value is not _ABSENT:
                kinds = shapes.get(spot.shape)
                if kinds is None:
                    kinds = shapes[spot.shape] = set()
                kinds.add(kind_of(value))

    def verdict(self, column: int) -> Verdict:
        counts = self._counts[column]
        words = tuple(_shape_words(self._shapes[0], self._shapes[column]))
        return Verdict(counts["~"], counts["+"], counts["-"], words)


def _inner(values: tuple[Any, ...]) -> list[Any] | None:
    """The values to go on into, ``_ABSENT`` where there is none; ``None`` at a leaf."""
    there = [value for value in values if value is not _ABSENT]
    found = opened(there)
    if found is None or len(found) == len(values):
        return found
    rest = iter(found)
    return [_ABSENT if value is _ABSENT else next(rest) for value in values]


def _shape_words(before: dict[str, set[str]], after: dict[str, set[str]]) -> Iterator[str]:
    told = 0
    for path in merged([list(before), list(after)]):
        words = _shape_word(path, before.get(path), after.get(path))
        above = path[:-2] if path.endswith("[]") else path.rpartition(".")[0]
        if not words or (words[0] != "~" and above and (above in before) != (above in after)):
            continue
        if told == MAX_SHAPES:
            yield "and more"
            return
        told += 1
        yield words


def _shape_word(path: str, before: set[str] | None, after: set[str] | None) -> str:
    name = path or "the whole"
    if before is None:
        return f"+ {name}"
    if after is None:
        return f"- {name}"
    if before == after:
        return ""
    return f"~ {name} {'|'.join(sorted(before))} to {'|'.join(sorted(after))}"


def _mark(first: Any, other: Any, branches: bool) -> str:
    if first is _ABSENT:
        return "" if other is _ABSENT else "+"
    if other is _ABSENT:
        return "-"
    if branches:
        return ""
    if isinstance(first, list) or isinstance(other, list):
        # Branches that cannot be gone into: empty ones, or a branch and something else.
        return "" if type(first) is type(other) and not first and not other else "~"
    return "" if same(first, other) else "~"


def _own(marks: Sequence[str]) -> str:
    """The mark of the first text beside those of the others."""
    return next((mark for mark in "~-+" if mark in marks), "")


def _below(spot: _Spot, inner: Sequence[Any], marks: tuple[str, ...]) -> Iterator[_Spot]:
    """The places within a place, in the order of the texts."""
    there = [value for value in inner if value is not _ABSENT]
    form = (
        "{}.{}" if isinstance(there[0], Members) else "{}:{}" if isinstance(there[0], TextLines) else "{}[{}]"
    )
    found = iter(children(there))
    sides = [_NOTHING if value is _ABSENT else next(found) for value in inner]
    for key in merged([list(side) for side in sides]):
        steps = [side.get(key) for side in sides]
        paths = tuple(
            _path(form, path, step[0]) if step else "" for path, step in zip(spot.paths, steps, strict=True)
        )
        known = next(step[0] for step in steps if step)
        yield _Spot(
            tuple(step[1] if step else _ABSENT for step in steps),
            paths,
            _shape(form, spot.shape, known),
            marks,
        )


def _path(form: str, path: str, step: str) -> str:
    return form.format(path, step) if path or form[2] != "." else step


def _shape(form: str, shape: str, step: str) -> str:
    if form[2] == ".":
        return _path(form, shape, step)
    return f"{shape}[]" if form[2] == "[" else shape


def merged(orders: Sequence[Sequence[K]]) -> list[K]:
    """All keys once: the first order as it is, what only others have behind what it stood behind."""
    behind: dict[K | None, list[K]] = {None: []}
    for order in orders:
        before: K | None = None
        for key in order:
            if key not in behind:
                behind[key] = []
                behind[before].insert(0, key)
            before = key
    whole: list[K] = []
    stack = list(reversed(behind[None]))
    while stack:
        key = stack.pop()
        whole.append(key)
        stack.extend(reversed(behind[key]))
    return whole
