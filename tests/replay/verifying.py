"""Sessions recorded from a live server, and verified against another one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.servers.makes_things_up import serving
from tests.wire.stage import MemorySink
from workbench.config import Target, Timeouts
from workbench.core.actions import Outcome
from workbench.core.jsonrpc import dumps
from workbench.core.rules import rule_from
from workbench.replay.manner import Manner
from workbench.replay.verification import Verification
from workbench.session import Session
from workbench.session.verifying import Verifying
from workbench.store.whole import Whole, read_whole
from workbench.wire.connection import Connection
from workbench.wire.memory import serve_memory
from workbench.wire.serving_http import serve_http
from workbench.wire.tap import Tap
from workbench.wire.transport import Taps

RULES = (rule_from('elicitation/create={"action":"accept","content":{"city":"Oslo"}}'),)
TIMEOUTS = Timeouts(start=10, request=5, shutdown=2)
#: So much silence is enough where the server is in this process.
QUICK = Manner(timeout=20, start=30, silence=0.2)


def target(transport: str, **options: Any) -> Target:
    rules = options.pop("rules", RULES)
    return Target(transport=transport, rules=rules, timeouts=TIMEOUTS, **options)


def taps() -> Taps:
    sink = MemorySink()
    numbers = iter(range(1, 1_000))
    return lambda _name: Tap(sink, next(numbers))


@asynccontextmanager
async def in_memory(*faults: str, era: str = "legacy") -> AsyncIterator[Target]:
    """The server that makes things up, in this process."""
    async with serve_memory("things", serving(*faults), taps()):
        yield target("memory", url="things", era=era)


@asynccontextmanager
async def over_http(*faults: str, era: str = "legacy", kind: str = "http") -> AsyncIterator[Target]:
    """The same over HTTP."""
    path = "/sse" if kind == "sse" else "/mcp"
    async with serve_http("127.0.0.1:0", serving(*faults), taps(), path=path) as served:
        yield target(kind, url=served.address, era=era)


async def call(connection: Connection, tool: str, *, task: bool = False, **arguments: Any) -> Outcome:
    made = connection.call("tools/call", dumps({"name": tool, "arguments": arguments}), task=task)
    return await made.wait()


async def use(connection: Connection) -> None:
    """Pages, a URI the server makes, questions by form and URL, and a task; or rounds of a call."""
    await connection.ready()
    await connection.refresh()
    made = await call(connection, "create", text="buy milk")
    if made.result is not None:
        await connection.request("resources/read", dumps({"uri": made.result["structuredContent"]["uri"]}))
    if connection.conversation.era == "legacy":
        await call(connection, "book")
        await call(connection, "research", task=True)
    else:
        await call(connection, "ask")


async def record(path: Path, server: Target, times: int = 1) -> None:
    """Record ``use``, on so many connections at once."""
    async with Session.open(path=str(path), origin="command") as session:
        connections = [session.connect(server, listing=False) for _ in range(times)]
        for connection in connections:
            await use(connection)


def read(path: Path) -> Whole:
    return read_whole(str(path))


async def verify(
    whole: Whole, server: Target, manner: Manner = QUICK, record: str | None = None
) -> Verification:
    """Verify with every connection of a recording."""
    return await Verifying(whole, dict.fromkeys(whole.names, server), manner).run(record)


def verdicts(told: Verification) -> list[tuple[str, str | None, str]]:
    """What does not agree: method, name and verdict."""
    return [(each.request.method, each.request.name, each.verdict) for each in told.disagreeing]
