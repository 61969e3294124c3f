"""Whatever a server sends, the mock client raises nothing, ends, and remembers no more than so much."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.replay.build import Tape, call, request, result
from tests.replay.test_client import Talk, modern
from tests.replay.test_generated import sessions
from workbench.replay.verification import MAX_LISTED

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
_ids: st.SearchStrategy[Any] = (
    st.integers(0, 8) | st.sampled_from(["q1", "t1", None, 1.0, True, [], {}]) | _json
)
_METHODS = (
    *("ping", "roots/list", "elicitation/create", "sampling/createMessage", "notifications/progress"),
    *("notifications/cancelled", "notifications/tools/list_changed", "tools/call", "", "x"),
)
_params = _json | st.fixed_dictionaries(
    {},
    optional={
        "progressToken": _ids,
        "requestId": _ids,
        "message": _json,
        "mode": st.sampled_from(["form", "url", 3]),
        "_meta": _json,
    },
)
_results = _json | st.fixed_dictionaries(
    {},
    optional={
        "nextCursor": _json,
        "tools": _json,
        "task": _json,
        "status": st.sampled_from(["working", "completed", 3]),
        "pollInterval": _json,
        "resultType": st.sampled_from(["input_required", "complete", 1]),
        "inputRequests": _json
        | st.fixed_dictionaries({"k": st.fixed_dictionaries({"method": st.just("roots/list")})}),
        "requestState": _json,
        "protocolVersion": _json,
    },
)
_messages = (
    st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "id": _ids, "result": _results})
    | st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "id": _ids, "error": _json})
    | st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0"), "id": _ids, "method": st.sampled_from(_METHODS), "params": _params}
    )
    | st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0"), "method": st.sampled_from(_METHODS), "params": _params}
    )
)
_bodies = (_messages | st.lists(_messages, max_size=3)).map(
    lambda value: json.dumps(value).encode()
) | st.binary(max_size=20)


def ends(talk: Talk) -> None:
    """A client that is left alone with a silent server comes to its end, and can say what it found."""
    for _ in range(200):
        if talk.client.over:
            break
        talk.wait(1000)
    assert talk.client.over
    told = talk.client.verification()
    json.dumps(told.value())
    assert told.sentence


@settings(max_examples=150)
@given(sessions(), st.lists(_bodies, max_size=25), st.integers(0, 12))
def test_nothing_a_server_sends_is_too_much(tape: Tape, bodies: list[bytes], at: int) -> None:
    talk = Talk(tape)
    for place, body in enumerate(bodies):
        if place == at:
            talk.gone()
        talk.hear(body)
        talk.wait(0.1)
    ends(talk)


def test_questions_without_end_are_answered_and_only_counted() -> None:
    talk = Talk(Tape().hello().c(call(2, "t")).s(result(2)).event(event="stdin_closed"))
    talk.hello()
    for number in range(MAX_LISTED + 50):
        [answer] = talk.hear(request(number, "roots/list"))
        assert answer["id"] == number
    talk.hear(result(2))
    told = talk.client.verification()
    assert len(told.questions) == MAX_LISTED
    assert f"{MAX_LISTED + 50} questions of the server differ" in told.sentence
    assert not told.agrees


def test_a_result_nested_deeper_than_a_parser_goes_is_a_difference() -> None:
    talk = Talk(Tape().hello().c(call(2, "t")).s(result(2, n=1)).event(event="stdin_closed"))
    talk.hello()
    deep: Any = b"[" * 200_000 + b"]" * 200_000
    talk.hear(b'{"jsonrpc":"2.0","id":2,"result":' + deep + b"}")
    ends(talk)
    assert talk.of("t").verdict == "changed"


def test_rounds_that_ask_too_much_at_once_are_answered_in_part() -> None:
    talk = Talk(Tape().c(modern(1, "tools/call", name="t")).s(result(1, resultType="complete")))
    talk.new()
    asks = {f"k{number}": {"method": "elicitation/create", "params": {}} for number in range(5000)}
    [further] = talk.hear(result(1, resultType="input_required", inputRequests=asks))
    assert 0 < len(further["params"]["inputResponses"]) <= 100
