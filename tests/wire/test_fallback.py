"""One URL, and finding out which HTTP transport it speaks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from tests.servers.served import over_http
from tests.wire.stage import call_tool, running, text_of
from tests.wire.test_sse_client import old_server, whole
from workbench.config import Target
from workbench.core import jsonrpc
from workbench.core.frame import Channel
from workbench.core.jsonrpc import decode
from workbench.core.lifecycle import State
from workbench.errors import ConnectionFailed
from workbench.wire.http_detect import may_be_older

pytestmark = pytest.mark.anyio


def target(url: str, era: str = "legacy") -> Target:
    return Target.model_validate({"name": "found", "transport": "http", "url": url, "era": era})


@asynccontextmanager
async def refusing(answer: bytes, stream: bytes = b"") -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that answers every POST so, and every GET with ``stream`` or in the same way."""
    verbs: list[bytes] = []

    async def serve(client: SocketStream) -> None:
        async with client:
            head = b""
            while b"\r\n\r\n" not in head:
                head += await client.receive()
            verbs.append(head.split()[0])
            await client.send(stream if stream and head.startswith(b"GET") else answer)

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as group,
    ):
        group.start_soon(listener.serve, serve)
        yield f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/x", verbs
        group.cancel_scope.cancel()


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_server_of_the_older_transport_is_found_behind_one_url(era: str) -> None:
    async with over_http(path="/sse") as (url, _), running(target(url, era)) as (connection, sink):
        await connection.ready()
        assert text_of(await call_tool(connection, "hi")) == "hi"
        await connection.close()
    assert connection.view.state is State.CLOSED
    [fallback] = sink.events("fallback")
    assert fallback["to"] == "sse"
    assert "405" in fallback["why"]
    assert not sink.events("unreachable")
    verbs = [stream.verb for stream in sink.streams.values()]
    assert verbs[:2] == ["POST", "POST" if era == "auto" else "GET"]


async def test_a_refusal_with_a_page_leads_there_too() -> None:
    async def unknown(old: object, path: str, body: bytes) -> bytes:
        return whole("404 Not Found", b"<html><title>Not here</title></html>", b"text/html")

    async with old_server() as (url, old):
        good = old.post

        async def post(each: object, path: str, body: bytes) -> bytes:
            return await (good if path == "/messages" else unknown)(old, path, body)

        old.post = post
        async with running(target(url)) as (connection, sink):
            await connection.ready()
            assert text_of(await call_tool(connection, "hi")) == "hi"
    assert "Not here" in sink.events("fallback")[0]["why"]


async def test_streamable_http_is_spoken_where_it_is_spoken() -> None:
    async with over_http() as (url, _), running(target(url)) as (connection, sink):
        await connection.ready()
        assert text_of(await call_tool(connection, "hi")) == "hi"
    assert not sink.events("fallback")


async def test_a_server_of_neither_is_told_by_its_first_answer() -> None:
    answer = whole("404 Not Found", b"nothing here")
    async with refusing(answer) as (url, verbs), running(target(url)) as (connection, sink):
        with pytest.raises(ConnectionFailed, match="answered with status 404: “nothing here”"):
            await connection.ready()
        assert connection.view.state is State.UNREACHABLE
    assert verbs == [b"POST", b"GET"]
    assert len(sink.events("unreachable")) == 1


async def test_a_stream_that_does_not_begin_with_an_endpoint_is_no_older_server() -> None:
    stream = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: hello\n\ndata: {}\n\n"
    async with (
        refusing(whole("405 Method Not Allowed"), stream) as (url, _),
        running(target(url)) as (connection, sink),
    ):
        with pytest.raises(ConnectionFailed, match="405"):
            await connection.ready()
    assert len(sink.bodies(Channel.SSE)) == 2
    assert not sink.events("fallback")


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "500 Internal Server Error"])
async def test_what_is_no_refusal_of_the_post_itself_asks_for_no_stream(status: str) -> None:
    async with refusing(whole(status)) as (url, verbs), running(target(url)) as (connection, sink):
        with pytest.raises(ConnectionFailed):
            await connection.ready()
        denied = status[:3] in ("401", "403")
        assert connection.view.state is (State.UNAUTHORIZED if denied else State.UNREACHABLE)
    assert verbs == [b"POST"]
    assert not sink.events("fallback")


@pytest.mark.parametrize(
    ("status", "code", "older"),
    [
        (400, -32000, True),
        (400, -32601, True),
        (405, -32600, True),
        (400, -32020, False),
        (400, -32021, False),
        (400, -32022, False),
        (404, -32601, False),
        (401, -32000, False),
        (406, -32000, False),
        (500, -32603, False),
    ],
)
def test_a_refusal_in_the_words_of_the_stateless_era_is_none_of_the_older_transport(
    status: int, code: int, older: bool
) -> None:
    assert may_be_older(status, decode(jsonrpc.error(None, code, "no"))) is older


def test_a_refusal_without_words_may_be_of_the_older_transport() -> None:
    assert may_be_older(404, decode(b""))
    assert may_be_older(405, decode(b"<html>"))
