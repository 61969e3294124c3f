"""When a request is sent a second time: only where nobody can have read the first."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.wire.stage import MemorySink
from workbench.wire.http_clients import HttpClients
from workbench.wire.http_errors import HttpFailed
from workbench.wire.http_requests import Requests
from workbench.wire.tap import Tap

pytestmark = pytest.mark.anyio


class Breaking(httpx.AsyncBaseTransport):
    """A connection that breaks the first time, after the given steps.

    Stands for one that the other side closes in the moment it is used again, which no test can hit.
    """

    def __init__(self, *steps: str) -> None:
        self.bodies: list[bytes] = []
        self._steps = steps

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(await request.aread())
        if len(self.bodies) > 1:
            return httpx.Response(200, content=b"here")
        for step in self._steps:
            await request.extensions["trace"](step, {})
        raise httpx.ReadError("broken")


class Only(HttpClients):
    """One client for every URL."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        super().__init__()
        self._only = client

    def of(self, url: httpx.URL) -> httpx.AsyncClient:  # noqa: ARG002 - the same for all
        return self._only


async def sent(*steps: str) -> tuple[list[bytes], MemorySink, bytes]:
    """Send a body over a connection that breaks: what went out, what was recorded, what came."""
    sink = MemorySink()
    transport = Breaking(*steps)
    async with httpx.AsyncClient(transport=transport) as client:
        requests = Requests(Only(client), httpx.URL("http://127.0.0.1/mcp"), Tap(sink, 1), sink.has_room)
        outgoing = requests.begin("POST", [("X-One", "1")], b"body")
        try:
            async with requests.answer(outgoing) as answer:
                body, _ = await answer.body(1000)
        except HttpFailed as failure:
            body = failure.trouble.why.encode()
    return transport.bodies, sink, body


async def test_what_was_never_written_whole_is_sent_once_more_over_a_new_connection() -> None:
    bodies, sink, body = await sent("http11.send_request_headers.started")
    assert (bodies, body) == ([b"body", b"body"], b"here")
    first, second = sink.streams.values()
    assert (first.closed_how, second.closed_how) == ("failed", "end")
    assert first.request_headers == second.request_headers


async def test_what_was_written_whole_is_never_sent_again() -> None:
    bodies, sink, body = await sent("http11.send_request_body.complete")
    assert bodies == [b"body"]
    assert b"broke before an answer came" in body
    assert [stream.closed_how for stream in sink.streams.values()] == ["failed"]


async def test_what_fails_on_a_new_connection_is_not_tried_on_another() -> None:
    bodies, _, _ = await sent("connection.connect_tcp.started", "http11.send_request_headers.started")
    assert bodies == [b"body"]


async def test_a_body_is_read_up_to_a_bound_and_no_further() -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 1000

    sink = MemorySink()
    endless_answer = httpx.MockTransport(lambda _: httpx.Response(200, content=endless()))
    async with httpx.AsyncClient(transport=endless_answer) as client:
        requests = Requests(Only(client), httpx.URL("http://127.0.0.1/mcp"), Tap(sink, 1), sink.has_room)
        async with requests.answer(requests.begin("POST", [], b"body")) as answer:
            body, trouble = await answer.body(5000)
    assert len(body) == 5000
    assert trouble is not None
    assert "longer than 5,000 bytes" in trouble.why
    assert [stream.closed_how for stream in sink.streams.values()] == ["closed"]
