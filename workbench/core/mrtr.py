"""Multi round-trip requests: a result that asks for input, and the request sent again with it.

A server of the stateless era sends no requests. What it wants to ask stands in
the result of a ``tools/call``, ``prompts/get`` or ``resources/read``; the answers
go back with the same request under a new id. Here is what such a result holds
and what the next round is made of. Nothing is kept between two calls, so no
answer and no state of one can get into another.

Source: "Multi round-trip requests", 2026-07-28.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message, dumps
from workbench.core.jsontext import lookup
from workbench.core.peek import peek
from workbench.core.splice import with_members

INPUT_REQUIRED = "input_required"
COMPLETE = "complete"

#: Rounds of one call. A server that goes on asking would keep a call open for ever.
MAX_ROUNDS = 25

#: Requests within one result; the rest are not asked, so the server asks them again.
MAX_INPUTS = 100


class Inner(NamedTuple):
    """One entry of ``inputRequests``: ``key`` is the server's name for it, ``id`` the JSON text by
    which it is known here, ``message`` the request as if it had come alone."""

    key: str
    id: str
    method: str
    params: Any
    message: Message


class Asking(NamedTuple):
    """What an ``input_required`` result asks. ``state`` is the JSON text of ``requestState`` exactly
    as it stood, ``None`` where there was none."""

    inner: tuple[Inner, ...]
    state: str | None


def result_type(message: Message) -> Any:
    """The ``resultType`` of a result, ``None`` where it names none."""
    return peek(message, "result", "resultType")


def asking(message: Message, round_id: str) -> Asking:
    """What a result asks; ``round_id`` is the JSON text of the id it answers."""
    entries = peek(message, "result", "inputRequests")
    inner: list[Inner] = []
    for key, entry in list(entries.items())[:MAX_INPUTS] if isinstance(entries, dict) else ():
        method = entry.get("method") if isinstance(entry, dict) else None
        if not isinstance(method, str):
            continue
        inner.append(_inner(key, method, entry, round_id))
    return Asking(tuple(inner), _state(message))


def inner_id(round_id: str, key: str) -> str:
    """The id (JSON text) of an entry, which no request of a peer has by accident."""
    return dumps(f"mrtr:{round_id}/{key}")


def retry(params: str | None, answers: Mapping[str, str], state: str | None) -> str | None:
    """The params of the next round: those of the call with the answers (key -> JSON text of a
    result) and the state as it was given."""
    members: dict[str, str] = {}
    if answers:
        inside = ",".join(f"{dumps(key)}:{value}" for key, value in answers.items())
        members["inputResponses"] = f"{{{inside}}}"
    if state is not None:
        members["requestState"] = state
    return with_members(params, members) if members else params


def _inner(key: str, method: str, entry: dict[str, Any], round_id: str) -> Inner:
    params = entry.get("params")
    members = {"jsonrpc": "2.0", "method": method} | ({"params": params} if "params" in entry else {})
    id_text = inner_id(round_id, key)
    return Inner(key, id_text, method, params, Message(Kind.REQUEST, method, id_text, members))


def _state(message: Message) -> str | None:
    raw = message.raw.get("result")
    if raw is not None:
        return lookup(raw.decode("utf-8", "surrogateescape"), "/requestState")
    text = lookup(message.text, "/result/requestState") if message.text else None
    if text is None and "requestState" in _result(message):
        return dumps(_result(message)["requestState"])
    return text


def _result(message: Message) -> dict[str, Any]:
    result = message.members.get("result")
    return result if isinstance(result, dict) else {}
