"""The official SDK's client cannot tell a replay from the server that was recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from workbench.core.frame import Channel, Direction
from workbench.replay.selfcheck import selfcheck
from workbench.store.reader import Reader

WORKBENCH = [sys.executable, "-m", "workbench"]


def client(*command: str) -> list[Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.replay.official_client", *command],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen: list[Any] = json.loads(done.stdout)
    return seen


def spoken(path: Path, direction: Direction) -> list[bytes]:
    with Reader.open(str(path)) as reader:
        return [
            frame.body
            for frame in reader.frames()
            if frame.channel is Channel.STDIO and frame.direction is direction
        ]


def test_a_replay_of_server_everything_is_equal_for_the_official_client(
    tmp_path: Path, everything_command: list[str]
) -> None:
    recording, again, report = (tmp_path / name for name in ("live.db", "again.db", "report.json"))
    live = client(*WORKBENCH, "record", "-o", str(recording), "--", *everything_command)
    replay = [*WORKBENCH, "replay", "server", str(recording), "--strict", "--report", str(report)]
    replayed = client(*WORKBENCH, "record", "-o", str(again), "--", *replay)

    assert replayed == live
    kinds = [what for what, _ in replayed]
    assert kinds.count("progress") == 3
    assert {"sampling", "elicitation"} <= set(kinds)
    told = json.loads(report.read_text())
    assert told["verdict"] == "ok", told
    # The same client numbers its requests alike, so even identity is the same.
    for direction in (Direction.TO_SERVER, Direction.TO_CLIENT):
        assert sorted(spoken(again, direction)) == sorted(spoken(recording, direction))
    with Reader.open(str(recording)) as reader:
        verdict = selfcheck(reader.frames(connection=1))
    assert verdict.whole, verdict.problems
