"""The shipped recording of the demo server is the reviewed one, and stands in for the server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
import pytest
from mcp import StdioServerParameters

from tests.demo.conversation import FIXTURE, converse
from workbench.demo.recording import RECORDING

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")

DEMO = StdioServerParameters(command=sys.executable, args=["-m", "workbench.demo"])


def test_the_package_ships_the_recording_of_the_sessions_folder() -> None:
    assert Path(RECORDING).read_bytes() == FIXTURE.read_bytes()


def test_it_names_no_folder_of_the_machine_it_was_made_on() -> None:
    started = next(line for line in FIXTURE.read_text().splitlines() if '"event":"started"' in line)
    event = json.loads(started)["json"]
    assert (event["command"], event["cwd"]) == (["python", "-m", "workbench.demo"], "/")


def test_the_replay_gives_the_same_client_the_same_as_the_server_itself(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    words = ["-m", "workbench", "replay", "server", "--strict", "--report", str(report), RECORDING]
    replayed = anyio.run(converse, StdioServerParameters(command=sys.executable, args=words))
    live = anyio.run(converse, DEMO)
    assert replayed.results == live.results
    assert replayed.progress == live.progress == [(n, 3, f"step {n} of 3") for n in (1, 2, 3)]
    assert replayed.notified == live.notified
    assert replayed.asked == live.asked == ["Whom shall I greet?", "sample 100", "roots"]
    told = json.loads(report.read_text())
    assert not told.get("misses"), told
