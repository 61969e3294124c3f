"""How long it takes until something answers: a replay, a stand-in, the screen."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from tests.bench.figures import Figure, median_of
from tests.bench.roundtrip import BARE, INITIALIZE

ROOT = Path(__file__).resolve().parents[2]
WORKBENCH = [sys.executable, "-m", "workbench"]

#: An app that shows a word and nothing else.
EMPTY_APP = """
from textual.app import App
from textual.widgets import Static

class Empty(App[None]):
    def compose(self):
        yield Static("painted")

Empty().run()
"""

#: Control sequences, which are not yet a picture.
_CONTROL = re.compile(rb"\x1b(?:\[[0-9;?<=>$]*[ -/]*[@-~]|[\]P_][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|.)")


def answers() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/a.db"
        subprocess.run(
            [*WORKBENCH, "record", "-o", path, "--", *BARE],
            cwd=ROOT,
            input=_hello(),
            check=True,
            stdout=subprocess.DEVNULL,
        )
        sides = {
            "bare": BARE,
            "replay": [*WORKBENCH, "replay", "server", path],
            "replay text": [*WORKBENCH, "replay", "server", str(ROOT / "sessions" / "weather.jsonl")],
            "record": [*WORKBENCH, "record", "-o", f"{folder}/again.db", "--force", "--", *BARE],
        }
        taken = _in_turns({name: partial(_first_answer, command) for name, command in sides.items()}, 15)
    yield Figure(
        "replay server answers initialize", taken["replay"], taken["bare"], "ms", "a bare script", most=3
    )
    yield Figure(
        "… from a recording in text form", taken["replay text"], taken["bare"], "ms", "a bare script", most=3
    )
    yield Figure(
        "a server behind record answers initialize", taken["record"], taken["bare"], "ms", "without it"
    )


def paint() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "MCP_WORKBENCH_STORE": folder, "TERM": "xterm-256color"}
        sides = {
            "empty": [sys.executable, "-c", EMPTY_APP],
            "ours": [*WORKBENCH, "--", *BARE],
        }
        taken = _in_turns(
            {name: partial(_first_paint, command, environment) for name, command in sides.items()},
            7,
        )
    yield Figure(
        "first paint of the screen", taken["ours"], taken["empty"], "ms", "an empty Textual app", most=2
    )


def _in_turns(sides: dict[str, Callable[[], float]], times: int) -> dict[str, float]:
    """The median of each, after one turn that fills the caches."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(times + 1):
        for name, measure in sides.items():
            value = measure()
            if turn:
                taken[name].append(value)
    return {name: median_of(values) for name, values in taken.items()}


def _hello() -> bytes:
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    return json.dumps(message).encode() + b"\n"


def _first_answer(command: Sequence[str]) -> float:
    """Milliseconds from the start of the process to the answer to initialize."""
    began = time.perf_counter()
    process: subprocess.Popen[bytes] = subprocess.Popen(
        command, cwd=ROOT, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(_hello())
        answer = json.loads(process.stdout.readline())
        took = time.perf_counter() - began
        assert "result" in answer, answer
        process.stdin.close()
        process.stdout.read()
        process.wait(30)
    return took * 1e3


def _first_paint(command: Sequence[str], environment: dict[str, str]) -> float:
    """Milliseconds until the terminal gets something that is not a control sequence."""
    began = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.execvpe(command[0], list(command), environment)
    seen = b""
    while not first_text(seen):
        seen += os.read(terminal, 1 << 16)
    took = time.perf_counter() - began
    os.kill(pid, signal.SIGTERM)
    _drain(terminal)
    os.waitpid(pid, 0)
    os.close(terminal)
    return took * 1e3


def first_text(seen: bytes) -> bytes:
    """What of a terminal's input is not a control sequence."""
    return _CONTROL.sub(b"", seen).strip()


def _drain(terminal: int) -> None:
    """Read until the other side is gone, so that it never waits for us."""
    try:
        while os.read(terminal, 1 << 16):
            pass
    except OSError:
        return


BENCHES = (answers, paint)
