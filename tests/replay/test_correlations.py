"""A value the server was given and used later is the live one (replay: "Correlated")."""

from __future__ import annotations

from typing import Any

from tests.replay.build import Live, Tape, call, note, request, result, text


def asked(answer: dict[str, Any], *after: dict[str, Any], before: dict[str, Any] | None = None) -> Tape:
    """A call that asks, gets an answer, and ends with what was made of it."""
    tape = Tape().hello()
    if before is not None:
        tape.c(request(9, "tools/list")).s(result(9, **before))
    tape.c(call(2, "ask")).s(request("q", "elicitation/create")).c(result("q", **answer))
    for body in after:
        tape.s(body)
    return tape


def answered(tape: Tape, **answer: Any) -> Any:
    live = Live(tape)
    live.say(request(8, "tools/list"))
    live.say(call(5, "ask"))
    return live.say(result("q", **answer)), live


def test_a_long_string_with_a_digit_is_followed_and_told_of() -> None:
    tape = asked({"ticket": "ticket-000001"}, result(2, ticket="ticket-000001"))
    [got], live = answered(tape, ticket="other-7")
    assert got["result"] == {"ticket": "other-7"}
    assert live.server.report_value()["correlations"] == [
        {"seq": 5, "pointer": "/ticket", "recorded": "ticket-000001"}
    ]


def test_short_strings_and_words_are_not_followed() -> None:
    tape = asked(
        {"n": "abc1", "w": "a long answer in words"}, result(2, n="abc1", w="a long answer in words")
    )
    [got], _ = answered(tape, n="zzz9", w="quite another one")
    assert got["result"] == {"n": "abc1", "w": "a long answer in words"}


def test_what_the_server_had_said_before_is_its_own() -> None:
    tape = asked(
        {"ticket": "ticket-000001"},
        result(2, ticket="ticket-000001"),
        before={"tools": [], "_meta": {"x": "ticket-000001"}},
    )
    [got], _ = answered(tape, ticket="other-000007")
    assert got["result"] == {"ticket": "ticket-000001"}


def test_the_name_of_a_listed_thing_is_never_followed() -> None:
    tape = asked({"tool": "tool-number-1"}, result(2, tool="tool-number-1"))
    tape.c(request(4, "tools/list")).s(result(4, tools=[{"name": "tool-number-1"}]))
    [got], _ = answered(tape, tool="tool-number-2")
    assert got["result"] == {"tool": "tool-number-1"}


def test_only_whole_strings_that_are_values_are_replaced() -> None:
    uri = "file:///recorded/1"
    tape = asked(
        {"uri": uri},
        result(2, **{uri: 1, "text": f"at {uri}", "quoted": f'"{uri}"', "list": [uri, uri]}),
    )
    [got], _ = answered(tape, uri="file:///live")
    assert got["result"] == {
        uri: 1,
        "text": f"at {uri}",
        "quoted": f'"{uri}"',
        "list": ["file:///live", "file:///live"],
    }


def test_values_are_replaced_once_even_where_they_change_places() -> None:
    first, second = "value-number-1", "value-number-2"
    tape = asked({"a": first, "b": second}, result(2, a=first, b=second))
    [got], _ = answered(tape, a=second, b=first)
    assert got["result"] == {"a": second, "b": first}


def test_items_are_known_by_name_where_their_order_differs() -> None:
    roots = [{"uri": "file:///recorded/1", "name": "one"}, {"uri": "file:///recorded/2", "name": "two"}]
    tape = asked({"roots": roots}, result(2, first="file:///recorded/1", second="file:///recorded/2"))
    live = [{"uri": "file:///b", "name": "two"}, {"uri": "file:///a", "name": "one"}]
    [got], _ = answered(tape, roots=live)
    assert got["result"] == {"first": "file:///a", "second": "file:///b"}


def test_a_client_s_task_is_asked_for_by_its_live_id_however_short() -> None:
    task = {"task": {"taskId": "t1", "status": "working"}}
    tape = asked(task, request("p", "tasks/get", taskId="t1"), note("x", other="t1"))
    got, _ = answered(tape, task={"taskId": "t9", "status": "working"})
    assert got[0]["params"] == {"taskId": "t9"}
    assert got[1]["params"] == {"other": "t1"}


def test_arguments_that_are_not_compared_are_followed_into_the_result() -> None:
    tape = Tape().hello().c(call(2, "make", order="order-2024-001")).s(result(2, order="order-2024-001"))
    live = Live(tape, match="name")
    [got] = live.say(call(5, "make", token="token-000001", order="order-2026-777"))
    assert got["result"] == {"order": "order-2026-777"}


def test_a_placeholder_is_not_followed() -> None:
    tape = asked({"key": "<redacted:1 env KEY>"}, text(2, "<redacted:1 env KEY>"))
    [got], live = answered(tape, key="a-live-secret-1")
    assert got["result"]["content"][0]["text"] == "<redacted:1 env KEY>"
    assert live.report.notes == []
