"""The stateless era: what every request says of itself, discovery, ends, and what is odd."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.hostile import bodies
from tests.core.modern import HELD, META, REVISION, Modern, discovered, done
from tests.core.talk import every, only, sent
from tests.examples import many
from workbench.core.actions import Abandon, EraFound, Remarked
from workbench.core.conversation import (
    Action,
    Completed,
    Late,
    Notified,
    Policy,
    Progressed,
    Send,
    StateChanged,
)
from workbench.core.lifecycle import State


def test_it_begins_with_a_discovery_that_says_who_asks() -> None:
    (body,) = sent(Modern().start())
    assert body["method"] == "server/discover"
    assert body["params"] == {
        "_meta": {
            META + "protocolVersion": REVISION,
            META + "clientInfo": {"name": "bench", "version": "1"},
            META + "clientCapabilities": {
                "roots": {},
                "sampling": {},
                "elicitation": {"form": {}, "url": {}},
            },
        }
    }


def test_a_discovered_server_is_ready_and_known() -> None:
    talk = Modern()
    talk.start()
    assert talk.conversation.state is State.PROBING
    actions = talk.reply(1, discovered(capabilities={"tools": {}}, instructions="Be kind."))
    assert only(StateChanged, actions).state is State.READY
    assert only(EraFound, actions).era == "modern"
    conversation = talk.conversation
    assert (conversation.revision, conversation.server_info) == (REVISION, {"name": "s", "version": "1"})
    assert (conversation.server_capabilities, conversation.instructions) == ({"tools": {}}, "Be kind.")


def test_every_request_carries_its_envelope_and_nothing_else_of_it_changes() -> None:
    talk = Modern(log_level="debug")
    talk.ready()
    params = '{"name": "t",  "arguments": {"n": 9007199254740993, "n": 1.0}}'
    _, actions = talk.conversation.request("tools/call", params, 0.0)
    text = only(Send, actions).body.decode()
    assert params[:-1] in text
    meta = json.loads(text)["params"]["_meta"]
    assert meta[META + "protocolVersion"] == REVISION
    assert meta[META + "logLevel"] == "debug"
    assert meta["progressToken"] == 2


@pytest.mark.parametrize("params", [None, "{}", '{"_meta":{"a":1}}', '{"cursor":"x"}'])
def test_the_envelope_goes_into_whatever_params_there_are(params: str | None) -> None:
    talk = Modern()
    talk.ready()
    _, body = talk.send("tools/list", params)
    assert body["params"]["_meta"][META + "protocolVersion"] == REVISION
    assert {**json.loads(params or "{}"), "_meta": 0}.keys() == body["params"].keys()


def test_an_envelope_that_a_user_wrote_goes_out_as_it_is() -> None:
    talk = Modern()
    talk.ready()
    own = {"_meta": {META + "protocolVersion": "1999-01-01", META + "clientCapabilities": 7}}
    _, body = talk.send("tools/list", json.dumps(own))
    assert body["params"]["_meta"][META + "protocolVersion"] == "1999-01-01"
    assert body["params"]["_meta"][META + "clientCapabilities"] == 7


@pytest.mark.parametrize("params", ["[1]", "7", "{broken", '{"_meta":7}'])
def test_params_that_can_hold_no_envelope_go_out_as_they_are(params: str) -> None:
    talk = Modern()
    talk.ready()
    _, actions = talk.conversation.request("tools/call", params, 0.0)
    assert f'"params":{params}'.encode() in only(Send, actions).body


# Discovery that goes otherwise


def test_a_version_that_is_refused_is_tried_once_more_with_one_of_the_servers() -> None:
    talk = Modern(offer="2099-01-01")
    talk.start()
    actions = talk.fail(1, -32022, "Unsupported", {"supported": [REVISION], "requested": "2099-01-01"})
    (body,) = sent(actions)
    assert body["params"]["_meta"][META + "protocolVersion"] == REVISION
    assert only(StateChanged, talk.reply(body["id"], discovered())).state is State.READY
    assert talk.conversation.revision == REVISION


def test_a_server_that_refuses_every_version_is_not_asked_for_ever() -> None:
    talk = Modern()
    talk.start()
    (body,) = sent(talk.fail(1, -32022, "no", {"supported": [REVISION]}))
    assert not sent(talk.fail(body["id"], -32022, "no", {"supported": [REVISION]}))


@pytest.mark.parametrize(
    ("names", "step"),
    [
        (["2025-11-25", "2025-06-18"], "--era legacy"),
        (["2027-03-01"], "--protocol-version 2027-03-01"),
        (["DRAFT-2026-v1"], "--protocol-version DRAFT-2026-v1"),
    ],
)
def test_a_server_of_other_revisions_is_a_version_mismatch_with_a_next_step(names: Any, step: str) -> None:
    for answer in ("result", "error"):
        talk = Modern()
        talk.start()
        if answer == "result":
            changed = only(StateChanged, talk.reply(1, discovered(names)))
        else:
            changed = only(StateChanged, talk.fail(1, -32022, "no", {"supported": names}))
        assert changed.state is State.VERSION_MISMATCH
        assert names[0] in changed.why
        assert step in changed.next


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"code": -32601, "message": "Method not found"}},
        {"error": {"code": -32603, "message": "oops"}},
        {"error": {"code": -32003, "message": "draft", "data": {"requiredCapabilities": {"roots": {}}}}},
        {"result": {}},
        {"result": {"resultType": "complete", "capabilities": {"tools": {}}}},
        {"result": {"resultType": "complete", "supportedVersions": []}},
    ],
)
def test_a_discovery_that_fails_otherwise_leaves_a_chosen_era_ready_with_a_remark(answer: Any) -> None:
    talk = Modern()
    talk.start()
    actions = talk.hear({"jsonrpc": "2.0", "id": 1, **answer})
    assert only(StateChanged, actions).state is State.READY
    assert every(Remarked, actions)
    assert talk.conversation.revision == REVISION


def test_a_silent_server_of_a_chosen_era_has_not_started_in_time() -> None:
    talk = Modern()
    talk.start()
    assert only(StateChanged, talk.tick(10.0)).state is State.START_TIMEOUT


def test_nothing_that_could_be_an_answer_means_that_there_is_no_server() -> None:
    talk = Modern(own_streams=True)
    talk.start()
    changed = only(StateChanged, talk.conversation.unanswered("1", "It answered with an HTML page.", 1.0))
    assert changed.state is State.LOST
    assert "HTML page" in changed.why


def test_a_required_capability_that_is_missing_ends_the_connection() -> None:
    talk = Modern(require=["prompts"])
    talk.start()
    changed = only(StateChanged, talk.reply(1, discovered()))
    assert changed.state is State.CAPABILITY_MISSING
    assert "prompts" in changed.why


def test_a_result_without_server_info_leaves_what_was_known() -> None:
    talk = Modern()
    talk.start()
    talk.reply(1, {"resultType": "complete", "supportedVersions": [REVISION], "capabilities": {}})
    assert talk.conversation.state is State.READY
    assert talk.conversation.server_info is None


# Results


def test_a_result_is_complete_with_or_without_its_type() -> None:
    talk = Modern()
    talk.ready()
    results: tuple[Any, ...] = (done(), {"content": []})
    for result in results:
        id, _ = talk.send()
        actions = talk.reply(id, result)
        assert only(Completed, actions).outcome.result == result


@pytest.mark.parametrize("kind", ["task", "vendor/thing", 7, None])
def test_a_type_that_is_not_the_protocols_ends_as_a_result_with_a_remark(kind: Any) -> None:
    talk = Modern()
    talk.ready()
    id, _ = talk.send()
    actions = talk.reply(id, {"resultType": kind, "taskId": "t1"})
    assert only(Completed, actions).outcome.how == "result"
    assert only(Completed, actions).outcome.result["taskId"] == "t1"
    if kind is not None:
        assert only(Remarked, actions).id == id


def test_a_version_refused_later_is_tried_once_more_with_a_mutual_one() -> None:
    talk = Modern(offer="2099-01-01")
    talk.ready(version="2099-01-01")
    id, _ = talk.send("tools/call", '{"name":"t"}')
    (again,) = sent(talk.fail(id, -32022, "no", {"supported": [REVISION]}))
    assert again["id"] != id
    assert again["params"]["_meta"][META + "protocolVersion"] == REVISION
    ended = only(Completed, talk.reply(again["id"], done()))
    assert (ended.id, ended.outcome.how) == (id, "result")


def test_an_error_that_names_no_mutual_version_ends_the_call() -> None:
    talk = Modern()
    talk.ready()
    id, _ = talk.send()
    assert only(Completed, talk.fail(id, -32022, "no", {"supported": ["2031-01-01"]})).outcome.how == "error"


# Ends


def test_a_call_is_cancelled_with_a_notification_where_all_share_a_stream() -> None:
    talk = Modern()
    talk.ready()
    id, _ = talk.send()
    actions = talk.conversation.cancel(id, "enough", talk.now)
    (told,) = sent(actions)
    assert told["method"] == "notifications/cancelled"
    assert told["params"] == {"requestId": id, "reason": "enough"}
    assert only(Completed, actions).outcome.how == "cancelled"
    assert only(Late, talk.reply(id, done())).id == id


def test_a_call_is_cancelled_by_closing_its_stream_where_it_has_one() -> None:
    talk = Modern(own_streams=True)
    talk.ready()
    id, _ = talk.send()
    actions = talk.conversation.cancel(id, None, talk.now)
    assert only(Abandon, actions).id == str(id)
    assert not every(Send, actions)
    id, _ = talk.send()
    actions = talk.tick(70.0)
    assert only(Abandon, actions).id == str(id)
    assert only(Completed, actions).outcome.how == "timeout"


def test_a_lost_stream_ends_its_call_and_no_other() -> None:
    talk = Modern(own_streams=True)
    talk.ready()
    one, other = talk.call(), talk.call()
    ended = only(Completed, talk.conversation.unanswered(str(one), "The stream ended.", 1.0))
    assert (ended.id, ended.outcome.how) == (one, "lost")
    assert only(Completed, talk.reply(other, done())).id == other


def test_a_request_of_the_server_is_shown_and_not_answered() -> None:
    talk = Modern()
    talk.ready()
    for method in ("ping", "roots/list", "sampling/createMessage", "vendor/x"):
        actions = talk.ask(9, method, {})
        assert actions == []


def test_progress_is_told_of_the_call_it_belongs_to() -> None:
    talk = Modern()
    talk.ready()
    id, body = talk.send("tools/call", '{"name":"t"}')
    token = body["params"]["_meta"]["progressToken"]
    told = only(Progressed, talk.tell("notifications/progress", {"progressToken": token, "progress": 1}))
    assert told == (id, 1.0, None, None, talk.seq)


def test_what_the_handshake_era_has_methods_for_is_done_without_them() -> None:
    talk = Modern()
    talk.ready(capabilities={"logging": {}, "tools": {}})
    assert not talk.conversation.offers("logging/setLevel")
    assert not talk.conversation.offers("ping") or "ping" not in talk.conversation.server_capabilities
    _, actions = talk.conversation.request("logging/setLevel", '{"level":"error"}', 0.0)
    assert not every(Send, actions)
    assert only(Completed, actions).outcome.how == "result"
    _, body = talk.send("tools/list")
    assert body["params"]["_meta"][META + "logLevel"] == "error"


def test_what_a_user_sends_raw_is_sent() -> None:
    talk = Modern()
    talk.ready()
    raw = b'{"jsonrpc":"2.0","id":"p","method":"ping"}'
    assert only(Send, talk.conversation.send_raw(raw)).body == raw
    assert talk.reply("p", {"resultType": "complete"}) == []
    (ping,) = sent(talk.conversation.request("ping", None, 0.0)[1])
    assert ping["method"] == "ping"


def test_notifications_are_told() -> None:
    talk = Modern()
    talk.ready()
    assert only(Notified, talk.tell("notifications/message", {"level": "info", "data": 1})).seq == talk.seq


# Whatever comes


@given(st.lists(bodies, max_size=20), st.booleans())
@settings(max_examples=many(200))
def test_no_frame_raises_and_every_request_ends_once(script: list[bytes], probing: bool) -> None:
    talk = Modern(policy=Policy(held=HELD), probing=probing, own_streams=probing)
    actions: list[Action] = talk.ready()
    asked = []
    for body in script:
        talk.now += 1
        id, sends = talk.conversation.request("tools/call", "{}", talk.now)
        asked.append(id)
        actions += [*sends, *talk.hear(body)]
    actions += talk.conversation.lost("gone", talk.now)
    ended = [each.id for each in every(Completed, actions)]
    assert all(ended.count(id) == 1 for id in asked)
    assert talk.conversation.next_deadline() is None
    for send in every(Send, actions):
        json.loads(send.body)
