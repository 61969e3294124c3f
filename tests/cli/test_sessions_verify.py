"""``sessions verify``: a recording replayed against itself, and what is said of it elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import DEMO, on_a_terminal, workbench
from tests.demo.conversation import FIXTURE
from workbench import cli
from workbench.replay.selfcheck import Verdict

HTTP = Path(__file__).parents[1] / "recordings" / "http.jsonl"


@pytest.mark.parametrize("path", [FIXTURE, HTTP], ids=lambda path: path.stem)
def test_a_recording_that_stands_in_for_its_server_is_said_to(path: Path) -> None:
    done = workbench("sessions", "verify", str(path))
    assert done.returncode == 0, done.stdout
    assert "replays 100 %" in done.stdout


def test_programs_are_told_of_each_connection() -> None:
    told = json.loads(workbench("sessions", "verify", f"{FIXTURE}#weather", "--json").stdout)
    [one] = told["connections"]
    assert (one["connection"], one["whole"], one["given"]) == ("weather", True, one["frames"])
    assert one["frames"] > 30


def test_what_does_not_replay_is_told_with_the_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = Verdict(10, 9, ("#7 tools/call is not sent.",))
    monkeypatch.setattr("workbench.keep.selfcheck", lambda _: broken)
    assert cli.main(["sessions", "verify", str(FIXTURE)]) == 6
    assert capsys.readouterr().out == "weather replays 90 %, 9 of 10 frames\n  #7 tools/call is not sent.\n"


def test_a_session_that_was_recorded_on_a_terminal_says_whether_it_replays(tmp_path: Path) -> None:
    path = tmp_path / "one.db"
    status, written = on_a_terminal(["call", "weather_current", "location=Oslo", "-o", str(path), *DEMO])
    assert status == 0
    assert f"recorded to {path}".encode() in written.replace(b"\r\n", b"")
    assert b"replays 100 %" in written
