"""The two processes of a stand-in: what each survives of the other."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

from tests.standin.running import (
    BARE,
    CALL,
    CAT,
    PROGRAM,
    StandIn,
    at_rest,
    bodies,
    ended_how,
    gone,
    python,
    seqs_are_gapless,
    until,
)
from tests.test_imports import HEAVY
from workbench.core.frame import Direction


def test_a_killed_stand_in_leaves_a_whole_recording_and_no_server(tmp_path: Path) -> None:
    with StandIn(tmp_path / "a.db", BARE) as stand_in:
        for number in range(50):
            stand_in.send(CALL % number)
            stand_in.line()
        server, recorder = stand_in.server(), stand_in.recorder()
        stand_in.process.kill()
        until(lambda: gone(server.pid) and gone(recorder.pid))
    frames = stand_in.frames()
    assert at_rest(stand_in.file)
    assert ended_how(stand_in.file) == "killed"
    assert seqs_are_gapless(frames)
    assert len(bodies(frames, Direction.TO_CLIENT)) == 50


def test_a_killed_recorder_is_said_once_and_everything_is_passed_on(tmp_path: Path) -> None:
    with StandIn(tmp_path / "a.db", BARE) as stand_in:
        stand_in.send(CALL % 0)
        stand_in.line()
        stand_in.recorder().kill()
        size = 40 << 20  # more than what is shared with the recorder can hold
        stand_in.send(b'{"method":"' + b"x" * size + b'"}\n')
        for number in range(20):
            stand_in.send(CALL % number)
            assert stand_in.line()
        status, _, err = stand_in.finish()
    assert status == 0
    assert err.count(b"\n") == 1
    assert b"nothing more is recorded" in err


def test_a_signal_to_the_whole_process_group_leaves_the_recorder_to_finish(tmp_path: Path) -> None:
    with StandIn(tmp_path / "a.db", BARE, start_new_session=True) as stand_in:
        stand_in.send(CALL % 0)
        stand_in.line()
        os.killpg(stand_in.process.pid, signal.SIGINT)
        stand_in.process.wait(30)
    assert ended_how(stand_in.file) == "signal:INT"
    assert at_rest(stand_in.file)


def test_signals_to_the_recorder_alone_do_nothing(tmp_path: Path) -> None:
    with StandIn(tmp_path / "a.db", BARE) as stand_in:
        stand_in.send(CALL % 0)
        stand_in.line()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            stand_in.recorder().send_signal(number)
        assert stand_in.finish(CALL % 1)[0] == 0
    assert len(bodies(stand_in.frames(), Direction.TO_CLIENT)) == 2


def test_the_end_of_stdout_does_not_wait_for_the_recorder(tmp_path: Path) -> None:
    """The recorder's process must not hold the protocol's pipes."""
    with StandIn(tmp_path / "a.db", BARE) as stand_in:
        stand_in.send(CALL % 0)
        stand_in.line()
        held = {os.readlink(f"/proc/{stand_in.recorder().pid}/fd/{number}") for number in (0, 1)}
        assert held == {os.devnull}
        assert stand_in.finish()[0] == 0


def test_both_processes_load_nothing_heavy(tmp_path: Path) -> None:
    """``-X importtime`` tells on stderr what is imported, in the process and in its fork."""
    command = [sys.executable, "-X", "importtime", *PROGRAM[1:], "-o", str(tmp_path / "a.db"), "--", "true"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True)
    loaded = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    assert {"workbench.standin", "sqlite3"} <= loaded
    assert not loaded & (HEAVY | {"subprocess", "socket", "selectors"})


def test_a_signal_while_the_recorder_still_writes_lets_us_go_and_the_file_is_finished(tmp_path: Path) -> None:
    with StandIn(tmp_path / "a.db", BARE) as stand_in:
        stand_in.send(CALL % 0)
        stand_in.line()
        recorder = stand_in.recorder()
        recorder.suspend()
        try:
            stand_in.hang_up()
            until(lambda: stand_in.processes() == [recorder])
            stand_in.process.send_signal(signal.SIGINT)
            assert stand_in.process.wait(30) == 0
        finally:
            recorder.resume()
        until(lambda: gone(recorder.pid))
    assert at_rest(stand_in.file)
    assert ended_how(stand_in.file) == "closed"


def test_a_disk_that_takes_no_more_is_said_once_and_everything_is_passed_on(tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    with StandIn(tmp_path / "a.db", python(CAT), preexec_fn=small_files) as stand_in:
        for number in range(200):
            call = CALL % number + b"x" * 20_000 + b"\n"
            stand_in.send(call)
            assert stand_in.read(len(call)) == call
        status, _, err = stand_in.finish()
    assert status == 0
    assert err.count(b"\n") == 1
    assert err.startswith(b"mcp-workbench: ")
    assert seqs_are_gapless(stand_in.frames())
