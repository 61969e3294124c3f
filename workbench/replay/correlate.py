"""Values that the replayed half was given and used later: the live one is put where the recorded one stood.

For a mock server they come from where live and recorded client may differ: its
answers to questions (roots, elicited content, sampled text), and the params of
requests when not all of them are compared. For a mock client they come from
the answers of the server. Task ids, cursors, ``requestState`` and
elicitation ids are always followed, from a member of that kind to members of
that kind. Any other string is followed only as a whole and only where it can be
told from chance: at least ``MIN_LENGTH`` characters with a digit, or a URI; in
nothing the replayed half had sent before, and no name of a listed item. What a
user names (``Rules``) is followed from place to place whatever it is, or never.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from workbench.core.jsonrpc import dumps, loads
from workbench.core.methods import LIST_METHODS
from workbench.errors import UsageError
from workbench.replay.diff import ABSENT, at_path, parts_of, pointer_of
from workbench.replay.spans import place

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


#: The kinds of the rules kept with a recording that say what is followed.
KEPT_FOLLOW, KEPT_NEVER = "correlate", "no-correlate"


class Rules(NamedTuple):
    """What a user says of correlation: places of params or results from which a value is followed to
    others, and places (``*`` is one level) from which none is."""

    follow: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    never: tuple[tuple[str, ...], ...] = ()

    def and_kept(self, kept: Iterable[tuple[str, str]]) -> Rules:
        """The same with those kept with a recording. Raises ``UsageError``."""
        told = list(kept)
        return Rules(
            (*(parse_follow(text) for what, text in told if what == KEPT_FOLLOW), *self.follow),
            (*(parse_never(text) for what, text in told if what == KEPT_NEVER), *self.never),
        )


NO_RULES = Rules()


def parse_follow(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """``/structuredContent/id=/arguments/order``. Raises ``UsageError``."""
    source, equals, target = text.partition("=/")
    if not equals or not source.startswith("/"):
        raise UsageError(f"--correlate {text}: it is FROM=TO, as /structuredContent/id=/arguments/id.")
    return parts_of(source), parts_of("/" + target)


def parse_never(text: str) -> tuple[str, ...]:
    """``/structuredContent/id``. Raises ``UsageError``."""
    if not text.startswith("/"):
        raise UsageError(f"--no-correlate {text}: a JSON pointer begins with /, as /structuredContent/id.")
    return parts_of(text)


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

    def __init__(self, half: Half, *, unused: bool = True, rules: Rules = NO_RULES) -> None:
        self._half = half
        self._rules = rules
        #: From place to place: where the recorded value stands, that value, and the live one (JSON text).
        self._placed: list[tuple[tuple[str, ...], Any, bytes]] = []
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
        self._learn_placed(seq, recorded, live)
        for path, was, now in _pairs(recorded, live):
            if "<redacted:" in was or any(_fits(path, never) for never in self._rules.never):
                continue
            kind = KINDS.get(path[-1]) if path else None
            if kind is not None:
                for form in spellings(was):
                    self._kinds[kind, form] = _spelling(now)
                for form in spellings(now):
                    self._back[kind, form] = _spelling(was)
            elif self._telling(was, seq):
                self._lives[was] = now
                for form in spellings(was):
                    self._strings[form] = _spelling(now)
                for form in spellings(now):
                    self._back["", form] = _spelling(was)
            else:
                continue
            pointer = "".join(f"/{part}" for part in path)
            self.followed.append({"seq": seq, "pointer": pointer, "recorded": was})

    def _learn_placed(self, seq: int, recorded: Any, live: Any) -> None:
        for source, target in self._rules.follow:
            was, now = at_path(recorded, source), at_path(live, source)
            if ABSENT in (was, now) or isinstance(now, (dict, list)) or was == now:
                continue
            self._placed.append((target, was, dumps(now).encode("utf-8", "surrogateescape")))
            if isinstance(was, str) and isinstance(now, str):
                self._lives[was] = now
            self.followed.append({"seq": seq, "pointer": pointer_of(source), "recorded": was})

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
        if self._placed:
            body = self._put_placed(body)
        if self._kinds:
            body = _KEYED.sub(
                lambda found: _put(found, self._kinds.get((KINDS[found[1].decode()], found[3]))), body
            )
        return _strings_put(body, self._strings)

    def _put_placed(self, body: bytes) -> bytes:
        # The newest value of a place counts.
        for target, was, now in reversed(self._placed):
            for head in ("params", "result"):
                span = place(body, (head, *target))
                if span is not None and _is(body[span[0] : span[1]], was):
                    body = body[: span[0]] + now + body[span[1] :]
        return body

    def follows(self, path: tuple[str, ...], text: str, seq: int) -> bool:
        """Whether a value that a frame brings at a path would be followed if the live one were another."""
        if "<redacted:" in text or any(_fits(path, never) for never in self._rules.never):
            return False
        named = any(path == source for source, _ in self._rules.follow)
        return named or (bool(path) and path[-1] in KINDS) or self._telling(text, seq)

    def _telling(self, text: str, seq: int) -> bool:
        if "://" not in text and (len(text) < MIN_LENGTH or not any(map(str.isdigit, text))):
            return False
        first = self._half.first(spellings(text))
        if (first is None and not self._unused) or (first is not None and first < seq):
            return False
        if self._listed is None:
            self._listed = _listed(self._half.listings())
        return text not in self._listed


def _fits(path: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    return len(path) == len(pattern) and all(
        wanted in ("*", part) for part, wanted in zip(path, pattern, strict=True)
    )


def _is(text: bytes, value: Any) -> bool:
    try:
        return bool(loads(text) == value)
    except (ValueError, RecursionError):
        return False


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


def spellings(value: str) -> set[bytes]:
    """A string as a whole JSON string, in each way an encoder writes it."""
    escaped = _spelling(value)
    try:
        plain = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a surrogate pair is always written escaped
        return {escaped}
    return {escaped, plain, plain.replace(b"/", b"\\/")}
