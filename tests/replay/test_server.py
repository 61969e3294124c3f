"""A mock server gives back what was recorded, when and only when it has been asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.replay.build import Live, Tape, call, note, progress, request, result, text
from workbench.replay.actions import Send
from workbench.replay.server import MISS


def test_initialize_is_answered_whoever_asks_with_the_recorded_version() -> None:
    live = Live(Tape().hello())
    [answer] = live.say(
        request(
            "a", "initialize", protocolVersion="2024-11-05", capabilities={"x": {}}, clientInfo={"name": "y"}
        )
    )
    assert answer["id"] == "a"
    assert answer["result"]["protocolVersion"] == "2025-11-25"
    assert any("offers 2024-11-05" in said for said in live.report.notes)


def test_an_answer_carries_the_live_id_with_its_type_and_is_otherwise_the_recorded_bytes() -> None:
    body = b'{"result":{"b":1.0,"a":1e400,"a":2,"id":7},"id":7,"jsonrpc":"2.0"}'
    live = Live(Tape().hello().c(request(7, "x/y")).s(body))
    for id in ("7", '"7"', "7.5", "null", "123456789012345678901"):
        [action] = live.server.feed(b'{"jsonrpc":"2.0","id":' + id.encode() + b',"method":"x/y"}')
        assert isinstance(action, Send)
        assert action.body == body.replace(b'"id":7,"jsonrpc', b'"id":%s,"jsonrpc' % id.encode())


def test_trap_1_progress_reaches_the_live_token_whatever_it_is() -> None:
    tape = Tape().hello().c(call(2, "slow", token=2))
    for value in (1, 2, 3):
        tape.s(progress(2, value))
    live = Live(tape.s(text(2, "done")))
    answers = live.say(call(40, "slow", token="tok"))
    assert [answer["params"]["progressToken"] for answer in answers[:3]] == ["tok"] * 3
    assert answers[3]["id"] == 40


def test_progress_is_not_sent_to_a_client_that_asks_for_none() -> None:
    live = Live(Tape().hello().c(call(2, "slow", token=2)).s(progress(2, 1)).s(text(2, "done")))
    assert [answer["id"] for answer in live.say(call(3, "slow"))] == [3]
    assert any("asks for no progress" in said for said in live.report.notes)


def test_trap_2_what_was_recorded_before_a_response_goes_out_before_it() -> None:
    log = note("notifications/message", level="info", data="working")
    live = Live(Tape().hello().c(call(2, "t")).s(log).s(text(2, "done")))
    assert [answer.get("method") for answer in live.say(call(9, "t"))] == ["notifications/message", None]


def test_trap_3_each_of_two_overlapping_calls_gets_exactly_its_own() -> None:
    tape = Tape().hello().c(call(2, "a", token=2)).c(call(3, "b", token=3))
    tape.s(progress(3, 1)).s(progress(2, 1)).s(progress(3, 2)).s(text(2, "a done")).s(text(3, "b done"))
    live = Live(tape)
    answers = live.say(call(7, "b", token=7))
    assert [answer.get("params", {}).get("progress") for answer in answers] == [1, 2, None]
    assert answers[2]["result"]["content"][0]["text"] == "b done"


def test_what_may_belong_to_several_calls_waits_for_the_last_of_them() -> None:
    log = note("notifications/message", level="info", data="whose?")
    tape = Tape().hello().c(call(2, "a")).c(call(3, "b")).s(log).s(text(3, "b")).s(text(2, "a"))
    live = Live(tape)
    assert [answer["id"] for answer in live.say(call(1, "a"))] == [1]
    assert [answer.get("method", answer.get("id")) for answer in live.say(call(2, "b"))] == [
        "notifications/message",
        2,
    ]


def test_what_belongs_to_the_earlier_call_does_not_overtake_what_may_belong_to_both() -> None:
    first, last = (note("notifications/message", level="info", data=word) for word in ("first", "last"))
    tape = Tape().hello().c(call(2, "a")).c(call(3, "b")).s(first).s(text(3, "b")).s(last).s(text(2, "a"))
    live = Live(tape)
    answers = [*live.say(call(1, "a")), *live.say(call(2, "b"))]
    assert [each["params"]["data"] for each in answers if "params" in each] == ["first", "last"]


def test_what_must_not_overtake_is_sent_to_a_client_that_goes_on_with_something_else() -> None:
    first, last = (note("notifications/message", level="info", data=word) for word in ("first", "last"))
    tape = Tape().hello().c(call(2, "a")).c(call(3, "b")).s(first).s(text(3, "b")).s(last).s(text(2, "a"))
    live = Live(tape)
    assert [answer["id"] for answer in live.say(call(1, "a"))] == [1]
    assert live.server.stuck
    assert [each["params"]["data"] for each in live.release()] == ["last"]
    assert not live.server.stuck
    assert [each.get("method", each.get("id")) for each in live.say(call(2, "b"))] == [
        "notifications/message",
        2,
    ]


def test_progress_overtakes_what_may_belong_to_both_because_its_answer_does() -> None:
    log = note("notifications/message", level="info", data="whose?")
    tape = Tape().hello().c(call(2, "a", token="t")).c(call(3, "b")).s(log).s(text(3, "b"))
    tape.s(progress("t", 1)).s(text(2, "a"))
    answers = Live(tape).say(call(1, "a", token="live"))
    assert [each.get("method", each.get("id")) for each in answers] == ["notifications/progress", 1]


def test_what_may_belong_to_several_calls_is_dropped_with_a_note_if_one_never_comes() -> None:
    log = note("notifications/message", level="info", data="whose?")
    live = Live(Tape().hello().c(call(2, "a")).c(call(3, "b")).s(log).s(text(3, "b")).s(text(2, "a")))
    live.say(call(1, "a"))
    live.server.closed()
    assert any("one of its requests never came" in said for said in live.report.notes)


def test_trap_5_equal_ids_of_both_sides_are_not_mixed_up() -> None:
    tape = (
        Tape().hello().c(call(8, "ask")).s(request(8, "roots/list")).c(result(8, roots=[])).s(text(8, "done"))
    )
    live = Live(tape)
    [question] = live.say(call(8, "ask"))
    assert (question["method"], question["id"]) == ("roots/list", 8)
    [answer] = live.say(result(8, roots=[]))
    assert answer["result"]["content"][0]["text"] == "done"


def test_trap_6_a_result_waits_for_the_client_s_answer_to_a_question() -> None:
    tape = Tape().hello().c(call(2, "ask")).s(request("q", "elicitation/create", message="?"))
    live = Live(tape.c(result("q", action="accept")).s(text(2, "thanks")))
    [question] = live.say(call(5, "ask"))
    assert question["method"] == "elicitation/create"
    assert [answer["id"] for answer in live.say(result(question["id"], action="accept"))] == [5]
    assert live.report.notes == []


@pytest.mark.parametrize(
    ("on_answer", "agrees", "said"), [("warn", True, 1), ("ignore", True, 0), ("fail", False, 1)]
)
def test_trap_6_an_answer_other_than_recorded_is_told(on_answer: str, agrees: bool, said: int) -> None:
    tape = Tape().hello().c(call(2, "ask")).s(request("q", "elicitation/create", message="?"))
    live = Live(tape.c(result("q", action="accept")).s(text(2, "thanks")), on_answer=on_answer)
    live.say(call(5, "ask"))
    live.say(result("q", action="decline"))
    assert len([note for note in live.report.notes if "differs at /action" in note]) == said
    assert live.server.agrees() is agrees


def test_a_string_of_an_answer_that_comes_back_later_is_the_live_one() -> None:
    tape = Tape().hello().c(call(2, "ask")).s(request("q", "roots/list"))
    tape.c(result("q", roots=[{"uri": "file:///recorded/1", "name": "home"}]))
    live = Live(tape.s(result(2, content=[], root="file:///recorded/1", text="at file:///recorded/1")))
    live.say(call(5, "ask"))
    [answer] = live.say(result("q", roots=[{"uri": "file:///x"}, {"uri": "file:///live", "name": "home"}]))
    assert answer["result"]["root"] == "file:///x"
    assert answer["result"]["text"] == "at file:///recorded/1"


def test_trap_8_a_call_that_was_cancelled_is_not_answered_when_it_is_cancelled_again() -> None:
    tape = Tape().hello().c(call(2, "slow")).c(note("notifications/cancelled", requestId=2))
    live = Live(tape.c(call(3, "fast")).s(text(3, "fast")))
    assert live.say(call(7, "slow")) == []
    assert live.say(note("notifications/cancelled", requestId=7)) == []
    assert [answer["id"] for answer in live.say(call(8, "fast"))] == [8]


def test_trap_8_a_late_answer_comes_after_the_cancel_and_belongs_to_nothing_else() -> None:
    tape = (
        Tape().hello().c(call(2, "slow")).c(note("notifications/cancelled", requestId=2)).s(text(2, "late"))
    )
    live = Live(tape)
    assert live.say(call(7, "slow")) == []
    assert [answer["id"] for answer in live.say(note("notifications/cancelled", requestId=7))] == [7]


def test_a_client_that_cancels_where_the_recorded_one_did_not_hears_no_more_of_it() -> None:
    tape = (
        Tape()
        .hello()
        .c(call(2, "ask"))
        .s(request("q", "roots/list"))
        .c(result("q", roots=[]))
        .s(text(2, "x"))
    )
    live = Live(tape)
    live.say(call(7, "ask"))
    assert live.say(note("notifications/cancelled", requestId=7)) == []
    assert live.say(result("q", roots=[])) == []


def test_trap_9_a_server_that_ended_in_the_middle_of_a_call_ends_again() -> None:
    tape = Tape().hello().c(call(2, "boom")).err(b"KeyError: 'TOKEN'").event(event="exited", code=3)
    live = Live(tape)
    assert live.say(call(4, "boom")) == []
    assert live.stderr == [b"KeyError: 'TOKEN'"]
    assert live.exit == 3
    assert live.say(call(5, "boom")) == []


def test_a_server_that_ended_after_its_client_gives_the_same_status() -> None:
    tape = Tape().hello().event(event="stdin_closed").event(event="exited", code=0)
    live = Live(tape)
    live.hello()
    assert live.exit is None
    live.server.closed()
    assert live.server.status() == 0


def test_trap_10_a_call_asked_for_more_often_than_recorded_is_used_up() -> None:
    live = Live(Tape().hello().c(call(2, "t", n=1)).s(text(2, "x")))
    assert "result" in live.say(call(5, "t", n=1))[0]
    [answer] = live.say(call(6, "t", n=1))
    assert answer["error"]["code"] == MISS
    assert answer["error"]["data"]["why"] == "already used"


def test_trap_10_equal_calls_give_their_results_in_recorded_order() -> None:
    tape = Tape().hello().c(call(2, "t")).s(text(2, "one")).c(call(3, "t")).s(text(3, "two"))
    live = Live(tape, after="cycle")
    said = [live.say(call(n, "t"))[0]["result"]["content"][0]["text"] for n in range(4)]
    assert said == ["one", "two", "one", "two"]


def test_trap_10_lists_and_pings_answer_however_often_and_missing_params_equal_empty_ones() -> None:
    live = Live(Tape().hello().c(request(2, "tools/list")).s(result(2, tools=[])))
    ways: list[dict[str, Any]] = [{}, {"params": {}}, {"params": {"_meta": {"progressToken": 3}}}]
    for params in ways:
        [answer] = live.say({"jsonrpc": "2.0", "id": 9, "method": "tools/list", **params})
        assert answer == result(9, tools=[])
    assert live.say(request("p", "ping")) == [{"jsonrpc": "2.0", "id": "p", "result": {}}]
    assert live.server.agrees()


def test_trap_12_pages_follow_their_cursors_exactly() -> None:
    tape = Tape().hello().c(request(2, "tools/list")).s(result(2, tools=[1], nextCursor=""))
    live = Live(tape.c(request(3, "tools/list", cursor="")).s(result(3, tools=[2])))
    assert live.say(request(5, "tools/list"))[0]["result"]["tools"] == [1]
    assert live.say(request(6, "tools/list", cursor=""))[0]["result"]["tools"] == [2]
    assert live.say(request(7, "tools/list", cursor="x"))[0]["error"]["code"] == MISS


def test_trap_13_a_probe_for_the_other_era_gets_what_this_era_s_servers_answer() -> None:
    live = Live(Tape().hello())
    [answer] = live.say(
        request("d", "server/discover", _meta={"io.modelcontextprotocol/protocolVersion": "x"})
    )
    assert answer["error"]["code"] == -32601
    assert live.server.agrees()


def test_trap_15_a_placeholder_stands_for_any_live_secret_but_always_the_same() -> None:
    tape = Tape().hello()
    for number in (2, 3):
        tape.c(call(number, "login", key="Bearer <redacted:1 env TOKEN>", n=number)).s(text(number, "in"))
    live = Live(tape)
    assert "result" in live.say(call(5, "login", key="Bearer live-secret-1", n=2))[0]
    [miss] = live.say(call(6, "login", key="Bearer other-secret-2", n=3))
    assert miss["error"]["data"]["nearest"]["differences"] == [
        {"pointer": "/arguments/key", "why": "same secret expected"}
    ]
    assert "other-secret" not in json.dumps(miss)


def test_trap_15_a_secret_in_a_live_request_is_not_shown_in_a_miss() -> None:
    live = Live(Tape().hello().c(call(2, "t", key="a")).s(text(2, "x")))
    [miss] = live.say(call(3, "t", key="ghp_" + "a1B2" * 9))
    assert "ghp_" not in json.dumps(miss)


def test_trap_20_and_junk_batches_and_lines_that_are_no_messages_are_survived() -> None:
    live = Live(Tape().hello().c(request(2, "tools/list")).s(result(2, tools=[])))
    for body in (b"", b"junk", b"[]", b"42", b"\xff", b'{"id":1}', b"[" * 100_000):
        assert live.say(body) == []
    batch = [request(5, "ping"), request(6, "tools/list")]
    assert [answer["id"] for answer in live.say(batch)] == [5, 6]


def test_trap_21_a_notification_is_never_answered() -> None:
    live = Live(Tape().hello())
    assert live.say(note("notifications/unknown")) == []
    assert live.say(note("tools/call", name="x")) == []
    assert live.server.agrees()


def test_trap_22_a_miss_names_the_nearest_request_and_where_it_differs() -> None:
    tape = Tape().hello().c(call(2, "search", q="a", limit=3)).s(text(2, "x"))
    live = Live(tape.c(call(3, "other")).s(text(3, "y")))
    [answer] = live.say(call(9, "search", q="a", limit=5))
    assert answer["error"]["code"] == MISS
    data = answer["error"]["data"]
    assert data["why"] == "never recorded"
    assert data["nearest"]["seq"] == 4
    assert data["nearest"]["differences"] == [{"pointer": "/arguments/limit", "recorded": "3", "live": "5"}]
    assert "#4" in answer["error"]["message"]
    assert "/arguments/limit" in answer["error"]["message"]


def test_what_a_server_sends_unasked_hangs_on_the_last_client_message_before_it() -> None:
    tape = Tape().s(note("notifications/message", level="info", data="early")).hello()
    tape.s(note("notifications/tools/list_changed")).s(request(1, "roots/list")).c(result(1, roots=[]))
    tape.s(note("notifications/message", level="info", data="rooted"))
    live = Live(tape)
    assert [said["params"]["data"] for said in live.first] == ["early"]
    answers = live.hello()
    assert [answer.get("method") for answer in answers] == [
        None,
        "notifications/tools/list_changed",
        "roots/list",
    ]
    assert [said["params"]["data"] for said in live.say(result(1, roots=[]))] == ["rooted"]


def test_junk_that_a_server_wrote_is_written_again_where_it_was() -> None:
    live = Live(
        Tape()
        .s(b"Server v1 up on stdin")
        .hello()
        .c(request(2, "tools/list"))
        .s(b"{half")
        .s(result(2, tools=[]))
    )
    assert live.first == [b"Server v1 up on stdin"]
    live.hello()
    assert live.say(request(3, "tools/list")) == [b"{half", result(3, tools=[])]


def test_a_call_played_again_waits_again_for_its_question() -> None:
    tape = Tape().hello().c(request(2, "prompts/get", name="p")).s(request("q", "roots/list"))
    live = Live(tape.c(result("q", roots=[])).s(result(2, messages=[])))
    for _ in range(2):
        [question] = live.say(request(5, "prompts/get", name="p"))
        assert [answer["id"] for answer in live.say(result(question["id"], roots=[]))] == [5]


def test_strict_counts_what_was_not_asked_for() -> None:
    tape = Tape().hello().c(call(2, "t")).s(text(2, "x"))
    live = Live(tape, strict=True)
    live.hello()
    assert not live.server.agrees()
    assert [unused["method"] for unused in live.server.report_value()["unused"]] == ["tools/call"]
    live.say(call(5, "t"))
    assert live.server.agrees()


def test_strict_matching_pins_the_order() -> None:
    tape = Tape().hello().c(call(2, "a")).s(text(2, "a")).c(call(3, "b")).s(text(3, "b"))
    live = Live(tape, match="strict")
    live.hello()
    assert "error" in live.say(call(5, "b"))[0]
    assert "result" in live.say(call(6, "a"))[0]
    assert "result" in live.say(call(7, "b"))[0]


def test_names_or_methods_alone_can_be_compared() -> None:
    tape = Tape().hello().c(call(2, "a", n=1)).s(text(2, "x"))
    assert "result" in Live(tape, match="name").say(call(5, "a", n=99))[0]
    assert "error" in Live(tape, match="name").say(call(5, "b", n=1))[0]
    assert "result" in Live(tape, match="method").say(call(5, "b"))[0]
