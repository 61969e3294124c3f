"""The official SDK's clients and servers with the proxy between: they notice nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import ClientSession, MCPError
from mcp.client.client import Client as Official
from mcp.client.sse import sse_client
from mcp.types import TextContent

from tests.servers.served import over_http
from tests.wire.http_peers import official, served
from tests.wire.proxied import Recorded, before
from tests.wire.test_serving_official import use
from workbench.core.frame import Channel, Direction
from workbench.core.jsonrpc import decode

pytestmark = pytest.mark.anyio


def methods(recorded: Recorded, connection: int = 1) -> list[str | None]:
    """What the clients sent, by method; ``None`` for an answer."""
    return [
        message.method
        for unit in recorded.units
        if unit.direction is Direction.TO_SERVER and unit.connection == connection
        for message in decode(unit.data).messages
    ]


@asynccontextmanager
async def official_server() -> AsyncIterator[tuple[str, Recorded]]:
    async with served(official()) as port, before(f"http://127.0.0.1:{port}/mcp") as proxied:
        yield proxied


async def test_the_official_client_and_server_talk_through_it_with_progress() -> None:
    reports: list[float] = []

    async def progressed(progress: float, _total: float | None, _message: str | None) -> None:
        reports.append(progress)

    async with official_server() as (url, recorded), Official(url, mode="legacy") as client:
        call: Any = client.call_tool
        counted = await call("count", {"steps": 3}, progress_callback=progressed)
        assert counted.content == [TextContent(type="text", text="done")]
        assert reports == [1, 2, 3]
        with pytest.raises(MCPError):
            await client.read_resource("memo://none")
    assert recorded.facts[1]["era"] == "legacy"
    assert methods(recorded) == [
        "initialize",
        "notifications/initialized",
        "tools/call",
        "tools/list",
        "resources/read",
    ]
    assert len(recorded.facts) == 1
    assert [event["state"] for event in recorded.events("session")] == ["granted", "ended"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_official_client_sees_the_same_in_both_eras(mode: str) -> None:
    async with (
        over_http() as (there, _),
        before(there) as (url, recorded),
        Official(url, mode=mode) as client,
    ):
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        assert await use(client) == [1, 2, 3]
    assert len(recorded.facts) == 1
    assert recorded.facts[1]["era"] == ("legacy" if mode == "legacy" else "modern")
    told = [message.method for body in recorded.bodies(Channel.SSE) for message in decode(body).messages]
    assert told.count("notifications/progress") == 3


async def test_the_official_client_of_the_older_transport_talks_through_it() -> None:
    async with (
        over_http(path="/sse") as (there, _),
        before(there) as (url, recorded),
        sse_client(url) as streams,
        ClientSession(*streams) as client,
    ):
        await client.initialize()
        assert await use(client) == [1, 2, 3]
    assert len(recorded.facts) == 1
    assert methods(recorded) == ["initialize", "notifications/initialized", "tools/list", "tools/call"]
