"""Servers that other people wrote, over every transport and in both eras: each lists, calls, subscribes,
cancels and resumes. What one of them cannot do, ``PEERS`` says with the reason.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio
import pytest

from tests.wire.http_peers import Cutter, cutter, served
from tests.wire.stage import MemorySink, running, text_of, until
from workbench.config import Target, Timeouts
from workbench.core.frame import Direction
from workbench.core.lifecycle import State
from workbench.wire.connection import Connection

pytestmark = pytest.mark.anyio

UPDATED = "notifications/resources/updated"


class Server(NamedTuple):
    """What a server offers for each thing to do: tools with their arguments, and a resource."""

    name: str
    call: tuple[str, Mapping[str, Any], str]
    #: The URI to subscribe to, and the tool that makes the server tell that it has changed.
    watch: str
    tell: str
    #: Reports progress and goes on for long; reports progress and ends soon.
    hold: tuple[str, Mapping[str, Any]]
    soon: tuple[str, Mapping[str, Any]] | None = None


LONG = "trigger-long-running-operation"
EVERYTHING = Server(
    "everything",
    ("echo", {"message": "hi"}, "Echo: hi"),
    "demo://resource/dynamic/text/1",
    "toggle-subscriber-updates",
    (LONG, {"duration": 60, "steps": 600}),
    (LONG, {"duration": 1, "steps": 4}),
)
PYTHON = Server(
    "python",
    ("work", {"steps": 1}, "done"),
    "memo://one",
    "tell",
    ("hold", {}),
    ("work", {"steps": 2, "seconds": 0.5}),
)
TYPESCRIPT = Server("typescript", ("add", {"a": 2, "b": 3}, "5"), "memo://one", "tell", ("hold", {}))


class Stage(NamedTuple):
    """A connection that is ready, what it has recorded, and where it can be cut (over HTTP)."""

    server: Server
    connection: Connection
    sink: MemorySink
    between: Cutter | None
    modern: bool

    async def calls(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The text of a tool's result."""
        params = json.dumps({"name": name, "arguments": arguments})
        return text_of(await self.connection.request("tools/call", params))

    def bodies(self, direction: Direction, method: str) -> list[Any]:
        """The messages of a method that went this way."""
        units = [each for each in self.sink.units if each.direction is direction]
        bodies = [json.loads(each.data) for each in units if each.data.startswith(b"{")]
        return [each for each in bodies if each.get("method") == method]

    def cut(self) -> Cutter:
        assert self.between is not None
        return self.between


async def lists(stage: Stage) -> None:
    await stage.connection.refresh()
    view = stage.connection.view
    assert view.list_errors == {}
    assert {stage.server.call[0], stage.server.tell} <= {tool.name for tool in view.tools}
    assert view.resources


async def calls(stage: Stage) -> None:
    name, arguments, text = stage.server.call
    assert await stage.calls(name, arguments) == text


async def subscribes(stage: Stage) -> None:
    """In the stateless era that is a request whose stream stays open."""
    uri = stage.server.watch
    outcome = await stage.connection.request("resources/subscribe", json.dumps({"uri": uri}))
    assert outcome.how == "result", outcome.sentence
    await stage.calls(stage.server.tell, {})
    await until(lambda: uri in stage.connection.view.updates, 30)
    assert uri in stage.connection.subscribed
    assert {each["params"]["uri"] for each in stage.bodies(Direction.TO_CLIENT, UPDATED)} == {uri}
    sent = "subscriptions/listen" if stage.modern else "resources/subscribe"
    assert len(stage.bodies(Direction.TO_SERVER, sent)) == 1


async def cancels(stage: Stage) -> None:
    """A notification says it, except over HTTP in the stateless era, where the stream is closed."""
    name, arguments = stage.server.hold
    call = stage.connection.call("tools/call", json.dumps({"name": name, "arguments": arguments}))
    await until(lambda: call.progress, 30)
    call.cancel("enough")
    assert (await call.wait()).how == "cancelled"
    told = [each["params"] for each in stage.bodies(Direction.TO_SERVER, "notifications/cancelled")]
    if stage.modern and stage.between:
        assert told == []
        await until(lambda: "closed" in {each.closed_how for each in stage.sink.streams.values()})
        assert [each.verb for each in stage.sink.streams.values() if each.closed_how == "closed"] == ["POST"]
    else:
        assert told == [{"requestId": call.number, "reason": "enough"}]
    await calls(stage)


async def takes_up_a_call(stage: Stage) -> None:
    """The rest of an answer comes on another stream after the connection was cut."""
    assert stage.server.soon is not None
    name, arguments = stage.server.soon
    call = stage.connection.call("tools/call", json.dumps({"name": name, "arguments": arguments}))
    await until(lambda: call.progress, 30)
    await stage.cut().cut()
    with anyio.fail_after(60):
        assert (await call.wait()).how == "result"
    assert any(each["resumes"] for each in stage.sink.events("reconnect"))
    asked = [each for each in stage.bodies(Direction.TO_SERVER, "tools/call") if each["id"] == call.number]
    assert len(asked) == 1
    assert stage.connection.state is State.READY


async def listens_again(stage: Stage) -> None:
    """Without a stream's end to take up, what changes is listened to anew."""
    before = len(stage.bodies(Direction.TO_SERVER, "subscriptions/listen"))
    await stage.cut().cut()
    await until(lambda: len(stage.bodies(Direction.TO_SERVER, "subscriptions/listen")) > before, 30)
    heard = len(stage.bodies(Direction.TO_CLIENT, UPDATED))
    await until(lambda: len(stage.bodies(Direction.TO_CLIENT, ACKNOWLEDGED)) > 1, 30)
    await stage.calls(stage.server.tell, {})
    await until(lambda: len(stage.bodies(Direction.TO_CLIENT, UPDATED)) > heard, 30)


ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
Check = Callable[[Stage], Awaitable[None]]
PIPE = "a pipe that is gone has nothing to take up: connecting again starts another process"
NO_EVENT_IDS = "the older HTTP with SSE has no event ids, so a stream that is cut is the end"
NO_SESSIONS = "this SDK serves the handshake era without sessions over HTTP, so no stream is left open"


class Peer(NamedTuple):
    """A server over a transport, in an era; what it can do, or in words why it cannot."""

    server: Server
    transport: str
    era: str
    subscribe: Check | str = subscribes
    resume: Check | str = PIPE
    cancel: Check | str = cancels


PEERS = [
    Peer(EVERYTHING, "stdio", "legacy"),
    Peer(EVERYTHING, "http", "legacy", resume=takes_up_a_call),
    Peer(EVERYTHING, "sse", "legacy", resume=NO_EVENT_IDS),
    Peer(PYTHON, "stdio", "modern"),
    Peer(PYTHON, "stdio", "legacy"),
    Peer(PYTHON, "http", "modern", resume=listens_again),
    Peer(PYTHON, "http", "legacy", resume=takes_up_a_call),
    Peer(TYPESCRIPT, "stdio", "modern"),
    Peer(TYPESCRIPT, "stdio", "legacy"),
    Peer(TYPESCRIPT, "http", "modern", resume=listens_again),
    Peer(TYPESCRIPT, "http", "legacy", subscribe=NO_SESSIONS, resume=NO_SESSIONS, cancel=NO_SESSIONS),
]


def command_of(peer: Peer, request: pytest.FixtureRequest) -> list[str]:
    if peer.server is PYTHON:
        return [sys.executable, "-m", "tests.servers.official_eras"]
    command: list[str] = request.getfixturevalue(f"{peer.server.name}_command")
    words = {"http": ["streamableHttp"], "sse": ["sse"]} if peer.server is EVERYTHING else {}
    return [*command, *words.get(peer.transport, ())]


@asynccontextmanager
async def reached(peer: Peer, command: list[str]) -> AsyncIterator[tuple[Target, Cutter | None]]:
    options: dict[str, Any] = {"era": peer.era, "timeouts": Timeouts(start=60, request=60)}
    if peer.transport == "stdio":
        yield Target(name="peer", command=command[0], args=tuple(command[1:]), **options), None
        return
    async with served(command) as port, cutter(port) as between:
        path = "sse" if peer.transport == "sse" else "mcp"
        url = f"http://127.0.0.1:{between.port}/{path}"
        yield (
            Target.model_validate({"name": "peer", "transport": peer.transport, "url": url} | options),
            between,
        )


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: f"{peer.server.name}-{peer.transport}-{peer.era}")
async def test_a_real_server_does_what_it_can(peer: Peer, request: pytest.FixtureRequest) -> None:
    async with (
        reached(peer, command_of(peer, request)) as (target, between),
        running(target) as (connection, sink),
    ):
        await connection.ready()
        assert connection.view.era == peer.era
        stage = Stage(peer.server, connection, sink, between, peer.era == "modern")
        for check in (lists, calls, peer.subscribe, peer.cancel):
            if not isinstance(check, str):
                await check(stage)
        assert [each for each in connection.findings if each.rule.severity == "error"] == []
        if not isinstance(peer.resume, str):
            await peer.resume(stage)
