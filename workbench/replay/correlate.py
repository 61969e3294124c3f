"""Values that the replayed half was given and used later: the live one is put where the recorded one stood.

For a mock server they come from where live and recorded client may differ: its
answers to questions (roots, elicited content, sampled text), and the params of
requests when not all of them are compared. For a mock client they come from
the answers of the server. Task ids, cursors, ``requestState`` and
elicitation ids are always followed, from a member of that kind to members of
that kind. Any other string is followed only as a whole and only where it can be
told from chance: at least ``MIN_LENGTH`` characters with a digit, or a URI; in
nothing the replayed half had sent before, and no name of a listed item.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from workbench.core.jsonrpc import loads
from workbench.core.methods import LIST_METHODS

#: Shorter strings are not followed: they stand in too many places by chance.
MIN_LENGTH = 12

#: Members that name something one side made up, and the kind of thing they name.
KINDS = {
    "cursor": "cursor",
    "nextCursor": "cursor",
    "taskId": "task",
    "requestState": "state",
    "elicitationId": "elicitation",
}

_KEYED = re.compile(
    rb'"(' + "|".join(KINDS).encode() + rb')"(\s*:\s*)("[^"\\]*+(?:\\.[^"\\]*+)*+")', re.DOTALL
)


#: A string of JSON text, and whether it is the name of a member.
_STRING = re.compile(rb'("[^"\\]*+(?:\\.[^"\\]*+)*+")(\s*:)?', re.DOTALL)


class Half(Protocol):
    """A recorded half of a conversation, which is replayed."""

    def first(self, forms: Iterable[bytes]) -> int | None:
        """The seq of the first frame of this half that holds one of these texts."""
        ...

    def listings(self) -> Iterable[tuple[str, bytes]]:
        """The recorded results of listings, whichever half sent them: method and JSON text."""
        ...


class Correlations:
    """The recorded values of one live connection that have a live one in their place.

    ``followed`` tells of each: the seq of the frame that brought it, where it stood in it, and what
    was recorded. With ``unused`` off only what the replayed half sends later is followed.
    """

    def __init__(self, half: Half, *, unused: bool = True) -> None:
        self._half = half
        self._unused = unused
        self._strings: dict[bytes, bytes] = {}
        self._kinds: dict[tuple[str, bytes], bytes] = {}
        self._listed: set[str] | None = None
        #: The other way round, for what is written back into a recording.
        self._back: dict[tuple[str, bytes], bytes] = {}
        self._lives: dict[str, str] = {}
        self.followed: list[dict[str, Any]] = []

    def learn(self, seq: int, recorded: Any, live: Any) -> None:
        """Compare what a frame of the other half brought with what it had brought when it was recorded."""
        for path, was, now in _pairs(recorded, live):
            if "<redacted:" in was:
                continue
            kind = KINDS.get(path[-1]) if path else None
            if kind is not None:
                for form in _spellings(was):
                    self._kinds[kind, form] = _spelling(now)
                for form in _spellings(now):
                    self._back[kind, form] = _spelling(was)
            elif self._telling(was, seq):
                self._lives[was] = now
                for form in _spellings(was):
                    self._strings[form] = _spelling(now)
                for form in _spellings(now):
                    self._back["", form] = _spelling(was)
            else:
                continue
            pointer = "".join(f"/{part}" for part in path)
            self.followed.append({"seq": seq, "pointer": pointer, "recorded": was})

    def live(self, recorded: str) -> str | None:
        """The live value that is followed in place of a recorded one, ``None`` if none is."""
        return self._lives.get(recorded)

    def recorded(self, body: bytes) -> bytes:
        """A live body of the other half with recorded values in place of live ones."""
        if not self._back:
            return body
        body = _KEYED.sub(
            lambda found: _put(found, self._back.get((KINDS[found[1].decode()], found[3]))), body
        )
        return _strings_put(body, {form: was for (kind, form), was in self._back.items() if not kind})

    def applied(self, body: bytes) -> bytes:
        """A body of the replayed half with live values in place of recorded ones."""
        if self._kinds:
            body = _KEYED.sub(
                lambda found: _put(found, self._kinds.get((KINDS[found[1].decode()], found[3]))), body
            )
        return _strings_put(body, self._strings)

    def _telling(self, text: str, seq: int) -> bool:
        if "://" not in text and (len(text) < MIN_LENGTH or not any(map(str.isdigit, text))):
            return False
        first = self._half.first(_spellings(text))
        if (first is None and not self._unused) or (first is not None and first < seq):
            return False
        if self._listed is None:
            self._listed = _listed(self._half.listings())
        return text not in self._listed


def _put(found: re.Match[bytes], value: bytes | None) -> bytes:
    return found[0] if value is None else b'"%s"%s%s' % (found[1], found[2], value)


def _strings_put(body: bytes, values: dict[bytes, bytes]) -> bytes:
    """A body with other strings in place of whole ones, which are no names of members."""
    if not values:
        return body
    return _STRING.sub(lambda found: found[0] if found[2] else values.get(found[1], found[1]), body)


def long_strings(body: bytes) -> Iterator[bytes]:
    """The strings in a body that may be followed, as they stand there."""
    for found in _STRING.finditer(body):
        if found.end(1) - found.start(1) >= MIN_LENGTH or b":" in found[1]:
            yield found[1]


def _listed(listings: Iterable[tuple[str, bytes]]) -> set[str]:
    """The names in every listing, and the URIs in the first one of its kind."""
    found: set[str] = set()
    seen: set[str] = set()
    for method, text in listings:
        try:
            result = loads(text)
        except (ValueError, RecursionError):
            continue
        keys = ("name",) if method in seen else ("name", "uri", "uriTemplate")
        seen.add(method)
        items = result.get(LIST_METHODS[method]) if isinstance(result, dict) else None
        for item in items if isinstance(items, list) else ():
            if isinstance(item, dict):
                found.update(item[key] for key in keys if isinstance(item.get(key), str))
    return found


def _pairs(recorded: Any, live: Any) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Strings that stand at one place of two values and differ, with their path."""
    stack: list[tuple[tuple[str, ...], Any, Any]] = [((), recorded, live)]
    while stack:
        path, left, right = stack.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            stack += [((*path, key), value, right[key]) for key, value in left.items() if key in right]
        elif isinstance(left, list) and isinstance(right, list):
            stack += [((*path, place), *both) for place, both in _aligned(left, right)]
        elif isinstance(left, str) and isinstance(right, str) and left != right:
            yield path, left, right


def _aligned(left: list[Any], right: list[Any]) -> list[tuple[str, tuple[Any, Any]]]:
    """Items belong together by their ``name``, ``uri`` or ``id`` where they have one, else by place."""
    for key in ("name", "uri", "id"):
        if left and all(isinstance(item, dict) and key in item for item in (*left, *right)):
            known = {str(item[key]): item for item in right}
            together = [
                (str(place), (item, known[str(item[key])]))
                for place, item in enumerate(left)
                if str(item[key]) in known
            ]
            if together:
                return together
    return [(str(place), both) for place, both in enumerate(zip(left, right, strict=False))]


def _spelling(value: str) -> bytes:
    return json.dumps(value).encode()


def _spellings(value: str) -> set[bytes]:
    """A string as a whole JSON string, in each way an encoder writes it."""
    escaped = _spelling(value)
    try:
        plain = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a surrogate pair is always written escaped
        return {escaped}
    return {escaped, plain, plain.replace(b"/", b"\\/")}
