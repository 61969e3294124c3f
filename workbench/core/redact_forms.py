"""How a secret may be spelled: escaped for JSON or a shell, percent-encoded, in base64.

What a known value looks like in these is made once (``forms_of``). Spellings that
have no end (any letter of a JSON string may be ``\\uXXXX``, any byte of a URL
``%XX``) are read instead: ``readings`` are a body as it is meant, with the way back
to the bytes that stand there.

Part of the light path: standard library only.
"""

from __future__ import annotations

import binascii
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import NamedTuple

from workbench.core.shapes import Hit

#: As much of base64 around a secret goes with it (bytes).
_AROUND = 8192

_UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_RUN = re.compile(rb"[A-Za-z0-9]+")
_BASE64_AFTER = re.compile(rb"(?:[A-Za-z0-9+/_-]|\\/)*={0,2}")
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"

#: ASCII written as an escape, which few encoders do, and nobody must.
_ESCAPED_ASCII = re.compile(rb"\\u00[2-7][0-9A-Fa-f]")
_ESCAPE = re.compile(rb"\\+u[dD][89abAB][0-9A-Fa-f]{2}\\+u[dD][c-fC-F][0-9A-Fa-f]{2}|\\+u[0-9A-Fa-f]{4}|\\+/")
_PERCENT = re.compile(rb"%[0-9A-Fa-f]{2}")


class Forms(NamedTuple):
    """A known secret. ``core`` is a part that every spelling but base64 holds; ``same`` are those that
    stand for the very same string, ``others`` for another one; ``coded`` are parts of its base64."""

    label: str
    exact: bytes
    core: bytes
    same: tuple[bytes, ...]
    others: tuple[bytes, ...]
    coded: tuple[bytes, ...]

    def hits(self, body: bytes) -> Iterator[Hit]:
        if self.core in body:
            for form in (*self.same, *self.others):
                for start in _places(body, form):
                    yield Hit(start, start + len(form), self.label)
        for part in self.coded:
            if part in body:
                for start in _places(body, part):
                    yield Hit(*_coded_run(body, start, start + len(part)), f"{self.label} in base64")


def utf8(text: str) -> bytes:
    """The bytes of a text: stray bytes are themselves again, and halves of characters, which a peer may
    write as an escape and no UTF-8 has, are written as if it had them."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def from_utf8(body: bytes) -> str:
    """The text of ``utf8``."""
    try:
        return body.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return body.decode("utf-8", "surrogateescape")


def forms_of(value: str, label: str) -> Forms:
    """How a value can stand in a body."""
    exact = utf8(value)
    once = {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (False, True)}
    # A shell's quoting is ours, in the command line of a target.
    same = {
        exact,
        *(utf8(text) for text in (value.replace("'", "'\"'\"'"), *once)),
    }
    same |= {form.replace(b"/", b"\\/") for form in same}
    twice = {json.dumps(text, ensure_ascii=ascii_only)[1:-1] for text in once for ascii_only in (False, True)}
    percent = _percent(exact)
    others = {utf8(text) for text in twice}
    others |= {
        percent,
        re.sub(rb"%..", lambda found: found[0].lower(), percent),
        percent.replace(b"%20", b"+"),
    }
    longest = max(_RUN.findall(exact), key=len, default=b"")
    return Forms(label, exact, longest, tuple(sorted(same)), tuple(sorted(others - same)), _coded(exact))


def readings(body: bytes) -> Iterator[tuple[bytes, Callable[[int, int], tuple[int, int]]]]:
    """A body as it is meant where it is written with escapes that need not be: its text, and what gives
    the place in the body (bytes) of a place in it."""
    if b"\\u" in body and _ESCAPED_ASCII.search(body):
        yield _read(body, _ESCAPE, _unescaped)
    if b"%" in body and _PERCENT.search(body):
        yield _read(body, _PERCENT, lambda text: bytes((int(text[1:], 16),)))


def unescaped(text: bytes) -> bytes:
    """What a piece of a JSON string stands for; the piece itself if it is none."""
    try:
        return str(json.loads(b'"' + text + b'"', strict=False)).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return text


def _read(
    body: bytes, escape: re.Pattern[bytes], meant: Callable[[bytes], bytes]
) -> tuple[bytes, Callable[[int, int], tuple[int, int]]]:
    parts: list[bytes] = []
    #: Where each part begins in the body, and how long what stands for it is.
    starts: list[int] = []
    at = 0
    for match in escape.finditer(body):
        # An odd backslash begins the escape, those before it are pairs; two are an escape of JSON in JSON.
        backslashes = len(match[0]) - len(match[0].lstrip(b"\\"))
        begin = match.start() + max(0, (backslashes - 1) // 2 * 2)
        parts += (body[at:begin], meant(body[begin : match.end()]))
        starts += (at, begin)
        at = match.end()
    parts.append(body[at:])
    starts += (at, len(body))
    begins = [0, *accumulate(map(len, parts))]

    def place(start: int, end: int) -> tuple[int, int]:
        # Even parts stand as they are, odd ones are escapes and go as a whole.
        first, last = bisect_right(begins, start) - 1, bisect_right(begins, end - 1) - 1
        left = starts[first] + (start - begins[first] if first % 2 == 0 else 0)
        right = starts[last] + (end - begins[last]) if last % 2 == 0 else starts[last + 1]
        return left, right

    return b"".join(parts), place


def _unescaped(text: bytes) -> bytes:
    if text.endswith(b"/"):
        return b"/"
    letters = "".join(chr(int(digits, 16)) for digits in re.findall(rb"u([0-9A-Fa-f]{4})", text))
    whole = letters.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")
    # A quote stays one of the text, so that no pattern takes it for the end of the string.
    return text if whole in '"\\' else whole.encode()


def _coded(exact: bytes) -> tuple[bytes, ...]:
    """The parts of the base64 of a value that what stands around it does not change, each of the three
    ways it can be aligned; of each the longest run without ``+`` and ``/``, which are spelled in two ways."""
    found: set[bytes] = set()
    for before in range(3):
        text = binascii.b2a_base64(b"\0" * before + exact, newline=False).rstrip(b"=")
        whole = (before + len(exact)) * 8 // 6
        part = max(_RUN.findall(text[(before * 8 + 5) // 6 : whole]), key=len, default=b"")
        # A short one would be found in any picture.
        if len(part) >= 8:
            found.add(part)
    return tuple(sorted(found))


def _coded_run(body: bytes, start: int, end: int) -> tuple[int, int]:
    after = _BASE64_AFTER.match(body, end, end + _AROUND)
    before = body[max(0, start - _AROUND) : start]
    rest = before.rstrip(_BASE64)
    while rest.endswith(b"\\") and before[len(rest) : len(rest) + 1] == b"/":
        rest = rest[:-1].rstrip(_BASE64)
    return start - (len(before) - len(rest)), after.end() if after else end


def _places(body: bytes, form: bytes) -> Iterator[int]:
    at = body.find(form)
    while at >= 0:
        yield at
        at = body.find(form, at + len(form))


def _percent(value: bytes) -> bytes:
    return b"".join(bytes((byte,)) if byte in _UNRESERVED else b"%%%02X" % byte for byte in value)
