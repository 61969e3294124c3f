"""From an empty start to a green test of what was just seen, on a real terminal, in nine keys."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import PROGRAM
from tests.cli.tmux import Terminal, needs_tmux, terminal

# Where peers are required, tmux is as well: a skip is a failure there.
pytestmark = [needs_tmux, pytest.mark.peer]

#: The walk must take fewer.
MOST_KEYS = 12

_TEST = """
import anyio
from mcp import ClientSession, StdioServerParameters, stdio_client

SERVER = {server}


def test_the_calculator_answers_as_it_did():
    async def ask():
        async with stdio_client(SERVER) as (read, write), ClientSession(read, write) as client:
            await client.initialize()
            return await client.call_tool("calculator_arithmetic", {{"expression": "7"}})

    assert anyio.run(ask).content[0].text == "{expected}"
"""


class Counted:
    """A terminal that counts the keys it is given."""

    def __init__(self, shown: Terminal) -> None:
        self.shown = shown
        self.keys = 0

    def press(self, *keys: str) -> None:
        self.keys += len(keys)
        self.shown.press(*keys)


def server_line(screen: str) -> str:
    """The line for the official client as it stands on the screen, its rows joined."""
    found = re.search(r"(StdioServerParameters\(.*?\]\))", screen, re.DOTALL)
    assert found is not None, screen
    return " ".join(found[1].split())


def run_test(folder: Path, server: str, expected: str) -> subprocess.CompletedProcess[str]:
    """Run a test that uses the line as it was told, in the project's folder."""
    (folder / "test_kept.py").write_text(_TEST.format(server=server, expected=expected))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_kept.py"],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40)])
def test_connect_call_keep_and_replay_to_a_green_test_take_fewer_than_twelve_keys(
    tmp_path: Path, width: int, height: int
) -> None:
    env = {"MCP_WORKBENCH_STORE": str(tmp_path / "store"), "XDG_STATE_HOME": str(tmp_path / "state")}
    with terminal(PROGRAM, cwd=str(tmp_path), env=env, width=width, height=height) as shown:
        walk = Counted(shown)
        shown.wait_for("d  opens the demo")
        walk.press("d")
        shown.wait_for("demo ready", "weather ready", "enter fill in")
        walk.press("Enter", "7", "Enter")
        shown.wait_for("result", '{"expression":"7"}', "k keep")
        walk.press("k")
        shown.wait_for("keep as")
        walk.press("a", "Enter")
        told = shown.wait_for("kept sessions/a.jsonl", "replays 100 %", "StdioServerParameters")
        walk.press("Enter", "q")
        shown.wait_for("EXIT 0")
    assert walk.keys < MOST_KEYS
    done = run_test(tmp_path, server_line(told), "7 = 7")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_the_test_of_a_kept_session_is_red_when_the_server_is_expected_to_answer_otherwise(
    tmp_path: Path,
) -> None:
    fixture = Path(__file__).parents[2] / "sessions" / "weather.jsonl"
    server = f'StdioServerParameters(command="mcp-workbench", args=["replay", "server", "{fixture}"])'
    assert run_test(tmp_path, server, "never that").returncode == 1
