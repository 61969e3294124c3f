"""JSON as people write it in settings: with comments and trailing commas, and the place of every value.

What is JSON is read as the standard library reads it, but for NaN and Infinity,
which are refused. Each value knows where it stands, so that an error about it
can name line and column, and so that a file can be changed without touching what
stands around the change. A member that is given twice is told; the last one counts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from json import JSONDecodeError
from json import decoder as _json
from typing import Any, NamedTuple

#: Deeper than any settings file, and far from the interpreter's own limit.
MAX_DEPTH = 200

#: The standard library's own reader of texts in quotes: the text, where it begins, whether line ends
#: are refused; gives the text and where it ends.
_SCAN: Any = vars(_json)["scanstring"]

_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![\w.+-])")
_WORD = re.compile(r"[\w$+-]+")
_WORDS = {"true": True, "false": False, "null": None}


class Node(NamedTuple):
    """A value: a dict of nodes, a list of nodes, text, a number, true, false or null.

    It stands from ``start`` to ``end`` (offsets in the text); a member's name from ``key`` on.
    """

    value: Any
    start: int
    end: int
    key: int = -1

    def plain(self) -> Any:
        """The value without places."""
        if isinstance(self.value, dict):
            return {name: node.plain() for name, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value

    def get(self, name: str) -> Node | None:
        """A member of an object; ``None`` when there is none, or this is no object."""
        found: Node | None = self.value.get(name) if isinstance(self.value, dict) else None
        return found


class Repeated(NamedTuple):
    """A member that its object has twice: its name, and where both stand."""

    name: str
    first: int
    second: int


class Fault(ValueError):
    """The text is not JSON; the message is the end of a sentence, ``at`` the offset."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


class Document:
    """A text that has been read: its ``root``, the members that are ``repeated``, and where its
    ``commas`` stand, in order."""

    def __init__(self, text: str) -> None:
        """Read it. Raises ``Fault``."""
        self.text = text
        self.repeated: list[Repeated] = []
        self._lines: list[int] | None = None
        self.commas: list[int] = []
        self.root = _Reader(text, self.repeated, self.commas).document()

    def place(self, at: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        if self._lines is None:
            self._lines = line_starts(self.text)
        line = bisect_right(self._lines, at)
        return line, at - self._lines[line - 1] + 1


def line_starts(text: str) -> list[int]:
    """Where each line of a text begins."""
    return [0, *(found.end() for found in re.finditer("\n", text))]


class _Reader:
    def __init__(self, text: str, repeated: list[Repeated], commas: list[int]) -> None:
        self._text = text
        self._repeated = repeated
        self._commas = commas

    def document(self) -> Node:
        start = self._skip(1 if self._text[:1] == "\ufeff" else 0)
        root = self._value(start, 0)
        end = self._skip(root.end)
        if end < len(self._text):
            raise Fault(f"{self._seen(end)} stands after the end of the document", end)
        return root

    def _skip(self, at: int) -> int:
        found = _GAP.match(self._text, at)
        end = found.end() if found else at
        if self._text.startswith("/*", end):
            raise Fault("a comment is not closed; end it with */", end)
        return end

    def _seen(self, at: int) -> str:
        if at >= len(self._text):
            return "the end of the file"
        word = _WORD.match(self._text, at)
        return repr(word[0][:20] if word else self._text[at])

    def _value(self, at: int, depth: int, key: int = -1) -> Node:
        text = self._text
        first = text[at : at + 1]
        if first == '"':
            value, end = self._string(at)
            return Node(value, at, end, key)
        if first in ("{", "[") and depth >= MAX_DEPTH:
            raise Fault(f"values are nested deeper than {MAX_DEPTH} levels", at)
        if first == "{":
            return self._object(at, depth + 1, key)
        if first == "[":
            return self._list(at, depth + 1, key)
        number = _NUMBER.match(text, at)
        if number:
            return Node(_number(number), at, number.end(), key)
        word = _WORD.match(text, at)
        if word and word[0] in _WORDS:
            return Node(_WORDS[word[0]], at, word.end(), key)
        raise Fault(f"a value is missing where {self._seen(at)} stands", at)

    def _object(self, start: int, depth: int, key: int) -> Node:
        members: dict[str, Node] = {}
        at = self._skip(start + 1)
        while self._text[at : at + 1] != "}":
            if self._text[at : at + 1] != '"':
                raise Fault(f"a name in quotes, or }}, is missing where {self._seen(at)} stands", at)
            name, end = self._string(at)
            colon = self._skip(end)
            if self._text[colon : colon + 1] != ":":
                raise Fault(f"a colon is missing after the name {name[:40]!r}", colon)
            node = self._value(self._skip(colon + 1), depth, at)
            if name in members:
                self._repeated.append(Repeated(name, members[name].key, at))
            members[name] = node
            at = self._next(node.end, "}")
        return Node(members, start, at + 1, key)

    def _list(self, start: int, depth: int, key: int) -> Node:
        items: list[Node] = []
        at = self._skip(start + 1)
        while self._text[at : at + 1] != "]":
            items.append(self._value(at, depth))
            at = self._next(items[-1].end, "]")
        return Node(items, start, at + 1, key)

    def _next(self, at: int, close: str) -> int:
        """Where the next member begins, or the closing bracket stands."""
        at = self._skip(at)
        if self._text[at : at + 1] == ",":
            self._commas.append(at)
            return self._skip(at + 1)
        if self._text[at : at + 1] != close:
            raise Fault(f"a comma, or {close}, is missing where {self._seen(at)} stands", at)
        return at

    def _string(self, at: int) -> tuple[str, int]:
        try:
            found: tuple[str, int] = _SCAN(self._text, at + 1, True)
            return found
        except JSONDecodeError as error:
            what = error.msg.removesuffix(" at").removesuffix(": ").lower()
            raise Fault(f"a text in quotes is broken ({what})", error.pos) from None


def _number(found: re.Match[str]) -> int | float:
    if found[1] or found[2]:
        return float(found[0])
    try:
        return int(found[0])
    except ValueError:  # more digits than the interpreter converts
        return float(found[0])
