"""``replay server`` as a neighbour: nothing live, nothing slow to load, never in the way of its client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.replay.build import Tape, call, request, text
from tests.replay.serving import SERVE, hello_lines, lines, saved
from workbench.core.frame import Direction
from workbench.store.copying import copy
from workbench.store.reader import Reader

#: What a stand-in cannot afford to load.
HEAVY = frozenset(
    (
        *("dataclasses", "subprocess", "inspect", "asyncio", "logging", "tempfile", "uuid", "pathlib"),
        *(
            "socket",
            "ssl",
            "pydantic",
            "anyio",
            "click",
            "msgspec",
            "httpx",
            "textual",
            "sqlite_utils",
            "mcp",
        ),
    )
)

WATCHED = """
import sys, json, os
touched = []
def watch(event, args):
    if event.split(".")[0] in ("socket", "subprocess", "ftplib", "smtplib", "urllib") or event in (
        "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn",
        "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate", "os.symlink",
    ):
        touched.append(event)
    elif event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        touched.append(f"open {args[0]}")
sys.addaudithook(watch)
sys.argv = ["workbench", *sys.argv[1:]]
from workbench.cli import main
code = main(sys.argv[1:])
with open(os.environ["TOLD"], "w") as told:
    json.dump({"touched": touched[:-1] if touched[-1:] == ["open " + os.environ["TOLD"]] else touched,
               "modules": sorted(sys.modules)}, told)
sys.exit(code)
"""


def watched(file: Path, said: bytes, told: Path, *words: str) -> dict[str, list[str]]:
    """Run a replay and tell what it touched and loaded."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, "replay", "server", str(file), *words],
        input=said,
        capture_output=True,
        timeout=60,
        check=False,
        # Python itself writes what it has compiled, and nothing else is let off.
        env={**os.environ, "TOLD": str(told), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode in (0, 6), done.stderr
    found: dict[str, list[str]] = json.loads(told.read_text())
    return found


@pytest.mark.parametrize("form", ["db", "jsonl"])
@pytest.mark.parametrize("tool", ["t", "unknown"])
def test_a_replay_opens_no_connection_starts_no_process_and_writes_nothing(
    tmp_path: Path, form: str, tool: str
) -> None:
    path = saved(Tape().hello().c(call(2, "t")).s(text(2, "x")), tmp_path / "a.db")
    if form == "jsonl":
        copy(str(path), str(tmp_path / "a.jsonl"))
    found = watched(tmp_path / f"a.{form}", hello_lines() + lines(call(5, tool)), tmp_path / "told.json")
    assert found["touched"] == []
    assert HEAVY & set(found["modules"]) == set()


def test_with_a_report_and_a_recording_only_those_are_written(tmp_path: Path) -> None:
    path = saved(Tape().hello(), tmp_path / "a.db")
    words = ["--report", str(tmp_path / "report.json"), "-o", str(tmp_path / "again.db")]
    found = watched(path, hello_lines(), tmp_path / "told.json", *words)
    written = [what for what in found["touched"] if not what.startswith(("os.rename", "os.chmod"))]
    assert written
    assert all("report.json" in what or "again.db" in what for what in written), written


def test_trap_18_stdout_carries_the_protocol_and_nothing_else(tmp_path: Path) -> None:
    path = saved(Tape().hello().c(call(2, "t")).s(text(2, "x")), tmp_path / "a.db")
    said = hello_lines() + lines(call(5, "t"), call(6, "unknown")) + b"junk\n"
    done = subprocess.run([*SERVE, str(path)], input=said, capture_output=True, timeout=60, check=False)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 5, 6]


def test_trap_17_lines_of_many_megabytes_pass_both_ways(tmp_path: Path) -> None:
    long = "x" * 12_000_000
    path = saved(Tape().hello().c(call(2, "t", value=long)).s(text(2, long)), tmp_path / "a.db")
    said = hello_lines() + lines(call(5, "t", value=long))
    done = subprocess.run([*SERVE, str(path)], input=said, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[:500]
    answer = json.loads(done.stdout.splitlines()[1])
    assert answer == text(5, long)


def test_a_client_that_writes_everything_before_it_reads_is_served(tmp_path: Path) -> None:
    """Both pipes hold 64 KiB: whoever only writes until it is done waits for ever for the other."""
    tape = Tape().hello().c(call(2, "t")).s(text(2, "y" * 50_000))
    path = saved(tape, tmp_path / "a.db")
    mock = subprocess.Popen(
        [*SERVE, str(path), "--after", "last"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert mock.stdin is not None
    assert mock.stdout is not None
    padding = "z" * 1000
    asked = [{**call(number, "t"), "padding": padding} for number in range(100, 400)]
    guard = threading.Timer(60, mock.kill)
    guard.start()
    mock.stdin.write(hello_lines() + lines(*asked))
    mock.stdin.close()
    answers = mock.stdout.read().splitlines()
    assert mock.wait(30) == 0
    guard.cancel()
    assert [json.loads(line)["id"] for line in answers] == [1, *range(100, 400)]


def test_stderr_that_nobody_reads_holds_nothing_up(tmp_path: Path) -> None:
    tape = Tape().hello()
    for _ in range(30):
        tape.err(b"e" * 8000)
    path = saved(tape.c(call(2, "t")).s(text(2, "x")), tmp_path / "a.db")
    mock = subprocess.Popen(
        [*SERVE, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert mock.stdin is not None
    assert mock.stdout is not None
    mock.stdin.write(hello_lines() + lines(call(5, "t")))
    mock.stdin.flush()
    assert [json.loads(mock.stdout.readline())["id"] for _ in range(2)] == [1, 5]
    mock.communicate(timeout=30)


def test_a_last_line_without_an_ending_is_answered(tmp_path: Path) -> None:
    path = saved(Tape().hello().c(call(2, "t")).s(text(2, "x")), tmp_path / "a.db")
    said = (hello_lines() + lines(call(5, "t"))).rstrip(b"\n")
    done = subprocess.run([*SERVE, str(path)], input=said, capture_output=True, timeout=60, check=False)
    assert json.loads(done.stdout.splitlines()[-1]) == text(5, "x")


def test_recorded_order_is_kept_over_pipes_and_a_sequential_client_still_answered(tmp_path: Path) -> None:
    tape = Tape().hello().c(call(2, "slow")).c(call(3, "fast")).s(text(3, "fast")).s(text(2, "slow"))
    path = saved(tape, tmp_path / "a.db")
    command = [*SERVE, str(path), "--order", "recorded"]
    both = hello_lines() + lines(call(5, "slow"), call(6, "fast"))
    done = subprocess.run(command, input=both, capture_output=True, timeout=60, check=False)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 6, 5]

    mock = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert mock.stdin is not None
    assert mock.stdout is not None
    for said, id in ((hello_lines(), 1), (lines(call(5, "slow")), 5), (lines(call(6, "fast")), 6)):
        mock.stdin.write(said)
        mock.stdin.flush()
        assert json.loads(mock.stdout.readline())["id"] == id
    mock.communicate(timeout=30)


def test_a_server_that_died_in_a_call_dies_again_with_its_status_and_last_words(tmp_path: Path) -> None:
    tape = Tape().hello().c(call(2, "boom")).err(b"KeyError: 'TOKEN'")
    tape.event(event="stdout_closed").event(event="exited", code=3)
    path, again = saved(tape, tmp_path / "a.db"), tmp_path / "again.db"
    mock = subprocess.Popen(
        [*SERVE, str(path), "-o", str(again)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert mock.stdin is not None
    assert mock.stdout is not None
    assert mock.stderr is not None
    mock.stdin.write(hello_lines() + lines(call(5, "boom")))
    mock.stdin.flush()
    assert len(mock.stdout.read().splitlines()) == 1
    assert mock.stderr.read() == b"KeyError: 'TOKEN'\n"
    assert mock.wait(30) == 3
    mock.stdin.close()
    with Reader.open(str(again)) as reader:
        events = [json.loads(frame.body)["event"] for frame in reader.frames() if frame.direction == 0]
        assert events == ["started", "stdout_closed", "exited"]
        assert reader.connections()[0].exit_code == 3


def test_the_recording_of_a_replay_tells_of_both_sides_like_any_other(tmp_path: Path) -> None:
    path, again = saved(Tape().hello(), tmp_path / "a.db"), tmp_path / "again.db"
    done = subprocess.run([*SERVE, str(path), "-o", str(again)], input=hello_lines(), timeout=60, check=False)
    assert done.returncode == 0
    with Reader.open(str(again)) as reader:
        [connection] = reader.connections()
        assert connection.revision == "2025-11-25"
        assert reader.sessions()[0].origin == "replay"
        sent = [frame.body for frame in reader.frames() if frame.direction is Direction.TO_CLIENT]
    with Reader.open(str(path)) as reader:
        assert sent == [frame.body for frame in reader.frames() if frame.direction is Direction.TO_CLIENT]


def test_a_report_that_cannot_be_written_is_an_error_before_anything_is_answered(tmp_path: Path) -> None:
    path = saved(Tape().hello(), tmp_path / "a.db")
    words = [*SERVE, str(path), "--report", str(tmp_path / "none" / "report.json")]
    done = subprocess.run(words, input=hello_lines(), capture_output=True, timeout=60, check=False)
    assert done.returncode == 7
    assert done.stdout == b""
    assert b"choose another place" in done.stderr


def test_a_miss_never_shows_a_live_secret_in_answer_report_or_on_stderr(tmp_path: Path) -> None:
    tape = Tape().hello()
    for number in (2, 3):
        tape.c(call(number, "login", key="<redacted:1 env TOKEN>", n=number)).s(text(number, "in"))
    path, report = saved(tape, tmp_path / "a.db"), tmp_path / "report.json"
    secret = "correct-horse-battery"
    said = lines(
        request(1, "initialize"),
        call(5, "login", key=secret, n=2),
        call(6, "login", key=secret, n=99, note=f"with {secret}", password="hunter2-hunter2"),
        call(7, "login", wrong=f"{secret}!", n=3),
    )
    words = [*SERVE, str(path), "--report", str(report)]
    done = subprocess.run(words, input=said, capture_output=True, timeout=60, check=False)
    assert done.returncode == 6
    assert len(json.loads(report.read_text())["misses"]) == 2
    for told in (done.stdout, done.stderr, report.read_bytes()):
        assert secret.encode() not in told
        assert b"hunter2" not in told
