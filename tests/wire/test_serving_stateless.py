"""Serving streamable HTTP in the stateless era, seen with raw HTTP."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from tests.servers.served import echo, over_http
from tests.wire.raw import META, message, modern, modern_headers, raw
from tests.wire.stage import until
from workbench.core import jsonrpc
from workbench.wire.serving_http import Manner
from workbench.wire.transport import Client

pytestmark = pytest.mark.anyio

LIST = modern("tools/list")
CALL = modern("tools/call", name="echo", arguments={"text": "hi"})


async def test_a_request_is_answered_without_a_session() -> None:
    async with over_http() as (url, sink), raw(url) as client:
        answer = await client.post(CALL, **modern_headers("tools/call", "echo"))
        assert answer.json()["result"]["content"][0]["text"] == "hi"
        assert "mcp-session-id" not in answer.headers
        told = await client.post(message("notifications/cancelled", None), mcp_protocol_version="2026-07-28")
        assert told.status_code == 202
    assert {unit.connection for unit in sink.units} == {1}


async def test_events_have_no_ids_and_belong_to_their_request() -> None:
    body = modern("tools/call", name="echo", arguments={"progress": 1}, _meta={"progressToken": "t"})
    async with (
        over_http() as (url, _),
        raw(url) as client,
        client.listening(body, **modern_headers("tools/call", "echo")) as events,
    ):
        progress, answer = await events.rest()
    assert (progress.id, answer.id) == (None, None)
    assert json.loads(progress.data)["params"]["progressToken"] == "t"


async def test_two_clients_that_use_the_same_id_get_their_own_answers() -> None:
    async with over_http() as (url, _), raw(url) as client:
        answers: dict[str, Any] = {}

        async def ask(text: str) -> None:
            body = modern("tools/call", name="echo", arguments={"text": text})
            answers[text] = (await client.post(body, **modern_headers("tools/call", "echo"))).json()

        async with anyio.create_task_group() as group:
            for text in ("one", "two", "three"):
                group.start_soon(ask, text)
    assert {text: answer["result"]["content"][0]["text"] for text, answer in answers.items()} == {
        text: text for text in ("one", "two", "three")
    }


async def test_each_path_is_a_client_of_its_own() -> None:
    async with over_http() as (url, sink), raw(url) as one, raw(f"{url}/other") as two:
        for client in (one, two, one):
            assert (await client.post(LIST, **modern_headers("tools/list"))).status_code == 200
    assert [unit.connection for unit in sink.units] == [1, 1, 2, 2, 1, 1]


@pytest.mark.parametrize(
    ("body", "headers", "code"),
    [
        (LIST, {"MCP-Protocol-Version": "2026-07-28"}, -32020),
        (LIST, modern_headers("tools/call"), -32020),
        (LIST, modern_headers("tools/list") | {"MCP-Protocol-Version": "2026-07-29"}, -32020),
        (CALL, modern_headers("tools/call"), -32020),
        (CALL, modern_headers("tools/call", "other"), -32020),
        (CALL, modern_headers("tools/call", "=?base64?***?="), -32020),
        (message("tools/list"), modern_headers("tools/list"), -32602),
        (
            modern("tools/list", _meta={f"{META}protocolVersion": "2027-01-01"}),
            modern_headers("tools/list") | {"MCP-Protocol-Version": "2027-01-01"},
            -32022,
        ),
        ([LIST], modern_headers("tools/list"), -32600),
        (b"no json", modern_headers("tools/list"), -32700),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, modern_headers("tools/list"), -32600),
    ],
)
async def test_what_the_headers_do_not_repeat_is_refused(
    body: Any, headers: dict[str, str], code: int
) -> None:
    async with over_http() as (url, _), raw(url) as client:
        refused = await client.post(body, **headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)


async def test_the_unsupported_version_is_told_with_those_that_are_supported() -> None:
    body = modern("tools/list", "a", _meta={f"{META}protocolVersion": "2027-01-01"})
    headers = modern_headers("tools/list") | {"MCP-Protocol-Version": "2027-01-01"}
    async with over_http() as (url, _), raw(url) as client:
        refused = (await client.post(body, **headers)).json()
    assert refused["id"] == "a"
    assert refused["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2027-01-01"}


async def test_a_name_may_be_coded() -> None:
    body = modern("tools/call", name="écho", arguments={"text": "hi"})
    async with over_http() as (url, _), raw(url) as client:
        answer = await client.post(body, **modern_headers("tools/call", "=?base64?w6ljaG8=?="))
    assert answer.status_code == 200


async def test_a_routing_header_that_is_given_twice_is_refused() -> None:
    async with over_http() as (url, _), raw(url) as client:
        headers = [("accept", "*/*"), ("content-type", "application/json"), ("mcp-method", "tools/list")]
        headers += [("mcp-protocol-version", "2026-07-28")] * 2
        refused = await client.client.post(url, content=json.dumps(LIST), headers=headers)
    assert refused.json()["error"]["code"] == -32020


async def test_an_unknown_method_is_answered_by_whoever_serves() -> None:
    async with over_http() as (url, _), raw(url) as client:
        answer = await client.post(modern("no/such"), **modern_headers("no/such"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, -32601)


async def test_there_is_no_other_verb_where_only_this_era_is_served() -> None:
    async with over_http(manner=Manner(eras=("modern",))) as (url, _), raw(url) as client:
        assert (await client.get()).status_code == 405
        assert (await client.client.delete(url)).status_code == 405
        answer = await client.post(message("initialize", protocolVersion="2025-11-25"))
    data = {"supported": ["2026-07-28"], "requested": "2025-11-25"}
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32022)
    assert answer.json()["error"]["data"] == data


async def test_a_client_that_closes_its_stream_cancels_its_request() -> None:
    left: list[int] = []
    asked: list[int] = []

    async def serve(client: Client) -> None:
        client.on_left = left.append
        while (received := await client.receive()) is not None:
            asked.append(received.stream)
            client.send(jsonrpc.notification("notifications/progress", "{}"), received.stream)

    async with over_http(serve) as (url, sink), raw(url) as client:
        async with client.listening(CALL, **modern_headers("tools/call", "echo")) as events:
            assert await events.next() is not None
        await until(lambda: left)
    assert left == asked
    assert sink.streams[asked[0]].closed_how == "cut"


async def test_what_is_sent_to_a_request_that_is_over_is_told() -> None:
    async def serve(client: Client) -> None:
        while (received := await client.receive()) is not None:
            client.send(jsonrpc.result("1", "{}"), received.stream)
            client.send(jsonrpc.notification("notifications/progress"), received.stream)
            client.send(jsonrpc.notification("notifications/message"))

    async with over_http(serve) as (url, sink), raw(url) as client:
        await client.post(LIST, **modern_headers("tools/list"))
    assert [event["why"] for event in sink.events("undelivered")] == [
        "its stream has ended",
        "this client has no stream of its own",
    ]


async def test_both_eras_are_served_at_once() -> None:
    async with over_http(echo) as (url, _), raw(url) as old, raw(url) as new:
        await old.handshake()
        assert (await new.post(LIST, **modern_headers("tools/list"))).status_code == 200
        assert (await old.post(message("tools/list"))).status_code == 200
