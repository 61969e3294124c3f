"""However it ends, the server is gone, the recording is whole and says how, and the status is right."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

from tests.standin.running import (
    BARE,
    CALL,
    CAT,
    StandIn,
    at_rest,
    bodies,
    ended_how,
    gone,
    in_background,
    python,
    seqs_are_gapless,
    until,
)
from workbench.core.frame import Direction, Kind

STAYS = "import signal, sys\nsys.stdout.write('up\\n')\nsys.stdout.flush()\nwhile True: signal.pause()"
IGNORES_TERM = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + STAYS


@pytest.mark.parametrize("code", [0, 3, 255])
def test_the_exit_code_of_the_server_is_ours(tmp_path: Path, code: int) -> None:
    with StandIn(tmp_path / "a.db", python(f"raise SystemExit({code})")) as stand_in:
        assert stand_in.process.wait(30) == code
        assert stand_in.events()[-1] == {"event": "exited", "code": code}
    assert ended_how(stand_in.file) == "closed"


def test_a_signal_that_ends_the_server_is_128_and_its_number(tmp_path: Path) -> None:
    with StandIn(tmp_path / "a.db", python("import os\nos.kill(os.getpid(), 6)")) as stand_in:
        assert stand_in.process.wait(30) == 134
        assert stand_in.events()[-1] == {"event": "exited", "signal": "ABRT"}


def test_a_server_that_exits_during_a_call_ends_us_with_its_status_and_last_words(tmp_path: Path) -> None:
    script = "import os\nos.read(0, 9)\nos.write(2, b\"KeyError: 'TOKEN'\\n\")\nos._exit(3)"
    with StandIn(tmp_path / "a.db", python(script)) as stand_in:
        stand_in.send(CALL % 1)
        assert stand_in.line() == b""
        assert stand_in.process.wait(30) == 3
        assert stand_in.process.stderr is not None
        assert stand_in.process.stderr.read() == b"KeyError: 'TOKEN'\n"
        frames = stand_in.frames()
    assert [frame.method for frame in frames if frame.kind is Kind.REQUEST] == ["tools/call"]
    assert frames[-1].body == b'{"event":"exited","code":3}'


def test_all_that_a_server_wrote_before_it_exited_arrives(tmp_path: Path) -> None:
    script = "import os\nfor _ in range(64): os.write(1, b'o' * 65535 + b'\\n')\nos._exit(7)"
    with StandIn(tmp_path / "a.db", python(script)) as stand_in:
        assert len(stand_in.read(64 * 65536)) == 64 * 65536
        assert stand_in.line() == b""
        assert stand_in.process.wait(30) == 7
        assert len(bodies(stand_in.frames(), Direction.TO_CLIENT)) == 64


def test_a_client_that_closes_stdin_closes_the_servers(tmp_path: Path) -> None:
    with StandIn(tmp_path / "a.db", BARE) as stand_in:
        stand_in.send(CALL % 1)
        stand_in.line()
        stand_in.hang_up()
        assert stand_in.process.wait(30) == 0
        events = [event["event"] for event in stand_in.events()]
    assert events == ["started", "stdin_closed", "waiting", "stdout_closed", "exited"]


def test_a_server_that_stays_after_its_stdin_was_closed_is_ended_with_term(tmp_path: Path) -> None:
    with StandIn(tmp_path / "a.db", python(STAYS)) as stand_in:
        assert stand_in.line() == b"up\n"
        stand_in.hang_up()
        assert stand_in.process.wait(30) == 128 + signal.SIGTERM
        events = [(event["event"], event.get("name")) for event in stand_in.events()]
    assert ("signal", "TERM") in events
    assert ("signal", "KILL") not in events
    assert ended_how(stand_in.file) == "closed"


def test_a_server_that_ignores_term_is_killed_and_what_it_started_too(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = os.fork()\n"
        "if child: print(child, flush=True)\n"
        "while True: signal.pause()"
    )
    with StandIn(tmp_path / "a.db", python(script)) as stand_in:
        grandchild = int(stand_in.line())
        stand_in.process.send_signal(signal.SIGTERM)
        assert stand_in.process.wait(30) == 128 + signal.SIGKILL
        until(lambda: gone(grandchild))
        names = [event["name"] for event in stand_in.events() if event["event"] == "signal"]
    assert names == ["TERM", "KILL"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_us_is_passed_on_and_the_recording_says_so(
    tmp_path: Path, number: signal.Signals
) -> None:
    script = f"import signal\nsignal.signal({int(number)}, signal.SIG_DFL)\n" + STAYS
    with StandIn(tmp_path / "a.db", python(script)) as stand_in:
        assert stand_in.line() == b"up\n"
        stand_in.process.send_signal(number)
        assert stand_in.process.wait(30) == 128 + number
        assert seqs_are_gapless(stand_in.frames())
    assert ended_how(stand_in.file) == f"signal:{number.name.removeprefix('SIG')}"


def test_a_second_signal_kills_at_once(tmp_path: Path) -> None:
    with StandIn(tmp_path / "a.db", python(IGNORES_TERM)) as stand_in:
        assert stand_in.line() == b"up\n"
        began = time.monotonic()
        stand_in.process.send_signal(signal.SIGTERM)
        stand_in.process.send_signal(signal.SIGINT)
        assert stand_in.process.wait(30) == 128 + signal.SIGKILL
        assert time.monotonic() - began < 1.4


def test_a_hangup_that_was_ignored_when_we_started_stays_ignored(tmp_path: Path) -> None:
    def nohup() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with StandIn(tmp_path / "a.db", BARE, preexec_fn=nohup) as stand_in:
        stand_in.send(CALL % 1)
        stand_in.line()
        stand_in.process.send_signal(signal.SIGHUP)
        stand_in.send(CALL % 2)
        assert stand_in.line().startswith(b'{"jsonrpc": "2.0", "id": 2')
        assert stand_in.finish()[0] == 0


def test_a_client_that_stops_reading_ends_the_server_and_nothing_spins(tmp_path: Path) -> None:
    script = "import os\nos.read(0, 1)\nfor _ in range(100): os.write(1, b'o' * 9999 + b'\\n')\n" + STAYS
    with StandIn(tmp_path / "a.db", python(script)) as stand_in:
        assert stand_in.process.stdout is not None
        stand_in.process.stdout.close()
        stand_in.send(b"go\n")
        before = os.times()
        assert stand_in.process.wait(30) == 128 + signal.SIGTERM
        after = os.times()
        events = stand_in.events()
        frames = stand_in.frames()
    # Two seconds passed until TERM; a spinning process would have used them up.
    assert after.children_user + after.children_system - before.children_user - before.children_system < 1.5
    assert len(bodies(frames, Direction.TO_CLIENT)) == 101
    (lost,) = [event for event in events if event["event"] == "undelivered"]
    assert (lost["stream"], lost["bytes"]) == ("stdout", 100 * 10_000 + 3)


def test_a_client_that_neither_reads_nor_goes_does_not_hold_us_when_it_sends_a_signal(tmp_path: Path) -> None:
    script = "import os\nos.write(1, b'o' * 1_000_000)"
    with StandIn(tmp_path / "a.db", python(script)) as stand_in:
        assert stand_in.read(1) == b"o"
        stand_in.process.send_signal(signal.SIGTERM)
        assert stand_in.process.wait(30) == 128 + signal.SIGTERM
        (lost,) = [event for event in stand_in.events() if event["event"] == "undelivered"]
    assert lost["stream"] == "stdout"
    assert lost["bytes"] > 0


def test_a_server_that_closes_its_stdin_breaks_the_clients_pipe(tmp_path: Path) -> None:
    script = "import os\nos.close(0)\nos.write(1, b'closed\\n')\n" + STAYS
    with StandIn(tmp_path / "a.db", python(script)) as stand_in:
        assert stand_in.line() == b"closed\n"
        stand_in.send(CALL % 1)
        until(lambda: any(event["event"] == "undelivered" for event in stand_in.events()))
        with pytest.raises(BrokenPipeError):
            stand_in.send(CALL % 2)
        stand_in.process.send_signal(signal.SIGTERM)
        assert stand_in.process.wait(30) == 128 + signal.SIGTERM
        events = stand_in.events()
    lost = [event for event in events if event["event"] == "undelivered"]
    assert [(event["stream"], event["bytes"]) for event in lost] == [("stdin", len(CALL % 1))]


def test_something_that_holds_the_pipes_after_the_server_exited_does_not_hold_us(tmp_path: Path) -> None:
    script = (
        "import os, signal\n"
        "if os.fork() == 0:\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "    os.write(1, b'%d\\n' % os.getpid())\n"
        "    while True: signal.pause()\n"
        "os.read(0, 1)\n"
        "os._exit(5)"
    )
    with StandIn(tmp_path / "a.db", python(script)) as stand_in:
        grandchild = int(stand_in.line())
        stand_in.send(b"x")
        began = time.monotonic()
        assert stand_in.process.wait(30) == 5
        assert 0.5 <= time.monotonic() - began < 5
        until(lambda: gone(grandchild))
    assert at_rest(stand_in.file)


def test_a_closed_stdin_is_the_end_of_the_clients_stream(tmp_path: Path) -> None:
    with StandIn(tmp_path / "a.db", python(CAT), stdin=None, preexec_fn=lambda: os.close(0)) as stand_in:
        assert stand_in.process.wait(30) == 0
        assert [event["event"] for event in stand_in.events()][:2] == ["started", "stdin_closed"]


def test_the_null_device_as_stdin_is_a_client_that_says_nothing(tmp_path: Path) -> None:
    with StandIn(tmp_path / "a.db", BARE, stdin=subprocess.DEVNULL) as stand_in:
        assert stand_in.process.wait(30) == 0
        assert bodies(stand_in.frames(), Direction.TO_SERVER) == []


def test_a_file_as_stdin_and_stdout_works(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b"".join(CALL % number for number in range(2_000)))
    with source.open("rb") as stdin, target.open("wb") as stdout:
        stand_in = StandIn(tmp_path / "a.db", python(CAT), stdin=stdin, stdout=stdout)
        with stand_in:
            assert stand_in.process.wait(30) == 0
    assert target.read_bytes() == source.read_bytes()


def test_sockets_as_standard_streams_work_as_pipes_do(tmp_path: Path) -> None:
    """Node.js gives its children socket pairs."""
    (ours_in, theirs_in), (ours_out, theirs_out) = socket.socketpair(), socket.socketpair()
    line = b"x" * 300_000 + b"\n"
    with (
        ours_in,
        ours_out,
        StandIn(tmp_path / "a.db", python(CAT), stdin=theirs_in, stdout=theirs_out) as stand_in,
    ):
        theirs_in.close()
        theirs_out.close()
        for data in (b"small\n", line, b"small again\n"):
            in_background(partial(ours_in.sendall, data))
            assert ours_out.recv(len(data), socket.MSG_WAITALL) == data
        ours_in.shutdown(socket.SHUT_WR)
        assert ours_out.recv(1) == b""
        assert stand_in.process.wait(30) == 0
        assert bodies(stand_in.frames(), Direction.TO_CLIENT)[1] + b"\n" == line


def test_a_closed_stderr_changes_nothing(tmp_path: Path) -> None:
    script = "import os\nos.write(2, b'unheard\\n')\n" + CAT
    with StandIn(tmp_path / "a.db", python(script), stderr=None, preexec_fn=lambda: os.close(2)) as stand_in:
        stand_in.send(b"hello\n")
        assert stand_in.line() == b"hello\n"
        assert stand_in.finish()[0] == 0
        assert any(frame.body == b"unheard" for frame in stand_in.frames())
