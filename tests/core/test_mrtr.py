"""Calls in several rounds: who answers, what goes back, what ends them, and that nothing leaks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.modern import ALL, FORM, HELD, ROOTS, SAMPLE, Modern, done
from tests.core.talk import every, only, sent
from tests.examples import many
from workbench.core.actions import Abandon, Action, Continued, PolicyAnswered, Settled
from workbench.core.conversation import (
    Completed,
    Late,
    PeerCancelled,
    PeerRequest,
    Policy,
    Progressed,
    Send,
)
from workbench.core.jsonrpc import decode
from workbench.core.mrtr import MAX_ROUNDS, asking, retry

ACCEPT = '{"action":"accept","content":{"n":1.0}}'


def talk_with(*held: str, capabilities: Any = None, **options: Any) -> Modern:
    talk = Modern(policy=Policy(held=held or HELD), capabilities=capabilities, **options)
    talk.ready()
    return talk


def test_what_a_result_asks_comes_like_a_request_and_its_answer_goes_back_with_the_same_call() -> None:
    talk = talk_with()
    id, first = talk.send("tools/call", '{"name":"t","arguments":{"a":1.0}}')
    asked = only(PeerRequest, talk.asked(id, {"who": FORM}, "opaque"))
    assert (asked.id, asked.method, asked.held) == (f'"mrtr:{id}/who"', "elicitation/create", True)
    assert asked.params == FORM["params"]
    assert asked.message.value("params") == FORM["params"]
    assert dict(talk.conversation.peer_requests) == {asked.id: "elicitation/create"}
    actions = talk.answer(asked.id, ACCEPT)
    assert only(Settled, actions).id == asked.id
    (again,) = sent(actions)
    assert b'"content":{"n":1.0}' in only(Send, actions).body
    assert again["method"] == "tools/call"
    assert again["id"] not in (id, first["id"])
    assert again["params"]["_meta"]["progressToken"] == again["id"]
    assert again["params"]["inputResponses"] == {"who": json.loads(ACCEPT)}
    assert again["params"]["requestState"] == "opaque"
    same = {key: value for key, value in again["params"].items() if key in first["params"]}
    assert same | {"_meta": 0} == first["params"] | {"_meta": 0}
    continued = only(Continued, actions)
    assert (continued.id, continued.round) == (id, again["id"])
    assert continued.asked == (("who", "elicitation/create"),)
    ended = only(Completed, talk.reply(again["id"], done()))
    assert (ended.id, ended.outcome.how) == (id, "result")
    assert not talk.conversation.peer_requests


@pytest.mark.parametrize("state", ["", "a\u2028b", "\u0000", "9" * 5000])
def test_the_state_goes_back_byte_for_byte(state: str) -> None:
    written = json.dumps(state, ensure_ascii=True).replace("a", "\\u0061")
    body = (
        f'{{"jsonrpc":"2.0","id":ID,"result":{{"resultType":"input_required","requestState": {written} }}}}'
    )
    talk = talk_with()
    id, _ = talk.send()
    actions = talk.hear(body.replace("ID", str(id)).encode())
    assert f'"requestState":{written}'.encode() in only(Send, actions).body


def test_no_state_is_sent_where_none_was_given_and_a_state_alone_goes_back_at_once() -> None:
    talk = talk_with("elicitation/create")
    id, _ = talk.send()
    (again,) = sent(talk.asked(id, {"r": ROOTS}))
    assert again["params"]["inputResponses"] == {"r": {"roots": []}}
    assert "requestState" not in again["params"]
    (third,) = sent(talk.asked(again["id"], None, "s"))
    assert third["params"]["requestState"] == "s"
    assert "inputResponses" not in third["params"]
    (fourth,) = sent(talk.asked(third["id"], {"r": ROOTS}))
    assert "requestState" not in fourth["params"]


def test_a_call_goes_on_when_everything_it_was_asked_is_answered() -> None:
    talk = talk_with()
    id, _ = talk.send("prompts/get", '{"name":"p"}')
    asked = every(PeerRequest, talk.asked(id, {"a": FORM, "b": SAMPLE, "c": ROOTS}))
    assert [each.id for each in asked] == [f'"mrtr:{id}/{key}"' for key in "abc"]
    assert not sent(talk.answer(asked[1].id, '{"role":"assistant"}'))
    assert not sent(talk.answer(asked[0].id, '{"action":"decline"}'))
    assert talk.answer(asked[0].id, ACCEPT) == []
    (again,) = sent(talk.answer(asked[2].id, '{"roots":[]}'))
    assert again["params"]["inputResponses"] == {
        "a": {"action": "decline"},
        "b": {"role": "assistant"},
        "c": {"roots": []},
    }


def test_what_nobody_holds_is_answered_by_the_policy() -> None:
    talk = talk_with("sampling/createMessage")
    id, _ = talk.send()
    actions = talk.asked(id, {"who": FORM, "r": ROOTS})
    assert [(each.method, each.by, each.call) for each in every(PolicyAnswered, actions)] == [
        ("elicitation/create", "policy declined", id),
        ("roots/list", "policy roots", id),
    ]
    (again,) = sent(actions)
    assert again["params"]["inputResponses"] == {"who": {"action": "decline"}, "r": {"roots": []}}


def test_a_refused_request_ends_the_call_with_a_sentence_and_nothing_is_sent() -> None:
    talk = talk_with("elicitation/create")
    id, _ = talk.send()
    actions = talk.asked(id, {"who": FORM, "s": SAMPLE})
    assert not every(Send, actions)
    outcome = only(Completed, actions).outcome
    assert outcome.how == "refused"
    assert "sampling/createMessage" in outcome.sentence
    assert [each.id for each in every(PeerCancelled, actions)] == [f'"mrtr:{id}/who"']
    assert not talk.conversation.peer_requests


def test_an_error_of_the_user_refuses_too() -> None:
    talk = talk_with()
    id, _ = talk.send()
    (first, second) = every(PeerRequest, talk.asked(id, {"s": SAMPLE, "who": FORM}))
    actions = talk.answer(first.id, error=(-1, "no", None))
    assert only(Completed, actions).outcome.how == "refused"
    assert only(PeerCancelled, actions).id == second.id
    assert talk.answer(second.id, ACCEPT) == []


@pytest.mark.parametrize(
    ("capabilities", "asked"),
    [
        ({}, FORM),
        (
            {"elicitation": {}},
            {"method": "elicitation/create", "params": {"mode": "url", "url": "https://x"}},
        ),
        (ALL, {"method": "tools/list"}),
        (ALL, {"method": "ping"}),
        ({"elicitation": {}}, ROOTS),
    ],
)
def test_a_kind_that_was_not_declared_is_shown_and_not_answered(capabilities: Any, asked: Any) -> None:
    talk = talk_with(capabilities=capabilities)
    id, _ = talk.send()
    actions = talk.asked(id, {"x": asked}, "s")
    assert only(PeerRequest, actions).held is False
    assert not every(Send, actions)
    assert asked["method"] in only(Completed, actions).outcome.sentence


def test_a_server_that_asks_for_ever_is_stopped() -> None:
    talk = talk_with()
    id, _ = talk.send()
    at, rounds = id, 1
    while True:
        actions = talk.asked(at, None, "s")
        ended = every(Completed, actions)
        if ended:
            break
        (again,) = sent(actions)
        at, rounds = again["id"], rounds + 1
    assert rounds == MAX_ROUNDS
    assert (ended[0].id, ended[0].outcome.how) == (id, "refused")


@pytest.mark.parametrize(
    "result", [{}, {"inputRequests": {}}, {"inputRequests": []}, {"inputRequests": None}]
)
def test_a_result_that_asks_for_nothing_ends_the_call(result: Any) -> None:
    talk = talk_with()
    id, _ = talk.send()
    actions = talk.reply(id, {"resultType": "input_required", **result})
    assert only(Completed, actions).outcome.how == "refused"


def test_entries_that_are_no_requests_are_left_out_and_the_others_are_asked() -> None:
    talk = talk_with()
    id, _ = talk.send()
    actions = talk.asked(id, {"a": 7, "b": {"params": {}}, "c": FORM})
    assert only(PeerRequest, actions).id == f'"mrtr:{id}/c"'


def test_a_method_that_does_not_have_rounds_ends_with_what_it_got() -> None:
    talk = talk_with()
    id, _ = talk.send("tools/list")
    actions = talk.asked(id, {"who": FORM}, "s")
    assert only(Completed, actions).outcome.how == "result"
    assert not every(PeerRequest, actions)


def test_cancelling_while_the_server_waits_takes_back_what_it_asked_and_sends_nothing() -> None:
    for own_streams in (False, True):
        talk = talk_with(own_streams=own_streams)
        id, _ = talk.send()
        asked = only(PeerRequest, talk.asked(id, {"who": FORM}))
        actions = talk.conversation.cancel(id, None, 9.0)
        assert only(PeerCancelled, actions).id == asked.id
        assert only(Completed, actions).outcome.how == "cancelled"
        assert not every(Send, actions)
        assert not every(Abandon, actions)
        assert talk.answer(asked.id, ACCEPT) == []


def test_cancelling_a_later_round_cancels_that_round() -> None:
    talk = talk_with()
    id, _ = talk.send()
    (again,) = sent(talk.asked(id, None, "s"))
    actions = talk.conversation.cancel(id, None, 9.0)
    assert [body["params"]["requestId"] for body in sent(actions)] == [again["id"]]
    assert only(Completed, actions).id == id
    assert only(Late, talk.reply(again["id"], done()))


def test_waiting_for_a_person_takes_no_time_off_the_call() -> None:
    talk = talk_with()
    id, _ = talk.send()
    asked = only(PeerRequest, talk.asked(id, {"who": FORM}))
    assert talk.conversation.next_deadline() is None
    talk.now = 5000.0
    (again,) = sent(talk.answer(asked.id, ACCEPT))
    assert talk.conversation.next_deadline() == 5060.0
    ended = only(Completed, talk.tick(5060.0))
    assert (ended.id, ended.outcome.how) == (id, "timeout")
    assert again["id"] != id


def test_progress_of_a_later_round_is_progress_of_the_call() -> None:
    talk = talk_with()
    id, _ = talk.send("tools/call", '{"name":"t"}')
    (again,) = sent(talk.asked(id, None, "s"))
    token = again["params"]["_meta"]["progressToken"]
    told = only(Progressed, talk.tell("notifications/progress", {"progressToken": token, "progress": 1}))
    assert told.id == id


def test_calls_that_wait_end_with_the_connection() -> None:
    talk = talk_with()
    id, _ = talk.send()
    talk.asked(id, {"who": FORM})
    ended = only(Completed, talk.conversation.lost("gone", 3.0))
    assert (ended.id, ended.outcome.how) == (id, "lost")
    assert not talk.conversation.peer_requests


def test_a_result_that_came_by_way_of_a_round_is_not_kept_as_fresh() -> None:
    read = {"resultType": "complete", "contents": [], "ttlMs": 60000, "cacheScope": "private"}
    for rounds in (0, 1):
        talk = talk_with()
        id, _ = talk.send("resources/read", '{"uri":"a:1"}')
        at = id
        for _ in range(rounds):
            (again,) = sent(talk.asked(at, None, "s"))
            at = again["id"]
        talk.reply(at, read)
        assert talk.conversation.freshness.is_fresh("resources/read", "a:1", talk.now + 1) is (rounds == 0)


def test_a_large_result_is_asked_from_and_its_state_kept_without_parsing_all_of_it() -> None:
    filler = "x" * 400_000
    talk = talk_with()
    id, _ = talk.send()
    actions = talk.asked(id, {"who": {**FORM, "params": {"message": "m", "pad": filler}}}, "state-" + filler)
    asked = only(PeerRequest, actions)
    (again,) = sent(talk.answer(asked.id, ACCEPT))
    assert again["params"]["requestState"] == "state-" + filler


def test_what_was_given_by_hand_is_replaced_and_not_doubled() -> None:
    params = '{"name":"t","requestState":"mine","inputResponses":{"x":{}}}'
    assert json.loads(retry(params, {"a": "{}"}, '"theirs"') or "") == {
        "name": "t",
        "requestState": "theirs",
        "inputResponses": {"a": {}},
    }
    assert retry(None, {}, '"s"') == '{"requestState":"s"}'
    assert retry("[1]", {}, '"s"') == "[1]"


def test_a_key_may_be_anything() -> None:
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "result": {"inputRequests": {'a"/\\\ud83d': ROOTS}}}
    ).encode()
    (message,) = decode(body).messages
    (inner,) = asking(message, "1").inner
    assert json.loads(inner.id) == 'mrtr:1/a"/\\\ud83d'


# Nothing of one call gets into another


Steps = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["ask", "answer", "end", "cancel", "state"])), max_size=40
)


@given(Steps)
@settings(max_examples=many(200))
def test_states_and_answers_never_leak_between_calls_that_run_side_by_side(
    steps: list[tuple[int, str]],
) -> None:
    talk = talk_with()
    calls: dict[int, dict[str, Any]] = {}
    for index in range(4):
        id, body = talk.send("tools/call", json.dumps({"name": "t", "arguments": {"call": index}}))
        calls[index] = {"id": id, "round": body["id"], "open": None, "state": None}
    turn = 0
    for index, step in steps:
        call = calls.get(index)
        turn += 1
        if call is None:
            continue
        actions: list[Action] = []
        if step in ("ask", "state") and call["round"] is not None:
            call["state"] = f"state {index} {turn}"
            requests = {f"key {index} {turn}": FORM} if step == "ask" else None
            actions = talk.asked(call["round"], requests, call["state"])
            call["open"] = [each.id for each in every(PeerRequest, actions)] or None
            call["round"] = None
        elif step == "answer" and call["open"]:
            actions = talk.answer(call["open"][0], json.dumps({"action": "accept", "content": {"c": index}}))
            call["open"] = None
        elif step == "end" and call["round"] is not None:
            ended = only(Completed, talk.reply(call["round"], done(str(index))))
            assert ended.id == call["id"]
            assert ended.outcome.result == done(str(index))
            del calls[index]
            continue
        elif step == "cancel":
            ended = only(Completed, talk.conversation.cancel(call["id"], None, talk.now))
            assert ended.id == call["id"]
            del calls[index]
            continue
        for body in sent(actions):
            params = body["params"]
            assert params["arguments"] == {"call": index}
            assert params["requestState"] == call["state"]
            for key, value in params.get("inputResponses", {}).items():
                assert key.startswith(f"key {index} ")
                assert value["content"] == {"c": index}
            call["round"] = body["id"]
            assert only(Continued, actions).id == call["id"]
