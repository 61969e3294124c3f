"""How recorded servers and recordings end is part of what is replayed."""

from __future__ import annotations

from tests.replay.build import Live, Tape, call, note, request, result, text
from workbench.replay.selfcheck import selfcheck
from workbench.replay.server import MISS


def test_trap_9_a_server_killed_by_a_signal_gives_the_shell_s_status() -> None:
    live = Live(Tape().hello().c(call(2, "boom")).event(event="exited", signal="SEGV"))
    live.say(call(5, "boom"))
    assert live.exit == 139


def test_trap_9_a_server_that_ended_with_two_calls_open_ends_when_both_are_asked() -> None:
    tape = Tape().hello().c(call(2, "a")).c(call(3, "b")).err(b"out of memory").event(event="exited", code=1)
    live = Live(tape)
    assert live.say(call(12, "a")) == []
    assert not live.server.over
    live.say(call(13, "b"))
    assert live.stderr == [b"out of memory"]
    assert live.exit == 1


def test_trap_9_it_ends_too_when_a_client_waits_for_the_first_of_two_calls() -> None:
    live = Live(Tape().hello().c(call(2, "a")).c(call(3, "b")).event(event="exited", code=1))
    live.say(call(12, "a"))
    assert live.server.stuck
    live.release()
    assert live.exit == 1


def test_a_server_that_closed_its_stdout_closes_it_again_and_then_ends() -> None:
    tape = Tape().hello().c(call(2, "t")).event(event="stdout_closed").event(event="exited", code=0)
    live = Live(tape)
    live.say(call(5, "t"))
    assert live.closed_stdout
    assert live.exit == 0


def test_a_client_that_hangs_up_because_its_server_did_is_not_what_ended_it() -> None:
    tape = Tape().hello().c(call(2, "t")).event(event="stdout_closed").event(event="stdin_closed")
    live = Live(tape.event(event="exited", code=3))
    live.say(call(5, "t"))
    assert live.exit == 3


def test_a_server_that_ended_while_nothing_was_asked_ends_after_the_same_message() -> None:
    live = Live(Tape().hello().event(event="exited", code=4))
    assert live.exit is None
    live.hello()
    assert live.exit == 4


def test_a_server_that_never_started_to_talk_ends_at_once() -> None:
    assert Live(Tape().err(b"no such module").event(event="exited", code=1)).exit == 1


def test_what_the_recorder_s_own_shutdown_did_is_not_the_server_s_doing() -> None:
    tape = Tape().hello().event(event="stdin_closed").event(event="signal", name="TERM")
    live = Live(tape.event(event="stdout_closed").event(event="exited", signal="TERM"))
    live.hello()
    assert live.exit is None
    live.server.closed()
    assert live.server.status() == 0


def test_a_recording_that_stops_before_an_answer_says_so_instead_of_hanging() -> None:
    tape = Tape().hello().c(call(2, "slow"))
    live = Live(tape)
    [answer] = live.say(call(5, "slow"))
    assert answer["id"] == 5
    assert answer["error"]["code"] == MISS
    assert answer["error"]["data"]["why"] == "never answered"
    assert "stops before tools/call slow (#4)" in answer["error"]["message"]
    assert not live.server.agrees()
    assert selfcheck(tape.frames).whole


def test_a_call_that_the_recorded_client_left_unanswered_stays_unanswered() -> None:
    live = Live(Tape().hello().c(call(2, "slow")).event(event="stdin_closed").event(event="exited", code=0))
    assert live.say(call(5, "slow")) == []
    live.server.closed()
    assert live.server.status() == 0
    assert live.server.agrees()


def test_a_call_that_timed_out_stays_unanswered_and_its_late_answer_is_late_again() -> None:
    tape = Tape().hello().c(call(2, "slow")).event(event="timeout", id="2", seconds=60.0)
    tape.c(note("notifications/cancelled", requestId=2)).s(text(2, "late")).event(event="stdin_closed")
    live = Live(tape)
    assert live.say(call(5, "slow")) == []
    assert live.say(note("notifications/cancelled", requestId=5)) == [text(5, "late")]


def test_a_ping_answers_even_where_the_recorded_one_was_not() -> None:
    live = Live(Tape().hello().c(request(2, "ping")).event(event="stdin_closed"))
    assert live.say(request(5, "ping")) == [{"jsonrpc": "2.0", "id": 5, "result": {}}]


def test_after_a_server_has_ended_nothing_is_answered_any_more() -> None:
    live = Live(Tape().hello().c(call(2, "boom")).event(event="exited", code=3))
    live.say([call(5, "boom"), request(6, "ping")])
    assert live.say(request(7, "ping")) == []


def test_a_handshake_is_refused_as_a_stateless_server_refuses_it() -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    tape = Tape().c(request(1, "tools/list", _meta=meta)).s(result(1, tools=[], resultType="complete"))
    live = Live(tape)
    [answer] = live.hello()
    assert answer["error"]["code"] == -32022
    assert answer["error"]["data"] == {"supported": ["2026-07-28"]}
    assert live.server.agrees()


def test_what_was_not_sent_is_noted() -> None:
    tape = Tape().hello().c(call(2, "ask")).s(request("q", "roots/list")).c(result("q", roots=[]))
    live = Live(tape.s(text(2, "x")))
    live.say(call(5, "ask"))
    live.server.closed()
    assert any("was not answered: the client left first" in said for said in live.report.notes)
