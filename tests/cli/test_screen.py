"""The screen as it is started from a command line, on a real terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psutil
import pytest

from tests.cli.command import PROGRAM, workbench
from tests.cli.tmux import needs_tmux, terminal
from tests.cli.waiting import until
from tests.demo.conversation import FIXTURE

pytestmark = needs_tmux


def surroundings(tmp_path: Path) -> dict[str, str]:
    return {"MCP_WORKBENCH_STORE": str(tmp_path / "store"), "XDG_STATE_HOME": str(tmp_path / "state")}


def servers_of(folder: Path) -> list[int]:
    """The processes that were started for a test, found by its store in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("MCP_WORKBENCH_STORE") == str(folder / "store"):
                found.append(process.pid)
        except (psutil.AccessDenied, psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return [pid for pid in found if pid != os.getpid()]


def test_demo_opens_with_both_connections_ready_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with terminal([*PROGRAM, "demo"], cwd=str(tmp_path), env=surroundings(tmp_path)) as shown:
        screen = shown.wait_for("demo ready", "weather ready", "calculator_arithm")
        assert "REC" in screen
        shown.press("q")
        shown.wait_for("EXIT 0")
    until(lambda: not servers_of(tmp_path))
    kept = workbench("sessions", "list", env=surroundings(tmp_path)).stdout
    assert "closed" in kept.splitlines()[1]


def test_targets_of_the_command_line_are_connections_of_the_screen(tmp_path: Path) -> None:
    server = f"{sys.executable} -m workbench.demo"
    words = ["--no-record", "--stdio", server, "--name", "first", "--stdio", server, "--name", "second"]
    with terminal(
        [*PROGRAM, *words], cwd=str(tmp_path), env=surroundings(tmp_path), width=80, height=24
    ) as shown:
        shown.wait_for("first ready", "second ready")
        shown.press("q")
        shown.wait_for("EXIT 0")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("file", ["text", "sqlite"])
def test_open_shows_a_recording_in_either_form(tmp_path: Path, file: str) -> None:
    path = str(FIXTURE)
    if file == "sqlite":
        path = str(tmp_path / "weather.db")
        assert workbench("sessions", "import", str(FIXTURE), "-o", path).returncode == 0
    with terminal([*PROGRAM, "open", path], cwd=str(tmp_path), env=surroundings(tmp_path)) as shown:
        shown.wait_for("weather", "calculator_arithm")
        shown.press("q")
        shown.wait_for("EXIT 0")


def test_a_failed_connection_is_on_the_screen_with_its_reason(tmp_path: Path) -> None:
    words = ["--no-record", "--", "no-such-program-anywhere"]
    with terminal([*PROGRAM, *words], cwd=str(tmp_path), env=surroundings(tmp_path)) as shown:
        shown.wait_for("no-such-program-anywhere")
        shown.press("q")
        shown.wait_for("EXIT 0")
