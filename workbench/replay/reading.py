"""Reading bodies for a replay, also those nested deeper than a parser goes.

Of such a body only the envelope is read; its params compare as the text they are.
"""

from __future__ import annotations

from typing import Any

from workbench.core.frame import ANSWERS, Kind
from workbench.core.jsonrpc import Decoded, Message, decode, id_text, loads
from workbench.replay.spans import members


def read(body: bytes) -> Decoded:
    """What a body holds. Never raises."""
    decoded = decode(body)
    if "too-deep" not in decoded.defects:
        return decoded
    raw = {key: body[start:end] for key, (start, end) in members(body).items()}
    try:
        small: dict[str, Any] = {key: loads(raw[key]) for key in ("id", "method") if key in raw}
    except (ValueError, RecursionError):
        return decoded
    method = small.get("method")
    kind = _kind(raw)
    if kind is Kind.INVALID or (kind not in ANSWERS and not isinstance(method, str)):
        return decoded
    identity = id_text(small["id"]) if "id" in small else None
    return Decoded(kind, (Message(kind, method, identity, small, raw, decoded.defects),), decoded.defects)


def params_of(message: Message) -> Any:
    """The parsed params; text where they cannot be parsed, so that they equal nothing but themselves."""
    params = message.value("params")
    text = message.raw.get("params")
    if params is None and text is not None and text != b"null":
        return text.decode("utf-8", "surrogateescape")
    return params


def _kind(raw: dict[str, bytes]) -> Kind:
    if "method" in raw:
        return Kind.REQUEST if "id" in raw else Kind.NOTIFICATION
    if "error" in raw:
        return Kind.ERROR
    return Kind.RESULT if "result" in raw else Kind.INVALID
