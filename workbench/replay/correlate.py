"""Values that the server half was given and used later: the live one is put where the recorded one stood.

With exact matching the arguments of a live call are the recorded ones, so what
can differ are the client's answers to questions (roots, elicited content,
sampled text). A whole string of such an answer that the recorded server sent
back later is replaced by the live string at the same place of the live answer;
never part of a string, and only strings that can be told from chance: at least
``MIN_LENGTH`` characters with a digit, or a URI, and in nothing the server had
sent before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

#: Shorter strings are not followed: they stand in too many places by chance.
MIN_LENGTH = 12


def traced(recorded: Any, live: Any) -> Iterator[tuple[str, str]]:
    """Pairs of strings that stand at one place of two answers, differ, and may be followed."""
    stack = [(recorded, live)]
    while stack:
        left, right = stack.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            stack += [(value, right[key]) for key, value in left.items() if key in right]
        elif isinstance(left, list) and isinstance(right, list):
            stack += _aligned(left, right)
        elif isinstance(left, str) and isinstance(right, str) and left != right and _telling(left):
            yield left, right


def spellings(value: str) -> tuple[bytes, ...]:
    """A string as a whole JSON string, in each way an encoder writes it."""
    forms = {json.dumps(value), json.dumps(value, ensure_ascii=False)}
    return tuple(form.encode("utf-8", "surrogateescape") for form in sorted(forms))


def replaced(body: bytes, table: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A body with recorded strings replaced by live ones."""
    for recorded, live in table:
        body = body.replace(recorded, live)
    return body


def _telling(text: str) -> bool:
    return "://" in text or (len(text) >= MIN_LENGTH and any(letter.isdigit() for letter in text))


def _aligned(left: list[Any], right: list[Any]) -> list[tuple[Any, Any]]:
    """Items belong together by their ``name``, ``uri`` or ``id`` where they have one, else by place."""
    for key in ("name", "uri", "id"):
        if left and all(isinstance(item, dict) and key in item for item in (*left, *right)):
            known = {str(item[key]): item for item in right}
            together = [(item, known[str(item[key])]) for item in left if str(item[key]) in known]
            if together:
                return together
    return list(zip(left, right, strict=False))
