"""Serving the official SDK's clients, which know what a server has to do."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from mcp import ClientSession
from mcp.client.client import Client as Official
from mcp.client.sse import sse_client
from mcp.types import ListRootsResult, Root, TextContent
from pydantic import FileUrl

from tests.servers.served import answer, echo, over_http
from tests.wire.stage import until
from workbench.core import jsonrpc
from workbench.core.frame import Kind
from workbench.wire.serving_http import Manner
from workbench.wire.transport import Client

pytestmark = pytest.mark.anyio


async def use(client: Any) -> list[float]:
    """List and call; returns the progress that came."""
    reports: list[float] = []

    async def progressed(progress: float, _total: float | None, _message: str | None) -> None:
        reports.append(progress)

    assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
    arguments = {"text": "hi", "progress": 3}
    result = await client.call_tool("echo", arguments, progress_callback=progressed)
    assert result.content[0].text == "hi"
    return reports


@pytest.mark.parametrize(
    "manner", [Manner(), Manner(answers="sse"), Manner(primes=True), Manner(sessions=False)]
)
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_official_client_lists_calls_and_sees_progress(mode: str, manner: Manner) -> None:
    async with over_http(manner=manner) as (url, _), Official(url, mode=mode) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        assert await use(client) == [1, 2, 3]


async def test_the_official_client_takes_plain_json() -> None:
    async with over_http(manner=Manner(answers="json")) as (url, _), Official(url) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]


async def test_the_official_client_falls_back_where_only_the_handshake_era_is_served() -> None:
    async with over_http(manner=Manner(eras=("legacy",))) as (url, _), Official(url, mode="auto") as client:
        assert client.protocol_version == "2025-11-25"
        assert await use(client) == [1, 2, 3]


async def test_the_official_client_resumes_an_answer_that_was_hung_up() -> None:
    async def serve(client: Client) -> None:
        while (received := await client.receive()) is not None:
            for seen in received.decoded.messages:
                if seen.method == "initialize":
                    await _initialized(client, received.stream)
                elif seen.method == "ping":
                    client.hang_up(received.stream, retry=10)
                    client.send(jsonrpc.result(seen.id or "", "{}"), received.stream)

    async def _initialized(client: Client, stream: int) -> None:
        told = '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}'
        client.send(jsonrpc.result("1", told), stream)

    async with over_http(serve, Manner(primes=True)) as (url, sink), Official(url, mode="legacy") as client:
        with anyio.fail_after(30):
            await client.session.send_ping()
    resumed = [stream for stream in sink.streams.values() if ("last-event-id", "3-0") in _lower(stream)]
    assert len(resumed) <= 1
    assert any(name == "last-event-id" for stream in sink.streams.values() for name, _ in _lower(stream))


def _lower(stream: Any) -> list[tuple[str, str]]:
    return [(name.lower(), value) for name, value in stream.request_headers]


async def test_the_official_client_uses_the_older_transport() -> None:
    async with (
        over_http(path="/sse") as (url, _),
        sse_client(url) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        assert await use(session) == [1, 2, 3]


async def test_a_client_of_the_older_transport_that_leaves_is_gone() -> None:
    gone = anyio.Event()

    async def serve(client: Client) -> None:
        await echo(client)
        gone.set()

    async with over_http(serve, path="/sse") as (url, sink):
        async with sse_client(url) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
        with anyio.fail_after(20):
            await gone.wait()
    assert {stream.verb for stream in sink.streams.values()} == {"GET", "POST"}


async def test_the_official_client_listens_to_a_stream_and_closing_it_is_seen() -> None:
    left: list[int] = []
    listening: list[int] = []
    subscribed = "io.modelcontextprotocol/subscriptionId"

    async def serve(client: Client) -> None:
        client.on_left = left.append
        while (received := await client.receive()) is not None:
            for seen in received.decoded.messages:
                if seen.method != "subscriptions/listen":
                    answer(client, received, seen)
                    continue
                listening.append(received.stream)
                meta = {"_meta": {subscribed: seen.members["id"]}}
                for method, params in (
                    (
                        "notifications/subscriptions/acknowledged",
                        {"notifications": {"toolsListChanged": True}},
                    ),
                    ("notifications/tools/list_changed", {}),
                ):
                    told = jsonrpc.notification(method, json.dumps(params | meta))
                    client.send(told, received.stream)

    async with over_http(serve) as (url, sink), Official(url, mode="auto") as client:
        with anyio.fail_after(30):
            async with client.listen(tools_list_changed=True) as subscription:
                assert subscription.honored.tools_list_changed
                event = await anext(subscription)
        assert "ToolsListChanged" in type(event).__name__
        await until(lambda: left)
    assert left == listening
    assert sink.streams[listening[0]].closed_how == "cut"


@pytest.mark.parametrize(
    "own", [False, True], ids=["on the stream of the call", "on the stream of the client"]
)
async def test_the_official_client_is_asked_while_it_calls(own: bool) -> None:
    async def serve(client: Client) -> None:
        waiting: dict[str, tuple[int, str]] = {}
        while (received := await client.receive()) is not None:
            for seen in received.decoded.messages:
                if seen.method == "tools/call":
                    waiting['"ask"'] = (received.stream, seen.id or "")
                    client.send(jsonrpc.request('"ask"', "roots/list"), 0 if own else received.stream)
                elif seen.kind is Kind.RESULT:
                    stream, identity = waiting.pop(seen.id or "")
                    text = json.dumps(
                        {"content": [{"type": "text", "text": json.dumps(seen.value("result"))}]}
                    )
                    client.send(jsonrpc.result(identity, text), stream)
                elif seen.kind is Kind.REQUEST:
                    answer(client, received, seen)

    async def roots(context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl("file:///here"))])

    async with (
        over_http(serve) as (url, _),
        Official(url, mode="legacy", list_roots_callback=roots) as client,
    ):
        with anyio.fail_after(30):
            result = await client.call_tool("echo", {})
    [content] = result.content
    assert isinstance(content, TextContent)
    assert "file:///here" in content.text
