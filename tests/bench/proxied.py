"""What the stand-in over HTTP adds to a call and to the first event of a stream, beside what the barest
pass-through of Starlette and httpx adds.

Direct, through the bare one and through ours, in turns over one kept connection each. What is told is what
each *adds* to the direct call. On a loaded machine the processor time says more: that of the process that
carries, and of both where there is a recorder beside it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import psutil

from tests.bench.figures import Figure, median_of

ROOT = Path(__file__).resolve().parents[2]

#: Calls in one turn, and turns that count after one that fills the caches.
CALLS = 100
TURNS = 11

#: The server: one answer for a POST, a stream for a GET whose second event comes later.
SERVER = """
import asyncio, sys
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hello"}]}}'
PLAIN = b"HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\ncontent-length: %d\\r\\n\\r\\n" % len(ANSWER) + ANSWER
HEAD = b"HTTP/1.1 200 OK\\r\\ncontent-type: text/event-stream\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n"
def event(data):
    body = b"event: message\\r\\ndata: " + data + b"\\r\\n\\r\\n"
    return b"%x\\r\\n" % len(body) + body + b"\\r\\n"
async def serve(reader, writer):
    while True:
        head = await reader.readuntil(b"\\r\\n\\r\\n")
        size = [line for line in head.lower().split(b"\\r\\n") if line.startswith(b"content-length:")]
        if size:
            await reader.readexactly(int(size[0][15:]))
        if head.startswith(b"POST"):
            writer.write(PLAIN)
        else:
            writer.write(HEAD + event(ANSWER))
            await asyncio.sleep(0.005)
            writer.write(event(ANSWER) + b"0\\r\\n\\r\\n")
async def main():
    async with await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1])) as server:
        await server.serve_forever()
asyncio.run(main())
"""

#: The bare pass-through.
BARE = """
import sys, httpx, uvicorn
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route
client = httpx.AsyncClient(base_url=sys.argv[2], timeout=None)
async def passed(request):
    headers = [(name, value) for name, value in request.headers.raw if name != b"host"]
    asked = client.build_request(request.method, request.url.path, headers=headers, content=await request.body())
    response = await client.send(asked, stream=True)
    kept = {n: v for n, v in response.headers.items() if n not in ("transfer-encoding", "connection")}
    return StreamingResponse(
        response.aiter_raw(), response.status_code, kept, background=BackgroundTask(response.aclose)
    )
from starlette.background import BackgroundTask
app = Starlette(routes=[Route("/mcp", passed, methods=["GET", "POST"])])
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", http="h11")
"""

BODY = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "echo", "arguments": {"text": "hello"}},
    }
).encode()
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "Mcp-Session-Id": "bench",
    "MCP-Protocol-Version": "2025-11-25",
}


class Way:
    """A way to the server: the port, and the processes that stand on it."""

    def __init__(self, port: int, process: subprocess.Popen[bytes]) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self._processes = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        self.calls: list[float] = []
        self.events: list[float] = []
        self.carrying: list[float] = []
        self.beside: list[float] = []

    def turn(self) -> None:
        """A hundred calls, timed each, and a few streams."""
        before = self._spent()
        for _ in range(CALLS):
            began = time.perf_counter()
            self._connection.request("POST", "/mcp", BODY, HEADERS)
            self._connection.getresponse().read()
            self.calls.append((time.perf_counter() - began) * 1e6)
        spent = [after - each for after, each in zip(self._spent(), before, strict=True)]
        self.carrying.append(spent[0] * 1e6 / CALLS)
        self.beside.append(sum(spent) * 1e6 / CALLS)
        for _ in range(CALLS // 5):
            began = time.perf_counter()
            self._connection.request("GET", "/mcp", headers=HEADERS | {"Accept": "text/event-stream"})
            answer = self._connection.getresponse()
            answer.readline()
            self.events.append((time.perf_counter() - began) * 1e6)
            answer.read()

    def warm(self) -> None:
        self.turn()
        for each in (self.calls, self.events, self.carrying, self.beside):
            each.clear()

    def _spent(self) -> list[float]:
        return [each.cpu_times().user + each.cpu_times().system for each in self._processes]


def proxied() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        origin, bare, ours = (_free_port() for _ in range(3))
        url = f"http://127.0.0.1:{origin}"
        record = [sys.executable, "-m", "workbench", "record", "-o", f"{folder}/a.db", "--http", f"{url}/mcp"]
        ways = [
            Way(origin, stack.enter_context(_running(origin, [sys.executable, "-c", SERVER, str(origin)]))),
            Way(bare, stack.enter_context(_running(bare, [sys.executable, "-c", BARE, str(bare), url]))),
            Way(ours, stack.enter_context(_running(ours, [*record, "--listen", f"127.0.0.1:{ours}"]))),
        ]
        for way in ways:
            way.warm()
        for _ in range(TURNS):
            for way in ways:
                way.turn()
        direct, theirs, mine = ways
        for name, of in (("a call over HTTP", _calls), ("the first event of a stream", _events)):
            added = median_of(of(mine)) - median_of(of(direct))
            against = median_of(of(theirs)) - median_of(of(direct))
            yield Figure(f"added to {name}", added, against, "µs", "bare pass-through", most=1.3)
        yield Figure(
            "processor time of a call, carrying it",
            median_of(mine.carrying),
            median_of(theirs.carrying),
            "µs",
            "bare pass-through",
            most=1.3,
        )
        both = median_of(mine.beside), median_of(theirs.beside)
        yield Figure("… with the recorder beside it", *both, "µs", "bare pass-through")


def _calls(way: Way) -> Sequence[float]:
    return way.calls


def _events(way: Way) -> Sequence[float]:
    return way.events


@contextmanager
def _running(port: int, command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
    )
    try:
        while True:
            assert process.poll() is None, f"{command[:3]} has ended"
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


BENCHES: tuple[Callable[[], Iterator[Figure]], ...] = (proxied,)
