"""The median round trip of a small call, directly and through ``record``.

The client is as bare as the server: ``json.dumps``, a write, a read, ``json.loads``. Both are
started anew several times and called in turns, because where the kernel puts the processes
decides more than anything else: on a virtual machine, waking a process on another processor can
take several times as long as the whole call. So the same is also measured with client and server
held on one processor each, and with everything on one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.bench.figures import Figure, median_of
from tests.peers.install import PYTHON_PEERS, PeerUnavailable, python_peer

ROOT = Path(__file__).resolve().parents[2]
BARE = [sys.executable, str(ROOT / "tests" / "servers" / "bare.py")]

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
ECHO = {"name": "echo", "arguments": {"text": "hello"}}
TIME = {"name": "get_current_time", "arguments": {"timezone": "Europe/Berlin"}}


class Client:
    """A client of one server process."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process: subprocess.Popen[bytes] = subprocess.Popen(
            command,
            cwd=ROOT,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._id = 0
        self.call("initialize", INITIALIZE)
        os.write(self._to, b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def call(self, method: str, params: object) -> object:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        os.write(self._to, json.dumps(message).encode() + b"\n")
        data = os.read(self._from, 65536)
        while not data.endswith(b"\n"):
            more = os.read(self._from, 65536)
            if not more:
                raise EOFError("the server has gone")
            data += more
        answer = json.loads(data)
        assert answer["id"] == self._id, data
        return answer["result"]

    def times(self, params: object, calls: int) -> list[float]:
        """Microseconds of each of so many calls."""
        clock, taken = time.perf_counter_ns, []
        for _ in range(calls):
            began = clock()
            self.call("tools/call", params)
            taken.append((clock() - began) / 1e3)
        return taken

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


def compare(
    server: Sequence[str], params: object, *, starts: int, rounds: int, calls: int
) -> tuple[float, float]:
    """Medians (µs) through ``record`` and directly."""
    recorded: list[float] = []
    direct: list[float] = []
    for _ in range(starts):
        with tempfile.TemporaryDirectory() as folder:
            record = [sys.executable, "-m", "workbench", "record", "-o", f"{folder}/a.db", "--", *server]
            sides = [(Client(server), direct), (Client(record), recorded)]
            for client, _taken in sides:
                client.times(params, calls)
            for _ in range(rounds):
                for client, taken in sides:
                    taken += client.times(params, calls)
            for client, _taken in sides:
                client.close()
    return median_of(recorded), median_of(direct)


def bare() -> Iterator[Figure]:
    def figure(name: str, server: Sequence[str], most: float | None) -> Figure:
        ours, theirs = compare(server, ECHO, starts=6, rounds=10, calls=200)
        return Figure(name, ours, theirs, "µs", "direct", most=most)

    yield figure("small call, bare server", BARE, 1.5)
    if processors() > 1:
        first, second = sorted(os.sched_getaffinity(0))[:2]
        with held_on({first}):
            yield figure("… client and server on two processors", on({second}, BARE), None)
            yield figure("… everything on one processor", BARE, None)


def time_server() -> Iterator[Figure]:
    with suppress(PeerUnavailable):
        server = python_peer(PYTHON_PEERS[0])
        ours, theirs = compare(server, TIME, starts=3, rounds=8, calls=25)
        yield Figure("small call, mcp-server-time", ours, theirs, "µs", "direct", most=1.1)


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


@contextmanager
def held_on(numbers: set[int]) -> Iterator[None]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, numbers)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def on(numbers: set[int], command: Sequence[str]) -> list[str]:
    """A command that is run on these processors."""
    script = f"import os, sys; os.sched_setaffinity(0, {numbers}); os.execv(sys.argv[1], sys.argv[1:])"
    return [sys.executable, "-c", script, *command]


BENCHES: tuple[Callable[[], Iterator[Figure]], ...] = (bare, time_server)
