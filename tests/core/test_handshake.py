"""The handshake: offering a revision, judging the answer, and every way it can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.talk import Talk, every, only, sent
from workbench.core.conversation import Completed, Send, StateChanged, Timeouts
from workbench.core.lifecycle import State
from workbench.core.methods import HANDSHAKE_REVISIONS


def test_initialize_offers_the_revision_capabilities_and_identity_as_given() -> None:
    talk = Talk(offer="1999-anything", capabilities={"roots": {"listChanged": True}})
    (body,) = sent(talk.start())
    assert body["method"] == "initialize"
    assert body["params"] == {
        "protocolVersion": "1999-anything",
        "capabilities": {"roots": {"listChanged": True}},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    assert talk.conversation.state is State.INITIALIZING


@pytest.mark.parametrize("version", HANDSHAKE_REVISIONS)
def test_every_handshake_revision_is_agreed_to(version: str) -> None:
    talk = Talk()
    actions = talk.ready(version=version)
    assert [body["method"] for body in sent(actions)] == ["notifications/initialized"]
    assert only(StateChanged, actions).state is State.READY
    assert talk.conversation.revision == version


def test_initialized_is_sent_before_the_connection_is_called_ready() -> None:
    actions = Talk().ready()
    assert [type(action) for action in actions] == [Send, StateChanged, Completed]


def test_what_the_server_says_of_itself_is_kept() -> None:
    talk = Talk()
    talk.start()
    info = {"name": "s", "title": "S", "icons": [{"src": "data:"}]}
    answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    talk.reply(1, {**answer, "instructions": "Be kind."})
    assert talk.conversation.server_info == info
    assert talk.conversation.server_capabilities == {"tools": {}}
    assert talk.conversation.instructions == "Be kind."


def test_an_unknown_revision_that_was_offered_and_is_echoed_is_agreed_to() -> None:
    talk = Talk(offer="DRAFT-2026-v1")
    assert only(StateChanged, talk.ready(version="DRAFT-2026-v1")).state is State.READY


@pytest.mark.parametrize("version", ["1999-01-01", "2024-10-07", "2026-07-28"])
def test_an_answer_with_another_revision_is_a_version_mismatch_with_a_next_step(version: str) -> None:
    talk = Talk()
    actions = talk.ready(version=version)
    changed = only(StateChanged, actions)
    assert changed.state is State.VERSION_MISMATCH
    assert version in changed.why
    assert f"--protocol-version {version}" in changed.next
    assert not every(Send, actions)


@pytest.mark.parametrize("result", [{}, {"protocolVersion": None}, {"protocolVersion": 7}])
def test_an_answer_that_names_no_revision_is_a_version_mismatch(result: Any) -> None:
    talk = Talk()
    talk.start()
    assert only(StateChanged, talk.reply(1, result)).state is State.VERSION_MISMATCH


@pytest.mark.parametrize("result", [None, [], "ok", 7])
def test_a_result_that_is_no_object_is_a_refusal(result: Any) -> None:
    talk = Talk()
    talk.start()
    assert only(StateChanged, talk.reply(1, result)).state is State.REFUSED


def test_an_error_is_a_refusal_that_names_the_revisions_the_server_supports() -> None:
    talk = Talk()
    talk.start()
    changed = only(
        StateChanged, talk.fail(1, -32602, "Unsupported", {"supported": ["2024-11-05", "2025-03-26"]})
    )
    assert changed.state is State.REFUSED
    assert "Unsupported (-32602)" in changed.why
    assert "2024-11-05 and 2025-03-26" in changed.why
    assert "--protocol-version 2025-03-26" in changed.next


def test_a_refusal_that_ends_with_a_full_stop_has_one() -> None:
    talk = Talk()
    talk.start()
    refusal = {"jsonrpc": "2.0", "id": 1, "error": {"message": "Not today."}}
    assert only(StateChanged, talk.hear(refusal)).why == "The server refused initialize: Not today."


@pytest.mark.parametrize(
    ("code", "data", "next"),
    [
        (-32022, {"supported": ["2025-06-18", "2026-07-28"]}, "--protocol-version 2025-06-18"),
        (-32022, {"supported": ["2026-07-28"]}, "--era modern"),
        (-32601, None, "may speak 2026-07-28 only"),
        (-32000, None, "may need arguments or settings"),
    ],
)
def test_a_refusal_never_leads_to_a_revision_without_a_handshake(code: int, data: Any, next: str) -> None:
    talk = Talk()
    talk.start()
    changed = only(StateChanged, talk.fail(1, code, "no", data))
    assert changed.state is State.REFUSED
    assert next in changed.next


@pytest.mark.parametrize("data", [None, {"supported": "all"}, {"supported": [1]}, [], "x"])
def test_an_error_without_usable_data_is_a_refusal_too(data: Any) -> None:
    talk = Talk()
    talk.start()
    changed = only(StateChanged, talk.fail(1, -32601, "Method not found", data))
    assert changed.state is State.REFUSED
    assert changed.next


def test_an_answer_with_both_result_and_error_is_a_refusal() -> None:
    talk = Talk()
    talk.start()
    actions = talk.hear({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1, "message": "x"}})
    assert only(StateChanged, actions).state is State.REFUSED


@pytest.mark.parametrize("offered", [{}, {"resources": {}}, {"resources": {"subscribe": False}}])
def test_a_required_capability_that_is_not_offered_ends_the_handshake(offered: Any) -> None:
    talk = Talk(require=["resources.subscribe"])
    changed = only(StateChanged, talk.ready(offered))
    assert changed.state is State.CAPABILITY_MISSING
    assert "resources.subscribe" in changed.why


def test_a_required_capability_that_is_offered_is_enough() -> None:
    talk = Talk(require=["resources.subscribe", "tools"])
    talk.ready({"tools": {}, "resources": {"subscribe": True}})
    assert talk.conversation.state is State.READY


def test_initialize_that_is_not_answered_in_time_fails_and_nothing_is_cancelled() -> None:
    talk = Talk(timeouts=Timeouts(start=10))
    talk.start()
    assert talk.conversation.next_deadline() == 10
    assert talk.tick(9.9) == []
    actions = talk.tick(10)
    assert only(StateChanged, actions).state is State.START_TIMEOUT
    assert only(Completed, actions).outcome.how == "timeout"
    assert not every(Send, actions)


def test_initialize_cannot_be_cancelled() -> None:
    talk = Talk()
    talk.start()
    assert talk.conversation.cancel(1, "no patience", 0) == []
    assert talk.conversation.state is State.INITIALIZING


def test_a_ping_before_the_handshake_is_over_is_answered_without_remark() -> None:
    talk = Talk()
    talk.start()
    actions = talk.ask("p", "ping")
    assert sent(actions) == [{"jsonrpc": "2.0", "id": "p", "result": {}}]


def test_another_request_before_the_handshake_is_over_is_answered() -> None:
    talk = Talk()
    talk.start()
    actions = talk.ask(1, "roots/list")
    assert len(sent(actions)) == 1


def test_stray_lines_before_the_answer_do_not_end_the_handshake() -> None:
    talk = Talk()
    talk.start()
    for line in (b"Server v1 up on stdin", b"", b"{half", b"[]", b"42", b'{"level":"info","msg":"x"}'):
        assert talk.hear(line) == []
    talk.reply(1, {"protocolVersion": "2025-11-25", "capabilities": {}})
    assert talk.conversation.state is State.READY


def test_a_peer_that_ends_during_the_handshake_has_exited() -> None:
    talk = Talk()
    talk.start()
    actions = talk.conversation.lost("The server exited with code 3.", 2.0, "Read its stderr.")
    assert actions[0] == StateChanged(State.EXITED, "The server exited with code 3.", "Read its stderr.")
    assert only(Completed, actions).outcome.how == "lost"


def test_a_second_answer_to_initialize_changes_nothing() -> None:
    talk = Talk()
    talk.ready()
    actions = talk.reply(1, {"protocolVersion": "2024-11-05", "capabilities": {}})
    assert actions == []
    assert talk.conversation.revision == "2025-11-25"


def test_the_failed_state_stays_when_the_peer_then_ends() -> None:
    talk = Talk()
    talk.ready(version="1999-01-01")
    assert talk.conversation.closing() == []
    assert talk.conversation.lost("It exited.") == []
    assert talk.conversation.state is State.VERSION_MISMATCH
