"""Secrets in bodies that are known by the name they stand under.

``"password":"…"`` in a message, ``API_KEY=…`` on stderr, ``?api_key=…`` in a
text, and the same in JSON that is itself a string. A name is no proof, so a value
has to look like a secret too, and what only sounds alike (``nextPageToken``,
``token_type``, ``${TOKEN}``, the protocol's own words) stays.

Part of the light path: standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.core.heads import label_of
from workbench.core.methods import METHODS
from workbench.core.shapes import Hit

#: Names whose values are secrets even when they are plain words ...
_WORDED = r"passw(?:or)?ds?|passwd|passphrase|client[-_]?secret|secret[-_]?(?:access[-_]?)?key"
#: ... and those whose values are secrets when they look like it.
_RANDOM = (
    r"secret|(?:api|access|auth|account|private|signing|encryption|subscription|session)[-_]?key|apikey"
    r"|token|authorization|cookie"
)
#: Before a name's last word stands what it is of, but not what makes it another thing.
_BEFORE = rb"[A-Za-z0-9_.-]{0,40}?"
_NAME = _BEFORE + b"(?:" + f"{_WORDED}|{_RANDOM}".encode() + b")"
_OTHER = re.compile(
    rb"(?:page|next|continuation|continue|sync|cursor|progress|max|min|num|count|csrf-?free|stop|eos|pad|mask|total)"
    rb"[-_]?tokens?$",
    re.IGNORECASE,
)
_ASKED = re.compile(rb"(?:no|is|has|use|needs|requires|show)[-_A-Z]")
_IS_WORDED = re.compile(rb"(?:" + _WORDED.encode() + rb")$", re.IGNORECASE)

#: A member of a JSON document, or of one that is a string in another.
_MEMBER = re.compile(
    rb'(?i:(\\{0,7})"(' + _NAME + rb'))\1"\s{0,4}:\s{0,4}\1"((?:(?!\1")(?:[^"\\]|\\.)){8,4096})\1"', re.DOTALL
)
#: An assignment in a text, a header, a parameter of a URL.
_ASSIGNED = re.compile(
    rb"(?<![A-Za-z0-9.-])(?i:(" + _NAME + rb"))(?:\s{0,2}:\s{0,2}|\s?=\s?)(?:(?:Bearer|Basic|Token)\s{1,2})?"
    rb"(?:\\{0,3}['\"])?([^\s\"'\\,;&<>{}\[\]()]{8,4096})"
)
#: An option of a command line, as one text or as a list.
_OPTION = re.compile(
    rb"--((?i:"
    + _NAME
    + rb"))(?:\s{1,2}['\"]?|\",\s?\")([^\s\"'\\,;&<>{}\[\]()-][^\s\"'\\,;&<>{}\[\]()]{7,4096})"
)

_SIMPLE = re.compile(rb"[A-Za-z]+|[a-z_ /-]+|[A-Z_ /-]+|[0-9.:-]+")
_DIGIT = re.compile(rb"[0-9]")
_LETTER = re.compile(rb"[A-Za-z]")
_STANDS_FOR = re.compile(rb"\$\{?|\{\{|%[A-Za-z_]+%|<|env:|\*{3}|[xX.]{4,}|(.)\1*$")
_PLACEHOLDER = re.compile(rb"<redacted:\d+ [^<>\"\\]{1,80}>")

#: Words of the protocol that could stand anywhere.
_PROTOCOL_WORDS = frozenset(
    (
        *METHODS,
        *("assistant", "resource", "resource_link", "cancelled", "completed", "input_required", "emergency"),
        *(
            "critical",
            "progress",
            "sampling",
            "elicitation",
            "completion",
            "required",
            "optional",
            "password",
        ),
        *("disabled", "redacted", "text/plain", "application/json", "image/png", "progressToken"),
    )
)
_WORDS = frozenset(word.encode() for word in _PROTOCOL_WORDS)


def may_be_named(body: bytes) -> bool:
    """False for a body in which no name of a secret stands; the cheap answer nearly always given."""
    low = body.lower()
    if b"pass" in low or b"secret" in low or (b"z" in low and b"authoriz" in low):
        return True
    # A search for one letter costs next to nothing.
    if b"k" not in low:
        return False
    if b"key" in low or b"cookie" in low:
        return True
    return b"token" in low and low.count(b"token") > low.count(b"progresstoken") + low.count(b"maxtokens")


def named_hits(body: bytes) -> Iterator[Hit]:
    """The secrets in a body that stand under a telling name; places may overlap."""
    for match in _MEMBER.finditer(body):
        if _is_secret(match[2], match[3], spaces=True):
            yield Hit(*match.span(3), label_of("member", match[2].decode("ascii", "replace")))
    for match in (*_ASSIGNED.finditer(body), *_OPTION.finditer(body)):
        if _is_secret(match[1], match[2], spaces=False):
            yield Hit(*match.span(2), label_of("named", match[1].decode("ascii", "replace")))


def is_plain_word(value: bytes) -> bool:
    """Whether a value is one of the words that messages are made of, so that it could stand anywhere."""
    return value in _WORDS


def _is_secret(name: bytes, value: bytes, *, spaces: bool) -> bool:
    value = _PLACEHOLDER.sub(b"", value)
    if (
        len(value) < 8
        or _OTHER.search(name)
        or _ASKED.match(name)
        or value in _WORDS
        or _STANDS_FOR.match(value)
    ):
        return False
    if b" " in value:
        # A sentence about a password, unless a pass phrase.
        return spaces and name.lower().endswith(b"passphrase")
    if _IS_WORDED.search(name):
        # An assignment in prose ("password: required") is one only if it looks like it.
        return spaces or name.isupper() or _SIMPLE.fullmatch(value) is None
    if _DIGIT.search(value) is None or _LETTER.search(value) is None:
        return False
    return not name.lower().endswith((b"token", b"cookie")) or len(value) >= 12
