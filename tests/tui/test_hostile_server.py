"""The whole screen on a server whose every text tries to command the terminal it is shown on."""

from __future__ import annotations

import sys

import pytest

from tests.cli.hostile import ATTACK
from tests.tui.on_pty import OnPty, on_pty
from tests.tui.test_hostile_text import OWN

HOSTILE = [sys.executable, "-m", "tests.cli.hostile"]

#: Commands the attack holds; the program itself uses none of them so.
COMMANDS = (b"\x1b[2J", b"\x1b]0;", b"\x1b]52;", b"\x9bm", b"\x9d0;")

END = "\x1b[F"


def walk(terminal: OnPty) -> None:
    """Everything that shows a server's text: each pane, a result, a frame as JSON, raw and hex."""
    terminal.wait_for("ready", "Tools 1", "argument")
    terminal.press("\r")
    terminal.wait_for("enter run")
    terminal.press("\r")
    terminal.wait_for("result", "and more")
    terminal.press("\x1b")
    for shown in ("templates", "what", "logger", "as offered"):
        terminal.press("]")
        terminal.wait_for(shown)
    terminal.press(END)
    terminal.wait_for("last 1 of 1 lines")
    terminal.press("]]")
    terminal.wait_for("following", "tools/list")
    terminal.press("\r")
    terminal.wait_for("jsonrpc")
    terminal.press("vv")
    terminal.wait_for("00000000")
    terminal.press("?")
    terminal.wait_for("Keys that work now")
    terminal.press("?")
    terminal.wait_for("raw, hex")
    terminal.press("q")


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 50)])
def test_nothing_a_server_says_commands_the_terminal(width: int, height: int) -> None:
    words = ["--no-record", "--name", "evil", "--", *HOSTILE]
    with on_pty(words, width=width, height=height) as terminal:
        walk(terminal)
        assert terminal.wait_for_end() == 0
    written = bytes(terminal.written)
    for command in COMMANDS:
        assert command not in written
    assert written.count(b"\x1b[?1049l") == 1
    rest = OWN.sub(b"", written).decode("utf-8", "replace")
    hidden = {character for character in ATTACK if not character.isprintable()}
    assert not set(rest) & (hidden - set("\r\n"))


def test_a_target_named_like_an_attack_is_shown_and_not_obeyed() -> None:
    words = ["--no-record", "--name", f"x{ATTACK}", "--", "no-such-program"]
    with on_pty(words) as terminal:
        terminal.wait_for("not started", "no-such-program")
        terminal.press("q")
        terminal.wait_for_end()
    for command in COMMANDS:
        assert command not in bytes(terminal.written)
