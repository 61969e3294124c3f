"""The mock client alone, with a clock of the test's: what it sends when, and what it makes of answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.replay.build import Tape, call, note, progress, request, result, text
from workbench.replay.actions import Connect, Leave, Write
from workbench.replay.client import MockClient
from workbench.replay.client_script import build
from workbench.replay.manner import Manner
from workbench.replay.verification import (
    CHANGED,
    EQUAL,
    ERROR_NOW,
    EXTRA,
    LEFT_OPEN,
    MISSING,
    RESULT_NOW,
    Compared,
)

MANNER = Manner(timeout=10, maximum=100, start=30, silence=2)


#: The answer to the handshake of a tape.
HELLO = Tape().hello().frames[1].body


class Talk:
    """A mock client that the test plays the server for."""

    def __init__(self, tape: Tape, **manner: Any) -> None:
        self.client = MockClient(build(tape.frames), MANNER._replace(**manner))
        self.now = 0.0
        self.left = False
        self.sent: list[Any] = []
        self._do(self.client.next(0.0))

    def new(self) -> list[Any]:
        """What was sent since this was asked last."""
        sent, self.sent = self.sent, []
        return sent

    def hear(self, *bodies: Any) -> list[Any]:
        """Send bodies as the server; returns what the client sends then."""
        for body in bodies:
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            self._do(self.client.feed(raw, self.now))
        return self.new()

    def hello(self) -> list[Any]:
        self.new()
        return self.hear(HELLO)

    def wait(self, seconds: float) -> list[Any]:
        """Let time pass, in as many steps as the client asks for."""
        end = self.now + seconds
        while (due := self.client.deadline()) is not None and due <= end:
            self.now = max(due, self.now)
            self._do(self.client.tick(self.now))
        self.now = end
        return self.new()

    def gone(self, why: str = "The server has gone.", code: int | None = None) -> None:
        self._do(self.client.ended(1, why, self.now, code))

    def of(self, name: str) -> Compared:
        [found] = [
            each
            for each in self.client.verification().compared
            if name in (each.request.name, each.request.method)
        ]
        return found

    def _do(self, actions: list[Any]) -> None:
        for action in actions:
            if isinstance(action, Connect):
                self._do(self.client.opened(action.connection, self.now))
            elif isinstance(action, Write):
                assert not self.left
                self.sent.append(json.loads(action.body))
            elif isinstance(action, Leave):
                self.left = True


def methods(bodies: list[Any]) -> list[str]:
    return [body.get("method", "answer") for body in bodies]


def one_call(**token: Any) -> Tape:
    return Tape().hello().c(call(2, "t", **token)).s(text(2, "x")).event(event="stdin_closed")


# Order and time


def test_what_had_its_answer_before_the_next_was_sent_waits_for_it_again() -> None:
    tape = (
        Tape()
        .hello()
        .c(call(2, "a"))
        .c(call(3, "b"))
        .s(text(2, "x"))
        .c(call(4, "c"))
        .s(text(3, "y"))
        .s(text(4, "z"))
    )
    talk = Talk(tape)
    assert methods(talk.new()) == ["initialize"]
    assert methods(talk.hello()) == ["notifications/initialized", "tools/call", "tools/call"]
    assert talk.hear(text(3, "y")) == []
    assert [body["params"]["name"] for body in talk.hear(text(2, "x"))] == ["c"]
    talk.hear(text(4, "z"))
    assert talk.client.over
    assert talk.left
    assert talk.client.verification().agrees


def test_a_server_that_does_not_answer_is_waited_for_and_then_told_that_nobody_does() -> None:
    talk = Talk(one_call())
    talk.hello()
    assert talk.wait(9.9) == []
    [cancel] = talk.wait(0.2)
    assert cancel == note("notifications/cancelled", requestId=2)
    assert talk.left
    assert (talk.of("t").verdict, talk.of("t").why) == (MISSING, "No answer came within 10 s.")


def test_progress_is_a_sign_of_life_but_not_for_ever() -> None:
    talk = Talk(one_call(token="p"))
    talk.hello()
    for step in range(11):
        assert talk.wait(9) == [], step
        talk.hear(progress("p", step))
    assert methods(talk.wait(2)) == ["notifications/cancelled"]
    assert talk.of("t").why == "No answer came within 100 s."


def test_a_handshake_has_a_time_of_its_own_and_is_not_cancelled() -> None:
    talk = Talk(one_call())
    talk.new()
    assert talk.wait(29) == []
    assert talk.wait(2) == []
    assert {each.verdict for each in talk.client.verification().compared} == {MISSING}
    assert talk.client.over


def test_a_late_answer_is_passed_over_and_a_made_up_one_is_told() -> None:
    talk = Talk(one_call())
    talk.hello()
    talk.hear(text(77, "x"))
    assert talk.client.verification().notes == [
        "The server answered a request that was not open; it was passed over."
    ]
    talk.wait(11)
    talk.hear(text(2, "x"))
    assert talk.of("t").verdict == MISSING


def test_a_cancel_waits_for_the_progress_there_had_been() -> None:
    tape = Tape().hello().c(call(2, "t", token="p")).s(progress("p", 1)).s(progress("p", 2))
    talk = Talk(tape.c(note("notifications/cancelled", requestId=2)).event(event="stdin_closed"))
    assert methods(talk.hello()) == ["notifications/initialized", "tools/call"]
    assert talk.hear(progress("p", 1)) == []
    assert talk.hear(progress("p", 2)) == [note("notifications/cancelled", requestId=2)]
    assert (talk.of("t").verdict, talk.of("t").why) == (EQUAL, "cancelled")


def test_a_call_that_is_answered_before_it_is_cancelled_is_told() -> None:
    tape = Tape().hello().c(call(2, "t", token="p")).s(progress("p", 1))
    talk = Talk(tape.c(note("notifications/cancelled", requestId=2)).event(event="stdin_closed"))
    talk.hello()
    assert talk.hear(text(2, "x")) == []
    assert (talk.of("t").verdict, talk.of("t").why) == (EXTRA, "It was answered before it was cancelled.")


def test_what_a_server_may_never_tell_again_holds_nothing_up_for_long() -> None:
    tape = Tape().hello().s(note("notifications/tools/list_changed")).c(call(2, "t")).s(text(2, "x"))
    talk = Talk(tape)
    assert methods(talk.hello()) == ["notifications/initialized"]
    assert talk.wait(1.9) == []
    assert methods(talk.wait(0.2)) == ["tools/call"]
    talk.hear(text(2, "x"))
    told = talk.client.verification()
    assert told.agrees
    assert told.notes == ["#5 was sent though not all had come that came before it."]


def paced(*after: float) -> Tape:
    """Calls that were each sent so many seconds after the answer before."""
    tape, now = Tape().hello(), 0
    for number, seconds in enumerate(after, 2):
        first = len(tape.frames)
        tape.c(call(number, f"t{number}")).s(text(number, "x"))
        now += int(seconds * 1e9)
        tape.frames[first:] = [frame._replace(mono_ns=now) for frame in tape.frames[first:]]
    return tape.event(event="stdin_closed")


def test_what_the_client_let_pass_is_waited_for_where_that_is_asked() -> None:
    talk = Talk(paced(3, 4), pace=0.5)
    assert methods(talk.hello() + talk.wait(0.1)) == ["notifications/initialized"]
    assert talk.wait(1.3) == []
    assert methods(talk.wait(0.2)) == ["tools/call"]
    assert talk.wait(5) == []
    assert talk.hear(text(2, "x")) == []
    assert talk.wait(1.9) == []
    assert methods(talk.wait(0.2)) == ["tools/call"]
    assert methods(Talk(paced(3)).hello()) == ["notifications/initialized", "tools/call"]


def test_nobody_waits_for_a_server_that_has_gone() -> None:
    talk = Talk(paced(3, 4), pace=1)
    talk.hello()
    talk.gone()
    assert talk.client.over


def test_a_request_the_recorded_client_left_open_is_left_open() -> None:
    talk = Talk(Tape().hello().c(call(2, "t")).event(event="stdin_closed"))
    talk.hello()
    assert talk.left
    assert talk.of("t").verdict == LEFT_OPEN
    assert talk.client.verification().agrees


# Answers


@pytest.mark.parametrize(
    ("recorded", "live", "verdict"),
    [
        ({"result": {"content": []}}, {"result": {"content": []}}, EQUAL),
        ({"result": {"n": 1.0}}, {"result": {"n": 1}}, EQUAL),
        ({"result": {"n": 1}}, {"result": {"n": "1"}}, CHANGED),
        ({"result": {"a": 1}}, {"result": {"a": 1, "b": None}}, CHANGED),
        ({"result": {"content": []}}, {"error": {"code": -1, "message": "no"}}, ERROR_NOW),
        ({"error": {"code": -1, "message": "no"}}, {"result": {}}, RESULT_NOW),
        ({"error": {"code": -1, "message": "no"}}, {"error": {"code": -1, "message": "no"}}, EQUAL),
        ({"error": {"code": -1, "message": "no"}}, {"error": {"code": -2, "message": "no"}}, CHANGED),
    ],
)
def test_answers_are_compared(recorded: Any, live: Any, verdict: str) -> None:
    both = {"jsonrpc": "2.0", "id": 2}
    talk = Talk(Tape().hello().c(call(2, "t")).s({**both, **recorded}).event(event="stdin_closed"))
    talk.hello()
    talk.hear({**both, **live})
    assert talk.of("t").verdict == verdict
    assert talk.client.verification().agrees == (verdict == EQUAL)


def test_nothing_is_asked_of_a_server_that_refuses_the_handshake() -> None:
    talk = Talk(one_call())
    talk.new()
    refusal = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no such version"}}
    assert talk.hear(refusal) == []
    assert talk.of("initialize").verdict == ERROR_NOW
    assert talk.of("t").why == "It was not sent: the server refused the handshake."


def test_a_server_that_goes_answers_nothing_any_more() -> None:
    talk = Talk(one_call())
    talk.hello()
    talk.gone("The server exited with status 3.", 3)
    assert (talk.of("t").verdict, talk.of("t").why) == (MISSING, "The server exited with status 3.")
    assert talk.client.over


@pytest.mark.parametrize(("code", "verdict"), [(3, EQUAL), (4, CHANGED)])
def test_a_server_that_crashed_has_to_crash_again_alike(code: int, verdict: str) -> None:
    talk = Talk(Tape().hello().c(call(2, "boom")).event(event="exited", code=3))
    talk.hello()
    talk.gone("The server exited.", code)
    assert talk.of("boom").verdict == verdict


def test_a_server_that_lives_on_where_it_crashed_is_told() -> None:
    talk = Talk(Tape().hello().c(call(2, "boom")).event(event="exited", code=3))
    talk.hello()
    talk.hear(text(2, "well"))
    assert (talk.of("boom").verdict, talk.of("boom").why) == (
        EXTRA,
        "It is answered now; when it was recorded it was not.",
    )


def test_a_task_is_polled_until_it_is_where_it_was() -> None:
    tape = Tape().hello().c(request(2, "tasks/get", taskId="t-1"))
    tape.s(result(2, taskId="t-1", status="completed")).event(event="stdin_closed")
    talk = Talk(tape)
    talk.hello()
    assert talk.hear(result(2, taskId="t-1", status="working", pollInterval=700)) == []
    assert talk.wait(0.6) == []
    [again] = talk.wait(0.2)
    assert (again["method"], again["params"]) == ("tasks/get", {"taskId": "t-1"})
    talk.hear(result(again["id"], taskId="t-1", status="completed"))
    assert talk.client.over
    assert talk.of("tasks/get").verdict == EQUAL


def test_a_batch_is_answered_and_compared_message_by_message() -> None:
    tape = Tape().hello().c([call(2, "a"), call(3, "b")]).s([text(2, "x"), text(3, "y")])
    talk = Talk(tape.event(event="stdin_closed"))
    _, batch = talk.hello()
    assert [body["id"] for body in batch] == [2, 3]
    talk.hear([text(3, "y"), text(2, "other")])
    assert (talk.of("a").verdict, talk.of("b").verdict) == (CHANGED, EQUAL)
    # An answer that came with others has no body of its own to take over.
    assert not talk.of("a").renew


# Questions


def asking(answer: Any, *, token: Any = None) -> Tape:
    tape = Tape().hello().c(call(2, "t"))
    meta = {} if token is None else {"_meta": {"progressToken": token}}
    tape.s(request("q", "elicitation/create", message="Name?", **meta))
    if token is not None:
        tape.c(progress(token, 1))
    return tape.c(answer).s(text(2, "x")).event(event="stdin_closed")


def test_a_question_gets_its_recorded_answer_under_its_live_id_and_token() -> None:
    talk = Talk(asking(result("q", action="accept", content={"name": "Zoe"}), token="then"))
    talk.hello()
    asked = request(91, "elicitation/create", message="Name?", _meta={"progressToken": 7})
    told, answered = talk.hear(asked)
    assert told == progress(7, 1)
    assert answered == result(91, action="accept", content={"name": "Zoe"})


def test_a_ping_is_answered_whatever_was_recorded() -> None:
    talk = Talk(one_call())
    talk.hello()
    assert talk.hear(request("p", "ping")) == [result("p")]
    talk.hear(text(2, "x"))
    assert talk.client.verification().agrees


def test_a_question_nobody_recorded_is_answered_like_nobody_were_there_and_told() -> None:
    talk = Talk(one_call())
    talk.hello()
    [answer] = talk.hear(request("q", "sampling/createMessage", messages=[]))
    assert answer["error"]["code"] == -32601
    [question] = talk.client.verification().questions
    assert (question.verdict, question.method) == (EXTRA, "sampling/createMessage")
    assert not talk.client.verification().agrees


def test_a_question_that_the_server_takes_back_is_not_answered() -> None:
    tape = (
        Tape()
        .hello()
        .c(call(2, "t"))
        .s(request("q", "roots/list"))
        .s(note("notifications/tools/list_changed"))
    )
    talk = Talk(tape.c(result("q", roots=[])).s(text(2, "x")).event(event="stdin_closed"))
    talk.hello()
    assert talk.hear(request("r", "roots/list")) == []  # it waits for what had come before its answer
    talk.hear(note("notifications/cancelled", requestId="r"))
    assert talk.hear(note("notifications/tools/list_changed")) == []


def test_text_that_is_no_message_is_passed_over_and_told() -> None:
    talk = Talk(one_call())
    talk.hello()
    talk.hear(b"starting up...", b"", b"{", b"\xff\xfe", b"[]")
    talk.hear(text(2, "x"))
    told = talk.client.verification()
    assert told.agrees
    assert told.notes == ["The server sent a line that is no message; it was passed over."]


# Rounds and pages


def modern(id: Any, method: str, **params: Any) -> dict[str, Any]:
    meta = {"protocolVersion": "2026-07-28", "clientCapabilities": {"elicitation": {}}}
    return request(id, method, **params, _meta={f"io.modelcontextprotocol/{key}": meta[key] for key in meta})


FORM = {"method": "elicitation/create", "params": {"message": "Name?"}}


def test_a_round_more_than_was_recorded_is_answered_and_the_call_goes_on() -> None:
    tape = Tape().c(modern(1, "tools/call", name="t")).s(result(1, resultType="complete", content=[]))
    talk = Talk(tape)
    [first] = talk.new()
    [second] = talk.hear(result(1, resultType="input_required", inputRequests={"k": FORM}, requestState="s"))
    assert second["params"]["requestState"] == "s"
    assert second["params"]["inputResponses"] == {"k": {"action": "decline"}}
    assert second["id"] != first["id"]
    talk.hear(result(second["id"], resultType="complete", content=[]))
    assert talk.of("t").verdict == EQUAL
    assert [each.verdict for each in talk.client.verification().questions] == [EXTRA]


def test_a_server_that_asks_for_ever_is_not_answered_for_ever() -> None:
    tape = Tape().c(modern(1, "tools/call", name="t")).s(result(1, resultType="complete", content=[]))
    talk = Talk(tape)
    [asked] = talk.new()
    for rounds in range(100):
        following = talk.hear(result(asked["id"], resultType="input_required", requestState=f"s{rounds}"))
        if not following:
            break
        [asked] = following
    assert 5 < rounds < 50
    assert talk.of("t").verdict == CHANGED


def test_a_round_that_the_server_does_not_ask_for_any_more_is_not_sent() -> None:
    tape = Tape().c(modern(1, "tools/call", name="t"))
    tape.s(result(1, resultType="input_required", inputRequests={"k": FORM}, requestState="s"))
    tape.c(modern(2, "tools/call", name="t", requestState="s", inputResponses={"k": {"action": "accept"}}))
    talk = Talk(tape.s(result(2, resultType="complete", content=[])))
    talk.new()
    assert talk.hear(result(1, resultType="complete", content=[])) == []
    first, second = talk.client.verification().compared
    assert (first.verdict, second.verdict) == (CHANGED, MISSING)
    assert second.why == "It was not sent: the call did not ask for another round."


def test_a_list_that_never_ends_is_not_read_for_ever() -> None:
    tape = Tape().hello().c(request(2, "tools/list")).s(result(2, tools=[]))
    talk = Talk(tape)
    [_, asked] = talk.hello()
    for page in range(1000):
        following = talk.hear(result(asked["id"], tools=[], nextCursor=f"c{page}"))
        if not following:
            break
        [asked] = following
    assert page == 100
    assert talk.client.over


def test_a_list_that_leads_back_to_itself_is_left() -> None:
    tape = Tape().hello().c(request(2, "tools/list")).s(result(2, tools=[]))
    talk = Talk(tape)
    [_, asked] = talk.hello()
    [again] = talk.hear(result(asked["id"], tools=[], nextCursor="c"))
    assert again["params"] == {"cursor": "c"}
    assert talk.hear(result(again["id"], tools=[], nextCursor="c")) == []
    assert talk.client.over
