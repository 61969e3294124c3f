"""Putting a progress token into params without touching anything else of them.

What the user wrote is what goes out: key order, spacing, ``1.0`` and big
integers stay. So the token is put into the *text*, and text that is no JSON
object is left alone, because a debugger may be asked to send just that.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from workbench.core.jsonrpc import INLINE_BYTES, id_text, loads

_SCANNER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\n\r]*")


class Spliced(NamedTuple):
    """Params with a token: the ``text`` to send and the ``token`` in it (JSON text).

    ``token`` is the user's own where the params had one, ``None`` where none could be put in.
    """

    text: str | None
    token: str | None


class Member(NamedTuple):
    """Where a member of a JSON object stands in its text; ``end`` is past its value."""

    start: int
    end: int


def with_progress_token(params: str | None, token: str) -> Spliced:
    """``params`` (JSON text or ``None``) with ``_meta.progressToken``. Never raises."""
    if params is None:
        return Spliced(f'{{"_meta":{{"progressToken":{token}}}}}', token)
    if len(params) > INLINE_BYTES and '"_meta"' not in params:
        members: dict[str, Member] | None = {} if _is_object(params) else None
    else:
        members = members_of(params)
    if members is None:
        return Spliced(params, None)
    meta = members.get("_meta")
    if meta is None:
        return Spliced(_append(params, f'"_meta":{{"progressToken":{token}}}'), token)
    inner = params[meta.start : meta.end]
    known = members_of(inner)
    if known is None:
        return Spliced(params, None)
    own = known.get("progressToken")
    if own is not None:
        return Spliced(params, id_text(loads(inner[own.start : own.end])))
    inner = _append(inner, f'"progressToken":{token}')
    return Spliced(f"{params[: meta.start]}{inner}{params[meta.end :]}", token)


def members_of(text: str) -> dict[str, Member] | None:
    """The members of a JSON object text (the last of equal keys), ``None`` if it is no object."""
    try:
        return _members(text)
    except (ValueError, RecursionError, IndexError):
        return None


def _members(text: str) -> dict[str, Member] | None:
    members: dict[str, Member] = {}
    at = _skip(text, 0)
    if text[at] != "{":
        return None
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _SCANNER.raw_decode(text, at)
        at = _skip(text, at)
        if not isinstance(key, str) or text[at] != ":":
            return None
        start = _skip(text, at + 1)
        _, end = _SCANNER.raw_decode(text, start)
        members[key] = Member(start, end)
        at = _skip(text, end)
        if text[at] == "}":
            break
        if text[at] != ",":
            return None
        at = _skip(text, at + 1)
        if text[at] == "}":
            return None
    return members if _skip(text, at + 1) == len(text) else None


def _skip(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _append(text: str, member: str) -> str:
    """A JSON object text with one more member at its end."""
    close = text.rindex("}")
    head = text[:close].rstrip(" \t\n\r")
    comma = "" if head.endswith("{") else ","
    return f"{head}{comma}{member}{text[len(head) :]}"


def _is_object(text: str) -> bool:
    """Whether a large text is a JSON object, found without building it."""
    import msgspec

    try:
        msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (ValueError, RecursionError):
        return False
    return True
