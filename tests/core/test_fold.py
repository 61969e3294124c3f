"""What the panes show, as a function of frames."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.frames import TICK_NS, Tape
from tests.core.hostile import bodies, values
from tests.examples import many
from workbench.core.fold import ConnectionFold, ConnectionView
from workbench.core.frame import Channel, Direction, Frame, Kind
from workbench.core.inflight import MAX_OPEN
from workbench.core.jsonrpc import INLINE_BYTES
from workbench.core.lifecycle import State
from workbench.core.logbook import MAX_ENTRIES, MAX_LOG_TEXT
from workbench.core.view import FindingCounts


def view_of(tape: Tape) -> ConnectionView:
    fold = ConnectionFold(1, "everything", "stdio", "node server.js")
    for frame in tape.frames:
        fold.advance(frame)
    return fold.snapshot()


@pytest.fixture
def tape() -> Tape:
    """A connection that is ready, with tools, resources and prompts offered."""
    tape = Tape()
    tape.handshake({"tools": {"listChanged": True}, "resources": {"subscribe": True}, "prompts": {}})
    return tape


def test_a_connection_without_frames_is_new() -> None:
    view = ConnectionFold(3, "git", "stdio", "uvx git").snapshot()
    assert (view.number, view.name, view.transport, view.target) == (3, "git", "stdio", "uvx git")
    assert (view.state, view.frames, view.steps) == (State.NEW, 0, ())


def test_what_both_sides_said_in_the_handshake_is_shown() -> None:
    tape = Tape()
    tape.handshake(
        {"tools": {}, "completions": {}, "experimental": {"x": {}}},
        revision="2024-11-05",
        client={"roots": {"listChanged": True}, "sampling": {}, "elicitation": {}},
    )
    view = view_of(tape)
    assert (view.state, view.era, view.offered, view.revision) == (
        State.READY,
        "legacy",
        "2024-11-05",
        "2024-11-05",
    )
    assert (view.client_info, view.server_info) == ({"name": "bench"}, {"name": "s"})
    assert view.client_capabilities["roots"] == {"listChanged": True}
    assert view.server_capabilities["tools"] == {}
    # Completions and elicitation came with later revisions, so neither side may use them here.
    assert view.agreed == ("tools", "experimental", "roots", "sampling")


@pytest.mark.parametrize(
    "result", [None, [], 7, {}, {"protocolVersion": 7, "capabilities": [], "serverInfo": "x"}]
)
def test_an_odd_answer_to_initialize_shows_nothing_of_the_server(result: Any) -> None:
    tape = Tape()
    tape.ask(0, "initialize", {"protocolVersion": 7, "capabilities": 7, "clientInfo": []})
    tape.reply(0, result)
    view = view_of(tape)
    assert (view.offered, view.revision, view.server_info, view.server_capabilities) == (None, None, {}, {})


def test_a_refused_handshake_tells_why_and_what_to_do() -> None:
    tape = Tape()
    tape.ask(0, "initialize", {"protocolVersion": "2025-11-25"})
    tape.fail(0, -32602, "Unsupported protocol version")
    view = view_of(tape)
    assert view.state is State.REFUSED
    assert "Unsupported protocol version" in view.why
    assert view.next_step


def test_a_client_that_goes_on_without_initialized_is_ready() -> None:
    tape = Tape()
    tape.ask(0, "initialize", {})
    tape.reply(0, {"protocolVersion": "2025-11-25", "capabilities": {}})
    tape.ask(1, "ping")
    assert view_of(tape).state is State.INITIALIZING
    tape.ask(2, "tools/list")
    assert view_of(tape).state is State.READY


def test_a_client_that_asks_before_the_answer_is_not_ready() -> None:
    tape = Tape()
    tape.ask(0, "initialize", {})
    tape.ask(1, "tools/list")
    tape.tell("notifications/initialized", peer=False)
    assert view_of(tape).state is State.INITIALIZING


# Calls


def test_an_open_call_is_shown_with_its_progress(tape: Tape) -> None:
    asked = tape.ask(5, "tools/call", {"name": "long", "_meta": {"progressToken": "t"}})
    params = {"progressToken": "t", "progress": 2, "total": 5.0, "message": "step 2"}
    tape.tell("notifications/progress", params)
    (call,) = view_of(tape).open_calls
    assert (call.id, call.seq, call.method, call.name) == ("5", asked.seq, "tools/call", "long")
    assert (call.progress, call.total, call.message, call.started_ns) == (2.0, 5.0, "step 2", asked.mono_ns)


def test_a_call_is_no_longer_open_once_answered_cancelled_or_timed_out(tape: Tape) -> None:
    for identity in (1, 2, 3, 4):
        tape.ask(identity, "tools/call", {"name": "x"})
    tape.reply(1, {})
    tape.tell("notifications/cancelled", {"requestId": 2}, peer=False)
    tape.process("timeout", id="3", seconds=60.0)
    assert [call.id for call in view_of(tape).open_calls] == ["4"]


def test_a_late_answer_is_a_step_and_changes_no_list(tape: Tape) -> None:
    tape.ask(1, "tools/list")
    tape.process("timeout", id="1", seconds=60.0)
    tape.reply(1, {"tools": [{"name": "x"}]})
    view = view_of(tape)
    assert view.tools == ()
    assert view.steps[-1].label == "late answer"


def test_latency_is_that_of_the_last_answer(tape: Tape) -> None:
    tape.ask(1, "ping")
    tape.now_ns += 5 * TICK_NS
    tape.reply(1, {})
    assert view_of(tape).latency_ns == 6 * TICK_NS


def test_errors_count_error_answers_and_failed_tools_and_findings_stray_lines(tape: Tape) -> None:
    tape.ask(1, "tools/call")
    tape.fail(1, -32602, "x")
    tape.ask(2, "tools/call")
    tape.reply(2, {"content": [], "isError": True})
    tape.to_client(b"Server v1 up on stdin")
    assert view_of(tape).errors == 2
    fold = ConnectionFold(1)
    fold.found("error")
    assert fold.snapshot().findings == FindingCounts(error=1)


def test_requests_of_the_server_are_pending_until_answered_or_cancelled(tape: Tape) -> None:
    for identity, method in (
        ("a", "sampling/createMessage"),
        ("b", "elicitation/create"),
        ("c", "roots/list"),
    ):
        tape.ask(identity, method, {"message": identity}, peer=True)
    assert [(asked.id, asked.params["message"]) for asked in view_of(tape).peer_requests] == [
        ('"a"', "a"),
        ('"b"', "b"),
        ('"c"', "c"),
    ]
    tape.tell("notifications/cancelled", {"requestId": "a"})
    tape.reply("c", {"roots": []}, peer=True)
    assert [asked.id for asked in view_of(tape).peer_requests] == ['"b"']


@pytest.mark.parametrize(
    ("how", "detail"),
    [
        ("told", "completed, #7"),
        ("tasks/get", "failed, #8"),
        ("tasks/result", "completed, #8"),
        ("tasks/cancel", "cancelled, #8"),
    ],
)
def test_a_request_that_was_made_a_task_is_open_until_the_task_has_ended(
    tape: Tape, how: str, detail: str
) -> None:
    asked = tape.ask("a", "elicitation/create", {"message": "?"}, peer=True)
    task = {"taskId": "t", "status": "working"}
    tape.reply("a", {"task": task}, peer=True)
    view = view_of(tape)
    assert [each.id for each in view.peer_requests] == ['"a"']
    assert view.steps[-1].detail == f"#{asked.seq}, a task"
    tape.tell("notifications/tasks/status", task, peer=False)
    assert [each.id for each in view_of(tape).peer_requests] == ['"a"']
    status = detail.partition(",")[0]
    if how == "told":
        tape.tell("notifications/tasks/status", task | {"status": status}, peer=False)
    else:
        tape.ask("b", how, {"taskId": "t"}, peer=True)
        tape.reply(
            "b", {"action": "decline"} if how == "tasks/result" else task | {"status": status}, peer=True
        )
    view = view_of(tape)
    assert view.peer_requests == ()
    (step,) = [each for each in view.steps if each.label == "elicitation/create"]
    assert step.detail == f"#{asked.seq}, {detail}"


def test_a_ping_of_the_server_is_neither_pending_nor_a_step(tape: Tape) -> None:
    steps = len(view_of(tape).steps)
    tape.ask("p", "ping", peer=True)
    view = view_of(tape)
    assert view.peer_requests == ()
    assert len(view.steps) == steps


def test_a_tool_that_asks_the_client_during_its_call_is_marked(tape: Tape) -> None:
    tape.ask(1, "tools/list")
    tape.reply(1, {"tools": [{"name": "sample"}, {"name": "echo"}]})
    tape.ask(2, "tools/call", {"name": "sample"})
    tape.ask(1, "sampling/createMessage", {}, peer=True)
    assert {tool.name: tool.marks for tool in view_of(tape).tools} == {"sample": ("asks",), "echo": ()}
    tape.reply(2, {})
    tape.ask(3, "tools/list")
    tape.reply(3, {"tools": [{"name": "sample"}, {"name": "echo"}]})
    assert view_of(tape).tools[0].marks == ("asks",)


def test_nothing_is_open_any_more_when_the_server_is_gone(tape: Tape) -> None:
    tape.ask(1, "tools/call")
    tape.ask(1, "sampling/createMessage", peer=True)
    tape.process("exited", code=3)
    view = view_of(tape)
    assert (view.open_calls, view.peer_requests) == ((), ())


# Logs


def test_log_messages_are_shown_whatever_their_data_is(tape: Tape) -> None:
    tape.tell("notifications/message", {"level": "info", "logger": "db", "data": "up"})
    tape.tell("notifications/message", {"level": "warn", "data": {"n": 1.5, "s": "é"}})
    tape.tell("notifications/message", {"level": 7, "logger": 7})
    tape.tell("notifications/message", None)
    told = [(entry.level, entry.logger, entry.text) for entry in view_of(tape).logs]
    assert told == [("info", "db", "up"), ("warn", "", '{"n":1.5,"s":"é"}'), ("7", "", ""), ("", "", "")]


def test_the_tail_of_logs_and_stderr_is_kept_and_all_are_counted(tape: Tape) -> None:
    for number in range(MAX_ENTRIES + 10):
        tape.tell("notifications/message", {"level": "info", "data": str(number)})
        tape.stderr(b"line %d" % number)
    view = view_of(tape)
    assert (len(view.logs), view.log_count) == (MAX_ENTRIES, MAX_ENTRIES + 10)
    assert (len(view.stderr), view.stderr_count) == (MAX_ENTRIES, MAX_ENTRIES + 10)
    assert view.logs[0].text == "10"
    assert view.stderr[-1] == (tape.frames[-1].seq, f"line {MAX_ENTRIES + 9}")


def test_long_logs_and_odd_bytes_of_stderr_are_cut_and_escaped(tape: Tape) -> None:
    tape.tell("notifications/message", {"level": "info", "data": ["x" * 10_000]})
    tape.stderr(b"\xff" * 100_000)
    tape.stderr(b"ready\r")
    view = view_of(tape)
    assert len(view.logs[0].text) == MAX_LOG_TEXT
    assert len(view.stderr[0][1]) == MAX_LOG_TEXT
    assert view.stderr[0][1].startswith("\\xff")
    assert view.stderr[1][1] == "ready"


def test_the_log_level_is_shown_once_the_server_has_taken_it(tape: Tape) -> None:
    tape.ask(1, "logging/setLevel", {"level": "debug"})
    assert view_of(tape).log_level is None
    tape.reply(1, {})
    tape.ask(2, "logging/setLevel", {"level": "loud"})
    tape.fail(2, -32602, "Bad level")
    assert view_of(tape).log_level == "debug"


# Subscriptions


def test_subscriptions_and_updates_are_shown(tape: Tape) -> None:
    for identity, uri in ((1, "a:"), (2, "b:"), (3, "c:")):
        tape.ask(identity, "resources/subscribe", {"uri": uri})
    tape.reply(1, {})
    tape.reply(2, {})
    tape.fail(3, -32602, "no")
    tape.ask(4, "resources/unsubscribe", {"uri": "b:"})
    tape.reply(4, {})
    updated = tape.tell("notifications/resources/updated", {"uri": "a:"})
    tape.tell("notifications/resources/updated", {"uri": 7})
    view = view_of(tape)
    assert view.subscribed == {"a:"}
    assert view.updates == {"a:": updated.seq}


# Snapshots


def test_a_snapshot_is_the_same_until_a_frame_comes_and_stays_as_it_was(tape: Tape) -> None:
    fold = ConnectionFold(1)
    for frame in tape.frames:
        fold.advance(frame)
    before = fold.snapshot()
    assert fold.snapshot() is before
    steps, updates = before.steps, dict(before.updates)
    fold.advance(tape.tell("notifications/resources/updated", {"uri": "a:"}))
    fold.advance(tape.tell("notifications/tools/list_changed"))
    after = fold.snapshot()
    assert after.version > before.version
    assert (before.steps, before.updates) == (steps, updates)
    assert len(after.steps) == len(steps) + 1


def test_what_has_not_changed_is_not_built_again(tape: Tape) -> None:
    fold = ConnectionFold(1)
    tape.ask(1, "tools/list")
    tape.reply(1, {"tools": [{"name": str(number)} for number in range(5_000)]})
    tape.tell("notifications/message", {"level": "info", "data": "x"})
    for frame in tape.frames:
        fold.advance(frame)
    before = fold.snapshot()
    fold.advance(tape.stderr(b"x"))
    after = fold.snapshot()
    assert after.tools is before.tools
    assert after.logs is before.logs
    assert after.steps is before.steps
    assert after.open_calls is before.open_calls


# Whatever comes

EVENTS = [
    "started",
    "start_failed",
    "stdin_closed",
    "stdout_closed",
    "signal",
    "waiting",
    "exited",
    "undelivered",
]
events = st.fixed_dictionaries(
    {"event": st.sampled_from([*EVENTS, "failed", "timeout", "late", "gap", "answered", "mark"]) | values},
    optional={
        key: values | st.sampled_from([*State])
        for key in (
            "pid",
            "command",
            "cwd",
            "why",
            "name",
            "for",
            "seconds",
            "code",
            "signal",
            "state",
            "next",
            "id",
        )
    },
).map(lambda value: json.dumps(value).encode())
frames = st.tuples(st.sampled_from(Direction), st.sampled_from(Channel), bodies | events)


@given(st.lists(frames, max_size=25))
@settings(max_examples=many(300))
def test_no_frame_raises(script: list[tuple[Direction, Channel, bytes]]) -> None:
    fold = ConnectionFold(1)
    for seq, (direction, channel, body) in enumerate(script, 1):
        fold.advance(Frame(seq, 1, seq, seq, direction, channel, Kind.INVALID, body, len(body)))
        view = fold.snapshot()
    if script:
        assert view.frames == len(script)


def test_deeply_nested_and_very_large_messages_do_not_raise(tape: Tape) -> None:
    deep = b'{"a":' * 900 + b"1" + b"}" * 900
    for method in ("tools/call", "sampling/createMessage", "notifications/message", "notifications/progress"):
        for params in (deep, b'{"data":' + deep + b"}", b'{"data":"' + b"x" * 2_000_000 + b'"}'):
            body = b'{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}' % (method.encode(), params)
            tape.to_client(body)
            tape.to_server(body)
            tape.to_client(body.replace(b'"id":1,', b""))
    assert view_of(tape).frames == len(tape.frames)


def test_open_calls_do_not_grow_without_bound(tape: Tape) -> None:
    fold = ConnectionFold(1)
    for identity in range(MAX_OPEN + 3):
        fold.advance(tape.ask(identity + 1, "tools/call"))
        fold.advance(tape.ask(identity + 1, "roots/list", peer=True))
    view = fold.snapshot()
    assert (len(view.open_calls), len(view.peer_requests)) == (MAX_OPEN, MAX_OPEN)


def test_a_large_request_of_the_server_is_pending_too(tape: Tape) -> None:
    tape.ask(1, "sampling/createMessage", {"messages": ["x" * INLINE_BYTES]}, peer=True)
    (asked,) = view_of(tape).peer_requests
    assert asked.params == {"messages": ["x" * INLINE_BYTES]}


def test_a_refused_question_for_the_era_is_no_error_of_the_server() -> None:
    tape = Tape()
    tape.ask(0, "server/discover", {})
    tape.to_client({"jsonrpc": "2.0", "id": 0, "error": {"code": -32601, "message": "Method not found"}})
    assert view_of(tape).errors == 0
