"""Runs the command line as a user does: a process of its own, with pipes or on a terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

PROGRAM = [sys.executable, "-m", "workbench"]
DEMO = ["--", sys.executable, "-m", "workbench.demo"]

#: Longest a command may take, in seconds.
PATIENCE = 60


def workbench(
    *words: str, env: Mapping[str, str] | None = None, stdin: str | None = None, cwd: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``mcp-workbench WORDS`` with pipes; stdin is empty unless text is given."""
    return subprocess.run(
        [*PROGRAM, *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        timeout=PATIENCE,
        check=False,
    )


def on_a_terminal(words: Sequence[str], env: Mapping[str, str] | None = None) -> tuple[int, bytes]:
    """Run the command on a pseudo terminal; gives its exit status and every byte it wrote there."""
    pid, terminal = pty.fork()
    if pid == 0:
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", **(env or {})}
        os.execvpe(PROGRAM[0], [*PROGRAM, *words], environment)
    written = bytearray()
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 1)
        if ready:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            written += piece
    os.close(terminal)
    _, how = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(how), bytes(written)
