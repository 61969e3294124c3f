"""JSON text that gives the same bytes back: which style writes a body exactly, if any does.

A text form is read by people and by git, so a body stands in it as the JSON it
is, whenever writing the parsed value in one of these styles gives exactly the
recorded bytes. Duplicate keys, odd spacing or spelling then show as text.

Reading and writing are the standard library's own, which is in C, as long as all
numbers are written as Python would write them; numbers with another spelling
(``1.0e5``) are kept as ``Number`` and written by hand.
"""

from __future__ import annotations

import json
from itertools import accumulate
from typing import Any, NamedTuple

from workbench.core.jsonrpc import INLINE_BYTES, Number, loads

#: A value nested deeper is not written as JSON: what one reader can build another one must.
MAX_DEPTH = 100


class Style(NamedTuple):
    """How a value is written: between members, after a key, and whether non-ASCII is escaped."""

    comma: str
    colon: str
    ascii: bool


class Parsed(NamedTuple):
    """A value; ``plain``: it holds no ``Number``, so any encoder writes it as it stood."""

    value: Any
    plain: bool


#: Tried in this order; the first needs no word in the line.
STYLES = {
    "": Style(",", ":", False),
    "spaced": Style(", ", ": ", False),
    "ascii": Style(",", ":", True),
    "spaced ascii": Style(", ", ": ", True),
}
_ENCODERS = {
    style: json.JSONEncoder(
        separators=(style.comma, style.colon), ensure_ascii=style.ascii, allow_nan=False, check_circular=False
    )
    for style in STYLES.values()
}
COMPACT = STYLES[""]
_BRACKETS = b"[]{}"
_NOT_BRACKETS = bytes(code for code in range(256) if code not in _BRACKETS)
_STEPS = {bracket: 1 if bracket in b"[{" else -1 for bracket in _BRACKETS}


def parse(text: str) -> Parsed:
    """Read a JSON text so that it can be written as it stood. Raises ``ValueError`` or
    ``RecursionError``; NaN and Infinity are read."""
    odd: list[str] = []

    def spelled(number: str) -> float:
        value = float(number)
        if repr(value) != number:
            odd.append(number)
        return value

    try:
        value = json.loads(text, parse_float=spelled)
    except json.JSONDecodeError:
        raise
    except ValueError:  # an integer of more digits than Python reads
        return Parsed(loads(text), False)
    return Parsed(loads(text), False) if odd else Parsed(value, True)


def style_of(body: bytes) -> tuple[str, str] | None:
    """The JSON text of a body without spaces, and the name of the style that gives the body back;
    ``None`` if none does."""
    if _too_deep(body):
        return None
    try:
        text = body.decode()
        parsed = parse(text)
        if not parsed.plain and len(body) > INLINE_BYTES:
            return None  # writing it by hand would take seconds; as text it is as exact
        for name, style in STYLES.items():
            if write(parsed, style) == text:
                return (text if style is COMPACT else write(parsed, COMPACT)), name
    except (ValueError, RecursionError):
        pass
    return None


def write(parsed: Parsed, style: Style) -> str:
    """The JSON text of a value in a style. Raises ``ValueError`` for NaN and infinities."""
    return _ENCODERS[style].encode(parsed.value) if parsed.plain else _by_hand(parsed.value, style)


def _by_hand(value: Any, style: Style) -> str:
    if isinstance(value, dict):
        encode = _ENCODERS[style].encode
        members = [f"{encode(key)}{style.colon}{_by_hand(item, style)}" for key, item in value.items()]
        return "{" + style.comma.join(members) + "}"
    if isinstance(value, list):
        return "[" + style.comma.join([_by_hand(item, style) for item in value]) + "]"
    if isinstance(value, Number):
        return value.text
    return _ENCODERS[style].encode(value)


def _too_deep(body: bytes) -> bool:
    """Whether brackets nest deeper than ``MAX_DEPTH``, those in strings counted too."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return False
    brackets = body.translate(None, _NOT_BRACKETS)
    return any(depth > MAX_DEPTH for depth in accumulate(_STEPS[bracket] for bracket in brackets))
