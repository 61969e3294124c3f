"""Our requests: answers, progress, timeouts, cancellation, and what is never confused."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from tests.core.talk import Talk, every, only, sent
from workbench.core.conversation import (
    Completed,
    Late,
    Notified,
    Policy,
    Progressed,
    Send,
    StateChanged,
    Timeouts,
)
from workbench.core.jsonrpc import INLINE_BYTES
from workbench.core.lifecycle import State


@pytest.fixture
def talk() -> Talk:
    talk = Talk()
    talk.ready({"tools": {}})
    return talk


def test_a_result_completes_its_request(talk: Talk) -> None:
    id = talk.call(params='{"name":"x"}')
    talk.now = 1.5
    done = only(Completed, talk.reply(id, {"content": []}))
    assert (done.id, done.outcome.how, done.outcome.result) == (id, "result", {"content": []})
    assert (done.outcome.seconds, done.outcome.seq) == (1.5, talk.seq)


def test_an_error_completes_its_request_with_a_sentence(talk: Talk) -> None:
    id = talk.call()
    outcome = only(Completed, talk.fail(id, -32602, "Unknown tool")).outcome
    assert outcome.how == "error"
    assert outcome.error == {"code": -32602, "message": "Unknown tool"}
    assert outcome.sentence == "Unknown tool (-32602)"


@pytest.mark.parametrize("error", ["no", None, {}, {"code": "x"}, {"message": 3}, []])
def test_an_error_of_any_shape_completes_its_request(talk: Talk, error: Any) -> None:
    id = talk.call()
    actions = talk.hear({"jsonrpc": "2.0", "id": id, "error": error})
    assert only(Completed, actions).outcome.sentence


@pytest.mark.parametrize("result", [None, [], "text", 0, False])
def test_a_result_of_any_type_completes_its_request(talk: Talk, result: Any) -> None:
    id = talk.call()
    actions = talk.reply(id, result)
    assert only(Completed, actions).outcome.result == result


def test_an_answer_with_neither_result_nor_error_completes_nothing(talk: Talk) -> None:
    id = talk.call()
    assert talk.hear({"jsonrpc": "2.0", "id": id}) == []
    assert only(Completed, talk.reply(id, {})).id == id


def test_answers_out_of_order_find_their_requests(talk: Talk) -> None:
    first, second = talk.call(), talk.call()
    assert only(Completed, talk.reply(second, {"n": 2})).id == second
    assert only(Completed, talk.reply(first, {"n": 1})).id == first


@pytest.mark.parametrize("identity", ["2", 2.0, 99, -1, None, True, [2], {"id": 2}])
def test_an_answer_whose_id_differs_in_type_or_spelling_is_not_paired(talk: Talk, identity: Any) -> None:
    id = talk.call()
    assert id == 2
    actions = talk.reply(identity, {})
    assert not every(Completed, actions)
    assert only(Completed, talk.reply(id, {})).id == id


def test_a_second_answer_changes_nothing(talk: Talk) -> None:
    id = talk.call()
    talk.reply(id, {})
    assert talk.reply(id, {}) == []


def test_ids_count_from_the_first_one_and_are_never_used_twice() -> None:
    talk = Talk(first_id=100)
    talk.start()
    assert [talk.call(), talk.call()] == [101, 102]


# Progress


def test_progress_is_asked_for_where_it_can_come(talk: Talk) -> None:
    id, actions = talk.conversation.request("tools/call", '{"name": "x",  "n": 1.0}', 0)
    assert only(Send, actions).body.endswith(
        b'"params":{"name": "x",  "n": 1.0,"_meta":{"progressToken":%d}}}' % id
    )


@pytest.mark.parametrize("method", ["tools/list", "ping", "logging/setLevel", "vendor/method"])
def test_other_requests_go_out_exactly_as_given(talk: Talk, method: str) -> None:
    _, actions = talk.conversation.request(method, '{ "a":1 }', 0)
    assert only(Send, actions).body.endswith(b'"params":{ "a":1 }}')


def test_params_that_are_no_json_go_out_as_given(talk: Talk) -> None:
    _, actions = talk.conversation.request("tools/call", "{half", 0)
    assert only(Send, actions).body.endswith(b'"params":{half}')


def test_progress_is_told_and_restarts_the_timeout(talk: Talk) -> None:
    id = talk.call()
    talk.now = 50
    actions = talk.tell(
        "notifications/progress", {"progressToken": id, "progress": 1.5, "total": 3, "message": "half"}
    )
    assert actions == [Progressed(id, 1.5, 3.0, "half", talk.seq)]
    assert talk.conversation.next_deadline() == 110
    assert talk.tick(109) == []
    assert only(Completed, talk.tick(110)).outcome.how == "timeout"


def test_progress_does_not_restart_the_timeout_past_the_maximum() -> None:
    talk = Talk(timeouts=Timeouts(request=60, maximum=100))
    talk.ready()
    id = talk.call()
    for progress, now in enumerate((50, 99)):
        talk.now = now
        talk.tell("notifications/progress", {"progressToken": id, "progress": progress})
    assert talk.conversation.next_deadline() == 100
    outcome = only(Completed, talk.tick(100)).outcome
    assert "the most a request may take" in outcome.why


def test_a_call_does_not_time_out_while_the_peer_waits_for_our_answer_but_at_its_maximum() -> None:
    method = "elicitation/create"
    policy = Policy(held=[method])
    limits = Timeouts(request=60, maximum=200)
    talk = Talk(policy=policy, capabilities={"elicitation": {}}, timeouts=limits)
    talk.ready()
    talk.call()
    talk.ask("q", method, {"message": "?"})
    assert talk.tick(70) == []
    talk.conversation.answer('"q"', "{}")
    assert talk.conversation.next_deadline() == 130
    assert "no progress for 60 s" in only(Completed, talk.tick(130)).outcome.why
    talk.call()
    talk.ask("r", method, {"message": "?"})
    assert every(Completed, talk.tick(195)) == []
    talk.tick(255)
    talk.tick(315)
    assert "after 200 s, the most a request may take" in only(Completed, talk.tick(330)).outcome.why


def test_a_long_timeout_of_the_user_is_not_cut_by_the_maximum() -> None:
    talk = Talk(timeouts=Timeouts(request=60, maximum=100))
    talk.ready()
    talk.call(timeout=500)
    assert talk.conversation.next_deadline() == 500


def test_a_request_without_a_timeout_never_times_out(talk: Talk) -> None:
    talk.call(timeout=math.inf)
    assert talk.conversation.next_deadline() is None
    assert talk.tick(1e9) == []


def test_progress_with_the_users_own_token_is_told(talk: Talk) -> None:
    id = talk.call(params='{"name":"x","_meta":{"progressToken":"mine"}}')
    assert (
        only(Progressed, talk.tell("notifications/progress", {"progressToken": "mine", "progress": 1})).id
        == id
    )


def test_a_users_token_that_is_the_next_id_does_not_mix_two_calls_up(talk: Talk) -> None:
    first = talk.call(params='{"_meta":{"progressToken":3}}')
    second, actions = talk.conversation.request("tools/call", "{}", 0)
    assert second == 3
    token = json.loads(only(Send, actions).body)["params"]["_meta"]["progressToken"]
    assert (
        only(Progressed, talk.tell("notifications/progress", {"progressToken": 3, "progress": 1})).id == first
    )
    told = talk.tell("notifications/progress", {"progressToken": token, "progress": 1})
    assert only(Progressed, told).id == second


@pytest.mark.parametrize("token", ["2", 2.0, 99, None, [], {}])
def test_progress_with_an_unknown_token_is_not_told(talk: Talk, token: Any) -> None:
    talk.call()
    assert talk.tell("notifications/progress", {"progressToken": token, "progress": 1}) == []


def test_progress_after_the_answer_is_not_told(talk: Talk) -> None:
    id = talk.call()
    talk.reply(id, {})
    actions = talk.tell("notifications/progress", {"progressToken": id, "progress": 1})
    assert actions == []


def test_progress_of_a_task_comes_after_the_answer_and_is_told(talk: Talk) -> None:
    id = talk.call(params='{"name":"x","task":{}}')
    talk.reply(id, {"task": {"taskId": "t1", "status": "working"}})
    actions = talk.tell("notifications/progress", {"progressToken": id, "progress": 1})
    assert actions == [Progressed(id, 1.0, None, None, talk.seq)]


@pytest.mark.parametrize("progress", [1, 0.5])
def test_progress_that_does_not_grow_is_told_all_the_same(talk: Talk, progress: float) -> None:
    id = talk.call()
    talk.tell("notifications/progress", {"progressToken": id, "progress": 1})
    actions = talk.tell("notifications/progress", {"progressToken": id, "progress": progress})
    assert only(Progressed, actions).progress == progress


@pytest.mark.parametrize("progress", ["1", None, True, [], 10**400])
def test_progress_that_is_no_number_restarts_nothing(talk: Talk, progress: Any) -> None:
    id = talk.call()
    talk.now = 50
    actions = talk.tell("notifications/progress", {"progressToken": id, "progress": progress})
    assert actions == []
    assert talk.conversation.next_deadline() == 60


@pytest.mark.parametrize("params", [None, [], {}])
def test_progress_without_a_token_is_not_told(talk: Talk, params: Any) -> None:
    assert talk.tell("notifications/progress", params) == []


# Timeouts and cancellation


def test_a_request_that_times_out_is_cancelled_at_the_peer(talk: Talk) -> None:
    id = talk.call()
    actions = talk.tick(60)
    assert sent(actions) == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": id, "reason": "timed out"},
        }
    ]
    outcome = only(Completed, actions).outcome
    assert outcome.how == "timeout"
    assert "tools/call" in outcome.sentence
    assert talk.conversation.next_deadline() is None


def test_timeouts_come_in_the_order_of_their_deadlines(talk: Talk) -> None:
    slow, fast = talk.call(timeout=30), talk.call(timeout=10)
    assert talk.conversation.next_deadline() == 10
    assert [done.id for done in every(Completed, talk.tick(100))] == [fast, slow]


def test_an_answer_after_the_timeout_is_late_once_and_completes_nothing(talk: Talk) -> None:
    id = talk.call()
    talk.tick(60)
    later = talk.call()
    actions = talk.reply(id, {})
    assert [type(action) for action in actions] == [Late]
    assert only(Late, actions).id == id
    assert talk.reply(id, {}) == []
    assert only(Completed, talk.reply(later, {})).id == later


def test_a_cancelled_request_ends_at_once_and_its_answer_is_late(talk: Talk) -> None:
    id = talk.call()
    actions = talk.conversation.cancel(id, None, 2.0)
    assert sent(actions)[0]["params"] == {"requestId": id}
    assert only(Completed, actions).outcome.how == "cancelled"
    assert only(Late, talk.fail(id, -32800, "cancelled")).id == id


def test_cancelling_what_has_ended_does_nothing(talk: Talk) -> None:
    id = talk.call()
    talk.reply(id, {})
    assert talk.conversation.cancel(id, None, 1) == []
    assert talk.conversation.cancel(4711, None, 1) == []


def test_all_waiting_requests_end_when_the_peer_is_gone(talk: Talk) -> None:
    ids = [talk.call(), talk.call()]
    actions = talk.conversation.lost("The server exited with code 3.", 7.0)
    assert only(StateChanged, actions).state is State.EXITED
    done = every(Completed, actions)
    assert [action.id for action in done] == ids
    assert {action.outcome.how for action in done} == {"lost"}
    assert done[0].outcome.sentence == "The server exited with code 3."
    assert talk.conversation.next_deadline() is None


def test_a_peer_that_ends_after_we_began_to_close_is_closed(talk: Talk) -> None:
    talk.conversation.closing()
    assert only(StateChanged, talk.conversation.lost("gone")).state is State.CLOSED


def test_a_request_on_a_connection_that_is_over_is_lost_at_once(talk: Talk) -> None:
    talk.conversation.lost("gone")
    id, actions = talk.conversation.request("tools/call", None, 0)
    assert only(Completed, actions).id == id
    assert not every(Send, actions)


# Frames that are more, or less, than one message


def test_each_message_of_a_batch_is_handled_and_the_batch_is_odd(talk: Talk) -> None:
    id = talk.call()
    actions = talk.hear(
        [
            {"jsonrpc": "2.0", "id": id, "result": {}},
            {"jsonrpc": "2.0", "id": 9, "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}},
            7,
        ]
    )
    assert only(Completed, actions).id == id
    assert sent(actions) == [{"jsonrpc": "2.0", "id": 9, "result": {}}]
    assert only(Notified, actions).method == "notifications/message"


def test_a_batch_is_in_order_in_the_revision_that_has_them() -> None:
    talk = Talk()
    talk.ready(version="2025-03-26")
    assert len(sent(talk.hear([{"jsonrpc": "2.0", "id": 9, "method": "ping"}]))) == 1


def test_several_objects_in_a_line_are_handled_one_by_one(talk: Talk) -> None:
    first, second = talk.call(), talk.call()
    line = b'{"jsonrpc":"2.0","id":%d,"result":{}}{"jsonrpc":"2.0","id":%d,"result":{}}' % (first, second)
    actions = talk.hear(line)
    assert [done.id for done in every(Completed, actions)] == [first, second]


def test_a_large_result_is_carried_on_without_being_parsed(talk: Talk) -> None:
    id = talk.call()
    text = '{"content":[{"type":"text","text":"' + "x" * INLINE_BYTES + '"}],"isError":true}'
    outcome = only(Completed, talk.hear(f'{{"jsonrpc":"2.0","id":{id},"result":{text}}}'.encode())).outcome
    assert outcome.large
    assert outcome.message is not None
    assert "result" not in outcome.message.members
    assert outcome.text == text
    assert outcome.is_tool_error


def test_numbers_of_a_result_keep_their_spelling(talk: Talk) -> None:
    id = talk.call()
    body = f'{{"jsonrpc":"2.0","id":{id},"result":{{"id":9007199254740993,"x":1.0}}}}'.encode()
    assert only(Completed, talk.hear(body)).outcome.text == '{"id":9007199254740993,"x":1.0}'


# Raw


def test_raw_bytes_go_out_as_they_are(talk: Talk) -> None:
    assert only(Send, talk.conversation.send_raw(b"\xff{half")).body == b"\xff{half"


def test_the_answer_to_a_raw_request_is_no_surprise_and_its_id_is_not_used_again(talk: Talk) -> None:
    talk.conversation.send_raw(b'{"jsonrpc":"2.0","id":3,"method":"ping"}')
    assert [talk.call(), talk.call()] == [2, 4]
    assert talk.reply(3, {}) == []
    assert talk.reply(3, {}) == []


def test_a_raw_request_with_the_id_of_a_waiting_one_does_not_take_its_answer(talk: Talk) -> None:
    id = talk.call()
    talk.conversation.send_raw(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % id)
    assert only(Completed, talk.reply(id, {})).id == id


def test_the_log_level_is_known_once_the_server_has_taken_it(talk: Talk) -> None:
    id = talk.call("logging/setLevel", '{"level":"debug"}')
    assert talk.conversation.log_level is None
    talk.reply(id, {})
    assert talk.conversation.log_level == "debug"
    refused = talk.call("logging/setLevel", '{"level":"loud"}')
    talk.fail(refused, -32602, "Bad level")
    assert talk.conversation.log_level == "debug"
