"""Serving over the pipes of a process, and within one process."""

from __future__ import annotations

import json
import os
import sys

import anyio
import pytest

from tests.servers.served import echo, serve_pipes, taps
from tests.servers.targets import server
from tests.wire.stage import MemorySink, call_tool, running, text_of, until
from workbench.config import Target
from workbench.core.frame import Channel, Direction
from workbench.core.lifecycle import State
from workbench.errors import ConnectionFailed, UsageError
from workbench.wire.memory import serve_memory
from workbench.wire.serving_stdio import serve_stdio
from workbench.wire.transport import Client, find_transport

pytestmark = pytest.mark.anyio

HERE = Target(name="here", transport="memory", url="here", era="legacy")


async def test_our_own_client_is_served_over_pipes() -> None:
    async with running(server("served")) as (connection, sink):
        await connection.ready()
        outcome = await call_tool(connection, "hi", progress=2)
        assert text_of(outcome) == "hi"
    assert connection.view.state is State.CLOSED
    assert sink.events("exited") == [{"event": "exited", "code": 0}]


async def test_the_official_client_is_served_over_pipes() -> None:
    from mcp import StdioServerParameters
    from mcp.client.client import Client as Official
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(command=sys.executable, args=["-m", "tests.servers.served"])
    for mode in ("legacy", "auto"):
        async with Official(stdio_client(parameters), mode=mode) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]


async def test_what_passes_over_pipes_is_tapped_and_large_bodies_pass() -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y" * 300_000}}).encode()
    async with serve_pipes() as (write, read, sink):
        await anyio.to_thread.run_sync(os.write, write, b"\xff no json\n")
        await anyio.to_thread.run_sync(_write_all, write, line + b"\n")
        answer = await anyio.to_thread.run_sync(_read_line, read)
        assert json.loads(answer) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert sink.bodies(Channel.STDIO, Direction.TO_SERVER) == [b"\xff no json", line]
    assert sink.bodies(Channel.STDIO) == [answer.rstrip(b"\n")]


async def test_a_client_that_closes_its_end_is_let_go() -> None:
    async with serve_pipes() as (write, read, sink):
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), write)
        assert await anyio.to_thread.run_sync(os.read, read, 1) == b""
    assert sink.events("stdin_closed")


async def test_a_stdio_server_has_no_address() -> None:
    with pytest.raises(UsageError, match="has no address"):
        async with serve_stdio("127.0.0.1:1", echo, taps(MemorySink())):
            pass


async def test_a_client_is_served_within_the_process() -> None:
    seen = MemorySink()
    async with serve_memory("here", echo, taps(seen)) as serving, running(HERE) as (connection, sink):
        assert serving.address == "here"
        await connection.ready()
        assert text_of(await call_tool(connection, "hi")) == "hi"
        await connection.close()
    assert connection.view.state is State.CLOSED
    assert seen.bodies(Channel.STDIO) == sink.bodies(Channel.STDIO)
    assert seen.bodies(Channel.STDIO, Direction.TO_SERVER) == sink.bodies(Channel.STDIO, Direction.TO_SERVER)


async def test_a_server_within_the_process_that_goes_ends_the_connection() -> None:
    async def serve(client: Client) -> None:
        await client.receive()

    async with serve_memory("here", serve, taps(MemorySink())), running(HERE) as (connection, _):
        with pytest.raises(ConnectionFailed):
            await connection.ready()
        await until(lambda: connection.view.state is State.EXITED)


async def test_nobody_at_an_address_is_told_and_two_cannot_share_one() -> None:
    async with running(HERE) as (connection, _):
        with pytest.raises(ConnectionFailed, match="Nobody serves at 'here' in this process"):
            await connection.ready()
    async with serve_memory("here", echo, taps(MemorySink())):
        with pytest.raises(UsageError, match="somebody serves at 'here' already"):
            async with serve_memory("here", echo, taps(MemorySink())):
                pass


@pytest.mark.parametrize("name", ["http", "sse", "memory"])
async def test_every_transport_of_ours_has_both_halves(name: str) -> None:
    kind = find_transport(name)
    address = "halves" if name == "memory" else "127.0.0.1:0"
    async with kind.serve(address, echo, taps(MemorySink())) as serving:
        target = Target(name="x", transport=name, url=serving.address, era="legacy")
        async with running(target) as (connection, _):
            await connection.ready()
            assert text_of(await call_tool(connection, "both")) == "both"


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _read_line(descriptor: int) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(descriptor, 65536)
    return line


async def test_what_is_sent_to_a_client_that_is_gone_is_told() -> None:
    gone = anyio.Event()

    async def serve(client: Client) -> None:
        while await client.receive() is not None:
            pass
        client.send(b"late")
        gone.set()

    seen = MemorySink()
    async with serve_memory("here", serve, taps(seen)):
        async with running(HERE) as (connection, _):
            await until(lambda: seen.units)
            await connection.close()
        with anyio.fail_after(20):
            await gone.wait()
    assert [event["bytes"] for event in seen.events("undelivered")] == [4]
