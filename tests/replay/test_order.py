"""When each piece of a recording goes out, with several requests open at once."""

from __future__ import annotations

from typing import Any

from tests.replay.build import Live, Tape, call, note, progress, request, result, text


def said(answers: list[Any]) -> list[Any]:
    """The ids of answers, and the methods of what else comes."""
    return [answer.get("method", answer.get("id")) for answer in answers]


def overlapping() -> Tape:
    return Tape().hello().c(call(2, "slow")).c(call(3, "fast")).s(text(3, "fast")).s(text(2, "slow"))


def test_trap_4_the_order_in_which_overlapping_calls_ended_can_be_kept() -> None:
    live = Live(overlapping(), order="recorded")
    assert live.say(call(12, "slow")) == []
    assert said(live.say(call(13, "fast"))) == [13, 12]
    assert live.report.notes == []


def test_trap_4_a_client_that_waits_for_each_answer_is_not_kept_waiting_for_ever() -> None:
    live = Live(overlapping(), order="recorded")
    assert live.say(call(12, "slow")) == []
    assert live.server.stuck
    assert said(live.release()) == [12]
    assert not live.server.stuck
    assert any("recorded order" in sentence for sentence in live.report.notes)
    assert said(live.say(call(13, "fast"))) == [13]


def test_trap_4_without_being_asked_to_nothing_waits_for_another_call() -> None:
    live = Live(overlapping())
    assert said(live.say(call(12, "slow"))) == [12]
    assert not live.server.stuck


def test_a_cancelled_call_holds_no_other_back() -> None:
    live = Live(overlapping(), order="recorded")
    live.say(call(12, "slow"))
    live.say(call(13, "other"))
    tape = Tape().hello().c(call(2, "a")).c(call(3, "b")).s(request("q", "roots/list"))
    tape.c(result("q", roots=[])).s(text(3, "b")).s(text(2, "a"))
    live = Live(tape, order="recorded")
    assert live.say(call(12, "a")) == []
    assert said(live.say(call(13, "b"))) == ["roots/list"]
    assert said(live.say(note("notifications/cancelled", requestId=13))) == []
    assert said(live.say(result("q", roots=[]))) == [12]


def test_what_belongs_to_several_calls_keeps_its_place_among_their_own() -> None:
    log = note("notifications/message", data="whose?")
    tape = Tape().hello().c(call(2, "a", token=2)).c(call(3, "b", token=3))
    tape.s(progress(3, 1)).s(log).s(progress(3, 2)).s(text(3, "b")).s(text(2, "a"))
    live = Live(tape)
    live.say(call(12, "a", token=12))
    answers = live.say(call(13, "b", token=13))
    assert said(answers) == ["notifications/progress", "notifications/message", "notifications/progress", 13]


def test_a_question_of_several_calls_is_asked_once_and_answered_for_all() -> None:
    tape = Tape().hello().c(call(2, "a")).c(call(3, "b")).s(request("q", "roots/list"))
    tape.c(result("q", roots=[])).s(text(2, "a")).s(text(3, "b"))
    live = Live(tape)
    # Nobody can know that a second call comes: what waits for a question not yet asked does not wait.
    assert said(live.say(call(12, "a"))) == [12]
    assert said(live.say(call(13, "b"))) == ["roots/list"]
    assert said(live.say(result("q", roots=[]))) == [13]


def test_a_question_of_several_calls_that_are_all_open_holds_all_of_them() -> None:
    tape = Tape().hello().c(call(2, "a")).s(request("own", "ping")).c(call(3, "b"))
    tape.s(request("q", "roots/list")).c(result("own")).c(result("q", roots=[]))
    tape.s(text(2, "a")).s(text(3, "b"))
    live = Live(tape)
    assert said(live.say(call(12, "a"))) == ["ping"]
    assert said(live.say(call(13, "b"))) == ["roots/list"]
    assert said(live.say(result("own"))) == []
    assert sorted(said(live.say(result("q", roots=[])))) == [12, 13]


def test_a_related_task_tells_to_which_call_a_message_belongs() -> None:
    def related(task: str) -> dict[str, Any]:
        return {"_meta": {"io.modelcontextprotocol/related-task": {"taskId": task}}}

    tape = Tape().hello().c(call(2, "a")).c(call(3, "b"))
    tape.s(result(2, task={"taskId": "t-a", "status": "working"}))
    tape.s(result(3, task={"taskId": "t-b", "status": "working"}))
    tape.s(note("notifications/message", data="of a", **related("t-a")))
    live = Live(tape)
    assert said(live.say(call(13, "b"))) == [13]
    assert said(live.say(call(12, "a"))) == [12, "notifications/message"]


def test_a_server_that_takes_its_question_back_names_it_by_its_live_id() -> None:
    tape = Tape().hello()
    for number in (2, 3):
        tape.c(call(number, "ask", n=number)).s(request("q", "sampling/createMessage"))
        tape.s(note("notifications/cancelled", requestId="q")).s(text(number, "gave up"))
    live = Live(tape)
    first = live.say(call(12, "ask", n=2))
    assert said(first) == ["sampling/createMessage", "notifications/cancelled", 12]
    second = live.say(call(13, "ask", n=3))
    # The first question is still open on this connection, so the second one needs an id of its own.
    assert second[0]["id"] != first[0]["id"]
    assert second[1]["params"]["requestId"] == second[0]["id"]


def test_what_came_before_the_answer_to_a_question_does_not_wait_for_it() -> None:
    tape = Tape().hello().c(call(2, "ask", token=2)).s(request("q", "roots/list")).s(progress(2, 1))
    tape.c(result("q", roots=[])).s(progress(2, 2)).s(text(2, "done"))
    live = Live(tape)
    assert said(live.say(call(5, "ask", token=5))) == ["roots/list", "notifications/progress"]
    assert said(live.say(result("q", roots=[]))) == ["notifications/progress", 5]


def test_two_playings_of_one_recorded_request_wait_each_for_their_own_answer() -> None:
    tape = Tape().hello().c(request(2, "prompts/get", name="p")).s(request("q", "roots/list"))
    live = Live(tape.c(result("q", roots=[])).s(result(2, messages=[])))
    [first] = live.say(request(5, "prompts/get", name="p"))
    [second] = live.say(request(6, "prompts/get", name="p"))
    assert first["id"] != second["id"]
    assert said(live.say(result(second["id"], roots=[]))) == [6]
    assert said(live.say(result(first["id"], roots=[]))) == [5]
