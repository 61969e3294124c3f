"""What goes in comes out, byte for byte, and is in the recording."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest

from tests.standin.running import BARE, CALL, CAT, StandIn, bodies, in_background, python
from workbench.core.frame import Channel, Direction, Ending, Kind


def test_bytes_that_are_no_text_pass_both_ways_and_are_recorded_as_they_were(tmp_path: Path) -> None:
    junk = random.Random(1).randbytes(3_000_000)
    with StandIn(tmp_path / "a.db", python(CAT)) as stand_in:
        status, out, _ = stand_in.finish(junk)
        assert status == 0
        assert hashlib.sha256(out).digest() == hashlib.sha256(junk).digest()
        frames = stand_in.frames()
    assert b"\n".join(bodies(frames, Direction.TO_SERVER)) == junk
    assert b"\n".join(bodies(frames, Direction.TO_CLIENT)) == junk


@pytest.mark.parametrize(
    "size", [65_535, 65_536, 65_537, 1 << 20, 20_000_000, pytest.param(100_000_000, marks=pytest.mark.long)]
)
def test_a_line_of_any_length_passes_whole_and_is_one_frame(tmp_path: Path, size: int) -> None:
    line = b'"' + b"x" * (size - 2) + b'"'
    with StandIn(tmp_path / "a.db", python(CAT)) as stand_in:
        status, out, _ = stand_in.finish(line + b"\n")
        assert status == 0
        assert out == line + b"\n"
        frames = stand_in.frames()
    assert bodies(frames, Direction.TO_SERVER) == [line]
    assert bodies(frames, Direction.TO_CLIENT) == [line]


def test_a_last_line_without_an_end_passes_without_one(tmp_path: Path) -> None:
    with StandIn(tmp_path / "a.db", python(CAT)) as stand_in:
        _, out, _ = stand_in.finish(b"whole\nhalf")
        assert out == b"whole\nhalf"
        frames = [frame for frame in stand_in.frames() if frame.channel is Channel.STDIO]
    endings = {(frame.direction, frame.body): frame.ending for frame in frames}
    assert endings[Direction.TO_SERVER, b"half"] is Ending.NONE
    assert endings[Direction.TO_CLIENT, b"whole"] is Ending.LF
    assert endings[Direction.TO_CLIENT, b"half"] is Ending.NONE


def test_banners_batches_and_broken_json_pass_untouched(tmp_path: Path) -> None:
    said = (
        b"Server v1 up on stdin\n\n{half\n[]\n42\r\n"
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n{"level":"info"}\n"\\ud83d"\n\xc3\x28\n'
    )
    with StandIn(tmp_path / "a.db", python(f"import os\nos.write(1, {said!r})")) as stand_in:
        status, out, _ = stand_in.finish()
        assert (status, out) == (0, said)
        kinds = [frame.kind for frame in stand_in.frames() if frame.channel is Channel.STDIO]
    assert kinds.count(Kind.BATCH) == 1
    assert len(kinds) == said.count(b"\n")


def test_stderr_goes_to_our_stderr_and_into_the_recording(tmp_path: Path) -> None:
    script = "import sys\nsys.stderr.write('one\\ntwo\\nno end')\nsys.stderr.flush()\nsys.stdin.read()"
    with StandIn(tmp_path / "a.db", python(script)) as stand_in:
        _, out, err = stand_in.finish()
        assert (out, err) == (b"", b"one\ntwo\nno end")
        frames = stand_in.frames()
    assert bodies(frames, Direction.TO_CLIENT, Channel.STDERR) == [b"one", b"two", b"no end"]


def test_a_flood_on_stderr_that_nobody_reads_does_not_hold_up_the_protocol(tmp_path: Path) -> None:
    script = (
        "import os, threading\n"
        "threading.Thread(target=lambda: [os.write(2, b'e' * 1023 + b'\\n') for _ in range(4000)]).start()\n"
        + CAT
    )
    with StandIn(tmp_path / "a.db", python(script)) as stand_in:
        for _ in range(100):
            stand_in.send(b"ping\n")
            assert stand_in.line() == b"ping\n"
        status, _, err = stand_in.finish()
        assert status == 0
        assert len(err) == 4_096_000


def test_both_pipes_may_be_full_at_once(tmp_path: Path) -> None:
    """Neither side reads until it has written everything: more than pipes and pumps can hold."""
    size = 8_000_000
    script = (
        "import os, threading\n"
        f"writer = threading.Thread(target=lambda: [os.write(1, b'o' * 1000) for _ in range({size // 1000})])\n"
        "writer.start()\nwriter.join()\n"
        f"left = {size}\n"
        "while left:\n    left -= len(os.read(0, 65536))\n"
    )
    with StandIn(tmp_path / "a.db", python(script)) as stand_in:
        sender = in_background(lambda: stand_in.send(b"i" * size))
        assert stand_in.read(size) == b"o" * size
        sender.join(30)
        assert not sender.is_alive()
        assert stand_in.finish()[0] == 0
        frames = stand_in.frames()
    assert len(b"".join(bodies(frames, Direction.TO_SERVER))) == size


def test_the_list_of_connections_says_what_the_handshake_said(tmp_path: Path) -> None:
    from workbench.store.reader import Reader

    hello = (
        b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
        b'"capabilities":{"roots":{}},"clientInfo":{"name":"tester","version":"3"}}}\n'
    )
    with StandIn(tmp_path / "a.db", BARE, "--name", "bare") as stand_in:
        assert stand_in.finish(hello + CALL % 1)[0] == 0
    with Reader.open(str(tmp_path / "a.db")) as reader:
        (connection,) = reader.connections()
        (session,) = reader.sessions()
    assert (session.name, session.origin, session.ended_how) == ("bare", "stand-in", "closed")
    assert (connection.name, connection.transport, connection.exit_code) == ("bare", "stdio", 0)
    assert connection.revision == "2025-06-18"
    assert connection.client_info == '{"name":"tester","version":"3"}'
    assert connection.client_capabilities == '{"roots":{}}'
    assert connection.server_info == '{"name":"bare","version":"1"}'
    assert connection.server_capabilities == '{"tools":{}}'
