"""A million small frames at once, through the pumps with and without a recorder, and into a file.

Until the backlog (64 MB) is full the client gets the frames as fast as the pumps carry them; then as fast
as they are recorded, which is held against a bare ``executemany`` of the same rows.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from tests.bench.figures import Figure, median_of
from tests.bench.recorder import bare
from workbench.core.frame import Channel
from workbench.store.reader import Reader

ROOT = Path(__file__).resolve().parents[2]
FRAMES = 1_000_000

#: Frames of the first comparison: 45 MB, which the backlog takes.
EARLY = 400_000

SERVER = """
import os, sys
lines = b"".join(
    b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"bench","data":"line %07d of many"}}\\n'
    % number for number in range(1000)
)
for _ in range(int(sys.argv[1]) // 1000):
    view = memoryview(lines)
    while view:
        view = view[os.write(1, view):]
"""


def early() -> Iterator[Figure]:
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(5):
            theirs.append(EARLY / _seconds([sys.executable, "-m", "tests.bench.plain_pumps"], EARLY))
            ours.append(EARLY / _seconds(_record(f"{folder}/{turn}.db"), EARLY))
    yield Figure(
        "burst until the backlog is full",
        median_of(ours),
        median_of(theirs),
        "frames/s",
        "the same pumps without a recorder",
        least=0.5,
    )


def late() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/a.db"
        took = _seconds(_record(path), FRAMES, to_the_end=True)
        with Reader.open(path) as reader:
            height = reader.height()
            recorded = sum(frame.channel is Channel.STDIO for frame in reader.frames())
        plain = height / bare(f"{folder}/bare.db", path)
    assert recorded == FRAMES, f"{FRAMES - recorded} frames are missing"
    yield Figure(
        "burst of 1,000,000, to the last commit",
        FRAMES / took,
        plain,
        "frames/s",
        "executemany of the same rows",
        least=0.25,
        note=f"{recorded:,} of {FRAMES:,} frames recorded",
    )


def _record(path: str) -> list[str]:
    return [sys.executable, "-m", "workbench", "record", "-o", path, "--"]


def _seconds(prefix: Sequence[str], frames: int, *, to_the_end: bool = False) -> float:
    """From the first byte that arrives until the last one, or until the process has ended."""
    command = [*prefix, sys.executable, "-c", SERVER, str(frames)]
    process: subprocess.Popen[bytes] = subprocess.Popen(
        command, cwd=ROOT, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        out = process.stdout.fileno()
        missing = frames - os.read(out, 1 << 16).count(b"\n")
        began = time.perf_counter()
        while missing > 0 and (data := os.read(out, 1 << 16)):
            missing -= data.count(b"\n")
        took = time.perf_counter() - began
        assert missing <= 0
        if not to_the_end:
            # What is still to be recorded must not weigh on the next turn.
            started = psutil.Process(process.pid)
            for each in (started, *started.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    each.kill()
        process.stdin.close()
        process.wait(600)
        return time.perf_counter() - began if to_the_end else took


BENCHES = (early, late)
