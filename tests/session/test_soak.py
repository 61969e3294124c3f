"""Many connections at once, over stdio and HTTP, with calls, kills and restarts: nothing is left behind.

The long form runs for ten minutes with fifty connections (``make test-long``) and prints its figures.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import anyio
import anyio.to_thread
import psutil
import pytest

from tests.servers.targets import ROOT
from workbench.config import Target, Timeouts
from workbench.core.lifecycle import OVER, State
from workbench.errors import ConnectionFailed
from workbench.session import Session
from workbench.wire.connection import Connection

pytestmark = pytest.mark.anyio

#: Connections a HTTP server has; so many are lost at once when it is killed.
AT_ONE = 5

#: Users who call at the same time, each on any connection.
CALLERS = 8

#: A pause between two calls of one caller, so that the machine is busy and not drowned (seconds).
PAUSE = 0.01

#: What may be held beside what was held in the beginning: caches and buffers of the libraries.
SPARE_DESCRIPTORS, SPARE_TASKS, SPARE_THREADS = 20, 20, 8
SPARE_MEMORY = 60 * 1024 * 1024


class Held(NamedTuple):
    """What the process holds; memory in bytes."""

    children: int
    descriptors: int
    tasks: int
    threads: int
    memory: int


def held() -> Held:
    me = psutil.Process()
    return Held(
        len(me.children(recursive=True)),
        me.num_fds(),
        len(asyncio.all_tasks()),
        threading.active_count(),
        me.memory_info().rss,
    )


class HttpServer:
    """A server over HTTP in a process of its own, always at the same port."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.servers.served_http", str(self.port)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def kill(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process.wait()


def stdio_target(number: int) -> Target:
    return Target(
        name=f"stdio-{number}",
        command=sys.executable,
        args=("-m", "tests.servers.bare"),
        cwd=str(ROOT),
        era="legacy",
        timeouts=Timeouts(start=60, request=30, shutdown=2),
    )


def http_target(number: int, url: str) -> Target:
    return Target(
        name=f"http-{number}",
        transport="http",
        url=url,
        era="modern" if number % 2 else "legacy",
        timeouts=Timeouts(start=60, request=30, shutdown=2),
    )


class Soak:
    """Callers, a killer and a mender on the connections of one session."""

    def __init__(self, session: Session, servers: list[HttpServer], seed: int) -> None:
        self.session = session
        self.servers = servers
        self.did: Counter[str] = Counter()
        self.random = random.Random(seed)
        self.over = False

    async def run(self, seconds: float) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(CALLERS):
                group.start_soon(self._call)
            group.start_soon(self._kill, max(0.5, seconds / 120))
            group.start_soon(self._mend)
            await anyio.sleep(seconds)
            self.over = True

    async def _call(self) -> None:
        while not self.over:
            connection = self.random.choice(self.session.current)
            if connection.state is State.READY:
                await self._one(connection)
            await anyio.sleep(PAUSE)

    async def _one(self, connection: Connection) -> None:
        text = str(self.random.random()) * self.random.choice((1, 1, 1, 400))
        call = connection.call("tools/call", f'{{"name":"echo","arguments":{{"text":"{text}"}}}}')
        if self.random.random() < 0.05:
            call.cancel("soak")
        outcome = await call.wait()
        if outcome.how == "result":
            assert outcome.result["content"][0]["text"] == text
        self.did[outcome.how] += 1

    async def _kill(self, every: float) -> None:
        while not self.over:
            await anyio.sleep(every)
            if self.random.random() < 0.2:
                await anyio.to_thread.run_sync(self._restart, self.random.choice(self.servers))
            else:
                self._kill_one()

    def _restart(self, server: HttpServer) -> None:
        server.kill()
        server.start()
        self.did["HTTP servers restarted"] += 1

    def _kill_one(self) -> None:
        ready = [each for each in self.session.current if each.view.pid and each.state is State.READY]
        if ready:
            pid = self.random.choice(ready).view.pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            self.did["stdio servers killed"] += 1

    async def _mend(self) -> None:
        while not self.over:
            await self.mend()
            await anyio.sleep(0.2)

    async def mend(self) -> None:
        """Connect again what is over."""
        for connection in self.session.current:
            if connection.state in OVER:
                again = await connection.reconnect()
                try:
                    await again.ready()
                    self.did["connected again"] += 1
                except ConnectionFailed:
                    self.did["could not connect again at once"] += 1


async def all_ready(soak: Soak) -> None:
    """Until every connection is ready and answers."""
    while any(connection.state is not State.READY for connection in soak.session.current):
        await soak.mend()
        await anyio.sleep(0.1)
    for connection in soak.session.current:
        outcome = await connection.request("tools/list")
        if outcome.how != "result":  # its server went meanwhile; what is over is mended
            await connection.reconnect()
            return await all_ready(soak)


@pytest.mark.parametrize(
    ("seconds", "count"),
    [(4, 10), pytest.param(600, 50, marks=[pytest.mark.long, pytest.mark.timeout(1500)])],
)
async def test_many_connections_used_killed_and_restarted_leave_nothing_behind(
    tmp_path: Path, seconds: float, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    before = held()
    servers = [HttpServer() for _ in range(count // 2 // AT_ONE)]
    try:
        async with Session.open(path=str(tmp_path / "soak.db")) as session:
            soak = Soak(session, servers, seed=count)
            for number in range(count // 2):
                session.connect(stdio_target(number), listing=False)
                session.connect(http_target(number, servers[number // AT_ONE].url), listing=False)
            await all_ready(soak)
            await soak.run(seconds / 4)
            await all_ready(soak)
            soak.over = False
            first = held()
            await soak.run(seconds * 3 / 4)
            await all_ready(soak)
            last = held()
    finally:
        for server in servers:
            server.kill()
    with capsys.disabled():
        print(f"\nafter a quarter {first}\nat the end      {last}\n{dict(soak.did)}")
    assert soak.did["result"] > 20
    assert last.children <= first.children
    assert last.descriptors <= first.descriptors + SPARE_DESCRIPTORS
    assert last.tasks <= first.tasks + SPARE_TASKS
    assert last.threads <= first.threads + SPARE_THREADS
    assert last.memory <= first.memory + SPARE_MEMORY
    after = held()
    assert after.children == before.children
    assert after.descriptors <= before.descriptors + SPARE_DESCRIPTORS
    assert after.tasks <= before.tasks + 1
