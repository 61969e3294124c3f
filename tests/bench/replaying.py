"""How fast a recording answers, over stdio and HTTP, whether it holds two hundred calls or a hundred
thousand, against the barest thing that could: a script with a dict, and a Starlette app with one."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

import psutil

from tests.bench.figures import Figure, median_of
from tests.bench.roundtrip import INITIALIZE
from workbench.core.frame import Channel, Direction, Ending, Unit
from workbench.store.recorder import Recorder

ROOT = Path(__file__).resolve().parents[2]
REPLAY = [sys.executable, "-m", "workbench", "replay", "server"]

FEW, MANY = 200, 100_000

#: Calls that are timed in one go.
CALLS = 200

#: Turns that count, after one that fills the caches.
TURNS = 9

#: What a bare mock takes: a table of canonical requests, loaded at the start.
SCRIPT = """
import json, sys
answers = {}
for line in open(sys.argv[1], encoding="utf-8"):
    asked, answer = json.loads(line)
    answers[asked["method"], json.dumps(asked.get("params"), sort_keys=True)] = answer
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        params = message.get("params")
        if message["method"] == "initialize":
            params = None
        result = answers[message["method"], json.dumps(params, sort_keys=True)]
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\\n")
        sys.stdout.flush()
"""

APP = """
import json, sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
answers = {}
for line in open(sys.argv[1], encoding="utf-8"):
    asked, answer = json.loads(line)
    answers[asked["method"], json.dumps(asked.get("params"), sort_keys=True)] = answer
async def mcp(request):
    message = json.loads(await request.body())
    if "id" not in message:
        return Response(status_code=202)
    params = None if message["method"] == "initialize" else message.get("params")
    result = answers[message["method"], json.dumps(params, sort_keys=True)]
    return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})
app = Starlette(routes=[Route("/mcp", mcp, methods=["POST"])])
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="error", http="h11")
"""


def exchanges(count: int) -> Iterator[tuple[dict[str, object], dict[str, object]]]:
    """Each request and its result."""
    yield (
        {"method": "initialize"},
        {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "many", "version": "1"},
        },
    )
    for number in range(count):
        params = {"name": "echo", "arguments": {"text": f"call {number}"}}
        yield (
            {"method": "tools/call", "params": params},
            {"content": [{"type": "text", "text": f"answer {number}"}]},
        )


def write(folder: str, count: int) -> tuple[str, str]:
    """The recording and the bare table of so many calls."""
    recording, table = f"{folder}/{count}.db", f"{folder}/{count}.jsonl"
    recorder = Recorder(recording, origin="bench", redact=False)
    connection = recorder.connect("many", "stdio", "many")
    with open(table, "w", encoding="utf-8") as file:
        for number, (asked, result) in enumerate(exchanges(count), 1):
            params = INITIALIZE if number == 1 else asked["params"]
            request = {"jsonrpc": "2.0", "id": number, "method": asked["method"], "params": params}
            answer = {"jsonrpc": "2.0", "id": number, "result": result}
            for direction, message in ((Direction.TO_SERVER, request), (Direction.TO_CLIENT, answer)):
                body = json.dumps(message).encode()
                now = time.time_ns()
                recorder.put(Unit(connection, direction, Channel.STDIO, body, now, now, True, Ending.LF))
            file.write(json.dumps([asked, result]) + "\n")
            while not recorder.has_room():
                time.sleep(0.001)
    recorder.close("closed")
    return recording, table


def message(number: int, which: int, separators: tuple[str, str] | None = None) -> bytes:
    """A call, as a line; with ``separators`` not spelled as the recorded client did."""
    params = {"name": "echo", "arguments": {"text": f"call {which}"}}
    asked = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return json.dumps(asked, separators=separators).encode() + b"\n"


HELLO = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}).encode() + b"\n"


class Started:
    """A server on stdio; ``first`` is how long it took to answer ``initialize`` (ms)."""

    def __init__(self, command: Sequence[str]) -> None:
        began = time.perf_counter()
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._to, self._from = self.process.stdin, self.process.stdout
        self._to.write(HELLO)
        self._to.flush()
        assert b'"result"' in self._from.readline()
        self.first = (time.perf_counter() - began) * 1e3

    def one_at_a_time(self, calls: Sequence[int], separators: tuple[str, str] | None = None) -> float:
        """Calls a second."""
        lines = [message(number + 2, which, separators) for number, which in enumerate(calls)]
        began = time.perf_counter()
        for which, line in zip(calls, lines, strict=True):
            self._to.write(line)
            self._to.flush()
            assert b"answer %d" % which in self._from.readline()
        return len(calls) / (time.perf_counter() - began)

    def pipelined(self, calls: Sequence[int], separators: tuple[str, str] | None = None) -> float:
        """Calls a second when all are written at once."""
        lines = b"".join(message(number + 2, which, separators) for number, which in enumerate(calls))
        began = time.perf_counter()
        self._to.write(lines)
        self._to.flush()
        for which in calls:
            assert b"answer %d" % which in self._from.readline()
        return len(calls) / (time.perf_counter() - began)

    def peak(self) -> float:
        """The most it has held (MB)."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) * 1024 / 1e6
        return float(psutil.Process(self.process.pid).memory_info().rss) / 1e6

    def close(self) -> None:
        self._to.close()
        self._from.read()
        self.process.wait(30)


def replay_stdio() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        script = f"{folder}/bare.py"
        Path(script).write_text(SCRIPT, encoding="utf-8")
        first: dict[str, list[float]] = {}
        calls: dict[str, list[float]] = {}
        for count in (FEW, MANY):
            recording, table = write(folder, count)
            sides = {
                "ours": [*REPLAY, recording, "--match", "exact"],
                "bare": [sys.executable, script, table],
            }
            for turn in range(TURNS + 1):
                for side, command in sides.items():
                    started = Started(command)
                    # A recorded call answers once, so each way of calling takes calls of its own.
                    single = started.one_at_a_time(range(CALLS))
                    started.close()
                    again = Started(command)
                    many = again.pipelined(range(CALLS))
                    again.close()
                    if turn:
                        first.setdefault(f"{side} {count}", []).append(started.first)
                        calls.setdefault(f"{side} {count} single", []).append(single)
                        calls.setdefault(f"{side} {count} many", []).append(many)
        began = {name: median_of(values) for name, values in first.items()}
        rates = {name: median_of(values) for name, values in calls.items()}
    yield Figure(
        f"replay of {FEW} calls answers initialize",
        began[f"ours {FEW}"],
        began[f"bare {FEW}"],
        "ms",
        "a bare script",
        most=2.5,
    )
    yield Figure(
        f"… of {MANY:,} calls",
        began[f"ours {MANY}"],
        began[f"ours {FEW}"],
        "ms",
        f"of {FEW}",
        most=1.5,
    )
    for count in (FEW, MANY):
        for how, words in (("single", "one at a time"), ("many", "pipelined")):
            yield Figure(
                f"calls to a replay of {count:,}, {words}",
                rates[f"ours {count} {how}"],
                rates[f"bare {count} {how}"],
                "/s",
                "a bare script",
                least=0.6,
            )


def replay_otherwise() -> Iterator[Figure]:
    """The same where nothing is as the recorded client did it: another spelling, any order."""
    with tempfile.TemporaryDirectory() as folder:
        script = f"{folder}/bare.py"
        Path(script).write_text(SCRIPT, encoding="utf-8")
        recording, table = write(folder, FEW)
        large, _ = write(folder, MANY)
        shuffled = random.Random(1).sample(range(FEW), CALLS)
        sides = {"ours": [*REPLAY, recording], "bare": [sys.executable, script, table]}
        rates: dict[str, list[float]] = {}
        for turn in range(TURNS + 1):
            for side, command in sides.items():
                for name, calls in (("in order", range(CALLS)), ("in any order", shuffled)):
                    started, again = Started(command), Started(command)
                    found = started.one_at_a_time(calls, (",", ":")), again.pipelined(calls, (",", ":"))
                    started.close()
                    again.close()
                    for how, rate in zip(("one at a time", "pipelined"), found, strict=True):
                        if turn:
                            rates.setdefault(f"{side} {name}, {how}", []).append(rate)
        waits = []
        for _ in range(3):
            started = Started([*REPLAY, large])
            waits.append(1e3 / started.one_at_a_time([MANY - 1]))
            started.close()
    for key in [key.removeprefix("ours ") for key in rates if key.startswith("ours ")]:
        ours, bare = median_of(rates[f"ours {key}"]), median_of(rates[f"bare {key}"])
        yield Figure(f"calls spelled otherwise, {key}", ours, bare, "/s", "a bare script")
    wait = median_of(waits)
    yield Figure(f"the last of {MANY:,} calls asked for first", wait, wait, "ms", "itself")


@contextmanager
def listening(command: Callable[[int], Sequence[str]]) -> Iterator[tuple[int, float]]:
    """A server over HTTP on a port; how long it took until ``initialize`` was answered (ms)."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.perf_counter()
    process = subprocess.Popen(
        command(port),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while True:
            try:
                ask(HTTPConnection("127.0.0.1", port, timeout=60), HELLO)
                break
            except ConnectionRefusedError:
                time.sleep(0.002)
        yield port, (time.perf_counter() - began) * 1e3
    finally:
        process.terminate()
        process.wait(30)


HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def ask(connection: HTTPConnection, body: bytes, session: str = "") -> tuple[bytes, str]:
    """Post a message; returns the answer's body and the session's id."""
    headers = {**HEADERS, **({"Mcp-Session-Id": session} if session else {})}
    connection.request("POST", "/mcp", body, headers)
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 200, (answer.status, text)
    return text, answer.headers.get("mcp-session-id", "")


def http_calls(port: int) -> float:
    """Calls a second, one at a time, over one connection."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    _, session = ask(connection, HELLO)
    began = time.perf_counter()
    for number in range(CALLS):
        text, _ = ask(connection, message(number + 2, number), session)
        assert b"answer" in text
    connection.close()
    return CALLS / (time.perf_counter() - began)


def replay_http() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        app = f"{folder}/app.py"
        Path(app).write_text(APP, encoding="utf-8")
        first: dict[str, list[float]] = {}
        calls: dict[str, list[float]] = {}
        for count in (FEW, MANY):
            recording, table = write(folder, count)
            sides: dict[str, Callable[[int], list[str]]] = {
                "ours": partial(_replayed, recording),
                "bare": partial(_bare, app, table),
            }
            for turn in range(TURNS + 1):
                for side, command in sides.items():
                    with listening(command) as (port, took):
                        rate = http_calls(port)
                    if turn:
                        first.setdefault(f"{side} {count}", []).append(took)
                        calls.setdefault(f"{side} {count}", []).append(rate)
        began = {name: median_of(values) for name, values in first.items()}
        rates = {name: median_of(values) for name, values in calls.items()}
    yield Figure(
        "replay over HTTP answers initialize",
        began[f"ours {FEW}"],
        began[f"bare {FEW}"],
        "ms",
        "a bare Starlette app",
        most=1.5,
    )
    yield Figure(
        f"… of {MANY:,} calls", began[f"ours {MANY}"], began[f"ours {FEW}"], "ms", f"of {FEW}", most=1.5
    )
    for count in (FEW, MANY):
        yield Figure(
            f"calls over HTTP to a replay of {count:,}",
            rates[f"ours {count}"],
            rates[f"bare {count}"],
            "/s",
            "a bare Starlette app",
        )


def _replayed(recording: str, port: int) -> list[str]:
    return [*REPLAY, recording, "--listen", f"127.0.0.1:{port}"]


def _bare(app: str, table: str, port: int) -> list[str]:
    return [sys.executable, app, table, str(port)]


def replay_memory() -> Iterator[Figure]:
    """A recording of a gigabyte, most of it in large results."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/large.db"
        recorder = Recorder(path, origin="bench", redact=False)
        connection = recorder.connect("large", "stdio", "large")
        for number, (asked, result) in enumerate(exchanges(1000), 1):
            large = {**result, "content": [{"type": "text", "text": os.urandom(500_000).hex()}]}
            params = INITIALIZE if number == 1 else asked["params"]
            request = {"jsonrpc": "2.0", "id": number, "method": asked["method"], "params": params}
            answer = {"jsonrpc": "2.0", "id": number, "result": result if number == 1 else large}
            for direction, said in ((Direction.TO_SERVER, request), (Direction.TO_CLIENT, answer)):
                now = time.time_ns()
                body = json.dumps(said).encode()
                recorder.put(Unit(connection, direction, Channel.STDIO, body, now, now, True, Ending.LF))
            while not recorder.has_room():
                time.sleep(0.001)
        recorder.close("closed")
        size = os.path.getsize(path) / 1e6
        started = Started([*REPLAY, path])
        for number in range(1000):
            started._to.write(message(number + 2, number))
            started._to.flush()
            assert len(started._from.readline()) > (1_000_000 if number else 0)
        held = started.peak()
        started.close()
    yield Figure(
        "memory of a replay of 1 GB, every call of it asked for",
        held,
        60,
        "MB",
        "60 MB",
        most=1,
        note=f"{size:,.0f} MB file",
    )


BENCHES = (replay_stdio, replay_otherwise, replay_http, replay_memory)
