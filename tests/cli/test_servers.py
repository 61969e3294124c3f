"""``servers``, and what is asked on the terminal before a server of a file is started."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import PATIENCE, PROGRAM, workbench
from tests.config.here import Here, set_up

DEMO: dict[str, Any] = {"command": sys.executable, "args": ["-P", "-m", "workbench.demo"]}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    return set_up(tmp_path, monkeypatch)


def talk(words: Sequence[str], turns: Sequence[tuple[str, str]]) -> tuple[int, str]:
    """Run a command on a terminal; type each answer when its question stands there."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(PROGRAM[0], [*PROGRAM, *words], {**os.environ, "TERM": "dumb", "COLUMNS": "120"})
    written, left, read_to = "", list(turns), 0
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 1)[0]:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            written += piece.decode("utf-8", "replace")
        if left and left[0][0] in written[read_to:]:
            question, answer = left.pop(0)
            read_to = written.index(question, read_to) + len(question)
            os.write(terminal, answer.encode())
    os.close(terminal)
    _, how = os.waitpid(pid, 0)
    assert not left, written
    return os.waitstatus_to_exitcode(how), written


def listed(*words: str) -> dict[str, dict[str, Any]]:
    done = workbench("servers", *words, "--json")
    assert done.returncode == 0, done.stderr
    return {one["name"]: one for file in json.loads(done.stdout)["files"] for one in file["servers"]}


def test_every_file_and_entry_is_listed_with_its_state(here: Here) -> None:
    here.write(
        ".mcp.json",
        {
            "mcpServers": {
                "demo": DEMO,
                "odd": {"command": 1.5, "args": "x"},
                "off": {"command": "x", "disabled": True},
            }
        },
    )
    here.copy("vscode.json", ".vscode/mcp.json")
    here.write("~/.cursor/mcp.json", {"mcpServers": {"mine": {"url": "https://u:geheim12@host/mcp"}}})
    here.write("~/.claude.json", "{ broken")
    done = workbench("servers")
    assert done.returncode == 0
    assert ".mcp.json  project" in done.stdout
    assert "~/.cursor/mcp.json  Cursor" in done.stdout
    assert "~/.claude.json:1:3: a name in quotes" in done.stdout
    assert re.search(r"odd +bad +\.mcp\.json:1:\d+: mcpServers\.odd\.args: is no list", done.stdout)
    assert re.search(r"mine +ok +https://u:\*\*\*@host/mcp", done.stdout)
    assert "asks for api-key: API key" in done.stdout
    assert "geheim12" not in done.stdout
    seen = listed()
    states = {name: one["state"] for name, one in seen.items()}
    assert states == {
        "demo": "asks",
        "odd": "bad",
        "off": "disabled",
        "remote": "asks",
        "local": "bad",
        "signed in": "asks",
        "mine": "ok",
    }
    assert seen["remote"]["inputs"] == ["stage", "api-key", "team"]
    assert seen["remote"]["line"] == 16


def test_nothing_found_is_said_and_no_error(here: Here) -> None:
    done = workbench("servers")
    assert (done.returncode, done.stdout) == (0, "")
    assert "No config file with servers was found" in done.stderr
    assert json.loads(workbench("servers", "list", "--json").stdout) == {"files": []}


def test_a_target_is_kept_used_and_forgotten(here: Here) -> None:
    kept = workbench(
        "servers", "keep", "my demo", "--json", "--env", "A=1", "--", sys.executable, "-m", "workbench.demo"
    )
    assert kept.returncode == 0, kept.stderr
    assert json.loads(kept.stdout)["name"] == "my demo"
    done = workbench("probe", "--json", "@my demo")
    assert done.returncode == 0, done.stderr
    assert listed()["my demo"]["env"] == ["A"]
    assert workbench("servers", "forget", "my demo").returncode == 0
    assert listed() == {}
    again = workbench("servers", "forget", "my demo")
    assert again.returncode == 2
    assert "has no server 'my demo'" in again.stderr


def test_a_script_starts_a_projects_server_only_with_a_yes(here: Here) -> None:
    witness = here.project / "started"
    shell: dict[str, Any] = {
        "command": "sh",
        "args": ["-c", f"touch {witness}; exec {sys.executable} -P -m workbench.demo"],
    }
    here.write(".mcp.json", {"mcpServers": {"demo": shell}})
    refused = workbench("call", "calculator_arithmetic", "expression=7", "@demo")
    assert refused.returncode == 2
    assert ".mcp.json asks to start demo: sh -c" in refused.stderr
    assert "--yes" in refused.stderr
    assert "mcp-workbench servers allow demo" in refused.stderr
    assert not witness.exists()
    assert workbench("call", "calculator_arithmetic", "expression=7", "@demo", "--yes").stdout == "7 = 7\n"
    assert workbench("probe", "@demo").returncode == 2
    allowed = workbench("servers", "allow", "demo")
    assert allowed.returncode == 0
    assert f"touch {witness}" in allowed.stderr
    assert workbench("call", "calculator_arithmetic", "expression=7", "@demo").stdout == "7 = 7\n"
    shell["args"].append("more")
    here.write(".mcp.json", {"mcpServers": {"demo": shell}})
    assert workbench("probe", "@demo").returncode == 2


def test_a_users_own_server_needs_no_agreement(here: Here) -> None:
    here.write("~/.cursor/mcp.json", {"mcpServers": {"demo": DEMO}})
    done = workbench("servers", "allow", "demo")
    assert done.returncode == 0
    assert "needs no agreement" in done.stderr
    assert workbench("probe", "@demo").returncode == 0


ANSWERS = [("y\n", 0, 0), ("o\n", 0, 2), ("n\n", 2, 2), ("\n", 2, 2), ("\x04", 2, 2)]


@pytest.mark.parametrize(("answer", "status", "after"), ANSWERS, ids=["yes", "once", "no", "enter", "end"])
def test_a_person_is_asked_and_a_yes_is_remembered(here: Here, answer: str, status: int, after: int) -> None:
    here.write(".mcp.json", {"mcpServers": {"demo": {**DEMO, "env": {"MY_TOKEN": "geheim1234"}}}})
    got, written = talk(["request", "ping", "@demo"], [("[N]o: ", answer)])
    assert got == status, written
    assert ".mcp.json asks to start demo:" in written
    assert f"-P -m workbench.demo\r\n  in {here.project}\r\n  with the variables MY_TOKEN=***" in written
    assert workbench("request", "ping", "@demo").returncode == after


def test_what_a_projects_file_says_commands_no_terminal(here: Here) -> None:
    here.write(
        ".mcp.json", {"mcpServers": {"de\x1b[2Jmo": {"command": "x\x1b]0;y\x07\u202e", "args": ["a\nb"]}}}
    )
    for words in (["probe", "@de\x1b[2Jmo"], ["servers"], ["servers", "allow", "de\x1b[2Jmo"]):
        turns = [("[N]o: ", "n\n")] if words[0] == "probe" else []
        _, written = talk(words, turns)
        assert not set(written) & {"\x1b", "\x07", "\u202e"}, written
        if words[0] != "servers" or len(words) > 1:
            assert "'a␊b'" in written


def test_inputs_are_asked_for_and_a_password_is_not_shown(here: Here) -> None:
    inputs = [
        {"type": "promptString", "id": "key", "description": "API key", "password": True},
        {"type": "promptString", "id": "team", "default": "blue"},
        {"type": "pickString", "id": "stage", "options": ["dev", {"label": "Production", "value": "prod"}]},
    ]
    server: dict[str, Any] = {
        "command": sys.executable,
        "args": ["-m", "tests.servers.tells_its_environment"],
    }
    server["env"] = {"KEY": "${input:key}", "TEAM": "${input:team}", "STAGE": "${input:stage}"}
    here.write("mine.json", {"servers": {"a": server}, "inputs": inputs})
    turns = [
        ("API key: ", "geheim1234\n"),
        ("team [blue]: ", "\n"),
        ("dev, Production\r\nstage: ", "nowhere\n"),
        ("choose one of them\r\nstage: ", "Production\n"),
    ]
    status, written = talk(["request", "ping", "--config", "mine.json", "@a", "--timeout", "20"], turns)
    assert status in (0, 3, 4), written
    assert "geheim1234" not in written
    assert "is none of dev, Production" in written
    done = workbench("probe", "--config", "mine.json", "@a")
    assert done.returncode == 2
    assert "needs the inputs 'key', 'team', 'stage'; give --input key=VALUE" in done.stderr


def test_a_secret_input_is_in_no_recording(here: Here) -> None:
    demo = {**DEMO, "env": {"A": "${input:perplexity}"}}
    inputs = [{"type": "promptString", "id": "perplexity", "password": True}]
    here.write("mine.json", {"servers": {"a": demo}, "inputs": inputs})
    words = ["--config", "mine.json", "--input", "perplexity=geheim1234", "@a"]
    workbench("request", "-o", "out.db", "ping", '{"_meta":{"x":"echo-of-geheim1234"}}', *words)
    shown = workbench("sessions", "frames", "out.db", "--json").stdout
    assert "echo-of-" in shown
    assert "geheim1234" not in shown


def test_what_is_listed_can_be_piped_away(here: Here) -> None:
    here.write(".mcp.json", {"mcpServers": {f"s{number}": {"command": "x"} for number in range(2000)}})
    done = subprocess.run(
        f"{sys.executable} -m workbench servers | head -1; echo ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.stdout.splitlines() == [".mcp.json  project", "0"]
