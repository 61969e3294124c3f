"""Secrets out, placeholders in.

A recording is made to be kept and shared, so what looks like a secret never
gets into one, unless the user switches redaction off. Two kinds of rules find
secrets: values that were given for a target (``add_secret``), which are looked
for in every spelling (``core.redact_forms``); the usual shapes of tokens
(``core.shapes``); and what stands under a telling name (``core.redact_names``).

A placeholder, ``<redacted:1 env TOKEN>``, keeps what replay needs: it stands
inside the string the secret stood in, so no JSON type changes, and the same
text has the same number throughout a recording, and no other has it: a secret in
base64 is another text. Members that the protocol itself lives on (ids, cursors,
progress tokens) are never touched.

Part of the light path: standard library only. One search decides for nearly
every body that there is nothing to do.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import count

from workbench.core.credentials import is_secret_name
from workbench.core.frame import Channel, Span
from workbench.core.heads import authorization_hits, header_hits, label_of, session_hits, url_hits
from workbench.core.jsonrpc import loads
from workbench.core.places import Walk
from workbench.core.redact_forms import Forms, forms_of, from_utf8, readings, unescaped, utf8
from workbench.core.redact_names import is_plain_word, may_be_named, named_hits
from workbench.core.shapes import Hit, may_hold_token, tokens

#: A value given for a target is a secret from this length on (characters).
MIN_SECRET = 8

#: The envelope's own members: protected at the top of a message (all revisions, "Messages").
ENVELOPE_MEMBERS = frozenset((b"jsonrpc", b"id", b"method"))

#: Members that carry the protocol at any depth ...
PROTOCOL_MEMBERS = frozenset(
    (
        b"requestId",
        b"progressToken",
        b"cursor",
        b"nextCursor",
        b"requestState",
        b"taskId",
        b"elicitationId",
        b"protocolVersion",
        b"io.modelcontextprotocol/protocolVersion",
        b"io.modelcontextprotocol/subscriptionId",
    )
)

#: ... except below these, where a server or user puts what it likes.
FREE_MEMBERS = frozenset(
    (b"arguments", b"structuredContent", b"content", b"contents", b"messages", b"data", b"inputSchema")
)

#: Channels whose bodies are JSON-RPC: only there is anything protected.
_PROTOCOL_CHANNELS = frozenset((Channel.STDIO, Channel.HTTP, Channel.SSE))

_JSON_BEGINS = (b"{", b"[")

#: A cheap sign that a string may be a protected member: its name stands just before it.
_MAYBE_PROTECTED = re.compile(
    rb'"(?:' + b"|".join(sorted(ENVELOPE_MEMBERS | PROTOCOL_MEMBERS)) + rb')"\s{0,9}:\s{0,9}"$'
)
#: How long such a name and what follows it can be, and how far into the string a secret begins (bytes).
_NAME_BYTES = 48
_STRING_BYTES = 4096

#: A secret that a peer chose is looked for in bodies only if it looks like no word of a message, and
#: only so many of them are: each costs a search in every body.
_DISTINCT = re.compile(rb"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9+/=_.~:-]{16,4096}")
MAX_LEARNED = 64

#: A private key that is printed arrives line by line; more lines than this are none.
MAX_KEY_LINES = 200

_KEY_LINE = re.compile(rb"[A-Za-z0-9+/=]{1,128}\r?")
_PLACEHOLDER = re.compile(rb"<redacted:(\d+) ([^<>\"\\]{1,80})>")
_MEMBER_FOLLOWS = re.compile(rb'"\s*:')


def looks_secret(name: str, value: str) -> bool:
    """Whether a value given under this name is to be kept out of recordings."""
    if len(value) < MIN_SECRET:
        return False
    return is_secret_name(name) or next(tokens(utf8(value)), None) is not None


def placeholders(body: bytes) -> list[bytes]:
    """The placeholders in a stored body, in order."""
    return [found[0] for found in _PLACEHOLDER.finditer(body)]


class Redactor:
    """Replaces secrets by placeholders, one for each recording. Several threads may use it.

    ``found`` counts what was replaced, by the placeholder's label (``env TOKEN``, ``jwt``).
    """

    def __init__(self) -> None:
        self.found: dict[str, int] = {}
        self._forms: tuple[Forms, ...] = ()
        #: Spellings that stand for the very secret.
        self._exact: dict[bytes, bytes] = {}
        #: Each secret's number and what its placeholder says of it.
        self._numbers: dict[bytes, tuple[int, str]] = {}
        #: What placeholders of this recording say, of which no other text is made.
        self._labels: set[bytes] = set()
        self._patterns: tuple[re.Pattern[bytes], ...] = ()
        #: Secrets that are looked for only where they are a whole string of JSON.
        self._whole: dict[bytes, str] = {}
        self._next = count(1)
        self._open_keys: dict[int, int] = {}
        self._learned = 0

    @property
    def known(self) -> int:
        """How many secrets are looked for, in all their forms: what was clean before one more was
        known may not be so now."""
        return len(self._forms) + len(self._patterns)

    def add_secret(self, name: str, value: str, where: str = "env") -> bool:
        """Look out for a value given for a target; False when nothing about it looks secret."""
        if not looks_secret(name, value):
            return False
        self._look_out(value, label_of(where, name))
        return True

    def add_value(self, name: str, value: str, where: str = "value") -> bool:
        """Look out for a value that is said to be secret; False when it is too short to look for."""
        if len(value) < MIN_SECRET:
            return False
        self._look_out(value, label_of(where, name))
        return True

    def add_pattern(self, pattern: str) -> None:
        """Look out for what matches a regular expression: its first group, else all of it. Raises
        ``re.error``. It is searched in every body, so its time is its author's."""
        self._patterns = (*self._patterns, re.compile(pattern.encode()))

    def adopt(self, placeholders: Iterable[bytes]) -> None:
        """Go on in a recording that has placeholders: theirs are left alone, and new numbers come after."""
        highest = 0
        for found in filter(None, map(_PLACEHOLDER.fullmatch, placeholders)):
            # Nobody's number is so high; a forged one must not make ours endless.
            highest = max(highest, min(int(found[1][:12]), 1 << 40))
            if not may_hold_token(found[2]):
                self._labels.add(found[2])
        self._next = count(max(highest + 1, next(self._next)))

    def behind(self, number: int) -> str | None:
        """The secret that a placeholder of this redactor stands for, ``None`` for none of its own."""
        for secret, (known, _) in list(self._numbers.items()):
            if known == number:
                return secret.decode("utf-8", "surrogateescape")
        return None

    def header(self, name: str, value: str) -> str:
        """The value of an HTTP header without the secrets in it."""
        body = utf8(value)
        # A token of any look is one wherever it is all of a string.
        return self._named(body, list(header_hits(name, body)), whole=name.lower() == "authorization")

    def url(self, url: str) -> str:
        """A URL without the secrets in its query and before its host."""
        body = utf8(url)
        return self._named(body, list(url_hits(body)))

    def _named(self, body: bytes, hits: list[Hit], *, whole: bool = False) -> str:
        self._learn(body, hits, whole=whole)
        return from_utf8(self._redact(body, Channel.NOTE, 0, hits)[0])

    def _learn(self, body: bytes, hits: list[Hit], *, whole: bool = False) -> None:
        """What was found by its name is looked for in every body from now on: a value that looks like no
        word wherever it stands, another (``whole``) where it is all of a string."""
        for hit in hits:
            secret = body[hit.start : hit.end]
            if secret in self._exact or self._learned >= MAX_LEARNED or _PLACEHOLDER.fullmatch(secret):
                continue
            if _DISTINCT.fullmatch(secret):
                self._learned += 1
                self._look_out(secret.decode(), hit.label)
            elif (
                whole
                and MIN_SECRET <= len(secret) <= 4096
                and not is_plain_word(secret)
                and secret not in self._whole
            ):
                self._learned += 1
                self._whole = {**self._whole, secret: hit.label}

    def _look_out(self, value: str, label: str) -> None:
        forms = forms_of(value, label)
        for form in forms.same:
            self._exact.setdefault(form, forms.exact)
        if all(known.exact != forms.exact for known in self._forms):
            self._forms = (*self._forms, forms)

    def redact(
        self, body: bytes, channel: Channel = Channel.STDIO, connection: int = 0
    ) -> tuple[bytes, tuple[Span, ...]]:
        """A copy without secrets, and where they stood. Never raises; without a secret in it the
        body itself is returned.

        ``connection`` matters for stderr, where a private key comes line by line.
        """
        named: list[Hit] = []
        if channel is Channel.PROCESS or (channel is Channel.SSE and body[:1] not in _JSON_BEGINS):
            # Our own word of a session's id, and the endpoint's URL of HTTP+SSE, which often holds one.
            named = list(session_hits(body) if channel is Channel.PROCESS else url_hits(body))
            self._learn(body, named)
        elif channel is Channel.AUTH:
            named = list(authorization_hits(body))
            self._learn(body, named, whole=True)
        return self._redact(body, channel, connection, named)

    def _redact(
        self, body: bytes, channel: Channel, connection: int, named: list[Hit]
    ) -> tuple[bytes, tuple[Span, ...]]:
        hits = [*self._hits(body), *named]
        for text, place in readings(body) if b"%" in body or b"\\u" in body else ():
            hits += [Hit(*place(hit.start, hit.end), hit.label) for hit in self._hits(text)]
        if channel is Channel.STDERR and (self._open_keys or b"PRIVATE KEY-----" in body):
            hits = self._with_key_lines(body, connection, hits)
        if not hits:
            return body, ()
        return self._replace(body, _merged(self._others(body, hits)), channel)

    def _hits(self, body: bytes) -> list[Hit]:
        """Everything that is secret in a text."""
        hits: list[Hit] = []
        named: list[Hit] = []
        if may_be_named(body):
            named = list(named_hits(body))
            self._learn(body, named, whole=True)
        # A few plain searches; one search for any of them would be slower.
        for forms in self._forms:
            hits += forms.hits(body)
        for secret, label in self._whole.items():
            if secret in body:
                hits += _whole_strings(body, secret, label)
        hits += named
        if may_hold_token(body):
            hits += tokens(body)
        for pattern in self._patterns:
            for match in pattern.finditer(body):
                start, end = match.span(1 if pattern.groups else 0)
                if end > start:
                    hits.append(Hit(start, end, "pattern"))
        return hits

    def _others(self, body: bytes, hits: list[Hit]) -> list[Hit]:
        """The hits that are not in placeholders of ours; what holds one takes all of it along."""
        if b"<redacted:" not in body:
            return hits
        ours = [found.span() for found in _PLACEHOLDER.finditer(body) if found[2] in self._labels]
        begins, ends = [begin for begin, _ in ours], [end for _, end in ours]
        kept: list[Hit] = []
        for start, end, label in hits:
            first, behind = bisect_right(ends, start), bisect_left(begins, end)
            if first == behind:
                kept.append(Hit(start, end, label))
            elif behind - first > 1 or start < begins[first] or end > ends[behind - 1]:
                kept.append(Hit(min(start, begins[first]), max(end, ends[behind - 1]), label))
        return kept

    def text(self, text: str) -> str:
        """The same for a text of ours that may hold a secret (a target, a fact)."""
        body = utf8(text)
        return from_utf8(self.redact(body, Channel.NOTE)[0])

    def _replace(self, body: bytes, hits: list[Hit], channel: Channel) -> tuple[bytes, tuple[Span, ...]]:
        document = (
            _Document(body) if channel in _PROTOCOL_CHANNELS and body.lstrip()[:1] in _JSON_BEGINS else None
        )
        parts: list[bytes] = []
        spans: list[Span] = []
        at = length = 0
        for start, end, label in hits:
            if document is not None:
                start, end = document.between_escapes(start, end)
                if start < at or document.must_keep(start, end):
                    continue
            placeholder = self._placeholder(body[start:end], label, in_json=document is not None)
            parts += (body[at:start], placeholder)
            length += start - at
            spans.append(Span(length, len(placeholder), end - start))
            length += len(placeholder)
            at = end
        if not spans:
            return body, ()
        parts.append(body[at:])
        return b"".join(parts), tuple(spans)

    def _placeholder(self, secret: bytes, label: str, *, in_json: bool) -> bytes:
        exact = self._exact.get(secret)
        if exact is None:
            exact = unescaped(secret) if in_json and b"\\" in secret else secret
        # Two threads can meet here. Each step is whole, so a number may be left out but none is given
        # twice, and one secret never has two. What was said of it first is said of it always.
        known = self._numbers.get(exact) or self._numbers.setdefault(exact, (next(self._next), label))
        number, label = known
        self._labels.add(label.encode())
        self.found[label] = self.found.get(label, 0) + 1
        return f"<redacted:{number} {label}>".encode()

    def _with_key_lines(self, line: bytes, connection: int, hits: list[Hit]) -> list[Hit]:
        """The lines of a private key on stderr: each frame holds only one of them."""
        begun = line.rfind(b"-----BEGIN ")
        if begun >= 0 and b"PRIVATE KEY-----" in line[begun:] and b"-----END " not in line[begun:]:
            self._open_keys[connection] = MAX_KEY_LINES
        elif connection in self._open_keys:
            self._open_keys[connection] -= 1
            if not _KEY_LINE.fullmatch(line) or not self._open_keys[connection]:
                del self._open_keys[connection]
            else:
                return [*hits, Hit(0, len(line.rstrip(b"\r")), "private key")]
        return hits


def _whole_strings(body: bytes, secret: bytes, label: str) -> list[Hit]:
    """Where a secret is a whole string of JSON, and not the name of a member."""
    hits: list[Hit] = []
    quoted = b'"%s"' % secret
    at = body.find(quoted)
    while at >= 0:
        end = at + len(quoted) - 1
        if not _MEMBER_FOLLOWS.match(body, end):
            hits.append(Hit(at + 1, end, label))
        at = body.find(quoted, end)
    return hits


def _merged(hits: list[Hit]) -> list[Hit]:
    """Hits in order, overlapping ones joined: no part of any secret stays. The longer one names it."""
    merged: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        before = merged[-1] if merged else None
        if before is None or hit.start >= before.end:
            merged.append(hit)
        elif hit.end > before.end:
            merged[-1] = Hit(before.start, hit.end, before.label)
    return merged


_STRING_PART = re.compile(rb'(?:[^"\\]|\\.)*+', re.DOTALL)


class _Document:
    """A body that is JSON, or begins like it; asked for places that never shrink."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._walk = Walk(body)
        self._valid: bool | None = None

    def between_escapes(self, start: int, end: int) -> tuple[int, int]:
        """A place that begins and ends with no half of an escape."""
        body = self._body
        if body[start - 1 : start] == b"\\" and _backslashes(body, start) % 2:
            start -= 1
        if body[end - 1 : end] == b"\\" and _backslashes(body, end) % 2:
            end = min(end + 1, len(body))
        return start, end

    def must_keep(self, start: int, end: int) -> bool:
        """Whether nothing may be replaced there: outside a string (a number would change its type), over
        the end of one, or in a member that the protocol lives on."""
        body = self._body
        inside = self._walk.at(start)
        # What begins with the quote itself is not in the string yet.
        if not inside.string or _STRING_PART.fullmatch(body, start, end) is None:
            return self._is_valid()
        quote = body.rfind(b'"', max(0, start - _STRING_BYTES), start)
        if quote < 0 or not _MAYBE_PROTECTED.search(body, max(0, quote - _NAME_BYTES), quote + 1):
            return False
        path = inside.path
        if not path:
            return False
        if path[-1] in ENVELOPE_MEMBERS:
            return len(path) == 1
        return path[-1] in PROTOCOL_MEMBERS and FREE_MEMBERS.isdisjoint(path)

    def _is_valid(self) -> bool:
        if self._valid is None:
            try:
                loads(self._body)
                self._valid = True
            except (ValueError, RecursionError):
                self._valid = False
        return self._valid


def _backslashes(body: bytes, end: int) -> int:
    """How many backslashes stand before a place."""
    head = body[max(0, end - 64) : end]
    return len(head) - len(head.rstrip(b"\\"))
