"""Requests are compared by value, without what is volatile, and rules can leave out more."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.replay.build import Live, Tape, call, request, text
from workbench.core.jsonrpc import loads
from workbench.errors import UsageError
from workbench.replay.diff import canonical, differences
from workbench.replay.matching import parse_ignore


@pytest.mark.parametrize(
    ("recorded", "live"),
    [
        ('{"a":1}', '{"a":1.0}'),
        ('{"a":1,"b":2}', '{"b":2,"a":1}'),
        ('{"a":0}', '{"a":-0.0}'),
        ('{"a":"é"}', '{"a":"\\u00e9"}'),
        ('{"a":1e2}', '{"a":100}'),
    ],
)
def test_equal_values_match_however_they_are_written(recorded: str, live: str) -> None:
    assert differences(loads(recorded), loads(live)) == []
    assert canonical(loads(recorded)) == canonical(loads(live))


@pytest.mark.parametrize(
    ("recorded", "live", "pointer"),
    [
        ('{"a":1}', '{"a":"1"}', "/a"),
        ('{"a":true}', '{"a":1}', "/a"),
        ('{"a":null}', "{}", "/a"),
        ('{"a":[1,2]}', '{"a":[2,1]}', "/a/0"),
        ('{"a/b":{"~":1}}', '{"a/b":{"~":2}}', "/a~1b/~0"),
        ('{"a":9007199254740993}', '{"a":9007199254740992}', "/a"),
        ('{"a":""}', '{"a":null}', "/a"),
    ],
)
def test_values_that_differ_are_told_by_pointer(recorded: str, live: str, pointer: str) -> None:
    assert differences(loads(recorded), loads(live))[0].pointer == pointer
    assert canonical(loads(recorded)) != canonical(loads(live))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(json_values, json_values)
def test_the_canonical_text_is_equal_exactly_when_nothing_differs(left: Any, right: Any) -> None:
    assert (canonical(left) == canonical(right)) == (differences(left, right) == [])
    assert differences(left, left) == []


@pytest.mark.parametrize(
    ("rules", "matches"),
    [
        ((), False),
        (("/arguments/now",), True),
        (("tools/call:t=/arguments/now",), True),
        (("tools/call:other=/arguments/now",), False),
        (("prompts/get=/arguments/now",), False),
        (("/arguments/*",), True),
        (("/arguments/missing",), False),
    ],
)
def test_an_ignore_rule_leaves_a_place_out(rules: tuple[str, ...], matches: bool) -> None:
    tape = Tape().hello().c(call(2, "t", now=1)).s(text(2, "x"))
    live = Live(tape, ignores=tuple(map(parse_ignore, rules)))
    assert ("result" in live.say(call(5, "t", now=2))[0]) is matches


def test_an_ignore_rule_reaches_into_lists() -> None:
    tape = Tape().hello().c(call(2, "t", rows=[{"id": 1, "v": "a"}])).s(text(2, "x"))
    live = Live(tape, ignores=(parse_ignore("/arguments/rows/*/id"),))
    assert "result" in live.say(call(5, "t", rows=[{"id": 7, "v": "a"}]))[0]


def test_a_rule_that_is_no_pointer_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="begins with /"):
        parse_ignore("arguments")


def test_trace_context_and_the_progress_token_are_never_compared() -> None:
    tape = Tape().hello().c(request(2, "x/y", _meta={"progressToken": 2, "traceparent": "00-a"}))
    live = Live(tape.s(text(2, "x")))
    assert "result" in live.say(request(5, "x/y", _meta={"progressToken": "z", "traceparent": "00-b"}))[0]
    assert "error" in live.say(request(6, "x/y", _meta={"mine": 1}))[0]
