"""From a fresh start to a green replay in few keys, on a real terminal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import PROGRAM
from tests.cli.tmux import terminal

#: What the whole walk may take.
KEYS = 12

CLIENT = """
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        await session.list_tools()
        result = await session.call_tool("calculator_arithmetic", {"expression": "6*7"})
        print(result.content[0].text)

asyncio.run(main())
"""


@pytest.fixture
def _tmux() -> None:
    if shutil.which("tmux") is None:
        if os.environ.get("WORKBENCH_REQUIRE_PEERS") == "1":
            pytest.fail("tmux is not installed, and what is required here needs it")
        pytest.skip("tmux is not installed")


@pytest.mark.usefixtures("_tmux")
def test_connect_call_keep_and_replay_take_less_than_twelve_keys(tmp_path: Path) -> None:
    pressed = 0
    env = {"MCP_WORKBENCH_STORE": str(tmp_path / "store"), "XDG_STATE_HOME": str(tmp_path / "state")}
    words = [*PROGRAM, "--", sys.executable, "-m", "workbench.demo"]
    with terminal(words, cwd=str(tmp_path), env=env, width=80, height=24) as shown:

        def press(*keys: str) -> None:
            nonlocal pressed
            pressed += len(keys)
            shown.press(*keys)

        shown.wait_for("ready", "calculator_arithmetic", "enter fill in")
        press("Enter", "6", "*", "7", "Enter")
        shown.wait_for("result", "42")
        press("k", "s", "Enter")
        shown.wait_for("replays 100 %", "replay server sessions/s.jsonl")
        press("q")
        shown.wait_for("EXIT 0")
    assert pressed < KEYS
    kept = (tmp_path / "sessions" / "s.jsonl").read_text()
    assert "calculator_arithmetic" in kept
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, *PROGRAM, "replay", "server", "sessions/s.jsonl"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.strip() == "6*7 = 42", done.stderr
