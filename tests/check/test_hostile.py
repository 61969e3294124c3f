"""Whatever peers send, a checker answers with findings and never raises."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.check.examples import META, Play
from tests.examples import many
from workbench.check.checker import Checker
from workbench.check.rules import RULES
from workbench.check.watched import MAX_PER_FRAME
from workbench.core.frame import Channel, Direction, Frame, Kind, Stream
from workbench.core.jsonrpc import dumps

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(("", "7", 7, 7.5)),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
#: Lines of examples with a body that can be changed; the longest ones add nothing here.
examples = st.sampled_from([rule.example for rule in RULES.values() if sum(map(len, rule.example)) < 5_000])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values within a value."""
    found = [path]
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        found += places(item, (*path, key))
    return found


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    value[path[0]] = put(value[path[0]], path[1:], new)
    return value


@given(examples, st.data())
@settings(max_examples=many(600), deadline=None)
def test_a_message_with_any_member_changed_gives_findings_at_most(
    example: tuple[str, ...], data: Any
) -> None:
    lines = []
    for line in example:
        head, brace, rest = line.partition("{")
        try:
            body = json.loads((brace + rest).replace("$META", dumps(META)))
        except ValueError:
            lines.append(line)
            continue
        if data.draw(st.booleans()):
            body = put(body, data.draw(st.sampled_from(places(body))), data.draw(values))
        lines.append(head + json.dumps(body))
    play = Play(lines)
    assert all(finding.rule.id in RULES for finding in play.findings)


channels = st.sampled_from(
    (Channel.STDIO, Channel.HTTP, Channel.SSE, Channel.STDERR, Channel.PROCESS, Channel.NOTE)
)
bodies = st.one_of(
    st.binary(max_size=60),
    values.map(lambda value: json.dumps(value).encode()),
    st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("jsonrpc", "id", "method", "params", "result", "error"), values)
    ).map(lambda value: json.dumps(value).encode()),
)
events = st.one_of(st.none(), values.map(json.dumps), st.text(max_size=10))
headers = st.lists(
    st.tuples(st.sampled_from(("Mcp-Session-Id", "Accept", "x")), st.text(max_size=5)), max_size=3
)


@given(
    st.lists(st.tuples(channels, st.sampled_from(Direction), bodies, events, st.integers(0, 3)), max_size=12),
    st.data(),
)
@settings(max_examples=many(300), deadline=None)
def test_any_frames_on_any_streams_give_findings_at_most(frames: list[Any], data: Any) -> None:
    checker = Checker()
    for seq, (channel, direction, body, event, number) in enumerate(frames, 1):
        if number:
            answer = data.draw(st.one_of(st.none(), st.integers(100, 599)))
            closed = data.draw(st.sampled_from(("", "end", "cut", "closed", "failed")))
            verb = data.draw(st.sampled_from(("GET", "POST", "DELETE", "PUT")))
            sent, came = tuple(data.draw(headers)), tuple(data.draw(headers))
            stream = Stream(
                number,
                1,
                verb,
                data.draw(st.text(max_size=9)),
                sent,
                seq,
                answer,
                came,
                "",
                None,
                seq,
                closed,
            )
            checker.take_stream(stream)
        frame = Frame(
            seq, 1, seq, seq, direction, channel, Kind.NOTE, body, len(body), stream=number, event=event
        )
        assert len(checker.take(frame)) <= MAX_PER_FRAME


def test_a_flood_of_ids_tokens_and_cursors_is_remembered_in_a_bounded_amount() -> None:
    play = Play(["@ 2025-11-25"])
    checker = play.checker
    count = 30_000
    for number in range(count):
        params = {"cursor": f"c{number}", "_meta": {"progressToken": f"t{number}"}}
        body = dumps(
            {"jsonrpc": "2.0", "id": f"x{number}", "method": "tools/list", "params": params}
        ).encode()
        checker.take(
            Frame(number + 9, 1, 0, 0, Direction.TO_SERVER, Channel.STDIO, Kind.REQUEST, body, len(body))
        )
        answer = {"jsonrpc": "2.0", "id": f"x{number}", "result": {"tools": [], "nextCursor": f"n{number}"}}
        body = dumps(answer).encode()
        checker.take(
            Frame(number + 9, 1, 0, 0, Direction.TO_CLIENT, Channel.STDIO, Kind.RESULT, body, len(body))
        )
    assert held(checker) < count


def held(thing: Any) -> int:
    """The size of the largest collection that hangs on something of ours."""
    largest, stack, seen = 0, [thing], {id(thing)}
    while stack:
        each = stack.pop()
        inner: list[Any] = []
        if isinstance(each, dict):
            largest, inner = max(largest, len(each)), list(each.values())
        elif isinstance(each, (list, set, tuple, frozenset)):
            largest, inner = max(largest, len(each)), list(each)
        elif hasattr(each, "__self__"):
            inner = [each.__self__]
        elif type(each).__module__.startswith("workbench."):
            inner = list(getattr(each, "__dict__", {}).values())
        for item in inner:
            if id(item) not in seen:
                seen.add(id(item))
                stack.append(item)
    return largest
