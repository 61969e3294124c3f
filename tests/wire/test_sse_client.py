"""The older HTTP with SSE, our client's half, against servers that do it rightly and wrongly."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import anyio
import httpx
import pytest
from anyio.abc import SocketAttribute, SocketStream

from tests.servers.served import over_http, result_of
from tests.wire.stage import MemorySink, call_tool, running, text_of, until
from workbench.config import Target
from workbench.core import jsonrpc
from workbench.core.frame import Channel, Direction, Kind, Unit, carried_kind
from workbench.core.lifecycle import State
from workbench.errors import ConnectionFailed
from workbench.wire.connection import Connection
from workbench.wire.http_errors import Trouble
from workbench.wire.sse_endpoint import endpoint_of, lost_prefix

pytestmark = pytest.mark.anyio


def target(url: str, **options: object) -> Target:
    return Target.model_validate({"name": "old", "transport": "sse", "url": url, "era": "legacy", **options})


async def failure(url: str, **options: object) -> tuple[str, Connection, MemorySink]:
    async with running(target(url, **options)) as (connection, sink):
        with pytest.raises(ConnectionFailed) as failed:
            await connection.ready()
    return str(failed.value), connection, sink


# A server made of sockets, for everything that a good server does not do.

Handler = Callable[["Old", str, bytes], Awaitable[bytes]]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


class Old:
    """One stream and what is POSTed. ``endpoint`` is what the stream begins with; ``post`` answers a POST
    with a whole HTTP answer; ``moved`` is where the stream is instead."""

    def __init__(self, endpoint: bytes, post: Handler) -> None:
        self.endpoint = endpoint
        self.post = post
        self.posted: list[bytes] = []
        self.moved = b""
        self.saying = anyio.Lock()
        self.stream: SocketStream | None = None

    async def __call__(self, stream: SocketStream) -> None:
        # Clients come and go as they like.
        with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            async with stream:
                await self._serve(stream)

    async def _serve(self, stream: SocketStream) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += await stream.receive()
        head, _, body = head.partition(b"\r\n\r\n")
        if self.moved and head.startswith(b"GET /sse"):
            location = b"location: " + self.moved
            await stream.send(b"HTTP/1.1 307 Moved\r\ncontent-length: 0\r\n" + location + b"\r\n\r\n")
            return
        if head.startswith(b"GET"):
            self.stream = stream
            await stream.send(HEAD + self.endpoint)
            with anyio.move_on_after(60):
                await stream.receive()
            return
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        while len(body) < length:
            body += await stream.receive()
        self.posted.append(body)
        await stream.send(await self.post(self, head.split()[1].decode(), body))

    async def say(self, data: bytes, name: bytes = b"message") -> None:
        assert self.stream is not None
        async with self.saying:
            await self.stream.send(b"event: " + name + b"\r\ndata: " + data + b"\r\n\r\n")


def whole(status: str, body: bytes = b"", media: bytes = b"text/plain") -> bytes:
    head = f"HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {len(body)}\r\n"
    return head.encode() + b"content-type: " + media + b"\r\n\r\n" + body


def answer_to(body: bytes) -> bytes:
    asked = json.loads(body)
    if "method" not in asked or "id" not in asked:
        return b""
    return jsonrpc.result(
        json.dumps(asked["id"]), json.dumps(result_of(asked["method"], asked.get("params", {})))
    )


async def on_the_stream(old: Old, _path: str, body: bytes) -> bytes:
    answer = answer_to(body)
    if answer:
        await old.say(answer)
    return whole("202 Accepted", b"Accepted")


async def in_the_answer(_old: Old, _path: str, body: bytes) -> bytes:
    return whole("200 OK", answer_to(body), b"application/json")


@asynccontextmanager
async def old_server(
    endpoint: bytes = b"event: endpoint\r\ndata: /messages\r\n\r\n", post: Handler = on_the_stream
) -> AsyncIterator[tuple[str, Old]]:
    old = Old(endpoint, post)
    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as group,
    ):
        group.start_soon(listener.serve, old)
        yield f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/sse", old
        group.cancel_scope.cancel()


# What is right


async def test_a_server_of_the_older_transport_is_used() -> None:
    async with over_http(path="/sse") as (url, _), running(target(url)) as (connection, sink):
        await connection.ready()
        call = connection.call(
            "tools/call", json.dumps({"name": "echo", "arguments": {"text": "hi", "progress": 2}})
        )
        assert text_of(await call.wait()) == "hi"
        assert [report.progress for report in call.progress] == [1, 2]
        await connection.close()
    assert connection.view.state is State.CLOSED
    [stream] = [stream for stream in sink.streams.values() if stream.verb == "GET"]
    assert (stream.status, stream.closed_how) == (200, "closed")
    assert [event["state"] for event in sink.events("stream")] == ["open", "closed"]
    posts = [stream for stream in sink.streams.values() if stream.verb == "POST"]
    assert {stream.status for stream in posts} == {202}
    assert all("/messages?sessionId=" in stream.url for stream in posts)


def kinds(sink: MemorySink) -> list[Kind]:
    """What the server's frames are."""

    def kind(unit: Unit) -> Kind:
        return carried_kind(unit.channel, unit.data, unit.event) or jsonrpc.decode(unit.data).kind

    return [kind(unit) for unit in sink.units if unit.direction is Direction.TO_CLIENT]


async def test_a_word_that_acknowledges_is_no_broken_message() -> None:
    async with old_server() as (url, _), running(target(url)) as (connection, sink):
        await connection.ready()
        await until(lambda: len(sink.bodies(Channel.HTTP)) == 2)
    assert sink.bodies(Channel.HTTP) == [b"Accepted", b"Accepted"]
    assert Kind.INVALID not in kinds(sink)


async def test_replies_in_the_answer_to_a_post_are_taken() -> None:
    async with old_server(post=in_the_answer) as (url, _), running(target(url)) as (connection, _sink):
        await connection.ready()
        assert text_of(await call_tool(connection, "hi")) == "hi"


async def test_a_server_that_acknowledges_with_the_reply_can_ask_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("workbench.wire.sse_client.IN_ORDER", 0.3)
    answered = anyio.Event()

    async def slow(old: Old, path: str, body: bytes) -> bytes:
        told = json.loads(body)
        if told.get("method") == "tools/call":
            await old.say(jsonrpc.request('"ask"', "ping"))
            await answered.wait()
        elif told.get("id") == "ask":
            answered.set()
        return await in_the_answer(old, path, body)

    async with old_server(post=slow) as (url, _), running(target(url)) as (connection, _sink):
        await connection.ready()
        assert text_of(await call_tool(connection, "hi")) == "hi"


async def test_messages_go_out_in_order() -> None:
    async with old_server() as (url, old), running(target(url)) as (connection, _):
        await connection.ready()
        calls = [connection.call("ping") for _ in range(20)]
        for call in calls:
            assert (await call.wait()).how == "result"
        connection.call("tools/call", '{"name":"none"}').cancel()
        await until(lambda: len(old.posted) == 24)
    told = [json.loads(body) for body in old.posted]
    assert [each["id"] for each in told[2:23]] == list(range(2, 23))
    assert told[-1]["method"] == "notifications/cancelled"


async def test_headers_of_the_target_go_with_every_request() -> None:
    async with (
        over_http(path="/sse") as (url, seen),
        running(target(url, headers={"Authorization": "Bearer t"})) as (connection, _),
    ):
        await connection.ready()
    assert all(("authorization", "Bearer t") in stream.request_headers for stream in seen.streams.values())


async def test_a_request_of_the_server_is_answered_by_a_post() -> None:
    async with old_server() as (url, old), running(target(url)) as (connection, _):
        await connection.ready()
        await old.say(jsonrpc.request('"ask"', "ping"))
        await until(lambda: len(old.posted) == 3)
    assert json.loads(old.posted[-1]) == {"jsonrpc": "2.0", "id": "ask", "result": {}}


async def test_a_stream_that_has_moved_is_followed_and_the_endpoint_belongs_to_where_it_is() -> None:
    async with old_server(b"event: endpoint\ndata: messages\n\n") as (url, old):
        old.moved = b"/deep/er/sse"
        async with running(target(url)) as (connection, sink):
            await connection.ready()
            assert text_of(await call_tool(connection, "hi")) == "hi"
    posts = [stream.url for stream in sink.streams.values() if stream.verb == "POST"]
    assert all(each.endswith("/deep/er/messages") for each in posts)
    assert len(sink.events("redirect")) == 1


# What is wrong


async def test_a_lost_stream_ends_the_connection_and_every_call() -> None:
    async with old_server() as (url, old), running(target(url)) as (connection, sink):
        await connection.ready()
        waits = connection.call("tools/call", '{"name":"echo"}')
        await waits.wait()

        async def never(_old: Old, _path: str, _body: bytes) -> bytes:
            return whole("202 Accepted")

        old.post = never
        waits = connection.call("ping")
        await until(lambda: len(old.posted) == 4)
        assert old.stream is not None
        await old.stream.aclose()
        assert (await waits.wait()).how == "lost"
        await until(lambda: connection.view.state is State.LOST)
    assert "cannot take a stream up again" in connection.view.why
    assert [event["state"] for event in sink.events("stream")] == ["open", "lost"]


async def test_an_endpoint_of_another_server_is_refused_and_nothing_is_sent_there() -> None:
    async with old_server(b"event: endpoint\ndata: http://internal:9000/messages\n\n") as (url, old):
        sentence, connection, sink = await failure(url)
    assert connection.view.state is State.UNREACHABLE
    assert "http://internal:9000/messages" in sentence
    assert "another host and port" in sentence
    assert "behind a proxy" in sentence
    assert old.posted == []
    assert sink.events("unreachable")[0]["step"] == "http"


async def test_a_post_outside_the_streams_path_that_is_not_found_is_explained() -> None:
    async def lost(_old: Old, path: str, _body: bytes) -> bytes:
        return whole("404 Not Found", f"nothing at {path}".encode())

    async with old_server(post=lost) as (url, _):
        sentence, _, _ = await failure(url.replace("/sse", "/app/sse"))
    assert "The stream is under /app, the endpoint the server names (/messages) is not" in sentence


async def test_a_stream_without_an_endpoint_is_told() -> None:
    async with (
        old_server(b"event: hello\ndata: x\n\n") as (url, old),
        running(target(url)) as (connection, sink),
    ):
        await until(lambda: sink.bodies(Channel.SSE))
        assert old.stream is not None
        await old.stream.aclose()
        with pytest.raises(ConnectionFailed, match="had not named an endpoint"):
            await connection.ready()


async def test_a_server_of_another_transport_is_told_apart() -> None:
    async with over_http() as (url, _):
        sentence, connection, _ = await failure(url.replace("/mcp", "/nothing"))
        assert connection.view.state is State.UNREACHABLE
        assert "--http URL" in sentence
        sentence, _, _ = await failure(url)
        assert "400" in sentence


async def test_a_server_that_is_not_there_is_told() -> None:
    sentence, connection, sink = await failure("http://127.0.0.1:9/sse")
    assert "Nothing listens on 127.0.0.1:9" in sentence
    assert connection.view.state is State.UNREACHABLE
    assert sink.events("unreachable")[0]["step"] == "tcp"


async def test_a_refusal_is_a_matter_of_authorization() -> None:
    async def refuse(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(whole("401 Unauthorized"))

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as group,
    ):
        group.start_soon(listener.serve, refuse)
        url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/sse"
        _, connection, _ = await failure(url)
        group.cancel_scope.cancel()
    assert connection.view.state is State.UNAUTHORIZED


async def test_a_message_that_is_not_taken_fails_alone() -> None:
    async with old_server() as (url, old), running(target(url)) as (connection, _):
        await connection.ready()

        async def busy(_old: Old, _path: str, _body: bytes) -> bytes:
            return whole("503 Service Unavailable", b"busy")

        await until(lambda: len(old.posted) == 2)
        old.post = busy
        outcome = await connection.request("ping")
        assert outcome.how == "lost"
        assert "503" in outcome.why
        old.post = on_the_stream
        assert (await connection.request("ping")).how == "result"


# The endpoint

STREAM = httpx.URL("https://tool.example/app/sse")


@pytest.mark.parametrize(
    ("data", "url"),
    [
        (b"/app/messages?sessionId=1", "https://tool.example/app/messages?sessionId=1"),
        (b"messages/", "https://tool.example/app/messages/"),
        (b"?session=1", "https://tool.example/app/sse?session=1"),
        (b" https://tool.example:443/m ", "https://tool.example/m"),
    ],
)
def test_an_endpoint_is_resolved_against_the_streams_url(data: bytes, url: str) -> None:
    assert str(endpoint_of(data, STREAM)) == url


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"http://tool.example/m", "another scheme and port than https://tool.example:443"),
        (b"//other.example/m", "another host than"),
        (b"https://tool.example:8443/m", "another port than"),
        (b"https://user:word@tool.example/m", "with a user"),
        (b"", "is no URL"),
        (b"http://x:y", "is no URL"),
        (b"file:///etc/passwd", "another scheme"),
    ],
)
def test_an_endpoint_elsewhere_is_told_with_what_differs(data: bytes, said: str) -> None:
    found = endpoint_of(data, STREAM)
    assert isinstance(found, Trouble)
    assert said in found.why
    assert "word" not in found.why


def test_a_lost_prefix_is_noticed_only_where_there_is_one() -> None:
    assert "/app" in lost_prefix(STREAM, httpx.URL("https://tool.example/messages"))
    assert lost_prefix(STREAM, httpx.URL("https://tool.example/app/messages")) == ""
    assert (
        lost_prefix(httpx.URL("https://tool.example/sse"), httpx.URL("https://tool.example/messages")) == ""
    )
