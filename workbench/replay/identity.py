"""Putting a live identity where the recorded one stood, and touching nothing else of a body.

Rewritten are the id of an answer or a question, a progress token, the id that a
cancel names, and the id of the subscription that something is told for. The value
put in keeps its live JSON type; everything around it stays as the bytes that were
recorded.
"""

from __future__ import annotations

from workbench.replay.spans import member

ID = ("id",)
TOKEN = ("params", "progressToken")
CANCELLED = ("params", "requestId")
SUBSCRIPTION = ("params", "_meta", "io.modelcontextprotocol/subscriptionId")
SUBSCRIPTION_RESULT = ("result", *SUBSCRIPTION[1:])


def put(body: bytes, place: tuple[str, ...], value: str) -> bytes:
    """The body with ``value`` (JSON text) at a place; unchanged if there is no such place."""
    span = member(body, *place)
    if span is None:
        return body
    return body[: span[0]] + value.encode("utf-8", "surrogateescape") + body[span[1] :]
