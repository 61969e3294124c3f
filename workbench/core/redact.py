"""Secrets out, placeholders in.

A recording is made to be kept and shared, so what looks like a secret never
gets into one, unless the user switches redaction off. Two kinds of rules find
secrets: values that were given for a target (``add_secret``), which are looked
for as they are, JSON-escaped and percent-encoded; and the usual shapes of
tokens (``core.shapes``).

A placeholder, ``<redacted:1 env TOKEN>``, keeps what replay needs: it stands
inside the string the secret stood in, so no JSON type changes, and the same
secret has the same number throughout a recording. Members that the protocol
itself lives on (ids, cursors, progress tokens) are never touched.

Part of the light path: standard library only. One search decides for nearly
every body that there is nothing to do.
"""

from __future__ import annotations

import json
import re
from itertools import count

from workbench.core.credentials import is_secret_name
from workbench.core.frame import Channel, Span
from workbench.core.heads import header_hits, label_of, session_hits, url_hits
from workbench.core.places import Walk
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

#: A secret of these characters only could be a number of a JSON document.
_NUMBER = re.compile(rb"[0-9+.eE-]+")

#: A secret that a peer chose is looked for in bodies only if it looks like no word of a message, and
#: only so many of them are: each costs a search in every body.
_DISTINCT = re.compile(rb"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9+/=_.~:-]{16,4096}")
MAX_LEARNED = 64

#: A private key that is printed arrives line by line; more lines than this are none.
MAX_KEY_LINES = 200

_KEY_LINE = re.compile(rb"[A-Za-z0-9+/=]{1,128}\r?")
_PLACEHOLDER = re.compile(rb"<redacted:\d+ [^<>\"\\]{1,80}>")


def looks_secret(name: str, value: str) -> bool:
    """Whether a value given under this name is to be kept out of recordings."""
    if len(value) < MIN_SECRET:
        return False
    return is_secret_name(name) or next(tokens(value.encode("utf-8", "surrogateescape")), None) is not None


def placeholders(body: bytes) -> list[bytes]:
    """The placeholders in a stored body, in order."""
    return _PLACEHOLDER.findall(body)


class Redactor:
    """Replaces secrets by placeholders, one for each recording. Several threads may use it.

    ``found`` counts what was replaced, by the placeholder's label (``env TOKEN``, ``jwt``).
    """

    def __init__(self) -> None:
        self.found: dict[str, int] = {}
        self._forms: tuple[tuple[bytes, str], ...] = ()
        self._exact: dict[bytes, bytes] = {}
        self._numbers: dict[bytes, int] = {}
        self._next = count(1)
        self._open_keys: dict[int, int] = {}
        self._learned = 0

    @property
    def known(self) -> int:
        """How many secrets are looked for, in all their forms: what was clean before one more was
        known may not be so now."""
        return len(self._forms)

    def add_secret(self, name: str, value: str, where: str = "env") -> bool:
        """Look out for a value given for a target; False when nothing about it looks secret."""
        if not looks_secret(name, value):
            return False
        self._look_out(value, label_of(where, name))
        return True

    def behind(self, number: int) -> str | None:
        """The secret that a placeholder of this redactor stands for, ``None`` for none of its own."""
        for secret, known in list(self._numbers.items()):
            if known == number:
                return secret.decode("utf-8", "surrogateescape")
        return None

    def header(self, name: str, value: str) -> str:
        """The value of an HTTP header without the secrets in it."""
        body = value.encode("utf-8", "surrogateescape")
        return self._named(body, list(header_hits(name, body)))

    def url(self, url: str) -> str:
        """A URL without the secrets in its query and before its host."""
        body = url.encode("utf-8", "surrogateescape")
        return self._named(body, list(url_hits(body)))

    def _named(self, body: bytes, hits: list[Hit]) -> str:
        self._learn(body, hits)
        return self._redact(body, Channel.NOTE, 0, hits)[0].decode("utf-8", "surrogateescape")

    def _learn(self, body: bytes, hits: list[Hit]) -> None:
        """What was found by its name is looked for in every body from now on."""
        for hit in hits:
            secret = body[hit.start : hit.end]
            if secret not in self._exact and self._learned < MAX_LEARNED and _DISTINCT.fullmatch(secret):
                self._learned += 1
                self._look_out(secret.decode(), hit.label)

    def _look_out(self, value: str, label: str) -> None:
        exact = value.encode("utf-8", "surrogateescape")
        known = dict(self._forms)
        for form in _forms(value):
            known.setdefault(form, label)
            self._exact.setdefault(form, exact)
        self._forms = tuple(known.items())

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
        return self._redact(body, channel, connection, named)

    def _redact(
        self, body: bytes, channel: Channel, connection: int, named: list[Hit]
    ) -> tuple[bytes, tuple[Span, ...]]:
        # A few plain searches; one search for any of them would be slower.
        hits = [hit for form, label in self._forms if form in body for hit in _every(body, form, label)]
        hits += named
        if may_hold_token(body):
            hits += tokens(body)
        if channel is Channel.STDERR and (self._open_keys or b"PRIVATE KEY-----" in body):
            hits = self._with_key_lines(body, connection, hits)
        if not hits:
            return body, ()
        return self._replace(body, _merged(hits), channel)

    def text(self, text: str) -> str:
        """The same for a text of ours that may hold a secret (a target, a fact)."""
        body = text.encode("utf-8", "surrogateescape")
        return self.redact(body, Channel.NOTE)[0].decode("utf-8", "surrogateescape")

    def _replace(self, body: bytes, hits: list[Hit], channel: Channel) -> tuple[bytes, tuple[Span, ...]]:
        walk = Walk(body) if channel in _PROTOCOL_CHANNELS and body.lstrip()[:1] in (b"{", b"[") else None
        parts: list[bytes] = []
        spans: list[Span] = []
        at = length = 0
        for start, end, label in hits:
            if walk is not None and _must_stay(body, walk, start, end):
                continue
            placeholder = self._placeholder(body[start:end], label)
            parts += (body[at:start], placeholder)
            length += start - at
            spans.append(Span(length, len(placeholder), end - start))
            length += len(placeholder)
            at = end
        if not spans:
            return body, ()
        parts.append(body[at:])
        return b"".join(parts), tuple(spans)

    def _placeholder(self, secret: bytes, label: str) -> bytes:
        exact = self._exact.get(secret, secret)
        # Two threads can meet here. Each step is whole, so a number may be left out but none is given
        # twice, and one secret never has two.
        number = self._numbers.get(exact) or self._numbers.setdefault(exact, next(self._next))
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


def _forms(value: str) -> set[bytes]:
    """How a value can stand in a body: as it is, quoted for a shell, in a JSON string (and in one
    inside another), in a URL."""
    exact = value.encode("utf-8", "surrogateescape")
    texts = {value, value.replace("'", "'\"'\"'")}
    for ascii_only in (False, True):
        once = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        texts |= {once, once.replace("/", "\\/"), json.dumps(once, ensure_ascii=ascii_only)[1:-1]}
    forms = {text.encode("utf-8", "surrogateescape") for text in texts}
    percent = _percent(exact)
    return forms | {exact, percent, re.sub(rb"%..", lambda found: found[0].lower(), percent)}


_UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"


def _percent(value: bytes) -> bytes:
    return b"".join(bytes((byte,)) if byte in _UNRESERVED else b"%%%02X" % byte for byte in value)


def _every(body: bytes, form: bytes, label: str) -> list[Hit]:
    hits: list[Hit] = []
    at = body.find(form)
    while at >= 0:
        hits.append(Hit(at, at + len(form), label))
        at = body.find(form, at + len(form))
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


def _must_stay(body: bytes, walk: Walk, start: int, end: int) -> bool:
    """Whether a hit stands where nothing may be replaced: outside a string (a number would change
    its type), or in a member that the protocol lives on."""
    if _NUMBER.fullmatch(body, start, end) and not walk.at(start).string:
        return True
    quote = body.rfind(b'"', max(0, start - _STRING_BYTES), start)
    if quote < 0 or not _MAYBE_PROTECTED.search(body, max(0, quote - _NAME_BYTES), quote + 1):
        return False
    path = walk.at(start).path
    if not path:
        return False
    if path[-1] in ENVELOPE_MEMBERS:
        return len(path) == 1
    return path[-1] in PROTOCOL_MEMBERS and FREE_MEMBERS.isdisjoint(path)
