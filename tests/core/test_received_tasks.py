"""Requests that the peer makes tasks: answered at once with a task, and with the answer later."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.core.talk import Talk, every, only, sent
from workbench.core.actions import Action, PeerCancelled, PeerRequest, Send
from workbench.core.policy import Policy
from workbench.core.received import MAX_TASKS, PAGE, ReceivedTasks
from workbench.core.rules import rule_from

ALL: dict[str, Any] = {
    "sampling": {},
    "elicitation": {},
    "tasks": {
        "list": {},
        "cancel": {},
        "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
    },
}
HELD = ("sampling/createMessage", "elicitation/create")
RELATED = "io.modelcontextprotocol/related-task"
ASKED = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}, "task": {"ttl": 60_000}}


class Clock:
    now = 1_767_225_600.0

    def __call__(self) -> float:
        return self.now


def talk_with(clock: Clock | None = None, capabilities: Any = None, **policy: Any) -> Talk:
    tasks = ReceivedTasks(clock or Clock(), lambda: "t")
    talk = Talk(policy=Policy(tasks=tasks, **{"held": HELD, **policy}), capabilities=capabilities or ALL)
    talk.ready()
    return talk


def one(actions: list[Action]) -> dict[str, Any]:
    (message,) = sent(actions)
    assert isinstance(message, dict)
    return message


def answer(actions: list[Action]) -> Any:
    message = one(actions)
    return message.get("result", message.get("error"))


def made(talk: Talk, identity: Any = 1, params: Any = ASKED) -> str:
    return str(answer(talk.ask(identity, "elicitation/create", params))["task"]["taskId"])


def test_a_request_with_a_task_is_answered_at_once_and_waits_in_the_inbox() -> None:
    talk = talk_with()
    actions = talk.ask(1, "elicitation/create", ASKED)
    assert only(PeerRequest, actions).held
    assert one(actions)["result"]["task"] == {
        "taskId": "t-1",
        "status": "working",
        "statusMessage": "It waits for an answer.",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "lastUpdatedAt": "2026-01-01T00:00:00.000Z",
        "ttl": 60000,
        "pollInterval": 1000,
    }
    assert list(talk.conversation.peer_requests) == ["1"]


def test_the_answer_ends_the_task_and_everybody_who_waits_for_its_result() -> None:
    talk = talk_with()
    task = made(talk)
    assert not sent(talk.ask(2, "tasks/result", {"taskId": task}))
    assert not sent(talk.ask(3, "tasks/result", {"taskId": task}))
    actions = talk.conversation.answer("1", '{"action":"accept","content":{"n":1.0}}')
    first, second, told = sent(actions)
    assert (first["id"], second["id"]) == (2, 3)
    assert first["result"] == {
        "action": "accept",
        "content": {"n": 1.0},
        "_meta": {RELATED: {"taskId": task}},
    }
    assert (told["method"], told["params"]["status"]) == ("notifications/tasks/status", "completed")
    assert b'"n":1.0' in every(Send, actions)[0].body
    assert talk.conversation.answer("1", "{}") == []
    assert answer(talk.ask(4, "tasks/result", {"taskId": task}))["action"] == "accept"
    assert answer(talk.ask(5, "tasks/get", {"taskId": task}))["status"] == "completed"
    assert not talk.conversation.peer_requests


def test_a_refusal_is_the_tasks_failure_and_its_result_the_same_error() -> None:
    talk = talk_with()
    task = made(talk)
    talk.conversation.answer("1", error=(-1, "no", '{"why":1}'))
    assert answer(talk.ask(2, "tasks/get", {"taskId": task}))["status"] == "failed"
    assert answer(talk.ask(3, "tasks/result", {"taskId": task})) == {
        "code": -1,
        "message": "no",
        "data": {"why": 1},
    }


def test_a_rule_ends_the_task_at_once_and_is_told_as_a_rule() -> None:
    talk = talk_with(rules=[rule_from("elicitation=defaults")])
    actions = talk.ask(1, "elicitation/create", ASKED)
    assert [each.about for each in every(Send, actions)] == ["task", "rule elicitation/create=defaults"]
    assert [message.get("method") for message in sent(actions)] == [None, "notifications/tasks/status"]


def test_a_cancelled_task_leaves_the_inbox_and_its_result_is_an_error() -> None:
    talk = talk_with()
    task = made(talk)
    talk.ask(2, "tasks/result", {"taskId": task})
    actions = talk.ask(3, "tasks/cancel", {"taskId": task})
    assert only(PeerCancelled, actions).id == "1"
    answers = {message["id"]: message for message in sent(actions)}
    assert answers[3]["result"]["status"] == "cancelled"
    assert "error" in answers[2]
    assert not talk.conversation.peer_requests
    assert answer(talk.ask(4, "tasks/cancel", {"taskId": task}))["code"] == -32602


def test_a_task_is_not_cancelled_as_a_request() -> None:
    talk = talk_with()
    made(talk)
    assert talk.tell("notifications/cancelled", {"requestId": 1}) == []
    assert list(talk.conversation.peer_requests) == ["1"]


def test_a_result_that_is_waited_for_can_be_taken_back() -> None:
    talk = talk_with()
    task = made(talk)
    talk.ask(2, "tasks/result", {"taskId": task})
    assert only(PeerCancelled, talk.tell("notifications/cancelled", {"requestId": 2})).id == "2"
    assert [message["method"] for message in sent(talk.conversation.answer("1", "{}"))] == [
        "notifications/tasks/status"
    ]


@pytest.mark.parametrize("method", ["tasks/get", "tasks/result", "tasks/cancel"])
@pytest.mark.parametrize("params", [{"taskId": "other"}, {"taskId": 1}, {}, None])
def test_an_unknown_task_is_an_invalid_parameter(method: str, params: Any) -> None:
    assert answer(talk_with().ask(1, method, params))["code"] == -32602


@pytest.mark.parametrize("method", ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"])
def test_tasks_that_were_not_declared_are_unknown_methods(method: str) -> None:
    talk = talk_with(capabilities={"elicitation": {}})
    assert answer(talk.ask(1, method, {"taskId": "t"}))["code"] == -32601


def test_without_the_capability_the_wish_for_a_task_is_not_looked_at() -> None:
    talk = talk_with(capabilities={"elicitation": {}, "tasks": {}}, held=())
    assert answer(talk.ask(1, "elicitation/create", ASKED)) == {"action": "decline"}


def test_what_is_refused_in_itself_becomes_no_task() -> None:
    talk = talk_with()
    params = {**ASKED, "mode": "url", "url": "https://x.org"}
    assert answer(talk.ask(1, "elicitation/create", params))["code"] == -32602


def test_tasks_are_listed_page_by_page_and_a_made_up_cursor_is_refused() -> None:
    talk = talk_with()
    for number in range(PAGE + 3):
        made(talk, number)
    first = answer(talk.ask("a", "tasks/list"))
    second = answer(talk.ask("b", "tasks/list", {"cursor": first["nextCursor"]}))
    assert (len(first["tasks"]), len(second["tasks"])) == (PAGE, 3)
    assert "nextCursor" not in second
    assert answer(talk.ask("c", "tasks/list", {"cursor": "x"}))["code"] == -32602


def test_an_ended_task_is_forgotten_after_its_time_and_an_open_one_is_not() -> None:
    clock = Clock()
    talk = talk_with(clock)
    ended, open_ = made(talk, 1), made(talk, 2)
    talk.conversation.answer("1", "{}")
    clock.now += 61
    assert answer(talk.ask(3, "tasks/get", {"taskId": ended}))["code"] == -32602
    assert answer(talk.ask(4, "tasks/get", {"taskId": open_}))["status"] == "working"


@pytest.mark.parametrize("ttl", [None, "x", -1, 1e300, True])
def test_an_odd_time_to_live_does_no_harm(ttl: Any) -> None:
    talk = talk_with()
    assert made(talk, 1, {**ASKED, "task": {"ttl": ttl}}) == "t-1"


def test_a_peer_cannot_make_tasks_without_end() -> None:
    talk = talk_with()
    for number in range(MAX_TASKS):
        made(talk, number)
    assert answer(talk.ask("more", "elicitation/create", ASKED))["code"] == -32603
    assert "more" not in talk.conversation.peer_requests
    talk.conversation.answer("5", "{}")
    made(talk, "again")
    assert answer(talk.ask("x", "tasks/get", {"taskId": "t-6"}))["code"] == -32602


def test_an_id_that_is_used_again_is_answered_again() -> None:
    talk = talk_with()
    made(talk, 1)
    talk.conversation.answer("1", "{}")
    talk.ask(1, "elicitation/create", {"message": "?"})
    assert one(talk.conversation.answer("1", '{"action":"decline"}'))["id"] == 1
    made(talk, 2)
    assert "tasks" in answer(talk.ask(2, "tasks/list"))


def test_an_answer_within_a_task_of_ours_says_so() -> None:
    talk = talk_with()
    meta = {RELATED: {"taskId": "ours"}}
    talk.ask(1, "elicitation/create", {"message": "?", "requestedSchema": {}, "_meta": meta})
    assert one(talk.conversation.answer("1", '{"action":"decline"}'))["result"]["_meta"] == meta


# Progress that we report.


def test_progress_is_reported_only_where_it_was_asked_for_and_only_if_it_grows() -> None:
    talk = talk_with()
    talk.ask(1, "elicitation/create", {"message": "?", "_meta": {"progressToken": "a"}})
    talk.ask(2, "elicitation/create", {"message": "?"})
    assert talk.conversation.report("2", 1) == []
    assert talk.conversation.report("3", 1) == []
    told = one(talk.conversation.report("1", 1, 3, "reading"))
    assert told["params"] == {"progressToken": "a", "progress": 1, "total": 3, "message": "reading"}
    assert talk.conversation.report("1", 1) == []
    assert one(talk.conversation.report("1", 2))["params"] == {"progressToken": "a", "progress": 2}
    talk.conversation.answer("1", "{}")
    assert talk.conversation.report("1", 3) == []


def test_progress_of_a_task_goes_on_after_its_first_answer_and_names_it() -> None:
    talk = talk_with()
    task = made(talk, 1, {**ASKED, "_meta": {"progressToken": 7}})
    assert json.loads(every(Send, talk.conversation.report("1", 0.5))[0].body)["params"] == {
        "progressToken": 7,
        "progress": 0.5,
        "_meta": {RELATED: {"taskId": task}},
    }
