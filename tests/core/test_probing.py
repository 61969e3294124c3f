"""Finding out the era: what each answer proves, how long is waited, and what contradicts a finding."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.core.modern import REVISION, Modern, discovered
from tests.core.talk import Talk, every, only, sent
from workbench.core.actions import EraFound
from workbench.core.conversation import Completed, Conversation, Late, Send, StateChanged
from workbench.core.jsonrpc import Message, decode
from workbench.core.lifecycle import State
from workbench.core.probing import AFTER_A_SIGN, AT_MOST, has_handshake, judge, mutual

LEGACY = ("2025-11-25", "2024-11-05")


def answer(**members: Any) -> Message:
    return decode(json.dumps({"jsonrpc": "2.0", "id": 1, **members}).encode()).messages[0]


def failed(code: Any, data: Any = None, message: str = "m") -> Message:
    return answer(error={"code": code, "message": message} | ({} if data is None else {"data": data}))


@pytest.mark.parametrize(
    ("message", "status", "era"),
    [
        (answer(result=discovered()), None, "modern"),
        (answer(result=discovered(["2027-01-01", REVISION])), None, "modern"),
        (answer(result=discovered(["2027-01-01"])), None, "modern"),
        (answer(result=discovered([])), None, "modern"),
        (answer(result=discovered(LEGACY)), None, "legacy"),
        (answer(result={"supportedVersions": [REVISION]}), None, "modern"),
        (answer(result={"resultType": "complete", "supportedVersions": 7}), None, "modern"),
        (answer(result={}), None, "legacy"),
        (answer(result=None), None, "legacy"),
        (answer(result=[]), None, "legacy"),
        (answer(result={"tools": []}), 200, "legacy"),
        (failed(-32022, {"supported": [REVISION]}), 400, "modern"),
        (failed(-32022, {"supported": list(LEGACY)}), None, "legacy"),
        (failed(-32022), None, "modern"),
        (failed(-32022, {"supported": ["2027-01-01"]}), None, "modern"),
        (failed(-32021, {"requiredCapabilities": {}}), 400, "modern"),
        (failed(-32020), 400, "modern"),
        (failed(-32004, {"supported": [REVISION]}), None, "modern"),
        (failed(-32004), None, "legacy"),
        (failed(-32003, {"requiredCapabilities": {"roots": {}}}), None, "modern"),
        (failed(-32003), None, "legacy"),
        (failed(-32001), 404, "legacy"),
        (failed(-32601), None, "legacy"),
        (failed(-32601), 200, "legacy"),
        (failed(-32601), 400, "legacy"),
        (failed(-32601), 404, "modern"),
        (failed(-32602), 400, "legacy"),
        (failed(-32600), 400, "legacy"),
        (failed(-32000, None, "Bad Request: Server not initialized"), 400, "legacy"),
        (failed("-32022"), None, "legacy"),
        (answer(error="no"), None, "legacy"),
    ],
)
def test_only_what_the_stateless_era_brought_speaks_for_it(message: Message, status: Any, era: str) -> None:
    finding = judge(message, [REVISION], status)
    assert finding.era == era
    assert finding.found


def test_a_mutual_revision_is_the_first_of_ours() -> None:
    assert mutual({"code": -32022, "data": {"supported": ["b", "a"]}}, ["a", "b"], None) == "a"
    assert mutual({"code": -32022, "data": {"supported": ["a"]}}, ["a", "b"], "a") is None
    assert mutual({"code": -32022, "data": {"supported": [7]}}, ["a"], None) is None
    assert mutual({"code": -32602, "data": {"supported": ["a"]}}, ["a"], None) is None
    assert mutual("odd", ["a"], None) is None


@pytest.mark.parametrize(
    ("name", "has"), [("2025-11-25", True), ("2024-10-07", True), (REVISION, False), ("DRAFT-v1", False)]
)
def test_a_revision_is_known_by_its_date(name: str, has: bool) -> None:
    assert has_handshake(name) is has


# Waiting


def probing(**options: Any) -> Modern:
    talk = Modern(probing=True, **options)
    (probe,) = every(Send, talk.start())
    assert probe.about == "probe"
    return talk


def test_a_server_that_shows_no_sign_is_waited_for_longer() -> None:
    talk = probing()
    assert talk.conversation.next_deadline() == AT_MOST
    assert not talk.tick(AT_MOST - 0.1)
    found = only(EraFound, talk.tick(AT_MOST))
    assert (found.era, found.restart) == ("legacy", "")
    assert f"{AT_MOST:g} s" in found.found


def test_a_server_that_lives_has_a_shorter_time_from_its_first_sign() -> None:
    talk = probing()
    talk.conversation.heard(2.0)
    talk.conversation.heard(4.0)
    assert talk.conversation.next_deadline() == 2.0 + AFTER_A_SIGN
    assert "first sign of life" in only(EraFound, talk.tick(2.0 + AFTER_A_SIGN)).found


def test_a_late_sign_gives_no_more_time_than_there_is() -> None:
    talk = probing()
    talk.conversation.heard(AT_MOST - 1)
    assert talk.conversation.next_deadline() == AT_MOST


def test_a_probe_is_not_cancelled_when_its_time_is_over() -> None:
    talk = probing()
    assert not sent(talk.tick(AT_MOST))


def test_nothing_but_the_answer_ends_the_waiting() -> None:
    talk = probing()
    talk.hear(b"Server v1 up on stdin")
    talk.tell("notifications/message", {"level": "info", "data": "hello"})
    talk.ask(1, "roots/list")
    assert talk.conversation.state is State.PROBING
    assert only(EraFound, talk.fail(1, -32601, "no")).era == "legacy"


def test_a_server_of_the_stateless_era_is_ready_at_once() -> None:
    talk = probing()
    actions = talk.reply(1, discovered())
    assert only(EraFound, actions).era == "modern"
    assert only(StateChanged, actions).state is State.READY
    assert talk.conversation.next_deadline() is None


def test_an_answer_without_a_body_means_the_other_era() -> None:
    talk = probing(own_streams=True)
    found = only(EraFound, talk.conversation.unanswered("1", "The server answered with status 405.", 1.0))
    assert found.era == "legacy"
    assert "405" in found.found


def test_an_error_that_names_its_own_request_by_nothing_is_the_probes() -> None:
    talk = probing(own_streams=True)
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "Server not initialized"}}
    assert only(EraFound, talk.hear(body, status=400, answers="1")).era == "legacy"


# After the probe


class Fallback(Talk):
    """A handshake that goes on from a probe whose time was over."""

    def __init__(self, doubt: str = "probed") -> None:
        super().__init__()
        before = probing()
        before.tick(AT_MOST)
        self.before = before.conversation
        self.conversation = Conversation(
            capabilities={},
            client_info={},
            calls=self.before.calls,
            state=self.before.state,
            probe=self.before.probe,
            doubt=doubt,
        )


def test_ids_go_on_and_a_late_answer_to_the_probe_is_late() -> None:
    talk = Fallback()
    (offer,) = sent(talk.start())
    assert (offer["method"], offer["id"]) == ("initialize", 2)
    assert talk.conversation.state is State.INITIALIZING
    agreed = talk.reply(2, {"protocolVersion": "2025-11-25", "capabilities": {}})
    assert only(StateChanged, agreed).state is State.READY
    late = talk.reply(1, discovered())
    assert only(Late, late).id == 1
    assert not every(StateChanged, late)


def test_a_late_refusal_of_the_probe_changes_nothing() -> None:
    talk = Fallback()
    talk.start()
    assert only(Late, talk.fail(1, -32601, "no")).id == 1
    assert talk.conversation.state is State.INITIALIZING


def test_the_first_recognisable_answer_decides() -> None:
    talk = Fallback()
    talk.start()
    actions = talk.reply(1, discovered())
    found = only(EraFound, actions)
    assert (found.era, found.restart) == ("modern", "")
    assert found.discovered is not None
    assert only(Completed, actions).id == 2
    modern = Modern(calls=talk.conversation.calls, state=talk.conversation.state)
    changed = only(StateChanged, modern.conversation.adopt(found, 1.0))
    assert changed.state is State.READY
    assert modern.conversation.server_capabilities == {"tools": {}}
    assert only(Late, modern.fail(2, -32022, "serving the 2026-07-28 protocol")).id == 2


def test_a_server_that_is_locked_to_the_stateless_era_is_started_anew() -> None:
    talk = Fallback()
    talk.start()
    found = only(EraFound, talk.fail(2, -32022, "connection is serving the 2026-07-28 protocol"))
    assert found.era == "modern"
    assert found.restart


@pytest.mark.parametrize(
    ("code", "data"), [(-32602, {"supported": ["2024-10-07", "2024-11-05"]}), (-32601, None), (-32603, None)]
)
def test_any_other_refusal_is_the_servers_last_word(code: int, data: Any) -> None:
    talk = Fallback()
    talk.start()
    actions = talk.fail(2, code, "no", data)
    assert only(StateChanged, actions).state is State.REFUSED
    assert not every(EraFound, actions)


def test_a_refusal_where_the_era_was_only_known_from_before_makes_it_be_looked_for_again() -> None:
    talk = Talk(doubt="known")
    talk.start()
    found = only(EraFound, talk.fail(1, -32601, "no"))
    assert (found.era, bool(found.restart)) == ("auto", True)


def test_a_chosen_era_is_never_left() -> None:
    talk = Talk()
    talk.start()
    actions = talk.fail(1, -32022, "no", {"supported": [REVISION]})
    changed = only(StateChanged, actions)
    assert changed.state is State.REFUSED
    assert "--era modern" in changed.next
    assert not every(EraFound, actions)
