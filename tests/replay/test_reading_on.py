"""A recording is read as it is needed, and calls that were alone are taken in one step: both change nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import many
from tests.replay.build import Tape, call, note, request, result, text
from tests.replay.serving import saved
from tests.replay.test_generated import sessions
from workbench.core.frame import Direction, Frame
from workbench.core.jsonrpc import id_text
from workbench.replay.actions import Action
from workbench.replay.cues import Plain, Script
from workbench.replay.identity import ID, put, put_id, renumbered
from workbench.replay.matching import parse_ignore
from workbench.replay.options import Options
from workbench.replay.report import Report
from workbench.replay.script import build
from workbench.replay.server import MockServer
from workbench.store.chosen import choose

#: Ways of saying the same.
SPELLINGS: tuple[Callable[[dict[str, Any]], bytes], ...] = (
    lambda value: json.dumps(value, separators=(",", ":")).encode(),
    lambda value: json.dumps(value).encode(),
    lambda value: json.dumps(dict(reversed(value.items()))).encode(),
)


def unnamed(frames: list[Frame]) -> list[Frame]:
    """The same without what a recorder knows of them, as they come from the text form."""
    return [frame._replace(method=None, id=None, name=None) for frame in frames]


def same(one: Script, other: Script) -> None:
    assert one.pieces() == other.pieces()
    for this, that in zip(one.requests, other.requests, strict=True):
        assert [getattr(this, key) for key in SLOTS] == [getattr(that, key) for key in SLOTS]
    assert one.notes == other.notes
    assert (one.code, one.modern, one.revision) == (other.code, other.modern, other.revision)


SLOTS = ("key", "seq", "method", "request", "name", "params", "token", "answer", "after", "pieces")


@settings(max_examples=many(300))
@given(sessions())
def test_a_call_that_was_alone_is_what_any_other_is(tape: Tape) -> None:
    same(build(tape.frames), build(unnamed(tape.frames)))


def test_there_are_such_calls_in_these_sessions_and_pieces_that_hang_on_them() -> None:
    tape = Tape().hello().c(call(2, "t")).s(text(2, "one")).s(note("notifications/message", data=1))
    tape.err(b"a word").c(call(3, "t")).s(text(3, "two"))
    script = build(tape.frames)
    alone = [cue for cue in script.requests if isinstance(cue, Plain)]
    assert [len(cue.pieces) for cue in alone] == [3, 1]
    same(script, build(unnamed(tape.frames)))


OPTIONS = (
    Options(),
    Options(match="strict"),
    Options(match="name", after="cycle"),
    Options(match="method", after="last"),
    Options(ignores=(parse_ignore("/arguments/n"),), order="recorded"),
)


@settings(max_examples=many(300))
@given(sessions(), st.data())
def test_a_client_of_any_order_gets_the_same_of_a_recording_read_as_it_goes(
    tape: Tape, data: st.DataObject
) -> None:
    """Requests left out, sent twice, in another order, under other ids and in another spelling."""
    options = data.draw(st.sampled_from(OPTIONS))
    frames = data.draw(st.sampled_from((tape.frames, unnamed(tape.frames))))
    said = [frame.body for frame in tape.frames if frame.direction is Direction.TO_SERVER]
    if data.draw(st.booleans()):
        said = said[:1] + data.draw(st.lists(st.sampled_from(said), max_size=20))
    servers = [
        MockServer(script, Report("", ""), options)
        for script in (build(frames, at_once=False), build(unnamed(tape.frames)))
    ]
    started = [server.start() for server in servers]
    assert started[0] == started[1]
    for turn, body in enumerate(said):
        if data.draw(st.booleans()):
            body = _respelled(body, turn, data.draw(st.sampled_from(SPELLINGS)))
        got: list[list[Action]] = [server.feed(body) for server in servers]
        assert got[0] == got[1]
        if servers[1].stuck and data.draw(st.booleans()):
            assert servers[0].release() == servers[1].release()
    for server in servers:
        server.closed()
    assert servers[0].status() == servers[1].status()
    reports = [server.report_value() for server in servers]
    assert reports[0] == reports[1]


def _respelled(body: bytes, turn: int, spelling: Callable[[dict[str, Any]], bytes]) -> bytes:
    value = json.loads(body)
    if "id" in value and "method" in value:
        value["id"] = (turn + 1000, f"x{turn}", 1.5 + turn)[turn % 3]
    return spelling(value)


IDS = st.one_of(st.integers(), st.text(), st.floats(allow_nan=False, allow_infinity=False))


@settings(max_examples=many(500))
@given(IDS, IDS, st.sampled_from(SPELLINGS), st.dictionaries(st.text(), st.text() | st.just("id")))
def test_an_id_is_put_where_the_whole_scan_puts_it(
    was: Any, live: Any, spelling: Any, members: dict[str, str]
) -> None:
    body = spelling({"jsonrpc": "2.0", "id": was, "result": {**members, "deep": {"id": was}}})
    recorded, text_of = id_text(was), id_text(live)
    assert put_id(body, recorded, text_of) in (put(body, ID, text_of), body if recorded == text_of else b"")
    plain = spelling({"jsonrpc": "2.0", "id": was, "result": members})
    assert json.loads(put_id(plain, recorded, text_of))["id"] == json.loads(text_of)


@settings(max_examples=many(500))
@given(IDS, IDS, st.sampled_from(SPELLINGS), st.sampled_from(SPELLINGS), st.integers(0, 1))
def test_what_is_the_same_but_for_its_id_is_known_only_where_it_is(
    was: Any, live: Any, one: Any, other: Any, n: int
) -> None:
    recorded = one({"jsonrpc": "2.0", "id": was, "method": "m", "params": {"n": 0}})
    body = other({"jsonrpc": "2.0", "id": live, "method": "m", "params": {"n": n}})
    found = renumbered(body, recorded)
    if found is not None:
        assert n == 0
        assert json.loads(found) == live
        assert id_text(json.loads(found)) == found


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc":"2.0","id":007,"method":"m"}',
        b'{"jsonrpc":"2.0","id":-0,"method":"m"}',
        b'{"jsonrpc":"2.0","id":"\\u0031","method":"m"}',
        b'{"jsonrpc":"2.0","id":"\xff","method":"m"}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","id":2}',
        b'{"jsonrpc":"2.0","id":{},"method":"m"}',
    ],
)
def test_no_strange_id_is_taken_without_a_look(body: bytes) -> None:
    assert renumbered(body, b'{"jsonrpc":"2.0","id":1,"method":"m"}') is None


def test_large_answers_stay_in_the_recording_until_they_are_asked_for(tmp_path: Path) -> None:
    tape = Tape().hello()
    for number in range(2, 6):
        tape.c(call(number, "t", n=number)).s(text(number, "x" * 100_000 + str(number)))
    with choose(str(saved(tape, tmp_path / "large.db"))) as chosen:
        script = build(chosen.frames(), head=chosen.stream, fetch=chosen.body)
        kept = [cue.reply.body for cue in script.requests if isinstance(cue, Plain)]
        assert kept == [None] * 4
        same(script, build(unnamed(tape.frames)))
        server = MockServer(script, Report("", ""))
        server.feed(tape.frames[0].body)
        for at in (3, 7, 5, 9):
            (sent,) = server.feed(tape.frames[at].body)
            assert getattr(sent, "body", b"") == tape.frames[at + 1].body


def test_the_exit_status_is_known_without_reading_everything(tmp_path: Path) -> None:
    tape = Tape().hello()
    for number in range(2, 300):
        tape.c(request(number, "tools/list", n=number)).s(result(number, tools=[]))
    tape.event(event="stdin_closed").event(event="exited", code=3)
    with choose(str(saved(tape, tmp_path / "long.db"))) as chosen:
        script = build(chosen.frames(), at_once=False, head=chosen.stream, ending=chosen.process)
        server = MockServer(script, Report("", ""))
        server.feed(tape.frames[0].body)
        server.closed()
        assert server.status() == 3
        assert script.more is not None
    assert build(tape.frames).code == 3
