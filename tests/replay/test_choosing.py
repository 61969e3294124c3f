"""Which connection a FILE means, and that it is read no further than needed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.replay.build import Tape, call, note, request, result, text
from tests.replay.serving import saved
from workbench.core.frame import Frame
from workbench.errors import RecordingError, UsageError
from workbench.replay.report import Report
from workbench.replay.script import build
from workbench.replay.server import MockServer
from workbench.store.chosen import choose
from workbench.store.copying import copy
from workbench.store.formats.outline import outline
from workbench.store.reader import Reader

STRANGE = (
    Tape()
    .s(b"Server up\r")
    .hello()
    .c(b'{ "jsonrpc" : "2.0", "id": 2, "method": "tools/list" }')
    .err(b"\xff\xfe on stderr")
    .s(b'{"jsonrpc":"2.0","id":2,"result":{"big":9007199254740993,"half":1.0,"e":"\xc3\xa9"}}')
    .s(b'{"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "\\ud83d"}}')
    .c(call(3, "t"))
    .s(text(3, "x" * 9000))
    .event(event="exited", code=0)
)


def two_sessions(folder: Path) -> Path:
    """A text form with two sessions, the second with two connections."""
    parts = []
    for name, connections in (("first", 1), ("second", 2)):
        path = saved(Tape().hello(), folder / f"{name}.db", connections)
        copy(str(path), str(folder / f"{name}.jsonl"))
        parts.append((folder / f"{name}.jsonl").read_text())
    whole = folder / "both.jsonl"
    whole.write_text(parts[0] + parts[1].partition("\n")[2])
    return whole


def test_the_text_form_gives_the_frames_that_the_database_gives(tmp_path: Path) -> None:
    path, plain = saved(STRANGE, tmp_path / "a.db"), tmp_path / "a.jsonl"
    copy(str(path), str(plain))
    with choose(str(path)) as from_database, choose(str(plain)) as from_text:
        left, right = list(from_database.frames()), list(from_text.frames())
    assert [frame.body for frame in left] == [frame.body for frame in STRANGE.frames]
    for one, other in zip(left, right, strict=True):
        assert one._replace(method=None, id=None, name=None, wall_ns=0, mono_ns=0) == other._replace(
            wall_ns=0, mono_ns=0
        )


def test_what_is_written_by_hand_is_read_by_the_import(tmp_path: Path) -> None:
    path = tmp_path / "hand.jsonl"
    path.write_text(
        '{"frame":1, "direction":"to_server", "json":{"jsonrpc":"2.0","id":1,"method":"ping"}}\n'
        '{"frame":2, "direction":"to_client", "json":{"jsonrpc":"2.0","id":1,"result":{}}}\n'
    )
    assert outline(str(path)) is None
    with choose(str(path)) as chosen:
        assert len(list(chosen.frames())) == 2


def test_a_line_that_is_broken_is_named(tmp_path: Path) -> None:
    path, plain = saved(STRANGE, tmp_path / "a.db"), tmp_path / "a.jsonl"
    copy(str(path), str(plain))
    lines = plain.read_text().splitlines()
    lines[5] = lines[5][:-20]
    plain.write_text("\n".join(lines))
    with choose(str(plain)) as chosen, pytest.raises(RecordingError, match="line 6"):
        list(chosen.frames())


@pytest.mark.parametrize("form", ["db", "jsonl"])
def test_several_connections_are_listed_with_a_way_to_name_one(tmp_path: Path, form: str) -> None:
    path = saved(Tape().hello(), tmp_path / "a.db", connections=2)
    copy(str(path), str(tmp_path / "a.jsonl"))
    file = tmp_path / f"a.{form}"
    with pytest.raises(
        UsageError, match=r"2 connections \(server-1, server-2\); name one, for example .*#1/ser"
    ):
        choose(str(file))
    for name in ("#1/server-2", "#/server-2", "#1/2"):
        with choose(f"{file}{name}") as chosen:
            assert (chosen.session, chosen.number, chosen.name) == (1, 2, "server-2")
    with pytest.raises(UsageError, match="no connection server-3"):
        choose(f"{file}#/server-3")


def test_sessions_of_one_file_are_told_apart(tmp_path: Path) -> None:
    whole = two_sessions(tmp_path)
    with pytest.raises(UsageError, match="3 connections"):
        choose(str(whole))
    with choose(f"{whole}#2/2") as chosen:
        assert (chosen.session, chosen.number) == (2, 2)
    with choose(f"{whole}#1") as chosen:
        assert len(list(chosen.frames())) == 3
    database = tmp_path / "both.db"
    copy(str(whole), str(database))
    with pytest.raises(UsageError, match="3 connections"):
        choose(str(database))
    with choose(f"{database}#2/server-1") as chosen:
        assert (chosen.session, chosen.number) == (2, 1)
        assert len(list(chosen.frames())) == 3


def test_a_recording_without_a_connection_cannot_be_replayed(tmp_path: Path) -> None:
    path = saved(Tape(), tmp_path / "a.db", connections=0)
    with pytest.raises(UsageError, match="no connection that could be replayed"):
        choose(str(path))


def counted(frames: list[Frame], taken: list[int]) -> Iterator[Frame]:
    for frame in frames:
        taken.append(frame.seq)
        yield frame


def test_a_recording_is_read_no_further_than_its_client_has_come() -> None:
    tape = Tape().s(note("notifications/message", data="early")).hello()
    for number in range(2, 500):
        tape.c(request(number, "tools/list", cursor=f"{number}")).s(result(number, tools=[]))
    taken: list[int] = []
    server = MockServer(build(counted(tape.frames, taken), at_once=False), Report("", ""))
    server.start()
    assert len(server.feed(tape.frames[1].body)) == 1
    assert len(taken) <= 4
    server.feed(tape.frames[3].body)
    assert len(taken) <= 6
    for at in (4, 6, 8):
        assert len(server.feed(tape.frames[at].body)) == 1
        assert len(taken) <= at + 4
    assert len(server.feed(tape.frames[500].body)) == 1
    assert 500 < len(taken) <= 504
    # Whether something was never recorded is known when everything has been read.
    server.feed(b'{"jsonrpc":"2.0","id":9999,"method":"tools/list","params":{"cursor":"other"}}')
    assert len(taken) == len(tape.frames)


@pytest.mark.parametrize("end", range(1, len(STRANGE.frames) + 1))
def test_a_script_read_in_two_steps_is_the_script_read_at_once(end: int) -> None:
    frames = STRANGE.frames[:end]
    steps = build(frames, at_once=False)
    steps.complete()
    at_once = build(frames)
    assert steps.pieces() == at_once.pieces()
    assert list(map(repr, steps.requests)) == list(map(repr, at_once.requests))


def test_a_probe_before_the_handshake_needs_the_whole_recording() -> None:
    tape = (
        Tape().c(request("d", "server/discover")).s({"jsonrpc": "2.0", "id": "d", "error": {"code": -32601}})
    )
    tape.hello()
    taken: list[int] = []
    server = MockServer(build(counted(tape.frames, taken), at_once=False), Report("", ""))
    assert len(taken) == len(tape.frames)
    assert b"-32601" in server.feed(tape.frames[0].body)[0].body  # type: ignore[union-attr]


def test_reading_is_the_same_however_large_the_pieces(tmp_path: Path) -> None:
    tape = Tape().hello()
    for number in range(2, 1500):
        tape.c(request(number, "ping")).s(result(number))
    path = saved(tape, tmp_path / "a.db")
    with choose(str(path)) as chosen, Reader.open(str(path)) as reader:
        for one, other in itertools.zip_longest(chosen.frames(), reader.frames()):
            assert one == other


def test_an_export_is_always_outlined(tmp_path: Path) -> None:
    path, plain = saved(STRANGE, tmp_path / "a.db"), tmp_path / "a.jsonl"
    copy(str(path), str(plain))
    assert outline(str(plain)) is not None
    plain.write_bytes(plain.read_bytes() + b"{}\n")
    assert outline(str(plain)) is None
    assert outline(str(path)) is None
    assert outline(str(tmp_path / "none")) is None
