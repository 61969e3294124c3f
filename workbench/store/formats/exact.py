"""JSON text that gives the same bytes back: which style writes a body exactly, if any does.

A text form is read by people and by git, so a body stands in it as the JSON it
is, whenever writing the parsed value in one of these styles gives exactly the
recorded bytes. Duplicate keys, odd spacing or spelling then show as text.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NamedTuple

from workbench.core.jsonrpc import Number, loads


class Style(NamedTuple):
    """How a value is written: between members, after a key, and whether non-ASCII is escaped."""

    comma: str
    colon: str
    ascii: bool


#: Tried in this order; the first needs no word in the line.
STYLES = {
    "": Style(",", ":", False),
    "spaced": Style(", ", ": ", False),
    "ascii": Style(",", ":", True),
    "spaced ascii": Style(", ", ": ", True),
}


def style_of(body: bytes) -> tuple[Any, str] | None:
    """The parsed value and the name of the style that gives ``body`` back, or ``None``."""
    try:
        text = body.decode()
        value = loads(text)
    except (ValueError, RecursionError):
        return None
    for name, style in STYLES.items():
        try:
            if write(value, style) == text:
                return value, name
        except (ValueError, RecursionError):
            return None
    return None


def write(value: Any, style: Style) -> str:
    """The JSON text of a value in a style. Raises ``ValueError`` for NaN, infinities and lone surrogates
    that no UTF-8 text can carry."""
    return _with_numbers(value, style) if _has_number(value) else _encoder(style).encode(value)


@cache
def _encoder(style: Style) -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=style.ascii, allow_nan=False, separators=(style.comma, style.colon))


def _has_number(value: Any) -> bool:
    """Whether a number in it remembers its spelling, which the encoder does not know of."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, Number):
            return True
    return False


def _with_numbers(value: Any, style: Style) -> str:
    if isinstance(value, dict):
        members = [
            f"{json.dumps(key, ensure_ascii=style.ascii)}{style.colon}{_with_numbers(item, style)}"
            for key, item in value.items()
        ]
        return "{" + style.comma.join(members) + "}"
    if isinstance(value, list):
        return "[" + style.comma.join([_with_numbers(item, style) for item in value]) + "]"
    if isinstance(value, Number):
        return value.text
    return json.dumps(value, ensure_ascii=style.ascii, allow_nan=False)
