"""``replay server`` as a process: over real pipes, with its report, its statuses and its manners."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.replay.build import Tape, call, text
from tests.replay.serving import INITIALIZE, SERVE, lines, saved, served
from workbench.core.frame import Channel
from workbench.store.copying import copy
from workbench.store.reader import Reader

SESSIONS = Path(__file__).resolve().parents[2] / "sessions"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return saved(Tape().hello().c(call(2, "t", n=1)).s(text(2, "x")), tmp_path / "a.db")


def test_everything_recorded_is_answered_and_the_status_is_good(recording: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = served(
        str(recording), "--strict", "--report", str(report), said=lines(INITIALIZE, call(5, "t", n=1))
    )
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 5]
    assert done.stderr == b""
    assert json.loads(report.read_text())["verdict"] == "ok"


def test_a_miss_is_told_on_stderr_in_the_report_and_by_the_status(recording: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = served(str(recording), "--report", str(report), said=lines(INITIALIZE, call(5, "t", n=2)))
    assert done.returncode == 6
    assert b"nearest is #4, which differs at /arguments/n" in done.stderr
    told = json.loads(report.read_text())
    assert (told["verdict"], told["missed"]) == ("mismatch", 1)


def test_unused_requests_count_only_with_strict(recording: Path) -> None:
    assert served(str(recording), said=lines(INITIALIZE)).returncode == 0
    assert served(str(recording), "--strict", said=lines(INITIALIZE)).returncode == 6


def test_the_report_is_there_even_when_the_client_kills_the_mock(recording: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    mock = subprocess.Popen(
        [*SERVE, str(recording), "--report", str(report)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert mock.stdin is not None
    assert mock.stdout is not None
    mock.stdin.write(lines(INITIALIZE, call(5, "wrong")))
    mock.stdin.flush()
    assert [mock.stdout.readline() != b"" for _ in range(2)] == [True, True]
    mock.kill()
    mock.wait(30)
    told = json.loads(report.read_text())
    assert (told["requests"], told["missed"]) == (2, 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_with_report_and_recording_whole(
    recording: Path, tmp_path: Path, number: signal.Signals
) -> None:
    report, again = tmp_path / "report.json", tmp_path / "again.db"
    mock = subprocess.Popen(
        [*SERVE, str(recording), "--report", str(report), "-o", str(again)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert mock.stdin is not None
    assert mock.stdout is not None
    mock.stdin.write(lines(INITIALIZE))
    mock.stdin.flush()
    assert mock.stdout.readline()
    mock.send_signal(number)
    assert mock.wait(30) == 128 + number
    assert "signal" in json.loads(report.read_text())["ended"]
    with Reader.open(str(again)) as reader:
        assert reader.sessions()[0].ended_how == f"signal:{number.name[3:]}"
        kinds = [frame.channel for frame in reader.frames()]
        assert kinds == [Channel.PROCESS, Channel.STDIO, Channel.STDIO, Channel.PROCESS]


def test_a_client_that_stops_reading_is_no_traceback(recording: Path) -> None:
    mock = subprocess.Popen(
        [*SERVE, str(recording)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert mock.stdin is not None
    assert mock.stdout is not None
    assert mock.stderr is not None
    mock.stdout.close()
    mock.stdin.write(lines(INITIALIZE))
    mock.stdin.close()
    assert mock.stderr.read() == b""
    assert mock.wait(30) == 0


def test_the_text_form_in_a_read_only_folder_is_served_and_nothing_changes(
    recording: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "fixed"
    folder.mkdir()
    copy(str(recording), str(folder / "a.jsonl"))
    copy(str(recording), str(folder / "a.db"))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    os.chmod(folder, 0o500)
    try:
        for name in before:
            assert served(str(folder / name), said=lines(INITIALIZE)).returncode == 0
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    finally:
        os.chmod(folder, 0o700)


@pytest.mark.parametrize("fixture", sorted(SESSIONS.glob("*.*")), ids=lambda path: path.name)
def test_every_recording_of_the_project_is_served_from_a_read_only_folder(
    fixture: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "fixed"
    folder.mkdir()
    kept = folder / fixture.name
    kept.write_bytes(fixture.read_bytes())
    os.chmod(kept, 0o400)
    os.chmod(folder, 0o500)
    try:
        assert served(str(kept), said=lines(INITIALIZE)).returncode == 0
        assert [path.name for path in folder.iterdir()] == [fixture.name]
        assert kept.read_bytes() == fixture.read_bytes()
    finally:
        os.chmod(folder, 0o700)


def test_several_connections_are_listed_and_one_is_named(tmp_path: Path) -> None:
    path = saved(Tape().hello(), tmp_path / "a.db", connections=2)
    done = served(str(path))
    assert done.returncode == 2
    assert b"server-1, server-2" in done.stderr
    assert served(f"{path}#1/server-1", said=lines(INITIALIZE)).stdout != b""


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ([], 2, "needs a recording"),
        (["none.db"], 7, "There is no recording none.db"),
        (["--wrong", "x"], 2, "There is no option --wrong"),
        (["x", "--match", "roughly"], 2, "--match is one of"),
        (["x", "--report"], 2, "--report needs a value"),
        (["x", "y"], 2, "takes one recording"),
    ],
)
def test_what_is_wrong_with_the_command_is_one_sentence(words: list[str], status: int, said: str) -> None:
    done = served(*words)
    assert done.returncode == status
    assert said in done.stderr.decode()
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr


def test_help_is_data_on_stdout() -> None:
    done = served("--help")
    assert done.returncode == 0
    assert b"--on-answer" in done.stdout
