"""What comes over HTTP belongs to the request whose stream it comes on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.http_tape import HttpTape, call, head, note, result
from workbench.core.exchanges import Answered, Event, GaveUp, Opened, Orphaned, Pairing, Told
from workbench.core.fold import ConnectionFold
from workbench.core.frame import Kind, Stream
from workbench.replay.script import build


def events(tape: HttpTape, *heads: Stream) -> list[Event]:
    pairing = Pairing()
    for each in heads:
        pairing.head(each)
    return [event for frame in tape.frames for event in pairing.take(frame)]


@pytest.fixture
def tape() -> HttpTape:
    return HttpTape()


def owners(found: list[Event]) -> list[tuple[str | None, str]]:
    return [
        (event.owner.id if event.owner else None, event.how)
        for event in found
        if isinstance(event, Told) or (isinstance(event, Opened) and event.exchange.direction == 2)
    ]


def test_with_several_calls_open_each_stream_tells_its_own(tape: HttpTape) -> None:
    tape.post(1, call(1))
    tape.post(2, call(2))
    tape.event(2, note())
    tape.event(1, call(7, "elicitation/create"))
    tape.event(2, result(2))
    tape.event(1, result(1))
    found = events(tape)
    assert owners(found) == [("2", "stream"), ("1", "stream")]
    answered = [event.exchange for event in found if isinstance(event, Answered)]
    assert [(each.id, each.related) for each in answered] == [("2", [3]), ("1", [4])]


def test_also_what_comes_on_the_stream_of_a_listing_or_a_ping_is_its(tape: HttpTape) -> None:
    tape.post(1, call(1, "tools/list"))
    tape.event(1, note())
    assert owners(events(tape)) == [("1", "stream")]


def test_what_comes_on_the_stream_of_no_request_belongs_to_none(tape: HttpTape) -> None:
    tape.post(1, call(1))
    tape.event(9, note())
    tape.event(1, result(1))
    tape.event(1, note())
    assert owners(events(tape)) == [(None, "none"), (None, "none")]


def test_a_broken_stream_that_is_asked_for_again_is_the_same_stream(tape: HttpTape) -> None:
    tape.post(1, call(1))
    tape.event(1, b"", id="a")
    tape.process("reconnect", stream=1, seconds=1, why="broken", attempt=1, resumes=True, next=3)
    tape.event(3, note(), id="b")
    tape.process("reconnect", stream=3, seconds=1, why="broken", attempt=1, resumes=True, next=4)
    tape.event(4, note(), id="c")
    tape.event(4, result(1))
    found = events(tape)
    assert owners(found) == [("1", "stream"), ("1", "stream")]
    assert isinstance(found[-1], Answered)


def test_a_get_that_names_the_last_event_goes_on_with_its_stream(tape: HttpTape) -> None:
    tape.post(1, call(1))
    tape.post(2, call(2))
    tape.event(1, note(), id="1-1")
    tape.event(2, note(), id="2-1")
    tape.event(5, note())
    tape.event(6, note())
    resumed = head(5, "GET", request_headers=(("last-event-id", "2-1"),))
    unknown = head(6, "GET", request_headers=(("Last-Event-ID", "9-9"),))
    found = owners(events(tape, resumed, unknown))
    assert found == [("1", "stream"), ("2", "stream"), ("2", "stream"), (None, "none")]


def test_what_is_redirected_goes_on_where_it_was_sent(tape: HttpTape) -> None:
    tape.post(1, call(1))
    tape.process(
        "redirect", **{"from": "http://a/", "to": "http://b/", "status": 307, "stream": 1, "next": 2}
    )
    tape.event(2, note())
    assert owners(events(tape)) == [("1", "stream")]


@pytest.mark.parametrize("identity", [{}, {"id": None}])
def test_an_error_without_id_answers_the_request_of_its_stream(
    tape: HttpTape, identity: dict[str, None]
) -> None:
    tape.post(1, call(1))
    tape.post(2, call(2))
    tape.body(2, {"jsonrpc": "2.0", **identity, "error": {"code": -32600, "message": "no"}})
    answered = events(tape)[-1]
    assert isinstance(answered, Answered)
    assert (answered.exchange.id, answered.exchange.kind) == ("2", Kind.ERROR)


def test_an_error_without_id_on_another_stream_or_for_several_requests_answers_none(tape: HttpTape) -> None:
    tape.post(1, call(1))
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no"}}
    tape.body(9, error)
    tape.post(2, [call(2), call(3)])
    tape.body(2, error)
    assert [type(event) for event in events(tape)][1:] == [Orphaned, Opened, Opened, Orphaned]


def test_a_batch_leaves_it_open_to_which_of_its_requests_something_belongs(tape: HttpTape) -> None:
    tape.post(1, [call(1), call(2)])
    tape.event(1, note())
    tape.event(1, result(1))
    tape.event(1, note())
    assert owners(events(tape)) == [(None, "ambiguous"), ("2", "stream")]


def test_the_one_stream_of_the_older_transport_belongs_to_the_only_open_call(tape: HttpTape) -> None:
    tape.event(1, b"/messages?session_id=1", name="endpoint")
    tape.post(2, call(1))
    tape.event(1, note(), name="message")
    tape.post(3, call(2))
    tape.event(1, note(), name="message")
    assert owners(events(tape)) == [("1", "only"), (None, "ambiguous")]


def test_comments_priming_events_and_empty_answers_are_no_messages(tape: HttpTape) -> None:
    tape.post(1, call(1))
    tape.event(1, b"", id="0", retry=500)
    tape.event(1, b'{"jsonrpc":"2.0","id":1,"result":{}}', comment=True)
    tape.body(1, b"")
    assert [type(event) for event in events(tape)] == [Opened]


def test_a_request_that_can_get_no_answer_any_more_is_given_up(tape: HttpTape) -> None:
    tape.post(1, call(1))
    tape.process("unanswered", id="1", why="The server answered with status 500.")
    found = events(tape)[-1]
    assert isinstance(found, GaveUp)
    assert found.exchange.given_up == 2


def test_answered_streams_are_forgotten() -> None:
    tape, pairing = HttpTape(), Pairing()
    for number in range(1, 2_000, 2):
        tape.post(number, call(number))
        tape.process("reconnect", stream=number, next=number + 1)
        tape.event(number + 1, result(number), id="x")
    for frame in tape.frames:
        pairing.take(frame)
    assert not pairing._carried._carriers
    assert not pairing.open


process_events = st.fixed_dictionaries(
    {
        "event": st.sampled_from(
            ["stream", "reconnect", "redirect", "session", "unanswered", "fallback", "restart", "closed"]
        ),
        "stream": st.integers(0, 4) | st.none() | st.text(max_size=2),
        "next": st.integers(0, 4) | st.just([1]),
        "id": st.sampled_from(["1", "2", 1, None]),
        "state": st.sampled_from(["open", "lost", "closed", "refused", "granted", 7]),
        "verb": st.sampled_from(["GET", "POST", 3]),
    }
)
bodies = st.sampled_from(
    [
        call(1),
        call(2, "ping"),
        result(1),
        result(2),
        note(),
        [call(1), call(2)],
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}},
        b"",
        b"junk",
    ]
)
moves = st.tuples(st.sampled_from(["post", "body", "event"]), st.integers(0, 4), bodies)


@given(st.lists(moves | process_events, max_size=30))
def test_whatever_comes_nothing_raises_and_the_fold_agrees_with_itself(done: list[Any]) -> None:
    tape = HttpTape()
    for move in done:
        if isinstance(move, dict):
            tape.process(**move)
        else:
            kind, stream, body = move
            getattr(tape, kind)(stream, body)
    pairing, fold = Pairing(), ConnectionFold(1)
    for number in range(5):
        pairing.head(head(number, "GET", request_headers=(("Last-Event-ID", "x"),)))
        fold.stream(head(number))
    for frame in tape.frames:
        pairing.candidates(frame)
        pairing.take(frame)
        fold.advance(frame)
    assert len(fold.snapshot().open_calls) <= len(done) * 2
    assert build(tape.frames).requests is not None
