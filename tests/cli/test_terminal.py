"""Nothing a server says commands the terminal it is shown on."""

from __future__ import annotations

import re
import sys

import pytest

from tests.cli.command import on_a_terminal, workbench
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


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words).replace(ATTACK, "!"))
def test_no_control_character_of_a_server_reaches_the_terminal(words: list[str]) -> None:
    status, written = on_a_terminal([*words, *HOSTILE])
    assert status in (0, 4), written.decode(errors="replace")
    left = OWN.sub(b"", written).decode("utf-8")
    hidden = {
        c
        for c in left
        if c != "\n" and (ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 or (c in ATTACK and not c.isprintable()))
    }
    assert not hidden, left
    assert len(left) > 1


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
