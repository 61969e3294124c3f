"""Secrets out, placeholders in.

A recording is made to be kept and shared, so what looks like a secret never
gets into one, unless the user switches redaction off. Two kinds of rules find
secrets: values that were given for a target (``add_secret``), which are looked
for as they are, JSON-escaped and percent-encoded; and the usual shapes of
tokens (``SHAPES``).

A placeholder, ``<redacted:1 env TOKEN>``, keeps what replay needs: it stands
inside the string the secret stood in, so no JSON type changes, and the same
secret has the same number throughout a recording. It never covers a member the
protocol itself lives on (``PROTOCOL_MEMBERS``).

Part of the light path: standard library only. One search decides for nearly
every body that there is nothing to do.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from workbench.core.frame import Span

#: A value given for a target is a secret from this length on (characters) ...
MIN_SECRET = 8

#: ... when its name has one of these parts, or its value one of the shapes.
SECRET_NAME = re.compile(
    r"(?i)token|secret|passw|passphrase|credential|auth|cookie|session[_-]?id|private"
    r"|(?<![a-z])pat(?![a-z])|(?<![a-z])dsn(?![a-z])|(?:api|access|secret|private|signing|encryption)[_-]?key"
    r"|(?<![a-z])key(?![a-z])|apikey|bearer"
)

#: Strings under these members carry the protocol itself and are never touched.
PROTOCOL_MEMBERS = (
    "jsonrpc",
    "id",
    "method",
    "requestId",
    "progressToken",
    "cursor",
    "nextCursor",
    "requestState",
    "taskId",
    "elicitationId",
    "protocolVersion",
)


class Shape(NamedTuple):
    """A kind of token known by its looks.

    ``literals`` are byte strings of which one stands in every such token: plain searches for
    them decide for nearly every body that there is nothing to do. ``example`` is no real secret.
    """

    name: str
    literals: tuple[bytes, ...]
    pattern: str
    example: str


_EDGE = r"(?<![A-Za-z0-9_-])"

#: Token shapes; where two match at one place, the longer match counts.
SHAPES = (
    Shape(
        "github token",
        (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"),
        _EDGE + r"gh[pousr]_[A-Za-z0-9]{30,255}",
        "ghp_" + "a1B2" * 9,
    ),
    Shape(
        "github token",
        (b"github_pat_",),
        _EDGE + r"github_pat_[A-Za-z0-9_]{22,255}",
        "github_pat_" + "a1B2" * 8,
    ),
    Shape("gitlab token", (b"glpat-",), _EDGE + r"glpat-[A-Za-z0-9_-]{20,}", "glpat-" + "a1B2" * 5),
    Shape("anthropic key", (b"sk-ant-",), _EDGE + r"sk-ant-[A-Za-z0-9_-]{20,}", "sk-ant-" + "a1B2" * 8),
    Shape(
        "openai key",
        (b"sk-",),
        _EDGE + r"sk-(?!ant-)(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{20,}",
        "sk-proj-" + "a1B2" * 8,
    ),
    Shape("slack token", (b"xox",), _EDGE + r"xox[abeoprs]-[A-Za-z0-9-]{10,}", "xoxb-" + "1234567890-" * 3),
    Shape(
        "aws key id", (b"AKIA", b"ASIA"), _EDGE + r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])", "AKIA" + "A1B2" * 4
    ),
    Shape("google key", (b"AIza",), _EDGE + r"AIza[A-Za-z0-9_-]{35}", "AIza" + "a1B2c" * 7),
    Shape(
        "stripe key",
        (b"k_live_", b"k_test_"),
        _EDGE + r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
        "sk_live_" + "a1B2" * 6,
    ),
    Shape("npm token", (b"npm_",), _EDGE + r"npm_[A-Za-z0-9]{36}", "npm_" + "a1B2" * 9),
    Shape("pypi token", (b"pypi-",), _EDGE + r"pypi-[A-Za-z0-9_-]{50,}", "pypi-" + "a1B2" * 13),
    Shape("hugging face token", (b"hf_",), _EDGE + r"hf_[A-Za-z0-9]{30,}", "hf_" + "a1B2" * 9),
    Shape(
        "jwt",
        (b"eyJ",),
        _EDGE + r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlMTIz",
    ),
    Shape(
        "private key",
        (b"PRIVATE KEY-----",),
        r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^-]{16,16384}-----END [A-Z ]{0,20}PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----" + "a1B2" * 8 + "-----END PRIVATE KEY-----",
    ),
    Shape(
        "bearer token",
        (b"Bearer ", b"bearer "),
        r"(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{16,}",
        "Bearer " + "a1B2" * 6,
    ),
)

_NEEDLES = tuple((literal, shape) for shape in SHAPES for literal in shape.literals)
_NUMBER = re.compile(rb"[0-9.eE+-]+")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PLACEHOLDER = re.compile(rb"<redacted:\d+ [^<>\"\\]{1,80}>")
_PROTOCOL_BEFORE = re.compile(
    rb'"(?:' + b"|".join(name.encode() for name in PROTOCOL_MEMBERS) + rb')"\s*:\s*"$'
)


def looks_secret(name: str, value: str) -> bool:
    """Whether a value given under this name is to be kept out of recordings."""
    if len(value) < MIN_SECRET:
        return False
    if SECRET_NAME.search(name):
        return True
    return bool(_shapes(value.encode("utf-8", "surrogateescape")))


class Redactor:
    """Replaces secrets by placeholders; one for each recording, used in one thread at a time.

    ``found`` counts what was replaced, by the placeholder's label (``env TOKEN``, ``jwt``).
    """

    def __init__(self) -> None:
        self._labels: dict[bytes, str] = {}
        self._numbers: dict[bytes, int] = {}
        self._canonical: dict[bytes, bytes] = {}
        self._literals: re.Pattern[bytes] | None = None
        self.found: dict[str, int] = {}

    def add_secret(self, name: str, value: str, where: str = "env") -> bool:
        """Look out for a value given for a target; False when nothing about it looks secret."""
        if not looks_secret(name, value):
            return False
        exact = value.encode("utf-8", "surrogateescape")
        forms = {exact}
        for ascii_only in (False, True):
            text = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
            forms.add(text.encode("utf-8", "surrogateescape"))
            forms.add(text.replace("/", "\\/").encode("utf-8", "surrogateescape"))
        forms.add(_percent(exact))
        label = f"{where} {re.sub(r'[^A-Za-z0-9_.-]', '_', name)[:60]}"
        for form in forms:
            self._labels[form] = label
            self._canonical[form] = exact
        longest_first = sorted(self._labels, key=len, reverse=True)
        self._literals = re.compile(b"|".join(map(re.escape, longest_first)))
        return True

    def redact(self, body: bytes) -> tuple[bytes, tuple[Span, ...]]:
        """A copy without secrets, and where they stood. Never raises; without a secret in it the
        body itself is returned."""
        hits = self._hits(body)
        if not hits:
            return body, ()
        parts: list[bytes] = []
        spans: list[Span] = []
        at = length = 0
        for start, end, label in hits:
            placeholder = self._placeholder(body[start:end], label)
            parts += (body[at:start], placeholder)
            length += start - at
            spans.append(Span(length, len(placeholder), end - start))
            length += len(placeholder)
            at = end
        parts.append(body[at:])
        return b"".join(parts), tuple(spans)

    def text(self, text: str) -> str:
        """The same for a text of ours that may hold a secret (a target, a fact)."""
        return self.redact(text.encode("utf-8", "surrogateescape"))[0].decode("utf-8", "surrogateescape")

    def _hits(self, body: bytes) -> list[tuple[int, int, str]]:
        found: list[tuple[int, int, str]] = []
        if self._literals is not None:
            found += [
                (match.start(), match.end(), self._labels[match[0]])
                for match in self._literals.finditer(body)
            ]
        found += _shapes(body)
        if not found:
            return found
        kept: list[tuple[int, int, str]] = []
        end = 0
        for hit in sorted(found, key=lambda hit: (hit[0], -hit[1])):
            if hit[0] >= end and not self._protected(body, hit[0]) and not _is_bare(body, *hit[:2]):
                kept.append(hit)
                end = hit[1]
        return kept

    def _protected(self, body: bytes, start: int) -> bool:
        quote = body.rfind(b'"', max(0, start - 4096), start)
        return quote >= 0 and bool(_PROTOCOL_BEFORE.search(body, max(0, quote - 64), quote + 1))

    def _placeholder(self, secret: bytes, label: str) -> bytes:
        exact = self._canonical.get(secret, secret)
        number = self._numbers.setdefault(exact, len(self._numbers) + 1)
        self.found[label] = self.found.get(label, 0) + 1
        return f"<redacted:{number} {label}>".encode()


def _is_bare(body: bytes, start: int, end: int) -> bool:
    """Whether what looks like a secret is a JSON number (or part of one): that keeps its type."""
    if body[:1] not in (b"{", b"[") or not _NUMBER.fullmatch(body, start, end):
        return False
    return not any(string.start() < start and end < string.end() for string in _STRING.finditer(body))


def _shapes(body: bytes) -> list[tuple[int, int, str]]:
    # re.finditer compiles a pattern when it is first needed, and remembers it.
    return [
        (match.start(), match.end(), shape.name)
        for literal, shape in _NEEDLES
        if literal in body
        for match in re.finditer(shape.pattern.encode(), body)
    ]


def placeholders(body: bytes) -> list[bytes]:
    """The placeholders in a stored body, in order."""
    return _PLACEHOLDER.findall(body)


def _percent(value: bytes) -> bytes:
    safe = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    return b"".join(bytes((byte,)) if byte in safe else b"%%%02X" % byte for byte in value)
