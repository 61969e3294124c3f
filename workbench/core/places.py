"""Where in a JSON document a byte lies: inside a string, and under which members.

Only for bodies in which something was found that depends on it, so it is a plain
walk from the document's beginning; asked for offsets that grow, it goes on from
where it was, so any number of them costs one walk.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[{}\[\],:]', re.DOTALL)
_OPEN = (b"{", b"[")
_CLOSE = (b"}", b"]")


class Place(NamedTuple):
    """``string``: whether the byte lies in a string. ``path``: the names of the members around that
    string, outermost first, its own last; array elements have no name and are left out."""

    string: bool
    path: tuple[bytes, ...] = ()


class Walk:
    """A walk through one document; ``at`` is asked for offsets that never shrink."""

    def __init__(self, body: bytes) -> None:
        self._tokens = _TOKEN.finditer(body)
        self._token = next(self._tokens, None)
        self._stack: list[bytes] = []
        self._key = b""
        self._last = b""

    def at(self, offset: int) -> Place:
        while self._token is not None and self._token.end() <= offset:
            self._pass(self._token[0])
            self._token = next(self._tokens, None)
        token = self._token
        if token is None or token.start() >= offset or token[0][:1] != b'"':
            return Place(False)
        names = (*self._stack, self._key)
        return Place(True, tuple(name for name in names if name))

    def _pass(self, token: bytes) -> None:
        if token in _OPEN:
            self._stack.append(self._key)
            self._key = b""
        elif token in _CLOSE:
            self._key = self._stack.pop() if self._stack else b""
        elif token == b":":
            self._key = self._last[1:-1]
        elif token == b",":
            self._key = b""
        else:
            self._last = token


def pointer_at(body: bytes, offset: int) -> str:
    """The JSON pointer (RFC 6901) of the string a byte lies in, a member's where it lies in a name; empty
    where the body is no JSON, or no array or object."""
    if body.lstrip()[:1] not in _OPEN:
        return ""
    steps: list[str | int] = []
    last = ""
    named = False
    for match in _TOKEN.finditer(body):
        token = match[0]
        if token in _OPEN:
            steps.append(0 if token == b"[" else "")
        elif token in _CLOSE:
            del steps[-1:]
        elif token == b":" and steps and isinstance(steps[-1], str):
            steps[-1], named = last, True
        elif token == b",":
            named = False
            if steps and isinstance(steps[-1], int):
                steps[-1] += 1
        elif token[:1] == b'"':
            last = token[1:-1].decode("utf-8", "replace").replace("~", "~0").replace("/", "~1")
            if steps and not named and isinstance(steps[-1], str):
                steps[-1] = last
            if match.end() > offset:
                break
        if token in _OPEN or token in _CLOSE:
            named = False
    return "".join(f"/{step}" for step in steps)
