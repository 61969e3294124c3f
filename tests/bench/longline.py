"""A line of 100 MB against one of 10 MB: the time is linear in the size, the bytes are the same."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.figures import Figure, median_of
from workbench.core.frame import Channel
from workbench.store.reader import Reader

ROOT = Path(__file__).resolve().parents[2]

SERVER = """
import os, sys
os.read(0, 1)
line = b'{"jsonrpc":"2.0","id":1,"result":{"text":"' + b"0123456789abcdef" * (int(sys.argv[1]) // 16) + b'"}}\\n'
view = memoryview(line)
while view:
    view = view[os.write(1, view):]
"""


def long_line() -> Iterator[Figure]:
    ours, theirs = [], []
    for _ in range(3):
        theirs.append(_seconds(10_000_000))
        ours.append(_seconds(100_000_000))
    yield Figure(
        "a line of 100 MB, passed on and recorded",
        median_of(ours),
        median_of(theirs),
        "s",
        "a line of 10 MB",
        most=15,
        note="bytes unchanged in the pipe and in the file",
    )


def _seconds(size: int) -> float:
    """From the request until the file is whole, with the start of the processes taken out."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/a.db"
        record = [sys.executable, "-m", "workbench", "record", "-o", path, "--"]
        process: subprocess.Popen[bytes] = subprocess.Popen(
            [*record, sys.executable, "-c", SERVER, str(size)],
            cwd=ROOT,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with process:
            assert process.stdin is not None
            assert process.stdout is not None
            while not _started(path):
                time.sleep(0.001)
            began = time.perf_counter()
            process.stdin.write(b"\n")
            digest = hashlib.sha256()
            while data := os.read(process.stdout.fileno(), 1 << 16):
                digest.update(data)
            process.stdin.close()
            assert process.wait(600) == 0
            took = time.perf_counter() - began
        with Reader.open(path) as reader:
            (frame,) = [
                frame for frame in reader.frames() if frame.channel is Channel.STDIO and frame.size > 1000
            ]
        assert hashlib.sha256(frame.body + b"\n").digest() == digest.digest()
        return took


def _started(path: str) -> bool:
    """Whether the server's start has been recorded."""
    try:
        with Reader.open(path) as reader:
            return reader.height() > 0
    except Exception:
        return False


BENCHES = (long_line,)
