"""Putting a live identity where the recorded one stood, and touching nothing else of a body.

Rewritten are the id of an answer or a question, a progress token, the id that a
cancel names, and the id of the subscription that something is told for. The value
put in keeps its live JSON type; everything around it stays as the bytes that were
recorded.
"""

from __future__ import annotations

import re

from workbench.replay.spans import member

_SECOND = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(-?\d++|"[^"\\]*+")\s*[,}]')
_LAST = re.compile(rb',\s*"id"\s*:\s*(-?\d++|"[^"\\]*+")\s*\}\s*\Z')

#: How far from its end a body is searched for its last member (bytes).
_TAIL = 256

ID = ("id",)
TOKEN = ("params", "progressToken")
CANCELLED = ("params", "requestId")
SUBSCRIPTION = ("params", "_meta", "io.modelcontextprotocol/subscriptionId")
SUBSCRIPTION_RESULT = ("result", *SUBSCRIPTION[1:])


def put_id(body: bytes, recorded: str, live: str) -> bytes:
    """``put`` at the id of a message, which is ``recorded`` (JSON text)."""
    if live == recorded:
        return body
    if body.count(b'"id"') == 1:
        # Nearly every peer writes the id as the second member or as the last one.
        found = _SECOND.match(body) or _LAST.search(body, max(0, len(body) - _TAIL))
        if found is not None and found[1].decode("utf-8", "surrogateescape") == recorded:
            start, end = found.span(1)
            return body[:start] + live.encode("utf-8", "surrogateescape") + body[end:]
    return put(body, ID, live)


def put(body: bytes, place: tuple[str, ...], value: str) -> bytes:
    """The body with ``value`` (JSON text) at a place; unchanged if there is no such place."""
    span = member(body, *place)
    if span is None:
        return body
    return body[: span[0]] + value.encode("utf-8", "surrogateescape") + body[span[1] :]
