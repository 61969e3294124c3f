"""Redirects: followed at the same server with the same request, and nowhere else."""

from __future__ import annotations

import httpx
import pytest

from tests.servers.http_script import Asked, plain, reply, serve_http, tells
from tests.wire.http_stage import connected, fails, target_of
from tests.wire.stage import MemorySink, call_tool, running, until
from workbench.core.frame import Channel, Direction
from workbench.core.lifecycle import State
from workbench.wire.http_redirects import is_same_server

pytestmark = pytest.mark.anyio


def moved(status: int, to: str) -> bytes:
    return reply(status, location=to)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_to_another_path_is_followed_with_method_headers_and_body(status: int) -> None:
    def here(asked: Asked) -> bytes:
        return tells("found")(asked) if asked.path == "/mcp/" else moved(status, "/mcp/")

    headers = {"Authorization": "Bearer token-123456"}
    async with connected({"tools/call": here}, headers=headers) as stage:
        assert await stage.says() == "found"
        first, second = stage.site.of("tools/call")
        assert (first.body, second.verb, second.path) == (second.body, "POST", "/mcp/")
        for name in ("authorization", "content-type", "accept", "mcp-session-id", "content-length"):
            assert first.headers[name] == second.headers[name]


async def test_a_redirect_is_told_and_the_message_is_one_frame() -> None:
    def here(asked: Asked) -> bytes:
        return tells("found")(asked) if asked.path == "/mcp/" else moved(307, "/mcp/")

    async with connected({"tools/call": here}) as stage:
        await stage.says()
        (told,) = stage.sink.events("redirect")
        assert (told["from"], told["to"], told["status"]) == (stage.site.url, stage.site.url + "/", 307)
        first, second = stage.sink.streams[told["stream"]], stage.sink.streams[told["next"]]
        assert (first.status, first.closed_how) == (307, "end")
        assert (second.status, second.url) == (200, stage.site.url + "/")
        sent = stage.sink.bodies(Channel.HTTP, Direction.TO_SERVER)
        assert len([body for body in sent if b"tools/call" in body]) == 1


@pytest.mark.parametrize(("status", "times"), [(307, 2), (302, 2), (308, 1), (301, 1)])
async def test_only_a_permanent_redirect_is_remembered(status: int, times: int) -> None:
    def here(asked: Asked) -> bytes:
        return tells("found")(asked) if asked.path == "/new" else moved(status, "/new")

    async with connected({"tools/call": here}) as stage:
        for _ in range(2):
            await stage.says()
        assert [each.path for each in stage.site.of("tools/call")].count("/mcp") == times


async def test_the_whole_handshake_may_be_redirected() -> None:
    def here(asked: Asked) -> bytes:
        return plain(asked) if asked.path == "/mcp/" else moved(307, "/mcp/")

    async with connected({"POST": here, "initialize": here}) as stage:
        assert stage.connection.state is State.READY


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_nothing_is_ever_sent_to_another_server(status: int) -> None:
    async with serve_http({}) as other:
        here = {"tools/call": [moved(status, other.url), tells("back")]}
        async with connected(here, headers={"Authorization": "Bearer token-123456"}) as stage:
            outcome = await call_tool(stage.connection, "x")
            assert outcome.how == "lost"
            assert f"another server, http://127.0.0.1:{other.port}, where nothing was sent" in outcome.why
            assert stage.connection.state is State.READY
            assert await stage.says() == "back"
        assert (other.asked, other.connections) == ([], 0)


async def test_a_handshake_that_is_redirected_to_another_server_says_where() -> None:
    async with serve_http({}) as other, serve_http({"initialize": moved(307, other.url)}) as site:
        sink = MemorySink()
        state, sentence = await fails(site.url, sink)
        assert state is State.UNREACHABLE
        assert other.url.removesuffix("/mcp") in sentence
        assert "If you trust it, connect to that URL." in sentence
        assert other.connections == 0


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (moved(303, "/mcp/"), "asks for a GET"),
        (reply(307), "leads nowhere"),
        (moved(307, "http://127.0.0.1:port/"), "no URL"),
        (moved(307, "/mcp"), "redirects more than 5 times"),
    ],
    ids=["see other", "no location", "no url", "loop"],
)
async def test_a_redirect_that_cannot_be_followed_fails_the_call_with_a_sentence(
    answer: bytes, says: str
) -> None:
    async with connected({"tools/call": answer}) as stage:
        outcome = await call_tool(stage.connection, "x")
        assert outcome.how == "lost"
        assert says in outcome.why
        assert all(stream.closed_how for stream in stage.sink.streams.values() if stream.status == 307)
        assert stage.connection.state is State.READY


async def test_credentials_that_a_redirect_brings_are_not_used() -> None:
    def here(asked: Asked) -> bytes:
        port = asked.headers["host"].partition(":")[2]
        return (
            tells("x")(asked) if asked.path == "/new" else moved(307, f"http://eve:pw@127.0.0.1:{port}/new")
        )

    async with connected({"tools/call": here}) as stage:
        await stage.says()
        assert "authorization" not in stage.site.of("tools/call")[-1].headers


async def test_the_stream_for_listening_is_redirected_too() -> None:
    def here(asked: Asked) -> bytes:
        return reply(405) if asked.path == "/listen" else moved(307, "/listen")

    async with serve_http({"GET": here}) as site, running(target_of(site.url)) as (connection, sink):
        await connection.ready()
        await until(lambda: sink.events("stream"))
        assert [each.path for each in site.of("GET")] == ["/mcp", "/listen"]


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("http://a/mcp", "http://a/mcp/", True),
        ("http://a/mcp", "http://a:80/x", True),
        ("http://a/mcp", "https://a/mcp", True),
        ("http://a:8080/mcp", "https://a:8080/mcp", True),
        ("http://a:8080/mcp", "https://a/mcp", False),
        ("http://a/mcp", "https://a:8443/mcp", False),
        ("https://a/mcp", "http://a/mcp", False),
        ("http://a:1/mcp", "http://a:2/mcp", False),
        ("http://a/mcp", "http://b/mcp", False),
        ("http://a/mcp", "http://a.b/mcp", False),
        ("http://A/mcp", "http://a/mcp", True),
        ("http://a/mcp", "file:///etc/passwd", False),
    ],
)
def test_which_urls_are_the_same_server(old: str, new: str, same: bool) -> None:
    assert is_same_server(httpx.URL(old), httpx.URL(new)) is same
