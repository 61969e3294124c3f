"""How long it takes to connect and list, beside the official inspector's command line.

Both are started anew each time, in turns, on the same server: server-everything over stdio, and one
running server-everything over streamable HTTP.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

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
    ours, theirs = _in_turns(
        [*_workbench(), "--", *server], [*inspector, "--cli", *server, "--method", "tools/list"]
    )
    yield Figure("connected and listed, stdio", ours, theirs, "ms", "the inspector's CLI", most=1)
    with _over_http(server) as url:
        ours, theirs = _in_turns(
            [*_workbench(), "--http", url],
            [*inspector, "--cli", url, "--transport", "http", "--method", "tools/list"],
        )
    yield Figure("connected and listed, HTTP", ours, theirs, "ms", "the inspector's CLI", most=1)


def _workbench() -> list[str]:
    return [sys.executable, "-m", "workbench", "request", "tools/list"]


def _inspector() -> list[str]:
    return [
        str(node_folder() / "node"),
        str(npm_folder("inspector", INSPECTOR) / "node_modules" / ".bin" / "mcp-inspector"),
    ]


def _in_turns(ours: Sequence[str], theirs: Sequence[str]) -> tuple[float, float]:
    """The medians (ms) of both commands from start to exit."""
    taken: dict[str, list[float]] = {"ours": [], "theirs": []}
    for turn in range(TURNS + 1):
        for name, command in (("ours", ours), ("theirs", theirs)):
            began = time.perf_counter()
            done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
            took = (time.perf_counter() - began) * 1e3
            assert done.returncode == 0, (command, done.stdout[-500:], done.stderr[-500:])
            assert b"echo" in done.stdout
            if turn:
                taken[name].append(took)
    return median_of(taken["ours"]), median_of(taken["theirs"])


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
