"""A recorder killed at any moment leaves a recording that is readable up to its last commit."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workbench.store.copying import copy
from workbench.store.reader import Reader

#: Records calls as fast as it can and says what has been committed, until it is killed.
WRITER = """
import os, sys
from tests.store.session import calls
from workbench.store.recorder import Recorder
recorder = Recorder(sys.argv[1], on_commit=lambda seq: os.write(1, b"%d\\n" % seq))
recorder.connect("one", "stdio", "server")
for unit in calls(1 << 30):
    recorder.wait_room()
    recorder.put(unit)
"""


def killed_after(path: Path, seconds: float) -> int:
    """Kill a recorder so long after its first commit; returns the last seq it told of."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        told = [writer.stdout.readline()]
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            told.append(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
        told += writer.stdout.read().splitlines(keepends=True)
    # The last line may have been cut by the end.
    return max(int(line) for line in told if line.endswith(b"\n"))


def look(path: Path, told: int) -> None:
    with Reader.open(str(path)) as reader:
        height = reader.height()
        assert height >= told
        assert not reader.live
        assert reader.sessions()[0].ended_how is None
        for seq in {1, 2, told - 1, told, height}:
            frame = reader.frame(max(1, seq))
            assert b'"id":%d,' % ((max(1, seq) + 1) // 2) in frame.body
        if told > 1:
            assert reader.pair(2) == 1
    copied = path.with_name(f"copy of {path.name}")
    copy(str(path), str(copied))
    with Reader.open(str(copied)) as reader:
        assert reader.height() == height
    with sqlite3.connect(copied) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT count(*) FROM frame").fetchone() == (height,)


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.4])
def test_a_killed_recorder_leaves_everything_it_said_was_committed(tmp_path: Path, seconds: float) -> None:
    path = tmp_path / "killed.db"
    look(path, killed_after(path, seconds))


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("run", range(50))
def test_no_kill_of_many_at_random_moments_loses_a_committed_frame(tmp_path: Path, run: int) -> None:
    path = tmp_path / "killed.db"
    look(path, killed_after(path, random.Random(run).random() * 2))


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_kill_while_the_file_is_put_at_rest_leaves_it_readable(tmp_path: Path) -> None:
    for run in range(30):
        path = tmp_path / f"{run}.db"
        with subprocess.Popen([sys.executable, "-c", CLOSER, str(path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"closing\n"
            # A moment that moves through the whole closing.
            deadline = time.monotonic() + run * 0.002
            while time.monotonic() < deadline:
                pass
            os.kill(writer.pid, signal.SIGKILL)
        with Reader.open(str(path)) as reader:
            assert reader.height() == 40_000


CLOSER = """
import sys
from tests.store.session import calls
from workbench.store.recorder import Recorder
recorder = Recorder(sys.argv[1])
for unit in calls(20_000):
    recorder.put(unit)
recorder.flush(60)
print("closing", flush=True)
recorder.close()
"""
