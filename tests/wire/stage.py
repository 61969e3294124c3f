"""What the tests of the wire stand on: a sink in memory, and a connection that runs for a while."""

from __future__ import annotations

import json
import os
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any

import anyio
import psutil

from workbench.config import Target
from workbench.core.actions import Outcome
from workbench.core.frame import Channel, Direction, Stream, Unit
from workbench.wire.connection import Connection
from workbench.wire.eras import Verdicts


class MemorySink:
    """Keeps what it is given. ``room`` is what it says when it is asked for room."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.streams: dict[int, Stream] = {}
        self.findings: list[tuple[int, str, str, str]] = []
        self.room = True
        self._streams = 0

    def put(self, unit: Unit) -> int:
        self.units.append(unit)
        return len(self.units)

    def has_room(self) -> bool:
        return self.room

    def new_stream(self) -> int:
        self._streams += 1
        return self._streams

    def stream(self, stream: Stream) -> None:
        self.streams[stream.number] = stream

    def finding(self, seq: int, rule: str, severity: str, pointer: str = "") -> None:
        self.findings.append((seq, rule, severity, pointer))

    def bodies(self, channel: Channel, direction: Direction = Direction.TO_CLIENT) -> list[bytes]:
        return [unit.data for unit in self.units if unit.channel is channel and unit.direction is direction]

    def events(self, name: str = "") -> list[dict[str, Any]]:
        """The process events, all or those of a name."""
        told = [json.loads(body) for body in self.bodies(Channel.PROCESS, Direction.NONE)]
        return [event for event in told if event["event"] == name or not name]

    def notes(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.bodies(Channel.NOTE, Direction.NONE)]

    def sent(self) -> list[dict[str, Any]]:
        """The messages we sent."""
        return [json.loads(body) for body in self.bodies(Channel.STDIO, Direction.TO_SERVER)]


class Listener:
    """The owner of a connection: remembers what it is told."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, int]] = []
        self.facts: dict[str, Any] = {}

    def changed(self, what: str, _connection: Connection, seq: int) -> None:
        self.changes.append((what, seq))

    def describe(self, _connection: Connection, facts: dict[str, Any]) -> None:
        self.facts.update(facts)

    def again(self, connection: Connection) -> Connection:
        return connection


@asynccontextmanager
async def running(
    target: Target,
    sink: MemorySink | None = None,
    *,
    held: Collection[str] = (),
    listing: bool = False,
    verdicts: Verdicts | None = None,
) -> AsyncIterator[tuple[Connection, MemorySink]]:
    """A connection in a task of its own; closed when the context is left."""
    sink = sink or MemorySink()
    info = {"name": "test", "version": "1"}
    connection = Connection(
        target,
        sink,
        Listener(),
        number=1,
        name=target.name,
        client_info=info,
        held=held,
        listing=listing,
        verdicts=verdicts,
    )
    async with anyio.create_task_group() as group:
        group.start_soon(connection.run)
        try:
            yield connection, sink
        finally:
            with anyio.CancelScope(shield=True):
                await connection.close()


async def call_tool(connection: Connection, text: str, **more: Any) -> Outcome:
    """Call the one tool our servers have."""
    return await connection.request("tools/call", arguments(text, **more))


def arguments(text: str, **more: Any) -> str:
    return json.dumps({"name": "echo", "arguments": {"text": text, **more}})


def text_of(outcome: Outcome) -> str:
    """The text of a tool's result."""
    assert outcome.how == "result", outcome
    return str(outcome.result["content"][0]["text"])


async def until(true: Callable[[], object], seconds: float = 30) -> None:
    """Wait until something is true, or fail."""
    with anyio.fail_after(seconds):
        while not true():
            await anyio.sleep(0.005)


def is_alive(pid: int) -> bool:
    """Whether a process runs (a zombie that nobody has collected does not)."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def gone(pid: int, seconds: float = 20) -> bool:
    """Whether a process ends within the time."""
    deadline = time.monotonic() + seconds
    while is_alive(pid) and time.monotonic() < deadline:
        os.sched_yield()
    return not is_alive(pid)
