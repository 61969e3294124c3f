"""How long it takes to connect and list, beside the official inspector's command line.

Both are started anew each time, in turns, on the same server: server-everything over stdio, and one
running server-everything over streamable HTTP. On a loaded machine the processor time, which stands
beside each figure, says more.
"""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from tests.bench.figures import Figure, median_of
from tests.peers.install import INSPECTOR, PeerUnavailable, node_folder, npm_folder, npm_peer

#: Turns that count, after one that fills the caches.
TURNS = 7

#: Longest one start may take (seconds).
PATIENCE = 120


def connected() -> Iterator[Figure]:
    try:
        server = npm_peer("everything")
        inspector = _inspector()
    except PeerUnavailable as trouble:
        print(f"left out: {trouble}", file=sys.stderr)
        return
    yield _in_turns(
        "connected and listed, stdio",
        [*_workbench(), "--", *server],
        [*inspector, "--cli", *server, "--method", "tools/list"],
    )
    with _over_http(server) as url:
        yield _in_turns(
            "connected and listed, HTTP",
            [*_workbench(), "--http", url],
            [*inspector, "--cli", url, "--transport", "http", "--method", "tools/list"],
        )


def _workbench() -> list[str]:
    return [sys.executable, "-m", "workbench", "request", "tools/list"]


def _inspector() -> list[str]:
    return [
        str(node_folder() / "node"),
        str(npm_folder("inspector", INSPECTOR) / "node_modules" / ".bin" / "mcp-inspector"),
    ]


class Taken(NamedTuple):
    """What one command took, from start to exit, with what it started (ms)."""

    time: float
    processor: float


def _in_turns(name: str, ours: Sequence[str], theirs: Sequence[str]) -> Figure:
    """The medians of both commands."""
    taken: tuple[list[Taken], list[Taken]] = ([], [])
    for turn in range(TURNS + 1):
        for command, samples in zip((ours, theirs), taken, strict=True):
            took = _run(command)
            if turn:
                samples.append(took)
    time_ours, time_theirs = (median_of([each.time for each in samples]) for samples in taken)
    cpu_ours, cpu_theirs = (median_of([each.processor for each in samples]) for samples in taken)
    note = f"processor {cpu_ours:.0f} against {cpu_theirs:.0f} ms"
    return Figure(name, time_ours, time_theirs, "ms", "the inspector's CLI", most=1, note=note)


def _run(command: Sequence[str]) -> Taken:
    began, before = time.perf_counter(), _processor()
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    took = Taken((time.perf_counter() - began) * 1e3, (_processor() - before) * 1e3)
    assert done.returncode == 0, (command, done.stdout[-500:], done.stderr[-500:])
    assert b"echo" in done.stdout
    return took


def _processor() -> float:
    """Seconds that all children until now have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def _over_http(server: Sequence[str]) -> Iterator[str]:
    """A running server; yields its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [*server, "streamableHttp"],
        env={**os.environ, "PORT": str(port)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(30)


def _wait_for(port: int) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(f"nothing listens at port {port}")


BENCHES = (connected,)
