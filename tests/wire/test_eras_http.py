"""Which era a server over HTTP speaks, and the stateless era over HTTP."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.servers.http_script import CHUNKED, Asked, Table, Wire, as_json, chunk, event, message, reply, said
from tests.wire.http_peers import served
from tests.wire.http_stage import connected, fails, target_of
from tests.wire.stage import running, text_of, until
from workbench.core.jsonrpc import decode
from workbench.core.lifecycle import State
from workbench.core.routing import mismatches

pytestmark = pytest.mark.anyio

REVISION = "2026-07-28"
META = "io.modelcontextprotocol/"
HINTS = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
CAPABILITIES = {"tools": {"listChanged": True}}
SCHEMA = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}


def failing(status: int, code: int, data: Any = None) -> Callable[[Asked], bytes]:
    error = {"code": code, "message": "as asked"} | ({} if data is None else {"data": data})
    return lambda asked: reply(
        status, message(asked, result=..., error=error), content_type="application/json"
    )


def discovered(asked: Asked) -> bytes:
    return as_json(asked, {**HINTS, "supportedVersions": [REVISION], "capabilities": CAPABILITIES})


def tools(*, schema: Any = None) -> Callable[[Asked], bytes]:
    listed = [{"name": "echo", "inputSchema": schema or {"type": "object"}}]
    return lambda asked: as_json(asked, {**HINTS, "tools": listed})


def stateless(**more: Any) -> Table:
    """A server that only knows the stateless era."""
    return {
        "server/discover": discovered,
        "tools/list": tools(),
        "tools/call": lambda asked: as_json(asked, {"resultType": "complete", **said("hello")}),
        "initialize": failing(400, -32020),
        "GET": reply(405),
        **more,
    }


LEGACY_ANSWERS = [
    failing(400, -32000),
    failing(400, -32600),
    failing(400, -32602),
    failing(200, -32601),
    failing(400, -32022, {"supported": ["2025-11-25"]}),
    lambda asked: as_json(asked, {}),
    lambda asked: as_json(asked, {**HINTS, "supportedVersions": ["2025-11-25"], "capabilities": {}}),
    reply(400),
    reply(404, "<html>Not here</html>", content_type="text/html"),
    reply(405),
    reply(400, "Bad Request: No valid session ID provided", content_type="text/plain"),
    reply(202),
]


@pytest.mark.parametrize("answer", LEGACY_ANSWERS, ids=range(len(LEGACY_ANSWERS)))
async def test_whatever_proves_nothing_is_followed_by_a_handshake(answer: Any) -> None:
    async with connected({"server/discover": answer}, era="auto") as stage:
        await until(lambda: len(stage.site.of("POST")) == 3)
        assert [each.method for each in stage.site.of("POST")] == [
            "server/discover",
            "initialize",
            "notifications/initialized",
        ]
        assert stage.connection.conversation.era == "legacy"
        assert [event["era"] for event in stage.sink.events("era")] == ["legacy"]
        assert stage.connection.view.era == "legacy"
        assert stage.site.headers("initialize", "mcp-protocol-version") == [None]
        assert stage.site.headers("initialize", "mcp-method") == [None]
        assert stage.site.headers("notifications/initialized", "mcp-protocol-version") == ["2025-11-25"]


MODERN_ANSWERS = [discovered, failing(400, -32020), failing(400, -32021), failing(404, -32601)]


@pytest.mark.parametrize("answer", MODERN_ANSWERS, ids=range(len(MODERN_ANSWERS)))
async def test_what_speaks_for_the_stateless_era_is_not_followed_by_a_handshake(answer: Any) -> None:
    async with connected(stateless(**{"server/discover": answer}), era="auto") as stage:
        assert await stage.says() == "hello"
        assert not stage.site.of("initialize")
        assert not stage.site.of("GET")
        assert stage.connection.conversation.era == "modern"
        assert (stage.connection.view.era, stage.connection.view.state) == ("modern", State.READY)


async def test_a_refused_version_is_tried_once_more() -> None:
    refused = failing(400, -32022, {"supported": [REVISION], "requested": "2099-01-01"})
    table = stateless(**{"server/discover": [refused, discovered]})
    async with connected(table, era="modern", offer="2099-01-01") as stage:
        assert stage.site.headers("server/discover", "mcp-protocol-version") == ["2099-01-01", REVISION]
        assert await stage.says() == "hello"


async def test_an_answer_that_wants_a_login_is_no_reason_for_a_handshake() -> None:
    async with connected(
        {"POST": reply(401), "server/discover": reply(401)}, ready=False, era="auto"
    ) as stage:
        await until(lambda: stage.connection.view.state is State.UNAUTHORIZED)
        assert not stage.site.of("initialize")


async def test_nobody_there_is_told_in_either_era() -> None:
    for era in ("auto", "modern", "legacy"):
        state, sentence = await fails("http://127.0.0.1:1/mcp", era=era)
        assert state is State.UNREACHABLE
        assert sentence


async def test_every_post_repeats_in_headers_what_its_body_says() -> None:
    async with connected(stateless(), era="modern", log_level="info") as stage:
        await stage.says("Zürich")
        for asked in stage.site.of("POST"):
            (said_,) = decode(asked.body).messages
            assert mismatches(asked.headers.items(), said_) == []
            assert asked.headers["accept"] == "application/json, text/event-stream"
            assert "mcp-session-id" not in asked.headers
            assert asked.message["params"]["_meta"][META + "logLevel"] == "info"


@pytest.mark.parametrize("code", [-32020, -32001])
async def test_annotated_arguments_go_into_headers_and_are_listed_again_when_they_are_missed(
    code: int,
) -> None:
    table = stateless(
        **{
            "tools/list": [tools(), tools(schema=SCHEMA)],
            "tools/call": lambda asked: (
                as_json(asked, {"resultType": "complete", **said("hello")})
                if asked.headers.get("mcp-param-region")
                else failing(400, code)(asked)
            ),
        }
    )
    async with connected(table, era="modern") as stage:
        await stage.connection.list("tools/list")
        call = stage.connection.call("tools/call", '{"name":"echo","arguments":{"region":" eu"}}')
        assert text_of(await call.wait()) == "hello"
        assert stage.site.headers("tools/call", "mcp-param-region") == [None, "=?base64?IGV1?="]
        assert len(stage.site.of("tools/list")) == 2
        assert len(call.rounds) == 1


async def test_headers_that_are_refused_twice_end_the_call() -> None:
    async with connected(stateless(**{"tools/call": failing(400, -32020)}), era="modern") as stage:
        outcome = await stage.connection.request("tools/call", '{"name":"echo"}')
        assert (outcome.how, outcome.error["code"]) == ("error", -32020)
        assert len(stage.site.of("tools/call")) == 2


async def test_a_call_that_timed_out_in_the_server_is_not_sent_again() -> None:
    """An SDK says that with the number that a draft had for headers."""
    async with connected(stateless(**{"tools/call": failing(200, -32001)}), era="modern") as stage:
        outcome = await stage.connection.request("tools/call", '{"name":"echo"}')
        assert (outcome.how, outcome.error["code"]) == ("error", -32001)
        assert len(stage.site.of("tools/call")) == 1


async def test_cancelling_closes_the_stream_and_posts_nothing() -> None:
    gone: list[str] = []

    async def wait(asked: Asked, wire: Wire) -> None:
        token = asked.message["params"]["_meta"]["progressToken"]
        report = {"progressToken": token, "progress": 1}
        told = {"jsonrpc": "2.0", "method": "notifications/progress", "params": report}
        await wire.write(CHUNKED, chunk(event(json.dumps(told))))
        await wire.gone()
        gone.append("stream")

    async with connected(stateless(**{"tools/call": wait}), era="modern") as stage:
        call = stage.connection.call("tools/call", '{"name":"echo"}')
        await until(lambda: call.progress)
        call.cancel()
        assert (await call.wait()).how == "cancelled"
        await until(lambda: gone)
        assert not stage.site.of("notifications/cancelled")


async def test_a_lost_listen_stream_is_opened_again_and_says_so() -> None:
    async def listen(asked: Asked, wire: Wire) -> None:
        tagged = {"_meta": {META + "subscriptionId": asked.id}, "notifications": {"toolsListChanged": True}}
        acknowledged = "notifications/subscriptions/acknowledged"
        told = {"jsonrpc": "2.0", "method": acknowledged, "params": tagged}
        await wire.write(CHUNKED, chunk(event(json.dumps(told))))
        if len(stage.site.of("subscriptions/listen")) > 1:
            changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": tagged}
            await wire.write(chunk(event(json.dumps(changed))))
            await wire.gone()

    table = stateless(**{"subscriptions/listen": listen})
    async with connected(table, ready=False, era="modern") as stage:
        await stage.connection.ready()
        stage.connection.listing = True
        stage.connection._life.perform(stage.connection.conversation.watch())
        await until(lambda: len(stage.site.of("subscriptions/listen")) == 2, 30)
        await until(lambda: len(stage.site.of("tools/list")) == 1)
        (told,) = stage.sink.events("reconnect")
        assert (told["attempt"], told["resumes"], bool(told["stream"])) == (1, False, True)
        first, second = (each.id for each in stage.site.of("subscriptions/listen"))
        assert first != second


# Real servers


@pytest.mark.parametrize("words", [(), ("json",)])
async def test_the_official_sdks_server_over_http_in_both_eras(words: Any) -> None:
    async with served([sys.executable, "-m", "tests.servers.official_http", *words]) as port:
        for era, revision in (("auto", REVISION), ("modern", REVISION), ("legacy", "2025-11-25")):
            target = target_of(f"http://127.0.0.1:{port}/mcp", era=era)
            async with running(target, listing=True) as (connection, sink):
                await connection.ready()
                assert connection.view.revision == revision
                outcome = await connection.request("tools/call", '{"name":"add","arguments":{"a":2,"b":3}}')
                assert text_of(outcome) == "5"
                call = connection.call("tools/call", '{"name":"count","arguments":{"steps":3}}')
                assert text_of(await call.wait()) == "done"
                assert [each.progress for each in call.progress] == ([1, 2, 3] if words == () else [])
                await connection.listings.settled()
                assert [tool.name for tool in connection.view.tools][:3] == ["add", "fail", "count"]
                assert not connection.findings
                assert [each["era"] for each in sink.events("era")] == ([] if era == "legacy" else ["modern"])
                asked_for = [each["found"] == "It was asked for." for each in sink.events("era")]
                assert asked_for == ({"auto": [False], "modern": [True], "legacy": []}[era])


async def test_a_server_of_the_handshake_era_over_http_is_found_out(everything_command: list[str]) -> None:
    async with served([*everything_command, "streamableHttp"]) as port:
        target = target_of(f"http://127.0.0.1:{port}/mcp", era="auto")
        async with running(target) as (connection, sink):
            await connection.ready()
            assert connection.view.revision == "2025-11-25"
            assert [each["era"] for each in sink.events("era")] == ["legacy"]
            outcome = await connection.request("tools/call", '{"name":"echo","arguments":{"message":"x"}}')
            assert outcome.how == "result"
