"""The verdict on an answer to ``initialize``.

Source: "Lifecycle: version negotiation and capability negotiation",
2024-11-05 to 2025-11-25. A server echoes the offered revision or names one it
would rather speak; some answer with an error that lists what they support.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from workbench.core.actions import error_sentence, sentence
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message
from workbench.core.lifecycle import Event
from workbench.core.methods import has_capability
from workbench.core.peek import peek

#: The revision without a handshake.
STATELESS = "2026-07-28"

#: The error code of a request whose method a server does not have (JSON-RPC 2.0, section 5.1).
METHOD_NOT_FOUND = -32601


class Verdict(NamedTuple):
    """What an answer to ``initialize`` means: the event, and a sentence and next step if it failed.

    ``result`` is the result object, whatever was agreed (empty if there is none).
    """

    event: Event
    why: str = ""
    next: str = ""
    result: dict[str, Any] = {}  # noqa: RUF012 - never written to


def judge(message: Message, offer: str, accept: Sequence[str], require: Sequence[str]) -> Verdict:
    """Judge an answer. ``offer`` is the revision we named, ``accept`` those we can live with,
    ``require`` the dotted server capabilities that must be there."""
    if message.kind is not Kind.RESULT:
        return _refused(message, offer)
    result = peek(message, "result")
    if not isinstance(result, dict):
        return Verdict(
            Event.REFUSED,
            "The server answered initialize with something that is not an object.",
            "Look at the answer in the frame log; the command may not be an MCP server.",
        )
    version = result.get("protocolVersion")
    if not isinstance(version, str):
        return Verdict(
            Event.MISMATCHED,
            "The server's answer to initialize names no protocol revision.",
            "Look at the answer in the frame log, and report it to the server's author.",
            result,
        )
    if version != offer and version not in accept:
        return Verdict(
            Event.MISMATCHED,
            f"The server wants to speak {version[:60]}, we offered {offer} and accept {listed(accept)}.",
            f"Offer it with --protocol-version {version[:60]}, or use another release of the server.",
            result,
        )
    missing = [name for name in require if not has_capability(result.get("capabilities"), name)]
    if missing:
        return Verdict(
            Event.LACKING,
            f"The server does not offer {listed(missing)}, which this connection requires.",
            "Connect without requiring it, or use a server that offers it.",
            result,
        )
    return Verdict(Event.AGREED, result=result)


def _refused(message: Message, offer: str) -> Verdict:
    error = peek(message, "error")
    why = sentence(f"The server refused initialize: {error_sentence(error)[:300]}")
    data = error.get("data") if isinstance(error, dict) else None
    supported = data.get("supported") if isinstance(data, dict) else None
    names = [name[:60] for name in supported if isinstance(name, str)] if isinstance(supported, list) else []
    code = error.get("code") if isinstance(error, dict) else None
    if names:
        why += f" It supports {listed(names[:10])}, we offered {offer}."
        usable = [name for name in names if name != STATELESS]
        return Verdict(Event.REFUSED, why, _OFFER.format(usable[-1]) if usable else _NO_HANDSHAKE)
    return Verdict(Event.REFUSED, why, _UNKNOWN if code == METHOD_NOT_FOUND else _LOOK)


_OFFER = "Offer one of them, e.g. --protocol-version {}."
_NO_HANDSHAKE = f"Connect with --era modern: {STATELESS} begins without a handshake."
_UNKNOWN = f"It may speak {STATELESS} only (connect with --era modern), or be no MCP server."
_LOOK = "Look at the answer in the frame log; the server may need arguments or settings."


def listed(names: Sequence[str]) -> str:
    if len(names) < 2:
        return "".join(names) or "none"
    return f"{', '.join(names[:-1])} and {names[-1]}"
