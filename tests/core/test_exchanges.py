"""Who answers whom: per connection, per direction and per id, whatever comes."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.frames import TICK_NS, Tape
from workbench.core.exchanges import (
    MAX_GIVEN_UP,
    MAX_OPEN,
    RELATED_TASK,
    Answered,
    Event,
    Exchange,
    GaveUp,
    Opened,
    Orphaned,
    Pairing,
    Told,
    exchanges,
)
from workbench.core.frame import Direction, Kind
from workbench.core.jsonrpc import INLINE_BYTES


def events(tape: Tape) -> list[Event]:
    pairing = Pairing()
    return [event for frame in tape.frames for event in pairing.take(frame)]


def last(tape: Tape) -> Event:
    return events(tape)[-1]


@pytest.fixture
def tape() -> Tape:
    return Tape()


def test_an_answer_is_paired_with_its_request(tape: Tape) -> None:
    tape.ask(1, "tools/call", {"name": "x"})
    tape.reply(1, {})
    (exchange,) = exchanges(tape.frames)
    assert (exchange.request, exchange.answer, exchange.kind) == (1, 2, Kind.RESULT)
    assert (exchange.method, exchange.name, exchange.id) == ("tools/call", "x", "1")
    assert exchange.duration_ns == TICK_NS


def test_a_request_without_an_answer_stays_open(tape: Tape) -> None:
    tape.ask(1, "tools/call")
    (exchange,) = exchanges(tape.frames)
    assert exchange.answer is None
    assert exchange.duration_ns is None


def test_both_sides_may_use_the_same_id_at_once(tape: Tape) -> None:
    tape.ask(8, "tools/call")
    tape.ask(8, "sampling/createMessage", peer=True)
    tape.reply(8, {"role": "user"}, peer=True)
    tape.reply(8, {"content": []})
    found = exchanges(tape.frames)
    assert [(exchange.request, exchange.answer) for exchange in found] == [(1, 4), (2, 3)]
    assert [exchange.direction for exchange in found] == [Direction.TO_SERVER, Direction.TO_CLIENT]


def test_connections_do_not_answer_each_others_requests() -> None:
    one, other = Tape(1), Tape(2)
    one.ask(1, "ping")
    other.reply(1, {})
    pairing = Pairing()
    found = [event for frame in chain(one.frames, other.frames) for event in pairing.take(frame)]
    assert [type(event) for event in found] == [Opened, Orphaned]


@pytest.mark.parametrize("identity", ["1", 1.0, None, True])
def test_ids_of_another_type_or_spelling_do_not_pair(tape: Tape, identity: Any) -> None:
    tape.ask(1, "ping")
    tape.reply(identity, {})
    event = last(tape)
    assert isinstance(event, Orphaned)
    assert event.why == "unknown-id"


def test_a_second_answer_is_told_from_an_unknown_one(tape: Tape) -> None:
    tape.ask(1, "ping")
    tape.reply(1, {})
    tape.reply(1, {})
    event = last(tape)
    assert isinstance(event, Orphaned)
    assert event.why == "duplicate-answer"


def test_an_answer_without_an_id_is_an_orphan(tape: Tape) -> None:
    tape.to_client({"jsonrpc": "2.0", "error": {"code": -32700, "message": "x"}})
    event = last(tape)
    assert isinstance(event, Orphaned)
    assert event.why == "no-id"


def test_an_id_used_again_after_its_answer_is_another_exchange(tape: Tape) -> None:
    for _ in range(2):
        tape.ask(1, "ping")
        tape.reply(1, {})
    assert [(exchange.request, exchange.answer) for exchange in exchanges(tape.frames)] == [(1, 2), (3, 4)]


def test_requests_with_one_id_are_answered_in_their_order(tape: Tape) -> None:
    tape.ask(1, "ping")
    tape.ask(1, "tools/list")
    tape.reply(1, {})
    tape.reply(1, {})
    assert [exchange.answer for exchange in exchanges(tape.frames)] == [3, 4]


def test_an_answer_after_a_cancel_is_late(tape: Tape) -> None:
    tape.ask(1, "tools/call")
    tape.tell("notifications/cancelled", {"requestId": 1}, peer=False)
    tape.reply(1, {})
    (exchange,) = exchanges(tape.frames)
    assert (exchange.given_up, exchange.answer, exchange.late) == (2, 3, True)


def test_an_answer_after_a_timeout_is_late(tape: Tape) -> None:
    tape.ask(7, "tools/call")
    tape.process("timeout", id="7", seconds=60.0)
    tape.reply(7, {})
    assert isinstance(events(tape)[1], GaveUp)
    (exchange,) = exchanges(tape.frames)
    assert exchange.late


def test_a_cancel_of_the_other_side_or_of_another_id_cancels_nothing(tape: Tape) -> None:
    tape.ask(1, "tools/call")
    tape.tell("notifications/cancelled", {"requestId": 1})
    tape.tell("notifications/cancelled", {"requestId": "1"}, peer=False)
    tape.tell("notifications/cancelled", None, peer=False)
    tape.reply(1, {})
    (exchange,) = exchanges(tape.frames)
    assert not exchange.late


def test_progress_belongs_to_the_exchange_with_its_token(tape: Tape) -> None:
    tape.ask(1, "tools/call", {"name": "a", "_meta": {"progressToken": "t"}})
    tape.ask(2, "tools/call", {"name": "b", "_meta": {"progressToken": 2}})
    tape.tell("notifications/progress", {"progressToken": 2, "progress": 1})
    tape.tell("notifications/progress", {"progressToken": "t", "progress": 1})
    tape.tell("notifications/progress", {"progressToken": "2", "progress": 1})
    found = exchanges(tape.frames)
    assert [exchange.related for exchange in found] == [[4], [3]]


def test_progress_after_the_answer_belongs_to_nothing(tape: Tape) -> None:
    tape.ask(1, "tools/call", {"_meta": {"progressToken": 1}})
    tape.reply(1, {})
    tape.tell("notifications/progress", {"progressToken": 1, "progress": 1})
    event = last(tape)
    assert isinstance(event, Told)
    assert (event.owner, event.how) == (None, "none")


def test_what_comes_during_the_only_call_belongs_to_it(tape: Tape) -> None:
    tape.ask(1, "tools/call")
    tape.ask(2, "tools/list")
    tape.ask(3, "ping")
    tape.tell("notifications/message", {"level": "info", "data": "x"})
    tape.ask(1, "sampling/createMessage", peer=True)
    call = exchanges(tape.frames)[0]
    assert call.related == [4, 5]


def test_what_comes_during_several_calls_is_ambiguous(tape: Tape) -> None:
    tape.ask(1, "tools/call")
    tape.ask(2, "resources/read")
    tape.tell("notifications/message", {"level": "info"})
    event = last(tape)
    assert isinstance(event, Told)
    assert (event.owner, event.how) == (None, "ambiguous")


def test_what_comes_when_no_call_is_open_belongs_to_nothing(tape: Tape) -> None:
    tape.ask(1, "tools/call")
    tape.reply(1, {})
    tape.tell("notifications/message", {"level": "info"})
    event = last(tape)
    assert isinstance(event, Told)
    assert event.how == "none"


def test_a_cancelled_call_owns_nothing_more(tape: Tape) -> None:
    tape.ask(1, "tools/call")
    tape.ask(2, "tools/call")
    tape.tell("notifications/cancelled", {"requestId": 1}, peer=False)
    tape.tell("notifications/message", {"level": "info"})
    assert [exchange.related for exchange in exchanges(tape.frames)] == [[3], [4]]


def test_a_related_task_names_its_exchange_also_after_the_answer(tape: Tape) -> None:
    tape.ask(1, "tools/call")
    tape.reply(1, {"task": {"taskId": "t1", "status": "working"}})
    tape.ask(2, "tools/call")
    tape.ask(9, "elicitation/create", {"_meta": {RELATED_TASK: {"taskId": "t1"}}}, peer=True)
    assert exchanges(tape.frames)[0].related == [4]


def test_the_token_of_a_task_lives_on_after_the_answer(tape: Tape) -> None:
    tape.ask(1, "tools/call", {"name": "x", "task": {}, "_meta": {"progressToken": 1}})
    tape.reply(1, {"task": {"taskId": "t1", "status": "working"}})
    tape.tell("notifications/progress", {"progressToken": 1, "progress": 1})
    assert exchanges(tape.frames)[0].related == [3]


def test_the_messages_of_a_batch_are_exchanges_of_their_own(tape: Tape) -> None:
    batch = [{"jsonrpc": "2.0", "id": identity, "method": "ping"} for identity in (1, 2)]
    tape.to_server(batch)
    tape.reply(2, {})
    found = exchanges(tape.frames)
    assert [(exchange.key, exchange.answer) for exchange in found] == [((1, 0), None), ((1, 1), 2)]


def test_the_name_and_token_of_a_large_request_are_found(tape: Tape) -> None:
    params = {"name": "big", "arguments": {"a": "x" * INLINE_BYTES}, "_meta": {"progressToken": "t"}}
    tape.ask(1, "tools/call", params)
    (exchange,) = exchanges(tape.frames)
    assert (exchange.name, exchange.token) == ("big", '"t"')


def test_open_requests_do_not_grow_without_bound(tape: Tape) -> None:
    pairing = Pairing(keep_related=False)
    for identity in range(MAX_OPEN + 3):
        pairing.take(tape.ask(identity, "x"))
    assert len(pairing.open) == MAX_OPEN
    assert (1, Direction.TO_SERVER, "0") not in pairing.open


def test_what_was_given_up_and_is_never_answered_does_not_grow_on_a_live_connection(tape: Tape) -> None:
    live, whole = Pairing(keep_related=False, live=True), Pairing(keep_related=False)
    for identity in range(MAX_GIVEN_UP + 3):
        for frame in (
            tape.ask(identity, "x"),
            tape.tell("notifications/cancelled", {"requestId": identity}, peer=False),
        ):
            live.take(frame)
            whole.take(frame)
    assert len(live.open) == MAX_GIVEN_UP
    assert len(whole.open) == MAX_GIVEN_UP + 3
    late = tape.reply(MAX_GIVEN_UP + 2, {})
    for pairing in (live, whole):
        (event,) = pairing.take(late)
        assert isinstance(event, Answered)
        assert event.exchange.late


def test_stderr_and_process_frames_are_no_messages(tape: Tape) -> None:
    tape.stderr(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    tape.process("started", pid=1)
    tape.note("mark", text="timeout")
    tape.process("timeout")
    assert events(tape) == []


ids = st.sampled_from([1, 2, "1", 1.0])


@given(
    st.lists(st.tuples(st.sampled_from(["ask", "reply", "fail", "cancel"]), st.booleans(), ids), max_size=40)
)
def test_every_answer_is_an_exchanges_or_an_orphan_and_comes_after_its_request(
    script: list[tuple[str, bool, Any]],
) -> None:
    tape = Tape()
    for what, peer, identity in script:
        if what == "ask":
            tape.ask(identity, "x", peer=peer)
        elif what == "reply":
            tape.reply(identity, {}, peer=peer)
        elif what == "fail":
            tape.fail(identity, 1, "x", peer=peer)
        else:
            tape.tell("notifications/cancelled", {"requestId": identity}, peer=peer)
    found = events(tape)
    answered = [event.exchange for event in found if isinstance(event, Answered)]
    orphans = [event.seq for event in found if isinstance(event, Orphaned)]
    answers = sorted([exchange.answer or 0 for exchange in answered] + orphans)
    assert answers == [frame.seq for frame in tape.frames if frame.kind in (Kind.RESULT, Kind.ERROR)]
    assert all((exchange.answer or 0) > exchange.request for exchange in answered)
    assert len({exchange.request for exchange in answered}) == len(answered)


@given(st.lists(st.booleans(), min_size=1, max_size=10), st.lists(st.booleans(), max_size=10))
def test_interleaved_connections_pair_as_they_do_alone(one: list[bool], other: list[bool]) -> None:
    tapes = Tape(1), Tape(2)
    for tape, calls in zip(tapes, (one, other), strict=True):
        for identity, is_answered in enumerate(calls):
            tape.ask(identity, "x")
            if is_answered:
                tape.reply(identity, {})
    mixed = [frame for pair in zip_longest(*(tape.frames for tape in tapes)) for frame in pair if frame]

    def answers(found: list[Exchange], connection: int) -> list[int | None]:
        return [exchange.answer for exchange in found if exchange.connection == connection]

    for tape in tapes:
        alone = answers(exchanges(tape.frames), tape.connection)
        assert answers(exchanges(mixed), tape.connection) == alone
