"""Putting members into params without touching anything else of them.

What the user wrote is what goes out: key order, spacing, ``1.0`` and big
integers stay. So a progress token, the stateless era's ``_meta``
and the answers of a further round are put into the *text*, and text that is no JSON
object is left alone, because a debugger may be asked to send just that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from workbench.core.jsonrpc import INLINE_BYTES, dumps, id_text, loads

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
    parts = _around_meta(params)
    known = members_of(parts[1]) if parts else None
    if parts is None or known is None:
        return Spliced(params, None)
    head, inner, tail = parts
    own = known.get("progressToken")
    if own is not None:
        return Spliced(params, id_text(loads(inner[own.start : own.end])))
    inner = _append(inner, f'"progressToken":{token}')
    return Spliced(f"{head}{inner}{tail}", token)


def with_meta(params: str | None, meta: Mapping[str, str]) -> str | None:
    """``params`` with these members in ``_meta`` (key -> JSON text); those that are there already
    stay as they are. Text that is no JSON object is given back as it is."""
    parts = _around_meta(params)
    known = members_of(parts[1]) if parts else None
    if parts is None or known is None:
        return params
    head, inner, tail = parts
    for key, value in meta.items():
        if key not in known:
            inner = _append(inner, f"{dumps(key)}:{value}")
    return f"{head}{inner}{tail}"


def with_members(params: str | None, values: Mapping[str, str]) -> str | None:
    """``params`` with these members (key -> JSON text), each in the place of its namesake or at the
    end. Text that is no JSON object is given back as it is."""
    text = "{}" if params is None else params
    for key, value in values.items():
        if key in text or len(text) <= INLINE_BYTES:
            members = members_of(text)
        else:
            members = {} if _is_object(text) else None
        if members is None:
            return params
        own = members.get(key)
        if own is None:
            text = _append(text, f"{dumps(key)}:{value}")
        else:
            text = f"{text[: own.start]}{value}{text[own.end :]}"
    return text


def _around_meta(params: str | None) -> tuple[str, str, str] | None:
    """The text before the value of ``_meta``, the value (empty if there is none yet), and the text
    after it; ``None`` if there is no JSON object to hold it."""
    if params is None:
        return '{"_meta":', "{}", "}"
    if len(params) > INLINE_BYTES and '"_meta"' not in params:
        members: dict[str, Member] | None = {} if _is_object(params) else None
    else:
        members = members_of(params)
    if members is None:
        return None
    meta = members.get("_meta")
    if meta is not None:
        return params[: meta.start], params[meta.start : meta.end], params[meta.end :]
    whole = _append(params, '"_meta":{}')
    at = whole.rindex("{}")
    return whole[:at], "{}", whole[at + 2 :]


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
