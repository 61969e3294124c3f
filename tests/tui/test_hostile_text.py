"""What a terminal really gets when a server writes terminal commands into everything."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

import pytest

#: The framework's own commands: colours and styles, cursor moves, modes, queries, the pointer's shape.
OWN = re.compile(rb"\x1b\]22;[a-z-]*\x07|\x1b\[[0-9;:?=><$]*[ -/]*[@-~]|\x1b[P_][^\x1b]*\x1b\\|\x1b[78=>]")
_TEXT_OF_EVIL = ("title", "QUJD", "[red]", "[/nope]")


def output_of(module: str, term: str) -> bytes:
    """Everything that ``python -m module`` writes to a terminal of 100 by 40."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    environment = {**os.environ, "TERM": term, "LINES": "40", "COLUMNS": "100"}
    process = subprocess.Popen(
        [sys.executable, "-m", module], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    written = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            written += piece
    process.wait(10)
    os.close(ours)
    assert process.returncode == 0, written[-2000:]
    return written


@pytest.mark.parametrize("term", ["xterm-256color", "screen"])
def test_no_command_of_a_server_reaches_the_terminal(term: str) -> None:
    written = output_of("tests.tui.hostile_app", term)
    text = written.decode("utf-8", "replace")
    for word in _TEXT_OF_EVIL:
        assert word in text
    assert b"\x1b[2J" not in written
    rest = OWN.sub(b"", written).decode("utf-8", "replace")
    assert not set(rest) & set("\x1b\x07\x08\x00\x9b\x9d\u202e\u2066\u200b\ufeff\u2028")
    assert written.count(b"\x1b[?1049l") == 1
