"""Nothing that was recorded and nothing that a client sends makes a replay fail."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.examples import many
from tests.replay.build import Live, Tape, call, text
from workbench.replay.actions import Send
from workbench.replay.selfcheck import selfcheck
from workbench.replay.server import MISS

odd = st.sampled_from([None, 0, 1, -1, 1.5, "", "1", "é\ud83d", True, [], {}, [1], {"x": 1}, 10**30])
methods = st.sampled_from(
    (
        *("initialize", "ping", "tools/call", "tools/list", "prompts/get", "roots/list", "tasks/get", ""),
        *("notifications/progress", "notifications/cancelled", "notifications/initialized", "x" * 300),
    )
)
params = st.fixed_dictionaries(
    {},
    optional={
        "name": odd,
        "arguments": odd,
        "cursor": odd,
        "taskId": odd,
        "requestId": odd,
        "progressToken": odd,
        "protocolVersion": odd,
        "_meta": odd | st.fixed_dictionaries({"progressToken": odd}),
    },
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | odd,
        "id": odd,
        "method": methods | odd,
        "params": params | odd,
        "result": odd | st.fixed_dictionaries({"task": st.fixed_dictionaries({"taskId": odd})}),
        "error": odd | st.fixed_dictionaries({"code": odd, "message": odd}),
    },
)
bodies = st.one_of(
    messages.map(json.dumps).map(str.encode),
    st.lists(messages, max_size=3).map(json.dumps).map(str.encode),
    st.binary(max_size=20),
    st.sampled_from([b"[" * 3000, b'{"id":1,"method":"x","params":' + b"[" * 3000 + b"]" * 3000 + b"}"]),
)
events = st.sampled_from(
    (
        *({"event": "exited", "code": 1}, {"event": "exited", "signal": 9}, {"event": "exited"}),
        *({"event": "stdin_closed"}, {"event": "stdout_closed"}, {"event": "signal", "name": "TERM"}),
        *({"event": "timeout", "id": "1"}, {"event": 5}, [], 7),
    )
)
frames = st.lists(
    st.one_of(st.tuples(st.sampled_from("cs"), bodies), st.tuples(st.just("e"), events)), max_size=12
)


def taped(recorded: list[tuple[str, Any]]) -> Tape:
    tape = Tape()
    for side, body in recorded:
        if side == "c":
            tape.c(body)
        elif side == "s":
            tape.s(body)
        else:
            tape.process(body)
    return tape


@settings(max_examples=many(400), deadline=None)
@given(
    frames,
    st.lists(bodies, max_size=8),
    st.sampled_from(("exact", "strict", "name", "method")),
    st.sampled_from(("causal", "recorded")),
)
@example(
    [("c", b'{"id":1,"method":"tools/call","params":[1]}')],
    [b'{"id":1,"method":"tools/call"}'],
    "name",
    "causal",
)
@example([], [b'{"id":1,"method":"tools/call","params":{"name":"\\u00e9\\ud83d"}}'], "exact", "causal")
def test_whatever_is_recorded_and_whatever_is_said_a_replay_goes_on(
    recorded: list[tuple[str, Any]], said: list[bytes], match: str, order: str
) -> None:
    live = Live(taped(recorded), match=match, order=order)
    for body in said:
        for action in live.server.feed(body):
            if isinstance(action, Send) and action.seq == 0:
                json.loads(action.body)
        while live.server.stuck:
            live.server.release()
    live.server.closed()
    json.dumps(live.server.report_value())


@settings(max_examples=many(200), deadline=None)
@given(frames)
def test_any_recording_can_be_checked_against_itself(recorded: list[tuple[str, Any]]) -> None:
    verdict = selfcheck(taped(recorded).frames)
    assert 0 <= verdict.given <= verdict.frames


@pytest.mark.parametrize("count", [3000])
def test_a_miss_among_thousands_of_recorded_calls_is_told_at_once(count: int) -> None:
    tape = Tape().hello()
    for number in range(2, count):
        tape.c(call(number, "t", n=number)).s(text(number, "x"))
    live = Live(tape)
    for number in range(50):
        assert "error" in live.say(call(number, "t", n=-number))[0]


def test_a_string_full_of_placeholders_is_compared_in_linear_time() -> None:
    recorded = "a".join(f"<redacted:{number} jwt>" for number in range(40))
    live = Live(Tape().hello().c(call(2, "t", value=recorded)).s(text(2, "x")))
    # No try at every way to cut it: an "a" is missing at the end, so none fits.
    [answer] = live.say(call(5, "t", value="a" * 20 + "b" * 500_000))
    assert answer["error"]["code"] == MISS
