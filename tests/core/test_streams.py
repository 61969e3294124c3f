"""Streams that stay open, sessions and eras: told by frames, so a recording tells the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.http_tape import HttpTape, call, head, note, result
from workbench.core.fold import ConnectionFold, ConnectionView
from workbench.core.frame import Stream
from workbench.core.http_story import stream_words
from workbench.core.lifecycle import State
from workbench.core.stream_states import STREAMS, StreamEvent, StreamState, advance, diagram
from workbench.core.streams import MAX_STREAMS

DOCUMENT = (Path(__file__).parents[2] / "docs" / "lifecycle.md").read_text(encoding="utf-8")


def view(tape: HttpTape, *heads: Stream) -> ConnectionView:
    fold = ConnectionFold(1, "everything", "http", "http://127.0.0.1:8000/mcp")
    for each in heads:
        fold.stream(each)
    for frame in tape.frames:
        fold.advance(frame)
    return fold.snapshot()


def words(tape: HttpTape, *heads: Stream) -> list[str]:
    return [stream_words(stream) for stream in view(tape, *heads).streams]


def steps(tape: HttpTape) -> list[str]:
    return [f"{step.label}: {step.detail}" for step in view(tape).steps]


@pytest.fixture
def tape() -> HttpTape:
    return HttpTape()


def test_the_document_holds_the_diagram_drawn_from_the_table() -> None:
    assert f"```mermaid\n{diagram()}\n```" in DOCUMENT
    assert all(f"| `{state}` | " in DOCUMENT for state in StreamState)


def test_every_state_can_be_reached_and_what_means_nothing_changes_nothing() -> None:
    assert {*STREAMS.values(), StreamState.CONNECTING} == set(StreamState)
    assert advance(StreamState.CLOSED, StreamEvent.LOST) is StreamState.CLOSED


def test_a_stream_that_breaks_is_waited_for_and_opened_again_as_the_same_one(tape: HttpTape) -> None:
    tape.process("stream", stream=2, verb="GET", state="open", status=200)
    assert words(tape) == ["listening open"]
    tape.event(2, note(), id="e-7", retry=3000)
    tape.process("stream", stream=2, verb="GET", state="lost", why="The server closed the stream.")
    tape.process("reconnect", stream=2, seconds=3.0, why="It broke.", attempt=2, resumes=True, next=4)
    [waiting] = view(tape).streams
    assert stream_words(waiting) == "listening waiting 3 s, attempt 2"
    assert (waiting.number, waiting.event_id, waiting.retry_ms, waiting.why) == (4, "e-7", 3000, "It broke.")
    tape.process("stream", stream=4, verb="GET", state="open", status=200)
    [again] = view(tape).streams
    assert (again.state, again.number, again.event_id, view(tape).reconnects) == ("open", 4, "e-7", 1)
    assert "reconnect: listening in 3 s, attempt 2, after event e-7: It broke." in steps(tape)


def test_a_server_that_offers_no_stream_is_told_with_its_status(tape: HttpTape) -> None:
    tape.process("stream", stream=2, verb="GET", state="refused", status=405, why="It says 405.")
    assert words(tape) == ["listening refused, 405"]
    assert steps(tape) == ["stream: listening refused, 405: It says 405."]


def test_the_answer_of_a_broken_call_is_shown_until_it_has_come(tape: HttpTape) -> None:
    tape.post(1, call(1))
    tape.process("reconnect", stream=1, seconds=0.5, why="It broke.", attempt=1, resumes=True, next=2)
    assert words(tape) == ["resumed call waiting 0.5 s"]
    tape.event(2, note())
    assert words(tape) == ["resumed call open"]
    tape.process("reconnect", stream=2, seconds=0.5, why="It broke.", attempt=1, resumes=True, next=3)
    tape.event(3, result(1))
    assert words(tape) == []
    assert view(tape).reconnects == 2


def test_a_request_that_is_sent_again_over_a_new_connection_is_no_reconnect(tape: HttpTape) -> None:
    tape.post(1, call(1))
    tape.process("reconnect", stream=1, seconds=0, why="It was closed.", attempt=1, resumes=False, next=2)
    assert (words(tape), view(tape).reconnects, steps(tape)) == ([], 0, [])
    tape.process("reconnect", stream=2, seconds=1, why="It broke.", attempt=1, resumes=True, next=3)
    tape.event(3, result(1))
    assert (words(tape), view(tape).reconnects) == ([], 1)


def test_a_stream_that_never_came_about_is_waited_for_under_its_name(tape: HttpTape) -> None:
    tape.process("reconnect", stream=2, seconds=1, why="Refused.", attempt=1, resumes=False, next=3)
    assert words(tape) == ["listening waiting 1 s"]


def test_a_broken_call_that_is_given_up_is_shown_no_more(tape: HttpTape) -> None:
    tape.post(1, call(1))
    tape.process("redirect", **{"from": "a", "to": "b", "status": 307, "stream": 1, "next": 2})
    tape.process("reconnect", stream=2, seconds=0.5, why="It broke.", attempt=1, resumes=True, next=3)
    tape.process("unanswered", id="1", why="It cannot be had.")
    assert words(tape) == []
    assert view(tape).open_calls == ()
    assert steps(tape)[-1] == "no answer: request 1: It cannot be had."


def test_posts_whose_answers_are_awaited_are_counted(tape: HttpTape) -> None:
    fold = ConnectionFold(1)
    for number in (1, 2):
        fold.stream(head(number))
    assert [stream_words(stream) for stream in fold.snapshot().streams] == ["2 POST open"]
    before = fold.snapshot().version
    fold.stream(head(1, status=200))
    fold.stream(head(1, status=200, closed_ns=5, closed_how="end"))
    assert [stream_words(stream) for stream in fold.snapshot().streams] == ["1 POST open"]
    assert fold.snapshot().version > before


def test_a_stream_is_asked_for_when_its_head_says_so_and_not_counted_as_a_call(tape: HttpTape) -> None:
    fold = ConnectionFold(1)
    tape.process("stream", stream=1, verb="POST", state="open", status=200)
    tape.process("reconnect", stream=1, seconds=1.0, why="x", attempt=1, resumes=False, next=2)
    fold.stream(head(1))
    for frame in tape.frames:
        fold.advance(frame)
    fold.stream(head(2))
    assert [stream_words(stream) for stream in fold.snapshot().streams] == ["subscription connecting"]


def test_a_recording_that_has_its_heads_from_the_start_shows_the_same(tape: HttpTape) -> None:
    tape.process("stream", stream=2, verb="GET", state="open", status=200)
    done = head(2, "GET", status=200, closed_ns=9, closed_how="closed")
    assert words(tape, done) == words(tape) == ["listening open"]


def test_the_stream_of_the_older_transport_has_a_name_of_its_own(tape: HttpTape) -> None:
    tape.event(1, b"/messages?x=1", name="endpoint")
    tape.process("stream", stream=1, verb="GET", state="open", status=200)
    assert words(tape) == ["events open"]


def test_nothing_is_open_when_the_connection_is_over(tape: HttpTape) -> None:
    tape.process("stream", stream=2, verb="GET", state="open", status=200)
    tape.process("closed")
    assert view(tape, head(1)).state is State.CLOSED
    assert words(tape, head(1)) == ["listening closed"]


def test_no_number_of_streams_takes_more_than_its_place(tape: HttpTape) -> None:
    for number in range(1, 200):
        tape.process("stream", stream=number, verb="GET", state="open", status=200)
        tape.process("stream", stream=number, verb="GET", state="lost", why="x" * 5_000)
    told = view(tape).streams
    assert len(told) == MAX_STREAMS
    assert max(len(each.why) for each in told) < 1_000


@pytest.mark.parametrize(
    "event",
    [
        {"stream": "x", "state": "open"},
        {"stream": 1, "state": ["open"]},
        {"stream": 1, "state": "open", "verb": {"a": 1}, "status": "200", "why": 7},
        {},
    ],
)
def test_odd_events_harm_nothing(tape: HttpTape, event: dict[str, object]) -> None:
    for name in ("stream", "reconnect", "session", "redirect", "era", "unreachable", "restart", "unanswered"):
        tape.process(name, **event)
    assert view(tape).frames == 8


def test_a_session_is_told_without_giving_it_away(tape: HttpTape) -> None:
    tape.process("session", state="granted", id="1868a90c-8f2b-4e13")
    tape.process("session", state="other", id="2222", ours="1868a90c-8f2b-4e13")
    tape.process("session", state="kept", id="1868a90c-8f2b-4e13", why="It answered with status 405.")
    told = view(tape)
    assert (told.session_id, told.session) == ("1868a90c-8f2b-4e13", "kept")
    assert steps(tape) == [
        "session: granted, id ending in 4e13",
        "session: another id named, id hidden, and not taken over",
        "session: kept, id ending in 4e13: It answered with status 405.",
    ]


def test_a_server_that_is_not_reached_is_told_with_the_step_that_failed(tape: HttpTape) -> None:
    tape.process("unreachable", step="tcp", why="127.0.0.1:9 refused the connection.")
    tape.process("failed", state="unreachable", why="127.0.0.1:9 refused the connection.", next="Start it.")
    told = view(tape)
    assert (told.state, told.why, told.next_step) == (
        State.UNREACHABLE,
        "127.0.0.1:9 refused the connection.",
        "Start it.",
    )
    assert steps(tape) == ["not reached: no connection: 127.0.0.1:9 refused the connection."]


def test_redirects_fallbacks_and_eras_are_steps(tape: HttpTape) -> None:
    tape.process("redirect", **{"from": "http://h/a", "to": "http://h/b", "status": 308})
    tape.process("fallback", to="sse", why="POST was answered with 405.")
    tape.process("era", era="legacy", found="the server does not know server/discover")
    assert steps(tape) == [
        "redirect: 308 to http://h/b",
        "fallback: to HTTP+SSE of 2024-11-05: POST was answered with 405.",
        "era: legacy, the server does not know server/discover",
    ]
    assert (view(tape).era, view(tape).era_found) == ("legacy", "the server does not know server/discover")


def test_a_restart_forgets_the_process_and_keeps_its_history(tape: HttpTape) -> None:
    tape.process("started", pid=7, command=["server"], cwd="/")
    tape.ask(1, "server/discover")
    tape.process("restart", why="The server speaks the handshake era.")
    told = view(tape)
    assert (told.state, told.pid, told.command, told.open_calls) == (State.STARTING, None, (), ())
    tape.process("stdin_closed")
    tape.process("exited", code=1)
    tape.process("started", pid=8, command=["server"], cwd="/")
    told = view(tape)
    assert (told.state, told.pid, told.exit_code) == (State.STARTING, 8, None)
    assert [step.label for step in told.steps][:3] == ["process", "server/discover", "restart"]


META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"sampling": {}},
}


def test_a_stateless_connection_is_ready_when_its_era_is_found(tape: HttpTape) -> None:
    tape.post(1, call(1, "server/discover", _meta=META))
    assert view(tape).state is State.PROBING
    tape.body(
        1,
        result(
            1,
            supportedVersions=["2026-07-28"],
            capabilities={"tools": {}},
            instructions="hello",
            _meta={"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "2"}},
        ),
    )
    tape.process("era", era="modern", found="the server answered server/discover")
    told = view(tape)
    assert (told.state, told.era, told.offered, told.revision) == (
        State.READY,
        "modern",
        "2026-07-28",
        "2026-07-28",
    )
    assert told.server_info == {"name": "s", "version": "2"}
    assert (told.client_info["name"], told.instructions, told.agreed) == (
        "bench",
        "hello",
        ("tools", "sampling"),
    )


def test_a_stateless_client_that_asks_at_once_is_ready_too(tape: HttpTape) -> None:
    tape.post(1, call(1, "tools/list", _meta=META))
    told = view(tape)
    assert (told.state, told.era, told.revision) == (State.READY, "modern", "2026-07-28")
