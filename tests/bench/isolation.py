"""What a server that misbehaves costs the others in the same session.

Ten connections in one session, recorded. Nine are called in turns while the tenth is good, and again
while it floods, hangs, trickles or closes at a stage of its handshake or in a call. The good ones'
median and 99th percentile are held against the run in which all are good.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator

import anyio

from tests.bench.figures import Figure
from tests.bench.roundtrip import BARE, ROOT
from workbench.config import Target, Timeouts
from workbench.errors import ConnectionFailed
from workbench.session import Session
from workbench.wire.connection import Connection

GOOD = 9

#: Calls of each good connection in each run.
CALLS = 60

#: A pause between calls (seconds), as between a user's; without it the machine itself is measured.
PAUSE = 0.002

#: No call of a good connection may take longer (ms).
LONGEST = 100.0

BAD = [
    (kind, stage)
    for kind in ("flood", "hang", "trickle", "close")
    for stage in ("start", "initialize", "list", "call")
]


def among_ten() -> Iterator[Figure]:
    for kind, stage in BAD:
        # Before and after, so that what else the machine does falls on both sides.
        before, _ = anyio.run(_run, None)
        with_bad, frames = anyio.run(_run, (kind, stage))
        after, _ = anyio.run(_run, None)
        good = before + after
        name = f"one of ten: {kind} at {stage}"
        most = max(with_bad)
        late = "" if most <= LONGEST else " TOO LONG"
        note = f"longest {most:.1f} ms{late} of {LONGEST:g}, {frames:,} frames of the bad one"
        yield Figure(
            f"{name}, median", _median(with_bad), _median(good), "ms", "all good", most=1.2, note=note
        )
        yield Figure(f"{name}, p99", _p99(with_bad), _p99(good), "ms", "all good", most=3)


async def _run(bad: tuple[str, str] | None) -> tuple[list[float], int]:
    """The times (ms) of all calls of the good connections, and how many frames the tenth had."""
    taken: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        async with Session.open(path=f"{folder}/a.db") as session, anyio.create_task_group() as group:
            good = [session.connect(_target(BARE, f"good-{n}")) for n in range(GOOD)]
            tenth = session.connect(_target(_misbehaving(*bad) if bad else BARE, "tenth"))
            group.start_soon(_use, tenth)
            for connection in good:
                await connection.ready()
            await _turns(good, 5, [])
            await _turns(good, CALLS, taken)
            frames = tenth.view.frames
            group.cancel_scope.cancel()
    return taken, frames


async def _turns(good: list[Connection], calls: int, taken: list[float]) -> None:
    for _ in range(calls):
        for connection in good:
            began = time.perf_counter()
            outcome = await connection.request("tools/call", '{"name":"echo","arguments":{"text":"hello"}}')
            taken.append((time.perf_counter() - began) * 1e3)
            assert outcome.how == "result", outcome
            await anyio.sleep(PAUSE)


async def _use(connection: Connection) -> None:
    """Keep a call open on the tenth connection, whatever becomes of it."""
    try:
        await connection.ready()
        while True:
            await connection.request("tools/call", '{"name":"echo","arguments":{"text":"hello"}}')
            await anyio.sleep(0.1)
    except ConnectionFailed:
        return


def _misbehaving(kind: str, stage: str) -> list[str]:
    return [sys.executable, "-m", "tests.servers.misbehaves", kind, stage]


def _target(command: list[str], name: str) -> Target:
    return Target(
        name=name,
        command=command[0],
        args=tuple(command[1:]),
        cwd=str(ROOT),
        era="legacy",
        timeouts=Timeouts(start=60, request=60, shutdown=0.2),
    )


def _median(values: list[float]) -> float:
    return statistics.median(values)


def _p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


BENCHES = (among_ten,)
