"""Requests of the peer: answered by policy, held for somebody, cancelled, and answered once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.core.talk import Talk, every, only, sent
from workbench.core.asked import MAX_PEER_REQUESTS
from workbench.core.conversation import Completed, PeerCancelled, PeerRequest, Policy, Send

ALL: dict[str, Any] = {"roots": {}, "sampling": {}, "elicitation": {}}
HELD = ("sampling/createMessage", "elicitation/create")


def talk_with(policy: Policy | None = None, capabilities: Any = None) -> Talk:
    talk = Talk(policy=policy, capabilities=ALL if capabilities is None else capabilities)
    talk.ready()
    return talk


def test_a_ping_is_answered_at_once_and_visible_as_the_policys() -> None:
    talk = talk_with()
    actions = talk.ask(7, "ping")
    assert [type(action) for action in actions] == [PeerRequest, Send]
    assert only(PeerRequest, actions).held is False
    send = only(Send, actions)
    assert (send.about, send.id) == ("policy ping", "7")
    assert json.loads(send.body) == {"jsonrpc": "2.0", "id": 7, "result": {}}


@pytest.mark.parametrize("identity", ["7", 7, "", 0, 'a"b', None])
def test_the_answer_carries_the_id_as_it_came(identity: Any) -> None:
    assert sent(talk_with().ask(identity, "ping"))[0]["id"] == identity


def test_roots_are_those_configured() -> None:
    roots = [{"uri": "file:///home", "name": "home"}]
    (answer,) = sent(talk_with(Policy(roots=roots)).ask(1, "roots/list"))
    assert answer["result"] == {"roots": roots}


@pytest.mark.parametrize("method", ["roots/list", "sampling/createMessage", "elicitation/create"])
def test_what_was_not_offered_is_refused_even_if_somebody_would_answer(method: str) -> None:
    talk = talk_with(Policy(held=[method]), capabilities={})
    (answer,) = sent(talk.ask(1, method, {}))
    assert answer["error"]["code"] == -32601


def test_an_unknown_method_is_refused_by_name() -> None:
    (answer,) = sent(talk_with().ask(1, "vendor/thing"))
    assert answer["error"] == {"code": -32601, "message": "Method not found: vendor/thing"}


def test_sampling_and_elicitation_are_declined_at_once_when_nobody_is_there() -> None:
    talk = talk_with()
    (sampling,) = sent(talk.ask(1, "sampling/createMessage", {"messages": []}))
    (elicitation,) = sent(talk.ask(2, "elicitation/create", {"message": "Name?"}))
    assert sampling["error"]["code"] == -1
    assert elicitation["result"] == {"action": "decline"}


def test_a_held_request_waits_and_is_answered_once() -> None:
    talk = talk_with(Policy(held=HELD))
    actions = talk.ask("e1", "elicitation/create", {"message": "Name?"})
    assert only(PeerRequest, actions) == PeerRequest(
        '"e1"', "elicitation/create", {"message": "Name?"}, talk.seq, True, only(PeerRequest, actions).message
    )
    assert not every(Send, actions)
    answer = talk.conversation.answer('"e1"', '{"action":"accept","content":{"n":1.0}}')
    assert only(Send, answer).body == (
        b'{"jsonrpc":"2.0","id":"e1","result":{"action":"accept","content":{"n":1.0}}}'
    )
    assert only(Send, answer).about == "user"
    assert talk.conversation.answer('"e1"', "{}") == []


def test_a_held_request_can_be_answered_with_an_error() -> None:
    talk = talk_with(Policy(held=HELD))
    talk.ask(1, "sampling/createMessage", {})
    (answer,) = sent(talk.conversation.answer("1", error=(-1, "No", '{"why":"tired"}')))
    assert answer["error"] == {"code": -1, "message": "No", "data": {"why": "tired"}}


@pytest.mark.parametrize(
    ("offered", "mode", "open_"),
    [
        ({}, None, True),
        ({}, "form", True),
        ({}, "url", False),
        ({"form": {}}, "url", False),
        ({"url": {}}, "url", True),
        ({"url": {}}, None, False),
        ({"form": {}, "url": {}}, "form", True),
        ({"form": {}}, "telepathy", False),
        ({"form": {}}, 7, False),
    ],
)
def test_only_the_offered_modes_of_elicitation_reach_somebody(offered: Any, mode: Any, open_: bool) -> None:
    talk = talk_with(Policy(held=HELD), {"elicitation": offered})
    params = {"message": "?"} | ({} if mode is None else {"mode": mode})
    actions = talk.ask(1, "elicitation/create", params)
    assert only(PeerRequest, actions).held is open_
    if not open_:
        assert sent(actions)[0]["error"]["code"] == -32602


def test_three_requests_during_a_call_all_wait_and_the_cancelled_one_goes() -> None:
    talk = talk_with(Policy(held=(*HELD, "roots/list")))
    call = talk.call()
    talk.ask(1, "sampling/createMessage", {})
    talk.ask(2, "elicitation/create", {})
    talk.ask(3, "roots/list")
    assert list(talk.conversation.peer_requests) == ["1", "2", "3"]
    actions = talk.tell("notifications/cancelled", {"requestId": 1, "reason": "changed my mind"})
    assert actions == [PeerCancelled("1", "changed my mind", talk.seq)]
    assert list(talk.conversation.peer_requests) == ["2", "3"]
    assert talk.conversation.answer("1", "{}") == []
    assert talk.conversation.answer("3", '{"roots":[]}')
    assert only(Completed, talk.reply(call, {})).id == call


@pytest.mark.parametrize("params", [{"requestId": "1"}, {"requestId": 9}, {"requestId": None}, {}, None, []])
def test_cancelling_what_is_not_open_changes_nothing(params: Any) -> None:
    talk = talk_with(Policy(held=HELD))
    talk.ask(1, "sampling/createMessage", {})
    assert talk.tell("notifications/cancelled", params) == []
    assert list(talk.conversation.peer_requests) == ["1"]


def test_the_peers_ids_have_nothing_to_do_with_ours() -> None:
    talk = talk_with(Policy(held=HELD))
    ours = talk.call()
    talk.ask(ours, "sampling/createMessage", {})
    assert str(ours) in talk.conversation.peer_requests
    talk.reply(ours, {})
    assert str(ours) in talk.conversation.peer_requests


def test_an_id_used_again_while_open_is_that_of_the_later_request() -> None:
    talk = talk_with(Policy(held=HELD))
    talk.ask(1, "sampling/createMessage", {})
    assert only(PeerRequest, talk.ask(1, "elicitation/create", {})).id == "1"
    assert talk.conversation.peer_requests == {"1": "elicitation/create"}


def test_a_raw_answer_counts_as_the_answer() -> None:
    talk = talk_with(Policy(held=HELD))
    talk.ask(1, "sampling/createMessage", {})
    talk.conversation.send_raw(b'{"jsonrpc":"2.0","id":1,"result":{"any":"thing"}}')
    assert not talk.conversation.peer_requests


def test_open_requests_end_with_the_connection() -> None:
    talk = talk_with(Policy(held=HELD))
    talk.ask(1, "sampling/createMessage", {})
    talk.conversation.lost("gone")
    assert talk.conversation.answer("1", "{}") == []


def test_requests_that_nobody_answers_do_not_grow_without_bound() -> None:
    talk = talk_with(Policy(held=HELD))
    for identity in range(MAX_PEER_REQUESTS + 5):
        talk.ask(identity, "sampling/createMessage", {})
    assert len(talk.conversation.peer_requests) == MAX_PEER_REQUESTS
    assert "0" not in talk.conversation.peer_requests
