"""What a server that misbehaves costs the others in the same session.

Ten connections in one session, recorded, over stdio and over streamable HTTP. Nine are called in turns while the tenth is good, and again
while it floods, hangs, trickles or closes at a stage of its handshake or in a call. The good ones'
median and 99th percentile are held against the run in which all are good.
"""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

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
        bad = [sys.executable, "-m", "tests.servers.misbehaves", kind, stage]
        yield from _figures(f"one of ten: {kind} at {stage}", _command(BARE), _command(bad))


def among_ten_http() -> Iterator[Figure]:
    with _running("good") as good:
        for kind, stage in BAD:
            with _running(kind, stage) as bad:
                yield from _figures(f"one of ten, HTTP: {kind} at {stage}", _at(good), _at(bad))


def _figures(name: str, good: Target, bad: Target) -> Iterator[Figure]:
    gc.freeze()  # as the screen does
    # Before and after, so that what else the machine does falls on both sides.
    before, _ = anyio.run(_run, good, good)
    with_bad, frames = anyio.run(_run, good, bad)
    after, _ = anyio.run(_run, good, good)
    if "flood" in name and frames < GOOD * CALLS:
        raise AssertionError(f"{name}: only {frames} frames came, so nothing was measured")
    all_good = before + after
    most = max(with_bad)
    late = "" if most <= LONGEST else " TOO LONG"
    note = f"longest {most:.1f} ms{late} of {LONGEST:g}, {frames:,} frames of the bad one"
    median = statistics.median(with_bad), statistics.median(all_good)
    yield Figure(f"{name}, median", *median, "ms", "all good", most=1.2, note=note)
    yield Figure(f"{name}, p99", _p99(with_bad), _p99(all_good), "ms", "all good", most=3)


async def _run(good: Target, tenth: Target) -> tuple[list[float], int]:
    """The times (ms) of all calls of the good connections, and how many frames the tenth had."""
    taken: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        async with Session.open(path=f"{folder}/a.db") as session, anyio.create_task_group() as group:
            nine = [session.connect(_named(good, f"good-{n}")) for n in range(GOOD)]
            last = session.connect(_named(tenth, "tenth"))
            group.start_soon(_use, last)
            for connection in nine:
                await connection.ready()
            await _turns(nine, 5, [])
            await _turns(nine, CALLS, taken)
            frames = last.view.frames
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


@contextmanager
def _running(*words: str) -> Iterator[str]:
    """A server over HTTP; yields its URL."""
    command = [sys.executable, "-m", "tests.servers.misbehaves_http", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def _command(command: list[str]) -> Target:
    return Target(command=command[0], args=tuple(command[1:]), cwd=str(ROOT))


def _at(url: str) -> Target:
    return Target(transport="http", url=url)


def _named(target: Target, name: str) -> Target:
    timeouts = Timeouts(start=60, request=60, shutdown=0.2)
    return target.model_copy(update={"name": name, "era": "legacy", "timeouts": timeouts})


def _p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


BENCHES = (among_ten, among_ten_http)
