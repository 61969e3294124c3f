"""Streamable HTTP with the reference server and the official Python SDK, beyond what ``test_real_peers`` has."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from tests.wire.http_peers import official, served
from tests.wire.http_stage import target_of
from tests.wire.stage import MemorySink, running, text_of, until
from workbench.core.frame import Channel
from workbench.core.lifecycle import State
from workbench.wire.connection import Connection

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def connected_to(
    port: int, *, era: str = "legacy", listing: bool = False
) -> AsyncIterator[tuple[Connection, MemorySink]]:
    target = target_of(f"http://127.0.0.1:{port}/mcp", era=era, timeouts={"start": 60, "request": 60})
    async with running(target, listing=listing) as (connection, sink):
        await connection.ready()
        yield connection, sink


def call(name: str, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments})


async def ended_by_another(port: int, sink: MemorySink) -> None:
    """End the session of a connection from outside."""
    await until(lambda: sink.events("stream"), 30)
    session = sink.events("session")[0]["id"]
    async with httpx.AsyncClient() as client:
        answer = await client.delete(f"http://127.0.0.1:{port}/mcp", headers={"Mcp-Session-Id": session})
        assert answer.is_success


# server-everything


@pytest.fixture
async def everything(everything_command: list[str]) -> AsyncIterator[int]:
    async with served([*everything_command, "streamableHttp"]) as port:
        yield port


async def test_everything_lists_calls_and_ends_its_session(everything: int) -> None:
    async with connected_to(everything, listing=True) as (connection, sink):
        await connection.refresh()
        assert "echo" in [tool.name for tool in connection.view.tools]
        assert connection.view.resources
        assert connection.view.prompts
        assert text_of(await connection.request("tools/call", call("echo", message="hi"))) == "Echo: hi"
        await until(lambda: [each["state"] for each in sink.events("stream")] == ["open"])
    assert [each["state"] for each in sink.events("session")] == ["granted", "ended"]
    assert {stream.status for stream in sink.streams.values()} <= {200, 202}


async def test_everything_asks_its_client_while_it_is_called(everything: int) -> None:
    async with connected_to(everything) as (connection, sink):
        outcome = await connection.request("tools/call", call("get-roots-list"))
        assert outcome.how == "result"
        assert any(b'"roots/list"' in body for body in sink.bodies(Channel.SSE))


async def test_everything_forgets_a_session_with_a_status_of_its_own(everything: int) -> None:
    async with connected_to(everything) as (connection, sink):
        await ended_by_another(everything, sink)
        outcome = await connection.request("tools/call", call("echo", message="x"))
        assert outcome.how == "lost"
        assert connection.state is State.SESSION_LOST


# The official Python SDK


async def test_the_python_sdk_answers_on_streams_and_in_json() -> None:
    for words in ((), ("json",)):
        async with served(official(*words)) as port, connected_to(port, listing=True) as (connection, sink):
            await connection.refresh()
            assert {"add", "fail", "count"} <= {tool.name for tool in connection.view.tools}
            outcome = await connection.request("tools/call", call("add", a=2, b=3))
            assert outcome.result["structuredContent"] == {"result": 5}
            failed = await connection.request("tools/call", call("fail"))
            assert failed.is_tool_error
            carried = {unit.channel for unit in sink.units if b'"structuredContent"' in unit.data}
            assert carried == ({Channel.HTTP} if words else {Channel.SSE})


async def test_the_python_sdk_reports_progress_on_the_calls_own_stream() -> None:
    async with served(official()) as port, connected_to(port) as (connection, _):
        counting = connection.call("tools/call", call("count", steps=5))
        assert text_of(await counting.wait()) == "done"
        assert [each.progress for each in counting.progress] == [1, 2, 3, 4, 5]


async def test_the_python_sdk_lets_its_clients_poll() -> None:
    async with served(official("resumable")) as port, connected_to(port) as (connection, sink):
        assert text_of(await connection.request("tools/call", call("polls"))) == "polled"
        (again,) = sink.events("reconnect")
        assert (again["resumes"], again["seconds"]) == (True, 0.1)


async def test_the_python_sdk_forgets_a_session_that_was_ended() -> None:
    async with served(official()) as port, connected_to(port) as (connection, sink):
        await ended_by_another(port, sink)
        outcome = await connection.request("tools/call", call("add", a=1, b=1))
        assert outcome.how == "lost"
        assert connection.state is State.SESSION_LOST


async def test_the_python_sdk_speaks_the_stateless_era_where_that_is_asked_for() -> None:
    async with served(official()) as port, connected_to(port, era="auto") as (connection, sink):
        assert connection.view.era == "modern"
        outcome = await connection.request("tools/call", call("add", a=2, b=2))
        assert outcome.result["structuredContent"] == {"result": 4}
        assert sink.events("session") == []
        assert not [stream for stream in sink.streams.values() if stream.verb != "POST"]
