"""The older HTTP with SSE against a server that other people wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.peers.listening import listening
from tests.wire.stage import running, text_of, until
from workbench.config import Target
from workbench.core.frame import Channel
from workbench.core.lifecycle import State

pytestmark = pytest.mark.anyio

UPDATED = b"notifications/resources/updated"


@pytest.fixture(scope="module")
def everything_url(everything_command: list[str]) -> Iterator[str]:
    with listening(everything_command, "sse") as url:
        yield f"{url}/sse"


def target(url: str, transport: str = "sse", era: str = "legacy") -> Target:
    return Target.model_validate({"name": "everything", "transport": transport, "url": url, "era": era})


def call_of(name: str, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments})


async def test_it_lists_calls_subscribes_and_cancels(everything_url: str) -> None:
    async with running(target(everything_url)) as (connection, sink):
        await connection.ready()
        await connection.refresh()
        view = connection.view
        assert view.list_errors == {}
        assert {"echo", "trigger-long-running-operation"} <= {tool.name for tool in view.tools}
        assert view.resources
        assert view.prompts
        said = await connection.request("tools/call", call_of("echo", message="over an old stream"))
        assert "over an old stream" in text_of(said)

        uri = json.dumps({"uri": view.resources[0].name})
        assert (await connection.request("resources/subscribe", uri)).how == "result"
        toggled = await connection.request("tools/call", call_of("toggle-subscriber-updates"))
        assert toggled.how == "result"
        await until(lambda: any(UPDATED in body for body in sink.bodies(Channel.SSE)), 30)

        slow = connection.call(
            "tools/call", call_of("trigger-long-running-operation", duration=60, steps=600)
        )
        await until(lambda: slow.progress, 30)
        slow.cancel("enough")
        assert (await slow.wait()).how == "cancelled"
        assert (await connection.request("ping")).how == "result"
        # What is acknowledged on a stream of its own may be so after the answer has come.
        posts = [stream.number for stream in sink.streams.values() if stream.verb == "POST"]
        await until(lambda: all(sink.streams[number].closed_how for number in posts), 30)
        await connection.close()
    assert connection.view.state is State.CLOSED
    assert b"Accepted" in sink.bodies(Channel.HTTP)
    assert {stream.closed_how for stream in sink.streams.values() if stream.verb == "POST"} == {"end"}


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_it_is_found_behind_one_url(everything_url: str, era: str) -> None:
    async with running(target(everything_url, "http", era)) as (connection, sink):
        await connection.ready()
        said = await connection.request("tools/call", call_of("echo", message="found"))
        assert "found" in text_of(said)
    assert [event["to"] for event in sink.events("fallback")] == ["sse"]


async def test_its_other_transport_is_served_at_mcp_and_is_not_mistaken(
    everything_command: list[str],
) -> None:
    with listening(everything_command, "streamableHttp") as url:
        async with running(target(f"{url}/mcp", "http")) as (connection, sink):
            await connection.ready()
            said = await connection.request("tools/call", call_of("echo", message="streamable"))
            assert "streamable" in text_of(said)
        assert not sink.events("fallback")
