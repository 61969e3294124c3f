"""How long a command waits: for a start, for an answer, and for a server that will not go."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import DEMO, PROGRAM, workbench
from tests.cli.waiting import until
from workbench.core.jsonrpc import loads
from workbench.store.reader import Reader

#: A timeout is for the start, too, which a busy machine may need longer for.
START = ("--start-timeout", "30")


def server(module: str, *words: str) -> list[str]:
    return ["--", sys.executable, "-m", f"tests.servers.{module}", *words]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        return stat.read().rpartition(")")[2].split()[0] != "Z"


def test_progress_keeps_a_call_alive_far_beyond_its_timeout(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    words = [
        "call",
        "long_operation",
        "duration=2.4",
        "steps=12",
        *START,
        "--timeout",
        "0.8",
        "-o",
        str(path),
    ]
    done = workbench(*words, *DEMO)
    assert (done.returncode, done.stdout) == (0, "Done: 12 steps in 2.4 s\n"), done.stderr
    with Reader.open(str(path)) as reader:
        methods = [frame.method for frame in reader.frames()]
    assert methods.count("notifications/progress") == 12
    assert "notifications/cancelled" not in methods


def test_no_amount_of_progress_goes_beyond_the_maximum() -> None:
    words = [
        "call",
        "long_operation",
        "duration=60",
        "steps=600",
        *START,
        "--timeout",
        "0.5",
        "--max-timeout",
        "1",
    ]
    done = workbench(*words, *DEMO)
    assert done.returncode == 3
    assert "tools/call was still going on after 1 s, the most a request may take" in done.stderr


def test_a_call_without_progress_times_out_and_is_cancelled_and_its_late_answer_is_recorded(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.db"
    words = ["call", "echo", "text=silent", *START, "--timeout", "0.5", "-o", str(path)]
    done = workbench(*words, *server("reports_progress"))
    assert done.returncode == 3
    assert "No answer to tools/call within 0.5 s" in done.stderr
    with Reader.open(str(path)) as reader:
        frames = list(reader.frames())
    (call,) = (frame for frame in frames if frame.kind.name == "REQUEST" and frame.name == "echo")
    (cancelled,) = (frame for frame in frames if frame.method == "notifications/cancelled")
    assert str(loads(cancelled.body)["params"]["requestId"]) == call.id
    (late,) = (frame for frame in frames if frame.kind.name == "RESULT" and frame.id == call.id)
    assert call.seq < cancelled.seq < late.seq


def test_a_slow_start_is_waited_for_while_its_words_are_recorded(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    path = tmp_path / "a.db"
    words = ["call", "echo", "text=here", "--start-timeout", "30", "-o", str(path)]
    with subprocess.Popen(
        [*PROGRAM, *words, *server("starts_slowly", str(gate))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        until(lambda: b"downloading" in written_so_far(path))
        gate.write_text("go")
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "here\n"), err


def written_so_far(path: Path) -> bytes:
    """The stderr that a recording has, while it is being written."""
    if not path.exists() or not path.stat().st_size:
        return b""
    done = workbench("sessions", "frames", str(path), "--find", "downloading")
    return done.stdout.encode()


def test_a_start_that_takes_too_long_is_told_with_the_last_words_of_the_server() -> None:
    done = workbench("call", "echo", "--start-timeout", "0.6", *server("never_answers"))
    assert done.returncode == 3
    assert "initialize within 0.6 s" in done.stderr
    assert "--start-timeout" in done.stderr
    assert "downloading 2 of 3" in done.stderr


@pytest.mark.parametrize("stubborn", [[], ["term"]], ids=["ignores stdin", "ignores TERM"])
def test_a_server_that_stays_is_ended_and_the_answer_is_given_all_the_same(
    stubborn: list[str], tmp_path: Path
) -> None:
    words = ["call", "echo", "text=done", "--shutdown-timeout", "0.3"]
    done = workbench(*words, *server("stays", *stubborn))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    path = tmp_path / "a.db"
    words = ["probe", "--json", "--shutdown-timeout", "0.3", "-o", str(path)]
    told = json.loads(workbench(*words, *server("stays", *stubborn)).stdout)
    assert told["process"]["signal"] == ("KILL" if stubborn else "TERM")
    with Reader.open(str(path)) as reader:
        started = loads(next(reader.frames()).body)
    assert not alive(started["pid"])


@pytest.mark.parametrize("command", ["call", "record"])
def test_a_grandchild_that_holds_the_pipes_does_not_survive_a_command(command: str, tmp_path: Path) -> None:
    target = server("leaves_a_grandchild")
    if command == "call":
        done = workbench("call", "echo", "text=x", "--shutdown-timeout", "0.3", *target)
        told = done.stdout
    else:
        hello = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}\n'
        call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}\n'
        done = workbench("record", "-o", str(tmp_path / "a.db"), *target, stdin=hello + call)
        told = json.loads(done.stdout.splitlines()[1])["result"]["content"][0]["text"]
    assert done.returncode == 0, done.stderr
    until(lambda: not alive(int(told)))
