"""JSON as text: pretty printing, cutting out members and pointers, without changing a token.

A parsed value has lost what a debugger must show (duplicate keys, ``1.0``,
``1e400``, the order and spelling of everything), so the views work on the text.
``pretty`` only moves white space between tokens. It takes anything: what is no
JSON is copied as it stands, an unfinished document is printed as far as it goes.

Strict JSON is indented by msgspec (about 3 ms a megabyte, token for token the
same); what it refuses, and what is nested so deeply that the indentation would be
larger than the document many times over, by the scanner here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from workbench.core.jsonrpc import INLINE_BYTES

#: Indentation stops growing at this depth, so that no document grows without bound.
MAX_INDENT = 64

#: Characters that one piece of ``pretty_pieces`` is made of, about.
_PIECE = 32 * 1024

_TOKEN = re.compile(
    r"""[ \t\n\r]+                                  # white space between tokens
      | (?P<string>"(?:[^"\\]+|\\.)*+(?:"|\\?\Z))    # a string, perhaps unfinished
      | (?P<open>[\[{]) | (?P<close>[\]}]) | (?P<comma>,) | (?P<colon>:)
      | (?P<other>[^\s"\[\]{},:]+|\s)""",
    re.VERBOSE | re.DOTALL,
)
_BLANK = re.compile(r"[ \t\n\r]*")
#: Finds ends only, so numbers of any length are never made.
_SCANNER = json.JSONDecoder(parse_int=len, parse_float=len)
_KINDS = {
    **{"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean", "n": "null"},
    **dict.fromkeys("-0123456789", "number"),
}
_BRACKETS = b"[]{}"
_NOT_BRACKETS = bytes(code for code in range(256) if code not in _BRACKETS)
_STEPS = {bracket: 1 if bracket in b"[{" else -1 for bracket in _BRACKETS}


class Token(NamedTuple):
    """``kind`` is ``string``, ``open``, ``close``, ``comma``, ``colon`` or ``other`` (numbers,
    words and whatever else stands there); ``text`` is the token as written."""

    kind: str
    text: str


class Part(NamedTuple):
    """A member (``key`` is its name) or an element (``key`` is its place) and its value's text."""

    key: str
    text: str


class Problem(NamedTuple):
    """Why a text is not JSON: a sentence without a full stop, line and column from 1."""

    why: str
    line: int
    column: int


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text; white space between them is left out. Never raises."""
    for found in _TOKEN.finditer(text):
        if found.lastgroup is not None:
            yield Token(found.lastgroup, found[0])


def pretty(text: str) -> str:
    """The text with a line for each member and element, two spaces a level."""
    try:
        strict = pretty_bytes(text.encode("utf-8"))
    except UnicodeEncodeError:
        strict = None
    return "".join(pretty_pieces(text)) if strict is None else strict.decode("utf-8")


def pretty_bytes(body: bytes) -> bytes | None:
    """The same for a large body, in one call; ``None`` where only ``pretty_pieces`` will do."""
    import msgspec

    if _too_deep(body):
        return None
    try:
        return msgspec.json.format(body, indent=2)
    except (ValueError, RecursionError):
        return None


def _too_deep(body: bytes) -> bool:
    """Whether brackets nest deeper than ``MAX_INDENT``, strings not told from structure."""
    brackets = body.translate(None, _NOT_BRACKETS)
    depths = accumulate(_STEPS[bracket] for bracket in brackets)
    return any(depth > MAX_INDENT for depth in depths)


def pretty_pieces(text: str) -> Iterator[str]:
    """``pretty`` a piece at a time, by the scanner: for a thread that lets others in between."""
    pieces: list[str] = []
    length = 0
    depth = 0
    before = ""
    for kind, token in tokens(text):
        opened = before == "open"
        if kind == "close":
            depth = max(depth - 1, 0)
            if not opened:
                pieces.append(_break(depth))
        elif opened or _part(before, kind):
            pieces.append(_break(depth))
        if kind == "open":
            depth += 1
        before = kind
        pieces.append(token)
        if kind == "comma":
            pieces.append(_break(depth))
        elif kind == "colon":
            pieces.append(" ")
        length += len(token) + 2 * min(depth, MAX_INDENT)
        if length > _PIECE:
            yield "".join(pieces)
            pieces, length = [], 0
    yield "".join(pieces)


def _break(depth: int) -> str:
    return "\n" + "  " * min(depth, MAX_INDENT)


def compact(text: str) -> str:
    """The text without white space between its tokens, but where two values would become one."""
    pieces: list[str] = []
    before = ""
    for kind, token in tokens(text):
        if _part(before, kind):
            pieces.append(" ")
        pieces.append(token)
        before = kind
    return "".join(pieces)


def _part(before: str, kind: str) -> bool:
    """Whether two neighbours are values without a comma between them, as in a line of several."""
    return before in ("string", "other", "close") and kind in ("string", "other", "open")


def problem(text: str) -> Problem | None:
    """Why a text is not one JSON value, ``None`` if it is. NaN and Infinity are not JSON."""
    try:
        json.loads(text, parse_constant=_refuse, parse_int=len, parse_float=len)
    except json.JSONDecodeError as error:
        why = error.msg[:1].lower() + error.msg[1:]
        return Problem(why, error.lineno, error.colno)
    except ValueError as error:
        return Problem(str(error), 1, 1)
    except RecursionError:
        return Problem("nested too deeply to be read", 1, 1)
    return None


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def kind_of(text: str) -> str:
    """``object``, ``array``, ``string``, ``number``, ``boolean`` or ``null``, by the first
    character; ``""`` for an empty text or one that begins no JSON value."""
    start = _skip(text, 0)
    return _KINDS.get(text[start : start + 1], "")


def members(text: str) -> list[Part] | None:
    """The members of an object's text in their order; ``None`` if it is none. Equal keys are each
    there, but for a text above ``INLINE_BYTES``, where the last one counts."""
    return _parts(text, "{", "}")


def elements(text: str) -> list[Part] | None:
    """The elements of an array's text; ``None`` if it is none."""
    return _parts(text, "[", "]")


def lookup(text: str, pointer: str) -> str | None:
    """The text of the value a JSON pointer (RFC 6901) points at; the last of equal keys."""
    if pointer and not pointer.startswith("/"):
        return None
    here: str | None = text
    for step in pointer.split("/")[1:]:
        if here is None:
            return None
        key = step.replace("~1", "/").replace("~0", "~")
        parts = members(here) if kind_of(here) == "object" else elements(here)
        here = next((part.text for part in reversed(parts or ()) if part.key == key), None)
    return here


def _parts(text: str, opens: str, closes: str) -> list[Part] | None:
    if len(text) > INLINE_BYTES:
        large = _parts_large(text, opens)
        if large is not None:
            return large
    try:
        return list(_scan(text, opens, closes))
    except (ValueError, RecursionError, IndexError):
        return None


def _parts_large(text: str, opens: str) -> list[Part] | None:
    """The same without building the values, for strict JSON."""
    import msgspec

    try:
        if opens == "[":
            items = msgspec.json.decode(text, type=list[msgspec.Raw])
            return [Part(str(place), bytes(item).decode()) for place, item in enumerate(items)]
        named = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        return [Part(key, bytes(item).decode()) for key, item in named.items()]
    except (ValueError, RecursionError):
        return None


def _scan(text: str, opens: str, closes: str) -> Iterator[Part]:
    at = _skip(text, 0)
    if text[at] != opens:
        raise ValueError
    at = _skip(text, at + 1)
    place = 0
    while place or text[at] != closes:
        key = str(place)
        if opens == "{":
            name, at = _SCANNER.raw_decode(text, at)
            at = _skip(text, at)
            if not isinstance(name, str) or text[at] != ":":
                raise ValueError
            key, at = name, _skip(text, at + 1)
        _, end = _SCANNER.raw_decode(text, at)
        yield Part(key, text[at:end])
        place += 1
        at = _skip(text, end)
        if text[at] == closes:
            break
        if text[at] != ",":
            raise ValueError
        at = _skip(text, at + 1)
    if _skip(text, at + 1) != len(text):
        raise ValueError


def _skip(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at
