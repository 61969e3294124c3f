"""The stateless era over HTTP: no session, one stream a request, and closing it is cancelling."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from tests.servers.http_script import (
    CHUNKED,
    EVENTS,
    RESULT,
    Asked,
    Table,
    Wire,
    as_json,
    chunk,
    event,
    message,
    reply,
    said,
    serve_http,
    streams,
)
from tests.wire.http_stage import case, connected, fails
from tests.wire.stage import MemorySink, call_tool, until
from workbench.core.lifecycle import State

pytestmark = pytest.mark.anyio

DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {"listChanged": True}},
    "ttlMs": 0,
    "cacheScope": "private",
}


def complete(asked: Asked, text: str) -> dict[str, Any]:
    return {"resultType": "complete", **said(text)}


def modern(**more: Any) -> Table:
    """A server of the stateless era."""
    return {
        "server/discover": lambda asked: as_json(asked, DISCOVERED),
        "tools/call": lambda asked: as_json(asked, complete(asked, "stateless")),
        "initialize": reply(400),
        **{name.replace("_", "/"): answer for name, answer in more.items()},
    }


async def test_there_is_no_session_no_listening_and_no_end_of_a_session() -> None:
    def with_session(asked: Asked) -> bytes:
        return as_json(asked, DISCOVERED, Mcp_Session_Id="unasked")

    async with connected(modern(server_discover=with_session), era="modern") as stage:
        assert await stage.says() == "stateless"
        assert set(stage.site.headers("POST", "mcp-protocol-version")) == {"2026-07-28"}
        assert stage.site.headers("tools/call", "mcp-method") == ["tools/call"]
        assert stage.site.headers("tools/call", "mcp-name") == ["echo"]
        assert set(stage.site.headers("POST", "mcp-session-id")) == {None}
    assert stage.site.of("GET") == stage.site.of("DELETE") == []


async def test_giving_a_call_up_closes_its_stream_and_sends_nothing() -> None:
    closed = anyio.Event()

    async def waits(asked: Asked, wire: Wire) -> None:
        await wire.write(EVENTS, b": wait\n\n")
        await wire.gone()
        closed.set()

    async with connected(modern(tools_call=waits), era="modern") as stage:
        call = stage.connection.call("tools/call", '{"name":"echo"}')
        await until(lambda: stage.events())
        call.cancel()
        assert (await call.wait()).how == "cancelled"
        with anyio.fail_after(20):
            await closed.wait()
        assert stage.site.of("notifications/cancelled") == []
        await until(lambda: stage.streams("POST")[-1].closed_how == "closed")


async def test_a_broken_stream_loses_the_request_also_where_its_events_have_ids() -> None:
    async def breaks(asked: Asked, wire: Wire) -> None:
        await wire.write(CHUNKED, chunk(b"retry: 100\nid: e1\ndata: \n\n"))
        wire.reset()

    async with connected(modern(tools_call=breaks), era="modern") as stage:
        outcome = await call_tool(stage.connection, "x")
        assert outcome.how == "lost"
        assert "broke in the middle" in outcome.why
        assert stage.site.of("GET") == []
        assert stage.connection.state is State.READY


async def test_an_error_with_a_status_is_the_answer() -> None:
    def refuse(asked: Asked) -> bytes:
        error = {"code": -32601, "message": "no such method"}
        return reply(404, message(asked, result=..., error=error), content_type="application/json")

    async with connected(modern(tools_call=refuse), era="modern") as stage:
        outcome = await call_tool(stage.connection, "x")
        assert (outcome.how, outcome.error["code"]) == ("error", -32601)


async def test_what_a_server_tells_during_a_call_comes_on_the_calls_own_stream() -> None:
    log = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"on it"}}'
    answer = streams(event(log), lambda asked: event(message(asked, complete(asked, "done"))))
    async with connected(modern(tools_call=answer), era="modern") as stage:
        assert await stage.says() == "done"
        assert [entry.text for entry in stage.connection.view.logs] == ["on it"]


@pytest.mark.parametrize(
    "refusal",
    [
        reply(404, "<html><title>Nothing here</title></html>", content_type="text/html"),
        reply(400, '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Server not initialized"}}'),
        reply(400),
        reply(405),
        reply(202),
        reply(500, "oh", content_type="text/plain"),
    ],
    ids=case,
)
async def test_a_server_that_refuses_the_probe_is_asked_to_initialize(refusal: bytes) -> None:
    table: Table = {
        "server/discover": refusal,
        "initialize": lambda asked: as_json(asked, RESULT),
        "tools/call": lambda asked: as_json(asked, said("legacy")),
    }
    async with connected(table, era="auto") as stage:
        assert await stage.says() == "legacy"
        assert stage.connection.view.era == "legacy"


async def test_a_server_that_hangs_up_on_the_probe_is_asked_to_initialize() -> None:
    async def hangs_up(asked: Asked, wire: Wire) -> None:
        wire.reset()

    async with connected({"server/discover": hangs_up}, era="auto") as stage:
        assert stage.connection.view.era == "legacy"


@pytest.mark.parametrize("status", [401, 403])
async def test_a_probe_that_is_refused_access_is_not_tried_in_another_way(status: int) -> None:
    sink = MemorySink()
    async with serve_http({"server/discover": reply(status, www_authenticate="Bearer")}) as site:
        state, sentence = await fails(site.url, sink, era="auto")
        assert [each.method for each in site.asked] == ["server/discover"]
    assert state is State.UNAUTHORIZED
    assert "Bearer" in sentence


async def test_a_subscription_is_a_stream_that_is_told_while_it_is_open() -> None:
    async def listens(asked: Asked, wire: Wire) -> None:
        told = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"}
        meta = {"io.modelcontextprotocol/subscriptionId": asked.id}
        told["params"] = {"_meta": meta, "notifications": {"toolsListChanged": True}}  # type: ignore[assignment]
        await wire.write(EVENTS, event(json.dumps(told)))
        await wire.gone()

    async with connected(modern(subscriptions_listen=listens), era="modern") as stage:
        call = stage.connection.call("subscriptions/listen", '{"notifications":{"toolsListChanged":true}}')
        await until(lambda: [each["state"] for each in stage.sink.events("stream")] == ["open"])
        assert stage.sink.events("stream")[0]["verb"] == "POST"
        call.cancel()
        await until(lambda: [each["state"] for each in stage.sink.events("stream")] == ["open", "closed"])


@pytest.mark.parametrize("ending", ["notification", "result"])
async def test_a_server_ends_a_subscription_in_either_way_and_is_not_asked_again(ending: str) -> None:
    ended = anyio.Event()

    async def listens(asked: Asked, wire: Wire) -> None:
        meta = {"io.modelcontextprotocol/subscriptionId": asked.id}
        wanted = asked.message["params"]["notifications"]
        told = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"}
        await wire.write(
            EVENTS, event(json.dumps(told | {"params": {"_meta": meta, "notifications": wanted}}))
        )
        await ended.wait()
        last = {"method": "notifications/cancelled", "params": {"requestId": asked.id}}
        if ending == "result":
            last = {"id": asked.id, "result": {"resultType": "complete", "_meta": meta}}
        await wire.write(event(json.dumps({"jsonrpc": "2.0", **last})))

    async with connected(modern(subscriptions_listen=listens), era="modern") as stage:
        outcome = await stage.connection.request("resources/subscribe", '{"uri":"a:1"}')
        assert (outcome.how, list(stage.connection.subscribed)) == ("result", ["a:1"])
        ended.set()
        await until(lambda: not stage.connection.subscribed)
        await until(lambda: [each["state"] for each in stage.sink.events("stream")] == ["open", "closed"])
        assert stage.sink.events("reconnect") == []
        assert await stage.says() == "stateless"
        assert len(stage.site.of("subscriptions/listen")) == 1
        assert stage.connection.view.open_calls == ()
