"""The rounds of a call as a live server asks for them ("Multi round-trip requests", 2026-07-28).

A recorded round brings the answers that were given to what a result asked, and
the state the server had given. Both come from this run: the state always, and the
answers where the server asks under other keys, in another number or something else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from workbench.core.jsonrpc import Message
from workbench.core.mrtr import Inner, asking, retry
from workbench.core.question import Reply
from workbench.replay.spans import member

#: Answers what was not recorded.
Decide = Callable[[Message], Reply]


class Round(NamedTuple):
    """A result that asks, as it was recorded and as it is now, with its live request's id (JSON text)."""

    recorded: Message
    live: Message
    id: str


def further(
    body: bytes,
    round: Round,
    same: Callable[[str, Any, Any], bool],
    decide: Decide,
    missing: Callable[[str], None],
) -> bytes:
    """A recorded round as an answer to what the live result asks. ``same`` tells whether two questions
    of a method ask alike; ``missing`` is told the method of each that is asked no more."""
    now = asking(round.live, round.id)
    left = list(asking(round.recorded, round.id).inner)
    answers: dict[str, str] = {}
    for inner in now.inner:
        fitting = [each for each in left if _alike(each, inner, same)]
        # Of several that ask the same, the one under the same key.
        chosen = next((each for each in fitting if each.key == inner.key), fitting[0] if fitting else None)
        if chosen is not None:
            left.remove(chosen)
        recorded = None if chosen is None else _text(body, "params", "inputResponses", chosen.key)
        answer = recorded if recorded is not None else decide(inner.message).result
        if answer is not None:
            answers[inner.key] = answer
    for each in left:
        missing(each.method)
    return _with_params(body, retry(_text(body, "params"), answers, now.state))


def next_round(sent: bytes, live: Message, id: str, decide: Decide) -> bytes | None:
    """One more round than was recorded, answered like nobody were there; ``None`` where that gives
    no answer."""
    now = asking(live, id)
    replies = {inner.key: decide(inner.message).result for inner in now.inner}
    answers = {key: reply for key, reply in replies.items() if reply is not None}
    if now.inner and not answers:
        return None
    return _with_params(sent, retry(_text(sent, "params"), answers, now.state))


def _alike(recorded: Inner, live: Inner, same: Callable[[str, Any, Any], bool]) -> bool:
    return recorded.method == live.method and same(live.method, recorded.params, live.params)


def _with_params(body: bytes, params: str | None) -> bytes:
    span = member(body, "params")
    if span is None or params is None:
        return body
    return body[: span[0]] + params.encode("utf-8", "surrogateescape") + body[span[1] :]


def _text(body: bytes, *path: str) -> str | None:
    span = member(body, *path)
    return None if span is None else body[span[0] : span[1]].decode("utf-8", "surrogateescape")
