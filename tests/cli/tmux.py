"""The program on a terminal that stays: tmux runs it, takes keys and shows the screen."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pytest

from tests.cli.waiting import until

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Terminal:
    """A tmux server of its own, so that nobody else's is touched."""

    def __init__(self, socket: str) -> None:
        self._socket = socket

    def tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._socket, *words], capture_output=True, text=True, check=False
        )
        return done.stdout

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def wait_for(self, *texts: str, seconds: float = 30) -> str:
        """The screen, as soon as all the texts are on it."""
        shown = ""

        def there() -> bool:
            nonlocal shown
            shown = self.screen()
            return all(text in shown for text in texts)

        try:
            until(there, seconds)
        except AssertionError:
            raise AssertionError(f"{texts} did not appear on:\n{shown}") from None
        return shown

    def ended(self) -> bool:
        return "EXIT " in self.screen()


@contextmanager
def terminal(
    words: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str] | None = None,
    width: int = 120,
    height: int = 40,
) -> Iterator[Terminal]:
    """Run a command in a terminal of this size; its exit status is shown as ``EXIT n`` when it ends."""
    socket = f"workbench-{uuid.uuid4().hex[:8]}"
    given = "".join(f"{name}={shlex.quote(value)} " for name, value in (env or {}).items())
    line = f"cd {shlex.quote(cwd)} && {given}{shlex.join(words)}; echo EXIT $?; cat"
    shown = Terminal(socket)
    shown.tmux("-f", os.devnull, "new-session", "-d", "-x", str(width), "-y", str(height), line)
    try:
        yield shown
    finally:
        shown.tmux("kill-server")
