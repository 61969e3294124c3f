"""The program on a pseudo terminal of our own: every byte it writes, and what a terminal makes of them."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pyte

#: Longest a text may take to appear (seconds).
PATIENCE = 30.0


class OnPty:
    """``written`` is what came so far; ``screen`` is what a terminal shows of it."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int, width: int, height: int) -> None:
        self.process = process
        self.written = bytearray()
        self._terminal = terminal
        self._screen = pyte.Screen(width, height)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def screen(self) -> str:
        return "\n".join(self._screen.display)

    def press(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def wait_for(self, *texts: str) -> str:
        """Read until all the texts are on the screen."""
        deadline = time.monotonic() + PATIENCE
        while not all(text in self.screen for text in texts):
            assert time.monotonic() < deadline, f"{texts} did not appear on:\n{self.screen}"
            assert self._read(), f"{texts} did not appear before the end:\n{self.screen}"
        return self.screen

    def wait_for_end(self) -> int:
        """Read on until the program ends; its exit status."""
        deadline = time.monotonic() + PATIENCE
        while self._read():
            assert time.monotonic() < deadline, f"it did not end:\n{self.screen}"
        return self.process.wait(PATIENCE)

    def resize(self, width: int, height: int) -> None:
        _set_size(self._terminal, width, height)
        self._screen.resize(height, width)

    def _read(self) -> bool:
        if not select.select([self._terminal], [], [], 0.1)[0]:
            return True
        try:
            piece = os.read(self._terminal, 65536)
        except OSError:
            return False
        self.written += piece
        self._stream.feed(piece)
        return bool(piece)


@contextmanager
def on_pty(
    words: Sequence[str],
    *,
    width: int = 100,
    height: int = 40,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> Iterator[OnPty]:
    """Run ``mcp-workbench WORDS`` on a terminal of this size; it is killed at the end if it still runs."""
    ours, theirs = pty.openpty()
    _set_size(theirs, width, height)
    environment = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", **(env or {})}
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        cwd=cwd,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield OnPty(process, ours, width, height)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(ours)


def _set_size(terminal: int, width: int, height: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
