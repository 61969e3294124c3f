"""A server whose every text tries to command the terminal, on a small screen and in a target's name."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cli.command import PROGRAM
from tests.cli.hostile import ATTACK
from tests.tui.test_terminal_safety import FORBIDDEN, OWN, OnPty

HOSTILE = [sys.executable, "-m", "tests.cli.hostile"]

END = "\x1b[F"


def assert_harmless(written: bytes) -> None:
    assert written.count(b"\x1b[?1049l") == 1
    for command in (b"\x1b[2J", b"\x1b]0;", b"\x1b]52;"):
        assert command not in written
    assert FORBIDDEN.search(OWN.sub(b"", written).decode("utf-8", "replace")) is None


def test_filled_in_run_and_read_to_the_end_on_a_small_screen_nothing_of_a_server_is_obeyed(
    tmp_path: Path,
) -> None:
    words = [*PROGRAM, "--no-record", "--name", "evil", "--", *HOSTILE]
    shown = OnPty(words, tmp_path, (80, 24))
    for keys, text in (
        ("", "Tools 1"),
        ("\r", "enter run"),
        ("\r", "and more"),
        ("]]", "what"),
        ("]]", "as offered"),
        (END, "last 1 of 1 lines"),
        ("]]", "tools/list"),
        ("\r", "jsonrpc"),
        ("vv", "00000000"),
        ("?", "Keys that work now"),
        ("?", "raw, hex"),
    ):
        shown.press(keys)
        shown.wait_for(text)
    assert shown.close() == 0
    assert_harmless(shown.written)


def test_a_target_named_like_an_attack_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    words = [*PROGRAM, "--no-record", "--name", f"x{ATTACK}", "--", "no-such-program"]
    shown = OnPty(words, tmp_path, (80, 24))
    shown.wait_for("not started")
    assert "no-such-program" in shown.wait_for("connects again")
    assert shown.close() == 0
    assert_harmless(shown.written)
