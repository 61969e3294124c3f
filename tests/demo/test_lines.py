"""The demo server on the wire: each revision's own shapes, junk, cancellation, batches."""

from __future__ import annotations

from typing import Any

import mcp_types.methods as mcp_methods
import pytest

from tests.demo.pipe import offer, pipe

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ASKS: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("resources/list", {}),
    ("resources/list", {"cursor": "page-1"}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "demo://logo"}),
    ("resources/read", {"uri": "weather://Oslo/kelvin"}),
    ("resources/subscribe", {"uri": "demo://counter"}),
    ("resources/unsubscribe", {"uri": "demo://counter"}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "compare_weather", "arguments": {"first": "Oslo", "second": "Lima"}}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "packing_list"}, "argument": {"name": "city", "value": "L"}},
    ),
    ("logging/setLevel", {"level": "error"}),
    ("tools/call", {"name": "every_content", "arguments": {}}),
    ("tools/call", {"name": "weather_forecast", "arguments": {"location": "Oslo"}}),
    ("ping", {}),
]


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_answer_has_the_shape_of_the_revision(revision: str) -> None:
    with pipe(None) as server:
        opened = server.ask(0, "initialize", offer(revision))["result"]
        assert opened["protocolVersion"] == revision
        mcp_methods.validate_server_result("initialize", revision, opened)
        for number, (method, params) in enumerate(ASKS, 1):
            result = server.ask(number, method, params)["result"]
            mcp_methods.validate_server_result(method, revision, result)


@pytest.mark.parametrize(
    ("revision", "has"),
    [
        ("2024-11-05", set()),
        ("2025-03-26", {"annotations"}),
        ("2025-06-18", {"annotations", "title", "outputSchema"}),
        ("2025-11-25", {"annotations", "title", "outputSchema"}),
    ],
)
def test_a_tool_has_only_the_members_that_the_revision_knows(revision: str, has: set[str]) -> None:
    with pipe(revision) as server:
        tools = server.ask(1, "tools/list")["result"]["tools"]
    members = set().union(*tools)
    assert members == {"name", "description", "inputSchema"} | has


@pytest.mark.parametrize("revision", REVISIONS)
def test_content_that_the_revision_does_not_know_becomes_text(revision: str) -> None:
    with pipe(revision) as server:
        result = server.ask(1, "tools/call", {"name": "every_content"})["result"]
    kinds = [block["type"] for block in result["content"]]
    assert ("audio" in kinds) is (revision >= "2025-03-26")
    assert ("resource_link" in kinds) is (revision >= "2025-06-18")
    assert len(kinds) == 5


@pytest.mark.parametrize("offered", ["1999-01-01", "2026-07-28", "2099-01-01"])
def test_an_unknown_revision_is_answered_with_the_newest_known_one(offered: str) -> None:
    with pipe(None) as server:
        assert server.ask(1, "initialize", offer(offered))["result"]["protocolVersion"] == "2025-11-25"


def test_nothing_but_ping_is_answered_before_initialize() -> None:
    with pipe(None) as server:
        assert server.ask("a", "ping")["result"] == {}
        assert server.ask("b", "tools/list")["error"]["code"] == -32600
        assert server.ask("c", "tools/call", {"name": "echo"})["error"]["code"] == -32600
        assert "result" in server.ask("d", "initialize", offer("2025-06-18"))
        assert server.ask("e", "initialize", offer("2025-06-18"))["error"]["code"] == -32600


@pytest.mark.parametrize(
    "junk",
    [
        b"junk",
        b"",
        b"[]",
        b"42",
        b"[1]",
        b'{"half',
        b'{"level":"info"}',
        b"\xc3\x28",
        b"\x00",
        b"[" * 100_000,
        b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":99,"result":{}}',
        b'{"jsonrpc":"2.0","method":7}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
        b'{"jsonrpc":"2.0","method":"notifications/unheard-of","params":[]}',
    ],
)
def test_junk_is_passed_over_and_the_server_lives_on(junk: bytes) -> None:
    with pipe() as server:
        server.write(junk)
        assert server.ask(1, "ping")["result"] == {}
        assert server.end() == 0


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("no/such", {}, -32601),
        ("server/discover", {}, -32601),
        (7, {}, -32600),
        ("tools/list", [], -32600),
        ("tools/call", {"name": "no_such"}, -32602),
        ("tools/call", {"name": "break_down"}, -32603),
        ("prompts/get", {"name": "no_such"}, -32602),
        ("prompts/get", {"name": "packing_list"}, -32602),
        ("prompts/get", {"name": "packing_list", "arguments": {"city": 5}}, -32602),
        ("resources/list", {"cursor": "elsewhere"}, -32602),
        ("resources/list", {"cursor": {}}, -32602),
        ("resources/read", {"uri": "demo://none"}, -32002),
        ("resources/read", {}, -32602),
        ("resources/subscribe", {"uri": "demo://none"}, -32002),
        ("logging/setLevel", {"level": "loud"}, -32602),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "none"}}, -32602),
    ],
)
def test_a_request_that_cannot_be_met_gets_its_own_error(method: Any, params: Any, code: int) -> None:
    with pipe() as server:
        assert server.ask(1, method, params)["error"]["code"] == code


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"text": 5},
        {"text": "x", "count": -1},
        {"text": "x", "colour": "mauve"},
        {"text": "x", "places": [{}]},
        [],
    ],
)
def test_arguments_that_do_not_fit_are_a_result_in_the_newest_revision_and_an_error_before(
    arguments: Any,
) -> None:
    call = {"name": "echo", "arguments": arguments}
    with pipe("2025-11-25") as server:
        assert server.ask(1, "tools/call", call)["result"]["isError"] is True
    with pipe("2025-06-18") as server:
        assert server.ask(1, "tools/call", call)["error"]["code"] == -32602


def test_a_batch_is_answered_as_a_batch_in_the_one_revision_that_has_it() -> None:
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "no/such"},
    ]
    with pipe("2025-03-26") as server:
        server.send(batch)
        assert server.next()["method"] == "notifications/message"
        assert [answer["id"] for answer in server.next()] == [1, 2]
    with pipe("2025-06-18") as server:
        server.send(batch)
        assert server.ask(3, "ping")["result"] == {}


def test_a_cancelled_call_is_never_answered() -> None:
    with pipe() as server:
        meta = {"progressToken": "t"}
        server.request(
            7,
            "tools/call",
            {"name": "long_operation", "arguments": {"duration": 60, "steps": 600}, "_meta": meta},
        )
        assert server.next()["params"]["progressToken"] == "t"
        server.notify("notifications/cancelled", {"requestId": 7})
        server.request(8, "ping")
        while (message := server.next()).get("id") is None:
            assert message["method"] == "notifications/progress"
        assert message == {"jsonrpc": "2.0", "id": 8, "result": {}}
        assert server.end() == 0


def test_cancelling_a_call_takes_its_question_to_the_user_back() -> None:
    with pipe(capabilities={"elicitation": {}}) as server:
        server.request(1, "tools/call", {"name": "ask_for_name"})
        question = server.next()
        assert question["method"] == "elicitation/create"
        server.notify("notifications/cancelled", {"requestId": 1})
        taken_back = server.next()
        assert taken_back["method"] == "notifications/cancelled"
        assert taken_back["params"]["requestId"] == question["id"]
        assert server.end() == 0


def test_two_calls_run_side_by_side_and_ids_of_both_types_are_kept_apart() -> None:
    with pipe(capabilities={"elicitation": {}}) as server:
        for identity in (5, "5"):
            server.request(identity, "tools/call", {"name": "ask_for_name"})
        questions = [server.next(), server.next()]
        for name, question in zip(("Ada", "Grace"), questions, strict=True):
            server.send(
                {
                    "jsonrpc": "2.0",
                    "id": question["id"],
                    "result": {"action": "accept", "content": {"name": name}},
                }
            )
        answers = [server.next(), server.next()]
        assert {answer["result"]["content"][0]["text"] for answer in answers} == {
            "Hello, Ada!",
            "Hello, Grace!",
        }
        assert sorted(map(repr, (answer["id"] for answer in answers))) == ["'5'", "5"]


def test_progress_is_told_only_to_who_asked_for_it_and_without_a_message_in_the_first_revision() -> None:
    call = {"name": "long_operation", "arguments": {"duration": 0, "steps": 2}}
    with pipe("2024-11-05") as server:
        assert "result" in server.ask(1, "tools/call", call)
        server.request(2, "tools/call", {**call, "_meta": {"progressToken": 3}})
        assert server.next()["params"] == {"progressToken": 3, "progress": 1, "total": 2}


def test_log_messages_below_the_level_set_are_not_sent() -> None:
    with pipe() as server:
        server.ask(1, "logging/setLevel", {"level": "error"})
        call = {"name": "write_log", "arguments": {"level": "warning", "message": "hm"}}
        assert "Kept quiet" in server.ask(2, "tools/call", call)["result"]["content"][0]["text"]
        server.request(
            3, "tools/call", {"name": "write_log", "arguments": {"level": "error", "message": "oh"}}
        )
        assert server.next()["params"] == {"level": "error", "logger": "demo", "data": "oh"}


def test_text_with_a_lone_surrogate_comes_back() -> None:
    with pipe() as server:
        server.write(
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\\ud83d"}}}'
        )
        assert "\ud83d" in server.next()["result"]["content"][0]["text"]
