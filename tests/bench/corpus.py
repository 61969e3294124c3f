"""How much faster a corpus of recordings is tried on two cores: the pytest plugin with pytest-xdist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.figures import Figure, median_of
from tests.replay.build import Tape, call, text
from tests.replay.serving import saved

#: Recordings, and calls in each.
RECORDINGS, CALLS = 60, 40

TURNS = 3

#: One test for each recording: the command is started, and every call of it is made.
TESTS = """
import json, subprocess
import pytest

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
         "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}

def calls(name):
    with subprocess.Popen(name, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        def ask(message):
            process.stdin.write(json.dumps(message).encode() + b"\\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())
        ask(HELLO)
        for n in range(CALLS):
            told = ask({"jsonrpc": "2.0", "id": n + 2, "method": "tools/call",
                        "params": {"name": "t", "arguments": {"n": n}}})
            assert told["result"]["content"][0]["text"] == str(n)
        process.stdin.close()
"""


def corpus() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "sessions").mkdir()
        lines = [TESTS.replace("CALLS", str(CALLS))]
        for number in range(RECORDINGS):
            tape = Tape().hello()
            for n in range(CALLS):
                tape.c(call(n + 2, "t", n=n)).s(text(n + 2, str(n)))
            saved(tape, folder / "sessions" / f"r{number}.db")
            lines.append(f'@pytest.mark.mcp_recording("r{number}")')
            lines.append(f"def test_{number}(mcp_command):\n    calls(mcp_command)\n")
        (folder / "test_corpus.py").write_text("\n".join(lines), encoding="utf-8")
        took: dict[int, list[float]] = {1: [], 2: []}
        for turn in range(TURNS + 1):
            for workers, seconds in took.items():
                spent = _run(folder, workers)
                if turn:
                    seconds.append(spent)
    one, two = median_of(took[1]), median_of(took[2])
    note = f"{os.cpu_count()} processors"
    yield Figure(f"{RECORDINGS} recordings by two workers", two, one, "s", "one worker", note=note)


def _run(folder: Path, workers: int) -> float:
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", str(workers), "-p", "no:cacheprovider"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(rf"^{RECORDINGS} passed", done.stdout, re.MULTILINE), done.stdout
    return time.perf_counter() - began


BENCHES = (corpus,)
