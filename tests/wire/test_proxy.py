"""The proxy that records, seen from both sides as bytes (trap 14)."""

from __future__ import annotations

import gzip
import json

import anyio
import httpx
import pytest
from anyio.abc import SocketStream

from tests.servers.served import over_http
from tests.wire.proxied import answer, ask, before, origin_of
from tests.wire.raw import ACCEPT, call, initialize, message, modern, modern_headers, raw
from tests.wire.stage import until
from workbench.core.frame import Channel, Direction
from workbench.core.sse import SseParser
from workbench.wire.serving_http import Manner

pytestmark = pytest.mark.anyio

BODY = json.dumps(message("tools/list", 7)).encode()
RESULT = b'{"jsonrpc":"2.0","id":7,"result":{"tools":[], "n":1.0}}'
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def post(url: str, body: bytes = BODY, *lines: str, path: str = "/mcp") -> bytes:
    """A POST to a proxy as it stands on the wire."""
    host = url.partition("//")[2].partition("/")[0]
    head = [f"POST {path} HTTP/1.1", f"host: {host}", "Content-Type: application/json", *lines]
    return "\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode() + body


async def test_the_server_gets_its_own_host_and_origin_and_everything_else_as_it_was_sent() -> None:
    async with origin_of(answer(RESULT)) as origin, before(origin.url) as (url, _):
        odd = ["X-oDD: a  b", "Accept: application/json", "X-Twice: 1", "X-Twice: 2", f"Origin: {url[:-4]}"]
        hop = ["Connection: X-Hop", "X-Hop: 1", "TE: trailers"]
        await ask(url, post(url, BODY, *odd, *hop, path="/mcp?a=%7e{b}&c=%2F"))
        host = f"127.0.0.1:{origin.port}"
        assert origin.got == [
            f"POST /mcp?a=%7e{{b}}&c=%2F HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            f"X-oDD: a  b\r\nAccept: application/json\r\nX-Twice: 1\r\nX-Twice: 2\r\n"
            f"Origin: http://{host}\r\nContent-Length: {len(BODY)}\r\n\r\n".encode()
            + BODY
        ]


async def test_the_client_gets_status_reason_headers_and_body_as_the_server_sent_them() -> None:
    lines = (b"X-oDD: a  b", b"Set-Cookie: a=1", b"Set-Cookie: b=2", b"content-type: application/json")
    told = answer(RESULT, *lines, status=b"299 Quite Well")
    async with origin_of(told) as origin, before(origin.url) as (url, recorded):
        got = await ask(url, post(url))
        head, _, body = got.partition(b"\r\n\r\n")
        assert head.split(b"\r\n") == [
            b"HTTP/1.1 299 Quite Well",
            *lines,
            b"Content-Length: %d" % len(RESULT),
        ]
        assert body == RESULT
    assert recorded.bodies(Channel.HTTP) == [RESULT]
    assert recorded.bodies(Channel.HTTP, Direction.TO_SERVER) == [BODY]


@pytest.mark.parametrize(
    ("sent", "arrives"),
    [
        ("http://127.0.0.1:{port}/login?a=//x", "{ours}/login?a=//x"),
        ("/relative", "/relative"),
        ("http://elsewhere.example/x", "http://elsewhere.example/x"),
        ("https://127.0.0.1:{port}/x", "https://127.0.0.1:{port}/x"),
    ],
)
async def test_where_a_redirect_leads_is_at_the_proxy_for_the_client_and_recorded_as_it_was(
    sent: str, arrives: str
) -> None:
    async def redirect(_: bytes, stream: SocketStream) -> None:
        there = sent.format(port=origin.port).encode()
        await stream.send(answer(b"", b"Location: " + there, status=b"307 Temporary Redirect"))

    async with origin_of(redirect) as origin, before(origin.url) as (url, recorded):
        got = await ask(url, post(url))
        expected = arrives.format(port=origin.port, ours=url.removesuffix("/mcp"))
        assert f"\r\nLocation: {expected}\r\n".encode() in got
        await until(lambda: recorded.streams[1].closed_how)
        assert ("Location", sent.format(port=origin.port)) in recorded.streams[1].response_headers


async def test_an_event_is_passed_on_before_the_next_one_is_there() -> None:
    seen = anyio.Event()

    async def events(_: bytes, stream: SocketStream) -> None:
        await stream.send(STREAM + b"id: 1\r\nretry: 5\r\ndata:\r\n\r\n: hello\n\n")
        await seen.wait()
        await stream.send(b"event: message\ndata: " + RESULT + b"\n\n")

    async with origin_of(events) as origin, before(origin.url) as (url, recorded), raw(url) as client:
        with anyio.fail_after(30):
            async with client.listening(message("tools/list", 7)) as stream:
                first = await stream.next()
                assert first is not None
                assert first.raw == b"id: 1\r\nretry: 5\r\ndata:\r\n\r\n"
                assert (await stream.next() or first).raw == b": hello\n\n"
                seen.set()
                rest = await stream.rest()
    assert [event.data for event in rest] == [RESULT]
    told = [(unit.data, json.loads(unit.event or "{}")) for unit in recorded.units if unit.stream][1:]
    mixed = "id: 1\r\nretry: 5\r\ndata:\r\n\r\n"
    assert told == [
        (b"", {"id": "1", "retry": 5, "raw": mixed}),
        (b"hello", {"comment": True}),
        (RESULT, {"name": "message"}),
    ]


async def test_an_encoded_body_passes_as_it_is_and_is_recorded_as_what_it_says() -> None:
    packed = gzip.compress(RESULT)
    told = answer(packed, b"Content-Type: application/json", b"Content-Encoding: gzip")
    async with origin_of(told) as origin, before(origin.url) as (url, recorded):
        got = await ask(url, post(url, BODY, "Accept-Encoding: br, gzip;q=0.5"))
        assert got.partition(b"\r\n\r\n")[2] == packed
        assert b"\r\nAccept-Encoding: gzip;q=0.5\r\n" in origin.got[0]
        await until(lambda: recorded.streams[1].closed_how)
    assert recorded.bodies(Channel.HTTP) == [RESULT]
    assert (recorded.streams[1].encoding, recorded.streams[1].wire_bytes) == ("gzip", len(packed))


async def test_a_packed_stream_passes_event_by_event() -> None:
    async def events(_: bytes, stream: SocketStream) -> None:
        head = STREAM.replace(b"Connection", b"Content-Encoding: gzip\r\nConnection")
        await stream.send(head + gzip.compress(b"data: " + RESULT + b"\n\n"))

    async with origin_of(events) as origin, before(origin.url) as (url, recorded):
        async with httpx.AsyncClient(trust_env=False) as client:
            got = await client.get(url, headers={"accept": "text/event-stream"})
        assert got.text == f"data: {RESULT.decode()}\n\n"
    assert recorded.bodies(Channel.SSE) == [RESULT]


@pytest.mark.parametrize("begun", [False, True])
async def test_the_server_sees_at_once_that_a_client_has_left(begun: bool) -> None:
    async def never(_: bytes, stream: SocketStream) -> None:
        if begun:
            await stream.send(STREAM + b"data: 1\n\n")
        asked.set()
        await anyio.sleep_forever()

    asked = anyio.Event()
    async with origin_of(never) as origin, before(origin.url) as (url, recorded):
        port = int(url.split(":")[2].partition("/")[0])
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(post(url))
            await asked.wait()
            if begun:
                await stream.receive()
        with anyio.fail_after(20):
            await origin.left.wait()
        await until(lambda: recorded.streams[1].closed_how)
    assert recorded.streams[1].closed_how == "closed"
    assert len(origin.got) == 1


async def test_a_server_that_cannot_be_reached_is_a_502_with_a_sentence_for_that_request() -> None:
    async with before("http://127.0.0.1:9/mcp") as (url, recorded), raw(url) as client:
        got = await client.post(message("tools/list", "seven"))
    assert got.status_code == 502
    told = got.json()
    assert (told["id"], told["error"]["code"]) == ("seven", -32000)
    assert "Nothing listens on 127.0.0.1:9" in told["error"]["message"]
    assert [event["step"] for event in recorded.events("unreachable")] == ["tcp"]
    assert recorded.streams[1].closed_how == "failed"


@pytest.mark.parametrize(
    "sent", [b"", *(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + body for body in (b"", b"{"))]
)
async def test_a_request_is_sent_once_also_where_the_server_breaks_off(sent: bytes) -> None:
    async with origin_of(sent) as origin, before(origin.url) as (url, recorded), raw(url) as client:
        if sent:
            with pytest.raises(httpx.RemoteProtocolError):
                await client.post(message("tools/list", 7))
        else:
            assert (await client.post(message("tools/list", 7))).status_code == 502
        await until(lambda: recorded.streams[1].closed_how)
        assert len(origin.got) == 1
    assert recorded.streams[1].closed_how == ("cut" if sent else "failed")


@pytest.mark.parametrize("header", [{"host": "evil.example"}, {"origin": "http://evil.example"}])
async def test_what_comes_under_a_foreign_name_is_refused_and_never_sent_on(header: dict[str, str]) -> None:
    async with origin_of(answer(RESULT)) as origin:
        async with before(origin.url) as (url, recorded), raw(url) as client:
            got = await client.post(message("tools/list"), **header)
            assert got.status_code == 403
        async with before(origin.url, hosts=("evil.example",)) as (url, _), raw(url) as client:
            assert (await client.post(message("tools/list", 7), **header)).status_code == 200
        assert len(origin.got) == 1
    assert not recorded.units


async def test_the_headers_given_for_the_server_take_the_place_of_the_clients() -> None:
    async with (
        origin_of(answer(RESULT)) as origin,
        before(origin.url, headers={"X-Team": "blue"}) as (url, _),
    ):
        await ask(url, post(url, BODY, "x-team: red"))
        assert b"\r\nX-Team: blue\r\n" in origin.got[0]
        assert b"red" not in origin.got[0]


@pytest.mark.parametrize("absolute", [False, True])
async def test_the_endpoint_of_the_older_transport_leads_to_the_proxy(absolute: bool) -> None:
    async def older(request: bytes, stream: SocketStream) -> None:
        if request.startswith(b"POST"):
            await stream.send(answer(b"Accepted", status=b"202 Accepted"))
            posted.set()
            return
        there = (f"http://127.0.0.1:{origin.port}" if absolute else "") + "/messages/?session_id=abc"
        await stream.send(STREAM + f": hi\r\n\r\nevent: endpoint\r\ndata: {there}\r\n\r\n".encode())
        await posted.wait()
        await stream.send(b"event: message\r\ndata: " + RESULT + b"\r\n\r\n")

    posted = anyio.Event()
    async with (
        origin_of(older) as origin,
        before(origin.url) as (url, recorded),
        raw(url) as client,
        client.listening() as stream,
    ):
        events = [await stream.next(), await stream.next()]
        ours = url.removesuffix("/mcp") if absolute else ""
        assert events[1] is not None
        assert events[1].data.decode() == f"{ours}/messages/?session_id=abc"
        there = url.removesuffix("/mcp") + "/messages/?session_id=abc"
        taken = await client.client.post(there, json=message("tools/list", 7))
        assert (taken.status_code, taken.text) == (202, "Accepted")
        last = await stream.next()
        assert last is not None
        assert last.data == RESULT
    told = f"http://127.0.0.1:{origin.port}" if absolute else ""
    assert f"{told}/messages/?session_id=abc".encode() in recorded.bodies(Channel.SSE)
    assert {unit.connection for unit in recorded.units} == {1}
    assert origin.got[1].startswith(b"POST /messages/?session_id=abc HTTP/1.1\r\n")


async def test_each_session_is_a_connection_of_its_own_however_they_mix() -> None:
    async with over_http() as (there, _), before(there) as (url, recorded), raw(url) as one, raw(url) as two:
        await one.handshake()
        await two.handshake()
        async with anyio.create_task_group() as group:
            for client in (one, two) * 5:
                group.start_soon(client.post, call("hi"))
    sent = [
        (unit.connection, json.loads(unit.data)["method"])
        for unit in recorded.units
        if unit.direction is Direction.TO_SERVER
    ]
    each = ["initialize", "notifications/initialized"] + ["tools/call"] * 5
    assert [[method for number, method in sent if number == n] for n in (1, 2)] == [each, each]
    assert {facts["revision"] for facts in recorded.facts.values()} == {"2025-11-25"}


async def test_clients_of_the_stateless_era_are_told_apart_by_who_they_say_they_are() -> None:
    async with over_http() as (there, _), before(there) as (url, recorded), raw(url) as client:
        for name in ("one", "two", "one"):
            info = {"io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"}}
            got = await client.post(modern("tools/list", _meta=info), **modern_headers("tools/list"))
            assert got.status_code == 200
    sent = [unit.connection for unit in recorded.units if unit.direction is Direction.TO_SERVER]
    assert sent == [1, 2, 1]
    assert {facts["era"] for facts in recorded.facts.values()} == {"modern"}


async def test_a_client_that_is_refused_one_era_and_speaks_the_other_is_one_connection_of_that() -> None:
    info = {"io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"}}
    manner = Manner(eras=("modern",))
    async with over_http(manner=manner) as (there, _), before(there) as (url, recorded), raw(url) as client:
        assert (await client.post(initialize())).status_code == 400
        got = await client.post(modern("tools/list", _meta=info), **modern_headers("tools/list"))
        assert got.status_code == 200
    assert [facts["era"] for facts in recorded.facts.values()] == ["modern"]
    assert recorded.facts[1]["client_info"] == '{"name":"raw","version":"1"}'


async def test_what_belongs_to_authorization_passes_and_is_no_message() -> None:
    document = b'{"resource":"x","id":1,"method":"no"}'
    path = "/.well-known/oauth-protected-resource/mcp"
    async with origin_of(answer(document)) as origin, before(origin.url) as (url, recorded):
        async with httpx.AsyncClient(trust_env=False) as client:
            got = await client.get(url.removesuffix("/mcp") + path)
        assert got.content == document
        assert origin.got[0].startswith(f"GET {path} HTTP/1.1\r\n".encode())
    assert recorded.bodies(Channel.AUTH) + recorded.bodies(Channel.HTTP) == [document]


async def test_both_sides_see_the_same_with_the_proxy_between_as_without() -> None:
    async def talk(url: str) -> list[object]:
        told: list[object] = []
        async with raw(url) as client:
            seen = await client.handshake()
            told.append((seen.status_code, seen.content, sorted(set(seen.headers) - {"mcp-session-id"})))
            async with client.listening(call("ünï", progress=3)) as events:
                told.append([event.raw for event in await events.rest()])
            for body in (call("x"), b"{", b"[]", message("no/such", 3), initialize()):
                got = await client.post(body)
                told.append((got.status_code, got.content, got.headers.get("content-type")))
            got = await client.client.request("DELETE", url, headers=client.headers)
            told.append((got.status_code, got.content))
            got = await client.post(call("late"))
            told.append((got.status_code, got.content))
            client.headers = {}
            got = await client.post(modern("tools/list"), **modern_headers("tools/list"))
            told.append((got.status_code, got.content))
            got = await client.client.options(url, headers={"accept": ACCEPT})
            told.append((got.status_code, got.content))
        return told

    async with over_http() as (direct, there):
        without = await talk(direct)
    async with over_http() as (direct, behind), before(direct) as (url, recorded):
        assert await talk(url) == without
    for direction in (Direction.TO_SERVER, Direction.TO_CLIENT):
        for channel in (Channel.HTTP, Channel.SSE):
            assert behind.bodies(channel, direction) == there.bodies(channel, direction)
            ours = recorded.bodies(channel, direction)
            assert [body for body in behind.bodies(channel, direction) if body] == [
                body for body in ours if body
            ]


async def test_a_body_in_pieces_that_the_parser_does_not_see_whole_is_passed_on_whole() -> None:
    event = b"event: message\r\ndata: " + RESULT + b"\r\n\r\n"

    async def dribble(_: bytes, stream: SocketStream) -> None:
        await stream.send(STREAM)
        for at in range(len(event)):
            await stream.send(event[at : at + 1])

    async with origin_of(dribble) as origin, before(origin.url) as (url, recorded):
        async with httpx.AsyncClient(trust_env=False) as client:
            got = await client.get(url, headers={"accept": "text/event-stream"})
        assert got.content == event
        assert (
            [each.data for each in SseParser().feed(got.content)] == recorded.bodies(Channel.SSE) == [RESULT]
        )
