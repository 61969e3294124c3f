"""Nothing a server says commands the terminal it is shown on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import PROGRAM, on_a_terminal, workbench
from tests.cli.hostile import ATTACK, evil

HOSTILE = ["--", sys.executable, "-m", "tests.cli.hostile"]

#: What this program itself writes to a terminal: colours and the erasing of a progress line.
OWN = re.compile(rb"\x1b\[[0-9;]*m|\r\x1b\[K|\r\n")

COMMANDS = [
    ["probe"],
    ["probe", "--json"],
    ["request", "tools/list"],
    ["request", "evil/error"],
    ["request", "evil/error", "--json"],
    ["request", "evil/unknown"],
    ["call", evil("tool").replace("\x00", "")],
    ["call", "tool", "--json"],
    ["read", "uri"],
    ["prompt", "prompt"],
]


def harmless(written: bytes) -> None:
    """Nothing but our own colours commands the terminal, and nothing is hidden."""
    left = OWN.sub(b"", written).decode("utf-8")
    hidden = {
        c
        for c in left
        if c != "\n" and (ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 or (c in ATTACK and not c.isprintable()))
    }
    assert not hidden, left
    assert len(left) > 1


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words).replace(ATTACK, "!"))
def test_no_control_character_of_a_server_reaches_the_terminal(words: list[str]) -> None:
    status, written = on_a_terminal([*words, *HOSTILE])
    assert status in (0, 4), written.decode(errors="replace")
    harmless(written)


@pytest.fixture(scope="module")
def hostile_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a session of the hostile server, whose own names are hostile too."""
    store = tmp_path_factory.mktemp("store")
    name = evil("name").replace("/", "")
    words = ["--name", name, "-o", str(store / "evil.db"), *HOSTILE, evil("argument")]
    asked = "".join(
        json.dumps({"jsonrpc": "2.0", "id": evil(str(number)), "method": method, "params": params}) + "\n"
        for number, (method, params) in enumerate(
            [
                ("initialize", {"protocolVersion": evil("2025"), "clientInfo": {"name": evil("client")}}),
                ("tools/call", {"name": evil("tool")}),
                ("evil/error", {}),
                (evil("method"), {}),
            ]
        )
    )
    assert workbench("record", *words, stdin=asked).returncode == 0
    (store / f"broken {name[:40]}.db").write_bytes(b"junk")
    return store


@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["list", "--json"],
        ["show", "evil"],
        ["show", "evil", "--json"],
        ["frames", "evil"],
        ["frames", "evil", "--body"],
        ["frames", "evil", "--json"],
        ["frames", "evil", "--connection", "none"],
        ["export", "evil"],
        ["export", "evil", "-o", "{tmp}/evil.jsonl"],
        ["keep", "evil", "evil", "--folder", "{tmp}"],
        ["keep", "evil", "evil", "--folder", "{tmp}", "--json"],
        ["show", evil("nowhere")],
        ["import", "{tmp}/hand.jsonl", "-o", "{tmp}/hand.db"],
    ],
    ids=lambda words: " ".join(words).replace(ATTACK, "!"),
)
def test_no_recording_commands_the_terminal(words: list[str], hostile_store: Path, tmp_path: Path) -> None:
    (tmp_path / "hand.jsonl").write_text(json.dumps({evil("line"): evil("type")}))
    _, written = on_a_terminal(
        ["sessions", *(word.replace("{tmp}", str(tmp_path)) for word in words)],
        {"MCP_WORKBENCH_STORE": str(hostile_store)},
    )
    harmless(written)


def test_the_mock_server_says_nothing_hostile_of_a_miss(hostile_store: Path) -> None:
    replay = [*PROGRAM, "replay", "server", str(hostile_store / "evil.db")]
    missed = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": evil("other"), "params": {evil("k"): evil("v")}}
    )
    hello = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}'
    done = subprocess.run(replay, input=f"{hello}\n{missed}\n".encode(), capture_output=True, timeout=60)
    told = b"".join(line for line in done.stderr.splitlines(True) if line.startswith(b"miss: "))
    assert b"other" in told, done.stderr
    harmless(told)


@pytest.mark.parametrize("words", [["probe"], ["call", "tool"], ["request", "evil/error"]])
def test_what_is_piped_is_as_harmless_as_what_is_shown(words: list[str]) -> None:
    done = workbench(*words, *HOSTILE)
    for stream in (done.stdout, done.stderr):
        assert not set(stream) & (set(map(chr, range(32))) - {"\n"} | {"\x7f", "\x9b", "\u202e", "\u200b"})


def test_the_attack_is_shown_where_it_stood() -> None:
    done = workbench("call", "tool", *HOSTILE)
    assert "text\nand more␛[2J␛]0;title␇" in done.stdout
    assert "\\u202egnp.exe" in done.stdout


def test_progress_is_told_on_a_terminal_and_taken_away_again() -> None:
    words = ["call", "long_operation", "duration=1", "steps=4", "--", sys.executable, "-m", "workbench.demo"]
    status, written = on_a_terminal(words)
    assert status == 0
    assert b"2/4 step 2 of 4" in written
    assert written.endswith(b"\r\x1b[KDone: 4 steps in 1 s\r\n")
