"""Nothing a server says commands the terminal, on any pane of the screen."""

from __future__ import annotations

import os
import pty
import re
import select
import sys
import time
from pathlib import Path

import pyte
import pytest

from tests.cli.command import PROGRAM
from tests.cli.hostile import ATTACK
from tests.servers.targets import ROOT

#: What the framework itself writes: cursor, colours, modes, the alternate screen.
OWN = re.compile(
    rb"\x1b\]22;[a-z-]*\x07|\x1b\[[0-9;:?<>=]*[ -/]*[@-~]|\x1b[=>78MH]|\x1b\([0B]|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)|\x1bP[^\x1b]*\x1b\\"
)
FORBIDDEN = re.compile(r"\x1b\]|\x1b\[2J\x1b\]0|\x07|\x9b|\x9d|\u202e|\u2066|\u200b|\u2028|\U000e0041")


class OnPty:
    """The program on a pseudo-terminal of its own; ``written`` is every byte it wrote."""

    def __init__(self, words: list[str], store: Path, size: tuple[int, int]) -> None:
        self.written = b""
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.environ.update(
                TERM="xterm-256color", LANG="C.UTF-8", MCP_WORKBENCH_STORE=str(store), COLUMNS="", LINES=""
            )
            os.environ["XDG_STATE_HOME"] = str(store)
            os.chdir(ROOT)
            os.execv(words[0], words)
        import fcntl
        import struct
        import termios

        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def read(self, seconds: float) -> None:
        """Take what comes, until nothing has come for a while or the time is over."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self._fd], [], [], 0.05)
            if not ready:
                continue
            try:
                data = os.read(self._fd, 65536)
            except OSError:
                return
            if not data:
                return
            self.written += data
            # Private modes and such mean nothing to the emulator, and some confuse it.
            self._stream.feed(re.sub(rb"\x1b\[[<>=][0-9;]*[a-zA-Z]|\x1b\[[0-9;]*\$[a-z]", b"", data))

    def wait_for(self, text: str, seconds: float = 20.0) -> str:
        deadline = time.monotonic() + seconds
        while text not in (shown := "\n".join(self._screen.display)):
            assert time.monotonic() < deadline, f"{text!r} did not come:\n{shown}"
            self.read(0.1)
        return shown

    def press(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    @property
    def pid(self) -> int:
        return self._pid

    def close(self) -> int:
        """Quit, and wait for the end; its status."""
        self.press("q")
        return self.ended()

    def ended(self) -> int:
        """Wait for the end; its status."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            self.read(0.1)
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                os.close(self._fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self._pid, 9)
        os.waitpid(self._pid, 0)
        raise AssertionError("the screen did not end")


def test_no_pane_lets_a_servers_control_characters_through(tmp_path: Path) -> None:
    shown = OnPty([*PROGRAM, "--", sys.executable, "-m", "tests.cli.hostile"], tmp_path, (120, 40))
    shown.wait_for("ready")
    shown.wait_for("tool␛")
    shown.press("\r\r")
    shown.wait_for("result")
    shown.press("\x1b")
    shown.read(0.5)
    for title in ("uri␛", "prompt␛", "stderr␛", "we offer", "asks", "following"):
        shown.press("]")
        shown.wait_for(title)
    shown.press("\x1b[H\r")
    shown.wait_for("pretty")
    shown.press("v")
    shown.wait_for("raw")
    shown.press("\x1b")
    shown.read(0.5)
    status = shown.close()
    assert status == 0
    left = OWN.sub(b"", shown.written).decode("utf-8", "replace")
    assert ATTACK not in left
    found = FORBIDDEN.search(left)
    assert found is None, repr(left[max(found.start() - 60, 0) : found.end() + 60]) if found else ""
    assert b"\x1b]52" not in shown.written
    assert b"\x1b]0;" not in shown.written


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("LANG", "C")])
def test_it_runs_without_colours_and_without_unicode(
    tmp_path: Path, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.tui.marks import ASCII
    from workbench.tui.palette import NO_COLOUR
    from workbench.tui.theme import choose_marks, choose_palette

    monkeypatch.setenv(name, value)
    if name == "NO_COLOR":
        assert choose_palette(os.environ) is NO_COLOUR
    else:
        assert choose_marks(os.environ) is ASCII
