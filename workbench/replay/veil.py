"""Placeholders of redaction on the way out and on the way back: none is sent, each equals a secret.

A placeholder in what the client sent is filled with the secret given for its
number, or with the one that the live server gave where the recording has the same
number. A placeholder in what the server sent equals whatever the redactor would
replace at that place now, as long as one number is one secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from workbench.core.frame import Frame, Span
from workbench.core.jsonrpc import leaves, loads
from workbench.core.redact import Redactor
from workbench.replay.turns import ClientScript

_PLACEHOLDER = re.compile(r"<redacted:(\d+) [^<>\"\\]{1,80}>")
_IN_BODY = re.compile(_PLACEHOLDER.pattern.encode())


class Needed(NamedTuple):
    """A secret that the client sent and no answer before it had: the placeholder, its number and place."""

    number: str
    placeholder: str
    seq: int
    pointer: str


class Veil:
    """Which secrets the numbers of a recording stand for. ``given`` are those the user gave, by number;
    ``redactor`` knows them and the target's own from now on."""

    def __init__(self, redactor: Redactor, given: Mapping[str, str] | None = None) -> None:
        self._redactor = redactor
        self._secrets: dict[str, str] = {}
        #: Numbers of the recording, and those of the redactor for the same secrets.
        self._same: dict[str, str] = {}
        for number, secret in (given or {}).items():
            redactor.add_secret(f"secret {number}", secret)
            found = _PLACEHOLDER.search(redactor.text(secret))
            self._secrets[number] = secret
            if found:
                self._same[number] = found[1]

    def shown(self, text: bytes) -> bytes:
        """A live body without its secrets, under the redactor's own numbers."""
        return self._redactor.redact(text)[0]

    def fits(self, recorded: str, shown: Any) -> bool:
        """Whether a live string (as ``shown``) has secrets exactly where the recorded one has."""
        if not isinstance(shown, str):
            return False
        was, now = _PLACEHOLDER.split(recorded), _PLACEHOLDER.split(shown)
        if was[::2] != now[::2]:
            return False
        for number, live in zip(was[1::2], now[1::2], strict=True):
            if self._same.setdefault(number, live) != live:
                return False
            secret = self._redactor.behind(int(live))
            if secret is not None:
                self._secrets.setdefault(number, secret)
        return True

    def filled(self, body: bytes) -> bytes | None:
        """A body with secrets in place of its placeholders; ``None`` if one of them is not known."""
        if any(found[1].decode() not in self._secrets for found in _IN_BODY.finditer(body)):
            return None
        return with_secrets(body, self._secrets)

    def stored(self, body: bytes, taken: int) -> tuple[bytes, tuple[Span, ...]]:
        """A live body as the recording holds it, and where its placeholders stand. A secret that the
        recording knows has its number there, others get numbers after ``taken``."""
        shown, spans = self._redactor.redact(body)
        back = {live: number for number, live in self._same.items()}
        parts: list[bytes] = []
        kept: list[Span] = []
        at = length = 0
        for span in spans:
            end = span.offset + span.length
            placeholder = shown[span.offset : end]
            found = _IN_BODY.fullmatch(placeholder)
            live = found[1].decode() if found else "0"
            number = back.get(live, str(taken + int(live)))
            placeholder = placeholder.replace(live.encode(), number.encode(), 1)
            parts += (shown[at : span.offset], placeholder)
            length += span.offset - at
            kept.append(Span(length, len(placeholder), span.wire))
            length += len(placeholder)
            at = end
        return b"".join((*parts, shown[at:])), tuple(kept)


def needed(script: ClientScript, given: Mapping[str, str]) -> list[Needed]:
    """The secrets without which not everything can be sent, each once, in order."""
    taught: dict[str, int] = {}
    for request in script.requests.values():
        if request.answer is not None and request.answer_seq is not None:
            for member in ("result", "error"):
                _teach(taught, request.answer.value(member), request.answer_seq)
    for query in script.queries.values():
        _teach(taught, query.params, query.seq)
    found: dict[str, Needed] = {}
    for seq, body in script.said():
        for each in _IN_BODY.finditer(body):
            number = each[1].decode()
            if number in given or taught.get(number, seq) < seq:
                continue
            placeholder = each[0].decode()
            found.setdefault(number, Needed(number, placeholder, seq, _pointer(body, placeholder)))
    return list(found.values())


def placeholders(frames: Iterable[Frame]) -> set[str]:
    """The numbers of all placeholders in some frames."""
    return {found[1].decode() for frame in frames for found in _IN_BODY.finditer(frame.body)}


def with_secrets(body: bytes, secrets: Mapping[str, str]) -> bytes:
    """A body with secrets in place of the placeholders of their numbers."""
    if not secrets or b"<redacted:" not in body:
        return body

    def put(found: re.Match[bytes]) -> bytes:
        secret = secrets.get(found[1].decode())
        return found[0] if secret is None else _in_json(secret)

    return _IN_BODY.sub(put, body)


def highest(text: bytes) -> int:
    """The highest number of a placeholder in a text, 0 for none."""
    return max((int(found[1]) for found in _IN_BODY.finditer(text)), default=0)


def _teach(taught: dict[str, int], value: Any, seq: int) -> None:
    for leaf in leaves(value):
        if isinstance(leaf, str) and "<redacted:" in leaf:
            for number in _PLACEHOLDER.findall(leaf):
                taught[number] = min(seq, taught.get(number, seq))


def _pointer(body: bytes, placeholder: str) -> str:
    try:
        value = loads(body)
    except (ValueError, RecursionError):
        return ""
    return next((path for path, leaf in _paths(value) if isinstance(leaf, str) and placeholder in leaf), "")


def _paths(value: Any) -> Iterator[tuple[str, Any]]:
    stack = [("", value)]
    while stack:
        path, each = stack.pop()
        if isinstance(each, dict):
            stack += [(f"{path}/{key}", item) for key, item in each.items()]
        elif isinstance(each, list):
            stack += [(f"{path}/{place}", item) for place, item in enumerate(each)]
        else:
            yield path, each


def _in_json(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogateescape")
