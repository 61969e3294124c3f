"""Putting a live identity where the recorded one stood, and touching nothing else of a body.

Rewritten are the id of an answer or a question, a progress token, the id that a
cancel names, and the id of the subscription that something is told for. The value
put in keeps its live JSON type; everything around it stays as the bytes that were
recorded.
"""

from __future__ import annotations

import re

from workbench.replay.spans import member

#: An id as nearly everybody writes it.
_PLAIN = rb'(0|-?[1-9]\d{0,17}+|"[ !#-\[\]-~]*+")'
_SECOND = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*' + _PLAIN + rb"\s*[,}]")
_LAST = re.compile(rb',\s*"id"\s*:\s*' + _PLAIN + rb"\s*\}\s*\Z")

#: How far from its end a body is searched for its last member (bytes).
_TAIL = 256

ID = ("id",)
TOKEN = ("params", "progressToken")
CANCELLED = ("params", "requestId")
SUBSCRIPTION = ("params", "_meta", "io.modelcontextprotocol/subscriptionId")
SUBSCRIPTION_RESULT = ("result", *SUBSCRIPTION[1:])


def id_span(body: bytes) -> tuple[int, int] | None:
    """Where the id of a message stands, if it stands where nearly every peer writes it (as the second member
    or the last one) and cannot be mistaken; ``None`` tells nothing."""
    if body.count(b'"id"') != 1:
        return None
    found = _SECOND.match(body) or _LAST.search(body, max(0, len(body) - _TAIL))
    return None if found is None else found.span(1)


def put_id(body: bytes, recorded: str, live: str) -> bytes:
    """``put`` at the id of a message, which is ``recorded`` (JSON text)."""
    if live == recorded:
        return body
    span = id_span(body)
    if span is None or body[span[0] : span[1]] != recorded.encode():
        return put(body, ID, live)
    return body[: span[0]] + live.encode("utf-8", "surrogateescape") + body[span[1] :]


def renumbered(body: bytes, recorded: bytes) -> str | None:
    """The id (JSON text) of a body that is the recorded one to the byte, but for its id; else ``None``."""
    live, was = id_span(body), id_span(recorded)
    if live is None or was is None or live[0] != was[0]:
        return None
    if body[: live[0]] != recorded[: was[0]] or body[live[1] :] != recorded[was[1] :]:
        return None
    return body[live[0] : live[1]].decode()


def put(body: bytes, place: tuple[str, ...], value: str) -> bytes:
    """The body with ``value`` (JSON text) at a place; unchanged if there is no such place."""
    span = member(body, *place)
    if span is None:
        return body
    return body[: span[0]] + value.encode("utf-8", "surrogateescape") + body[span[1] :]
