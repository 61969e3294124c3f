"""The language in which the frame log and ``sessions frames`` are told which frames to show.

    method:tools/*  name:weather*|report  kind:error|result  dir:out  conn:git|2  id:7  stream:3
    status:5*  finding:*  is:open  dur>500ms  size>=10k  ~"some text"  word  -kind:stderr

Terms stand side by side and all have to hold; ``|`` are alternatives, ``*`` stands for anything, ``-``
before a term turns it round. A word that is no term, and what stands after ``~`` or in quotes, is text
that a frame's body, method or name contains.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from workbench.core.frame import Direction, Kind
from workbench.errors import UsageError

METHOD, NAME, KIND, WAY, CONNECTION, ID = "method", "name", "kind", "dir", "conn", "id"
STREAM, STATUS, FINDING, IS, DURATION, SIZE, TEXT = "stream", "status", "finding", "is", "dur", "size", "text"

#: Terms with a value after a colon, and those that compare.
KEYS = (METHOD, NAME, KIND, WAY, CONNECTION, ID, STREAM, STATUS, FINDING, IS)
COMPARED = (DURATION, SIZE)

KINDS: Mapping[str, int] = {kind.name.lower(): int(kind) for kind in Kind}
WAYS: Mapping[str, int] = {
    "out": int(Direction.TO_SERVER),
    "in": int(Direction.TO_CLIENT),
    "none": int(Direction.NONE),
}
#: A request that nothing has answered.
OPEN = "open"

#: What each unit is of a nanosecond, or of a byte.
_UNITS: Mapping[str, Mapping[str, float]] = {
    DURATION: {"us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "": 1e6},
    SIZE: {"": 1, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9},
}
_COMPARISON = re.compile(r"(>=|<=|>|<|=)(\d{1,12}(?:\.\d{1,6})?)([a-zA-Z]{0,2})")

#: A term's beginning; what follows the colon may begin with quotes.
_TERM = re.compile(r"(-?)([a-z]+)(?=[:<>=])")
_WORD = re.compile(r"\S+")


class Term(NamedTuple):
    """``values`` are alternatives: patterns with ``*``, numbers as text, or the one text itself. Of a
    comparison ``than`` is the sign and ``number`` nanoseconds or bytes."""

    key: str
    values: tuple[str, ...] = ()
    negated: bool = False
    than: str = ""
    number: int = 0


#: Terms that all have to hold; none lets everything pass.
FrameFilter = tuple[Term, ...]


def parse_filter(text: str) -> FrameFilter:
    """Read a filter. Raises ``UsageError`` with a sentence that says what is wrong with it."""
    terms: list[Term] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        term, at = _term(text, at)
        if term is not None:
            terms.append(term)
    return tuple(terms)


def _term(text: str, at: int) -> tuple[Term | None, int]:
    negated = text.startswith("-", at) and at + 1 < len(text) and not text[at + 1].isspace()
    begin = at + negated
    if text[begin] in '~"':
        value, end = _value(text, begin + (text[begin] == "~"))
        return (Term(TEXT, (value,), negated) if value else None), end
    found = _TERM.match(text, at)
    if found is None or text.startswith("://", found.end()):
        word = _WORD.match(text, begin)
        assert word is not None
        return Term(TEXT, (word[0],), negated), word.end()
    key = found[2]
    if key in COMPARED:
        return _compared(text, key, found.end(), negated)
    if key not in KEYS:
        known = ", ".join(f"{each}:" for each in KEYS)
        word = _WORD.match(text, begin)
        assert word is not None
        raise UsageError(
            f'There is no {key}: to filter by ({known}, dur>, size>); text is looked for as ~"{word[0]}".'
        )
    if text[found.end()] != ":":
        raise UsageError(f"{key} is followed by a colon, as {_example(key)}.")
    value, end = _value(text, found.end() + 1, alternatives=True)
    values = tuple(part for part in value.split("|") if part)
    if not values:
        raise UsageError(f"{key}: is followed by what it is to be, as {_example(key)}.")
    return Term(key, tuple(_checked(key, each) for each in values), negated), end


def _value(text: str, at: int, *, alternatives: bool = False) -> tuple[str, int]:
    """The value that begins here, and where it ends: up to a space, or what stands in quotes. Quotes that are
    not closed go to the end: they are being typed."""
    if not alternatives:
        if not text.startswith('"', at):
            word = _WORD.match(text, at)
            return (word[0], word.end()) if word else ("", at)
        end = text.find('"', at + 1)
        return (text[at + 1 :], len(text)) if end < 0 else (text[at + 1 : end], end + 1)
    parts = []
    while True:
        if text.startswith('"', at):
            part, at = _value(text, at)
        else:
            found = re.compile(r"[^\s|]*").match(text, at)
            assert found is not None
            part, at = found[0], found.end()
        parts.append(part)
        if not text.startswith("|", at):
            return "|".join(parts), at
        at += 1


def _compared(text: str, key: str, at: int, negated: bool) -> tuple[Term, int]:
    found = _COMPARISON.match(text, at)
    end = _WORD.match(text, at)
    unit = None if found is None else _UNITS[key].get(found[3].lower())
    if found is None or unit is None or (end is not None and end.end() != found.end()):
        raise UsageError(f"{key} is compared with a number, as {_example(key)}.")
    return Term(key, (), negated, found[1], round(float(found[2]) * unit)), found.end()


def _checked(key: str, value: str) -> str:
    known: Sequence[str] = {KIND: tuple(KINDS), WAY: tuple(WAYS), IS: (OPEN,)}.get(key, ())
    if known and value.lower() not in known and not (value.endswith("*") and key == KIND):
        raise UsageError(f"{key}:{value} is not known; it is one of {', '.join(known)}.")
    if key == STREAM and not value.isdecimal():
        raise UsageError(f"stream:{value}: streams have numbers, as {_example(key)}.")
    return value.lower() if known else value


_EXAMPLES = {
    METHOD: "method:tools/*",
    NAME: "name:weather*",
    KIND: "kind:error|result",
    WAY: "dir:out",
    CONNECTION: "conn:git|2",
    ID: "id:7",
    STREAM: "stream:3",
    STATUS: "status:5*",
    FINDING: "finding:*",
    IS: "is:open",
    DURATION: "dur>500ms",
    SIZE: "size>10k",
}


def _example(key: str) -> str:
    return _EXAMPLES[key]


def matches(pattern: str, text: str) -> bool:
    """Whether a text is what a pattern with ``*`` says."""
    if "*" not in pattern:
        return pattern == text
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def completion(text: str, known: Mapping[str, Sequence[str]]) -> str:
    """What would go on from the end of a filter that is being typed; empty where nothing fits.

    ``known`` are values that there are, by key, beside those of the language itself.
    """
    word = text.rpartition(" ")[2]
    if text.count('"') % 2 or not word.lstrip("-") or word.startswith("~"):
        return ""
    word = word.lstrip("-")
    key, colon, value = word.partition(":")
    if not colon:
        heads = [*(f"{each}:" for each in KEYS), *(f"{each}>" for each in COMPARED)]
        return _rest(word, heads)
    own: Mapping[str, Sequence[str]] = {KIND: tuple(KINDS), WAY: tuple(WAYS), IS: (OPEN,), FINDING: ("*",)}
    return _rest(value.rpartition("|")[2], [*own.get(key, ()), *known.get(key, ())])


def _rest(begun: str, words: Sequence[str]) -> str:
    """The rest of the first of the words that begins so, and is not that."""
    fits = (word for word in words if word.startswith(begun) and word != begun and " " not in word)
    return next(fits, "")[len(begun) :]
