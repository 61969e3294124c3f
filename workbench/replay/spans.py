"""Where the members of a JSON text stand, in bytes, without building any of it.

A replay changes a few places of a body and nothing else, so it has to know where
they are. This scanner walks over strings and brackets only: it takes any depth
of nesting and any spelling, and the time is linear in the size.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.core.jsonrpc import loads

#: A whole string, or one character that gives a text its shape.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]', re.DOTALL)
_BLANK = b" \t\n\r"
_OPEN, _CLOSE = (b"{", b"["), (b"}", b"]")

Span = tuple[int, int]


def member(body: bytes, *path: str) -> Span | None:
    """Where the value at a path of object keys stands (the last of equal keys), ``None`` if nowhere."""
    span: Span | None = (0, len(body))
    for key in path:
        span = None if span is None else members(body, span).get(key)
    return span


def place(body: bytes, path: Sequence[str]) -> Span | None:
    """Where the value at a path of object keys and indices of arrays stands, ``None`` if nowhere."""
    span = (0, len(body))
    for part in path:
        found = members(body, span).get(part)
        if found is None and part.isdecimal():
            listed = items(body, span)
            found = listed[int(part)] if int(part) < len(listed) else None
        if found is None:
            return None
        span = found
    return span


def members(body: bytes, within: Span | None = None) -> dict[str, Span]:
    """Where the value of each member of an object stands; empty for anything else."""
    found: dict[str, Span] = {}
    for key, span in _parts(body, within or (0, len(body)), b"{"):
        name = _key(key)
        if name is not None:
            found[name] = span
    return found


def items(body: bytes, within: Span | None = None) -> list[Span]:
    """Where each item of an array stands; empty for anything else."""
    return [span for _, span in _parts(body, within or (0, len(body)), b"[")]


def _parts(body: bytes, within: Span, opening: bytes) -> list[tuple[bytes, Span]]:
    found: list[tuple[bytes, Span]] = []
    depth = 0
    last = key = b""
    start = end = within[0]
    for token in _TOKEN.finditer(body, *within):
        sign = token[0]
        if sign in _OPEN:
            depth += 1
            if depth == 1:
                if sign != opening:
                    return []
                start = token.end()
        elif sign in _CLOSE:
            depth -= 1
            if depth == 0:
                end = token.start()
                break
        elif depth != 1:
            continue
        elif sign == b":":
            key, start = last, token.end()
        elif sign == b",":
            found.append((key, _trimmed(body, start, token.start())))
            start = token.end()
        else:
            last = sign
    span = _trimmed(body, start, end)
    if span[0] < span[1]:
        found.append((key, span))
    return found


def _trimmed(body: bytes, start: int, end: int) -> Span:
    while start < end and body[start] in _BLANK:
        start += 1
    while end > start and body[end - 1] in _BLANK:
        end -= 1
    return start, end


def _key(text: bytes) -> str | None:
    try:
        key = loads(text)
    except ValueError:
        return None
    return key if isinstance(key, str) else None
