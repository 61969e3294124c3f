"""The lifecycle, told step by step: from the start of a process to its end."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.frames import TICK_NS, Tape
from workbench.core.fold import ConnectionFold, ConnectionView
from workbench.core.lifecycle import FAILED, State
from workbench.core.story import BURST_NS, KEPT_HEAD, KEPT_TAIL


def view_of(tape: Tape) -> ConnectionView:
    fold = ConnectionFold(1)
    for frame in tape.frames:
        fold.advance(frame)
    return fold.snapshot()


def told(tape: Tape) -> list[str]:
    return [f"{step.label} {step.detail}".strip() for step in view_of(tape).steps]


def second(tape: Tape, seconds: float) -> None:
    tape.now_ns += int(seconds * 1e9) - TICK_NS


@pytest.fixture
def tape() -> Tape:
    """A server that was started and is ready."""
    tape = Tape()
    tape.process("started", pid=4121, command=["node", "server.js", "stdio"], cwd="/srv")
    tape.handshake({"tools": {}}, client={"roots": {}})
    return tape


def test_the_start_and_the_handshake_are_told(tape: Tape) -> None:
    view = view_of(tape)
    assert told(tape) == [
        "process started, pid 4121, node server.js stdio",
        "initialize #2",
        "result #3",
        "initialized #4",
    ]
    assert view.steps[2].duration_ns == TICK_NS
    assert (view.pid, view.command, view.cwd) == (4121, ("node", "server.js", "stdio"), "/srv")
    assert [(each.name, each.state) for each in view.streams] == [
        ("stdin", "open"),
        ("stdout", "open"),
        ("stderr", "open"),
    ]


@pytest.mark.parametrize(
    ("frames", "state"), [(1, State.STARTING), (2, State.INITIALIZING), (4, State.READY)]
)
def test_the_state_follows_the_frames(tape: Tape, frames: int, state: State) -> None:
    del tape.frames[frames:]
    assert view_of(tape).state is state


def test_a_burst_of_list_changes_is_one_step(tape: Tape) -> None:
    for _ in range(8):
        tape.tell("notifications/tools/list_changed")
    assert told(tape)[4:] == ["list changed tools, 8 times"]


def test_changes_of_several_lists_are_a_step_each_though_they_mix(tape: Tape) -> None:
    for _ in range(3):
        tape.tell("notifications/tools/list_changed")
        tape.tell("notifications/prompts/list_changed")
    assert told(tape)[4:] == ["list changed tools, 3 times", "list changed prompts, 3 times"]


def test_a_change_after_other_steps_and_some_time_is_a_step_of_its_own(tape: Tape) -> None:
    tape.tell("notifications/tools/list_changed")
    tape.ask(1, "roots/list", peer=True)
    tape.now_ns += BURST_NS + 1
    tape.tell("notifications/tools/list_changed")
    assert told(tape)[4:] == ["list changed tools", "roots/list #6", "list changed tools"]


def test_a_request_of_the_server_is_told_with_its_answer_and_who_gave_it(tape: Tape) -> None:
    tape.ask(1, "roots/list", peer=True)
    tape.note("answered", id="1", by='rule "home"')
    tape.reply(1, {"roots": []}, peer=True)
    assert told(tape)[4:] == ['roots/list #5, answered by rule "home", #7']
    assert view_of(tape).steps[4].duration_ns == 2 * TICK_NS


def test_who_answered_may_be_noted_after_the_answer(tape: Tape) -> None:
    tape.ask(1, "sampling/createMessage", peer=True)
    tape.fail(1, -1, "No", peer=True)
    tape.note("answered", id="1", by="policy declined")
    assert told(tape)[4:] == ["sampling/createMessage #5, refused by policy declined, #6"]


def test_the_user_is_not_named(tape: Tape) -> None:
    tape.ask(1, "elicitation/create", peer=True)
    tape.reply(1, {"action": "accept"}, peer=True)
    tape.note("answered", id="1", by="user")
    assert told(tape)[4:] == ["elicitation/create #5, answered, #6"]


def test_a_request_that_the_server_takes_back_is_told(tape: Tape) -> None:
    tape.ask(1, "sampling/createMessage", peer=True)
    tape.tell("notifications/cancelled", {"requestId": 1})
    assert told(tape)[4:] == ["sampling/createMessage #5, cancelled by the server"]


def test_an_orderly_end_is_told_as_the_start_is(tape: Tape) -> None:
    tape.process("stdin_closed")
    tape.process("waiting", **{"for": "exit", "seconds": 2.0})
    second(tape, 0.1)
    tape.process("stdout_closed")
    tape.process("exited", code=0)
    view = view_of(tape)
    assert told(tape)[4:] == [
        "stdin closed",
        "waited for exit",
        "stdout closed",
        "process exited with code 0",
    ]
    assert view.steps[5].duration_ns == 100_000_000 + TICK_NS
    assert (view.state, view.why, view.exit_code, view.signal, view.pid) == (State.CLOSED, "", 0, None, None)
    assert {each.state for each in view.streams} == {"closed"}


def test_a_server_that_ignores_the_end_is_a_shutdown_timeout(tape: Tape) -> None:
    tape.process("stdin_closed")
    for name in ("TERM", "KILL"):
        tape.process("waiting", **{"for": "exit", "seconds": 2.0})
        second(tape, 2.0)
        tape.process("signal", name=name)
    tape.process("exited", signal="KILL")
    view = view_of(tape)
    assert [step.label for step in view.steps[4:]] == [
        "stdin closed",
        "waited",
        "TERM",
        "waited",
        "KILL",
        "process",
    ]
    assert [step.duration_ns for step in view.steps if step.label == "waited"] == [2_000_000_000] * 2
    assert (view.state, view.signal) == (State.SHUTDOWN_TIMEOUT, "KILL")
    assert "ended with KILL" in view.why
    assert view.next_step


def test_an_exit_nobody_asked_for_is_told_with_the_last_words_on_stderr(tape: Tape) -> None:
    for line in (b"starting", b"Traceback", b"", b"KeyError: 'TOKEN'"):
        tape.stderr(line)
    tape.process("exited", code=3)
    view = view_of(tape)
    assert (view.state, view.exit_code) == (State.EXITED, 3)
    assert (
        view.why
        == "The server exited with code 3. Its last words on stderr: starting / Traceback / KeyError: 'TOKEN'"
    )
    assert view.next_step


def test_a_command_that_cannot_be_started_is_told() -> None:
    tape = Tape()
    tape.process("start_failed", why="no-such-bin was not found on PATH.", command=["no-such-bin"])
    view = view_of(tape)
    assert (view.state, view.why) == (State.NOT_STARTED, "no-such-bin was not found on PATH.")
    assert view.next_step


@pytest.mark.parametrize("state", sorted(FAILED))
def test_a_failure_told_by_the_wire_is_the_state_with_its_reason(state: State) -> None:
    tape = Tape()
    tape.process("failed", state=state.value, why="It failed.", next="Try again.")
    view = view_of(tape)
    assert (view.state, view.why, view.next_step) == (state, "It failed.", "Try again.")
    assert told(tape) == ["failed It failed."]


def test_a_failure_stays_when_the_process_is_then_ended() -> None:
    tape = Tape()
    tape.process("started", pid=1, command=["x"])
    tape.process("failed", state="version_mismatch", why="It speaks another.", next="Offer it.")
    tape.process("stdin_closed")
    tape.process("exited", code=0)
    view = view_of(tape)
    assert (view.state, view.why, view.exit_code) == (State.VERSION_MISMATCH, "It speaks another.", 0)


@pytest.mark.parametrize("state", ["ready", "nonsense", None, 7, []])
def test_a_failure_with_a_state_that_is_none_changes_nothing(tape: Tape, state: Any) -> None:
    tape.process("failed", state=state, why="x")
    assert view_of(tape).state is State.READY


def test_a_server_that_was_started_again_goes_through_its_states_anew(tape: Tape) -> None:
    tape.process("exited", code=3)
    tape.process("started", pid=5000, command=["node"])
    view = view_of(tape)
    assert (view.state, view.why, view.pid, view.exit_code) == (State.STARTING, "", 5000, None)


def test_undelivered_bytes_timeouts_and_gaps_are_steps(tape: Tape) -> None:
    tape.process("undelivered", bytes=12, why="broken pipe")
    tape.ask(1, "tools/call")
    tape.process("timeout", id="1", seconds=60.0)
    tape.note("gap", frames=17)
    assert told(tape)[4:] == [
        "not delivered 12 bytes: broken pipe",
        "timed out request 1, 60 s",
        "gap 17 frames were not recorded",
    ]


def test_the_first_and_the_last_steps_are_kept(tape: Tape) -> None:
    for identity in range(KEPT_HEAD + KEPT_TAIL + 50):
        tape.ask(identity, "roots/list", peer=True)
        tape.reply(identity, {"roots": []}, peer=True)
    steps = view_of(tape).steps
    assert len(steps) == KEPT_HEAD + KEPT_TAIL
    assert steps[0].label == "process"
    assert steps[-1].seq == tape.frames[-2].seq
    assert steps[-1].detail.startswith(f"#{tape.frames[-2].seq}, answered")
