"""What an opened recording of the stateless era shows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.frames import Tape
from tests.core.modern import FORM, META, REVISION, ROOTS, discovered
from workbench.core.fold import ConnectionFold, ConnectionView
from workbench.core.frame import Channel
from workbench.core.lifecycle import State

WHO: dict[str, Any] = {
    META + "protocolVersion": REVISION,
    META + "clientInfo": {"name": "client", "version": "2"},
    META + "clientCapabilities": {"roots": {}},
}


def view_of(tape: Tape) -> ConnectionView:
    fold = ConnectionFold(1)
    for frame in tape.frames:
        fold.advance(frame)
    return fold.snapshot()


def ask(tape: Tape, identity: Any, method: str, params: Any = None, **meta: Any) -> Any:
    return tape.ask(identity, method, {**(params or {}), "_meta": {**WHO, **meta}})


@pytest.fixture
def tape() -> Tape:
    """A conversation whose server has been discovered."""
    tape = Tape()
    ask(tape, 1, "server/discover")
    tape.reply(1, discovered(capabilities={"tools": {}}, instructions="Be kind."))
    return tape


def test_what_both_sides_say_of_themselves_is_shown(tape: Tape) -> None:
    ask(tape, 2, "tools/list")
    view = view_of(tape)
    assert (view.era, view.state, view.revision) == ("modern", State.READY, REVISION)
    assert (view.client_info, view.server_info) == (WHO[META + "clientInfo"], {"name": "s", "version": "1"})
    assert (view.client_capabilities, view.server_capabilities) == ({"roots": {}}, {"tools": {}})
    assert view.instructions == "Be kind."


def test_a_client_that_does_not_discover_is_ready_when_it_asks_for_anything() -> None:
    tape = Tape()
    ask(tape, 1, "tools/list")
    assert (view_of(tape).era, view_of(tape).state) == ("modern", State.READY)


def test_a_probe_that_is_refused_leads_to_a_handshake() -> None:
    tape = Tape()
    ask(tape, 1, "server/discover")
    assert view_of(tape).state is State.PROBING
    tape.fail(1, -32601, "Method not found")
    tape.ask(2, "initialize", {"protocolVersion": "2025-11-25"})
    assert view_of(tape).state is State.INITIALIZING
    tape.reply(2, {"protocolVersion": "2025-11-25", "capabilities": {}})
    tape.tell("notifications/initialized", peer=False)
    assert (view_of(tape).era, view_of(tape).state, view_of(tape).revision) == (
        "legacy",
        State.READY,
        "2025-11-25",
    )


def test_what_a_result_asks_is_open_until_the_next_round(tape: Tape) -> None:
    asking = {"resultType": "input_required", "inputRequests": {"who": FORM, "r": ROOTS}, "requestState": "s"}
    for identity in (2, 3):
        ask(tape, identity, "tools/call", {"name": "t"})
    tape.reply(2, asking)
    tape.reply(3, asking | {"requestState": "another"})
    assert [each.id for each in view_of(tape).peer_requests] == [
        '"mrtr:2/who"',
        '"mrtr:2/r"',
        '"mrtr:3/who"',
        '"mrtr:3/r"',
    ]
    again = ask(tape, 4, "tools/call", {"name": "t", "requestState": "another", "inputResponses": {}})
    view = view_of(tape)
    assert [each.id for each in view.peer_requests] == ['"mrtr:2/who"', '"mrtr:2/r"']
    assert [each.id for each in view.open_calls] == ["4"]
    assert [step.detail for step in view.steps if step.label == "roots/list"] == [
        "#5, for tools/call",
        f"#6, answered, #{again.seq}",
    ]


def test_what_is_asked_within_a_result_is_open_no_longer_than_its_call(tape: Tape) -> None:
    asking = {"resultType": "input_required", "inputRequests": {"r": ROOTS}}
    for identity in (2, 3):
        ask(tape, identity, "tools/call", {"name": "t"})
        tape.reply(identity, asking)
    tape.process("abandoned", id="2")
    view = view_of(tape)
    assert [each.id for each in view.peer_requests] == ['"mrtr:3/r"']
    assert [step.detail for step in view.steps if step.label == "roots/list"] == [
        "#4, not answered, the call ended",
        "#6, for tools/call",
    ]
    tape.process("abandoned", id="7")  # of a request that nobody knows
    assert [each.id for each in view_of(tape).peer_requests] == ['"mrtr:3/r"']


def test_a_tool_that_asked_something_is_marked(tape: Tape) -> None:
    ask(tape, 2, "tools/list")
    tape.reply(2, {"resultType": "complete", "tools": [{"name": "t"}, {"name": "u"}]})
    ask(tape, 3, "tools/call", {"name": "t"})
    tape.reply(3, {"resultType": "input_required", "inputRequests": {"r": ROOTS}})
    assert [tool.marks for tool in view_of(tape).tools] == [("asks",), ()]


def test_the_level_of_logs_is_that_of_the_last_request(tape: Tape) -> None:
    ask(tape, 2, "tools/list", None, **{META + "logLevel": "debug"})
    assert view_of(tape).log_level == "debug"
    ask(tape, 3, "tools/list")
    assert view_of(tape).log_level is None


def test_subscribed_is_what_was_acknowledged_and_has_not_ended(tape: Tape) -> None:
    for identity, uris in ((2, ["a:1", "a:2"]), (3, ["a:2"]), (4, ["a:3"])):
        ask(tape, identity, "subscriptions/listen", {"notifications": {"resourceSubscriptions": uris}})
        agreed = {"resourceSubscriptions": uris}
        acknowledged = {"notifications": agreed, "_meta": {META + "subscriptionId": identity}}
        tape.tell("notifications/subscriptions/acknowledged", acknowledged)
    assert view_of(tape).subscribed == {"a:1", "a:2", "a:3"}
    tape.reply(2, {"resultType": "complete"})
    assert view_of(tape).subscribed == {"a:2", "a:3"}
    tape.tell("notifications/cancelled", {"requestId": 4}, peer=False)
    assert view_of(tape).subscribed == {"a:2"}


@pytest.mark.parametrize("state", ["closed", "lost"])
def test_nothing_is_subscribed_to_on_a_stream_that_is_gone(tape: Tape, state: str) -> None:
    asked = ask(tape, 2, "subscriptions/listen", {"notifications": {"resourceSubscriptions": ["a:1"]}})
    tape.frames[-1] = asked._replace(channel=Channel.HTTP, stream=7)
    agreed = {"notifications": {"resourceSubscriptions": ["a:1"]}, "_meta": {META + "subscriptionId": 2}}
    tape.tell("notifications/subscriptions/acknowledged", agreed)
    tape.process("stream", stream=6, verb="POST", state=state)
    assert view_of(tape).subscribed == {"a:1"}
    tape.process("stream", stream=7, verb="POST", state=state)
    assert view_of(tape).subscribed == frozenset()


def test_a_tool_whose_headers_are_wrong_is_marked_with_the_reason(tape: Tape) -> None:
    ask(tape, 2, "tools/list")
    wrong = {"type": "object", "properties": {"p": {"type": "number", "x-mcp-header": "X"}}}
    right = {"type": "object", "properties": {"p": {"type": "string", "x-mcp-header": "X"}}}
    tools = [{"name": "t", "inputSchema": wrong}, {"name": "u", "inputSchema": right}]
    tape.reply(2, {"resultType": "complete", "tools": tools})
    first, second = view_of(tape).tools
    assert first.marks == ("headers: x-mcp-header of p is not on a string, an integer or a boolean",)
    assert second.marks == ()
