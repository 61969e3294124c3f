"""Serving streamable HTTP in the handshake era, seen with raw HTTP."""

from __future__ import annotations

import json

import anyio
import httpx
import pytest

from tests.servers.served import echo, over_http
from tests.wire.raw import call, initialize, message, raw
from tests.wire.stage import until
from workbench.core import jsonrpc
from workbench.core.frame import Channel, Direction
from workbench.errors import UsageError
from workbench.wire.serving_gate import place
from workbench.wire.serving_http import Manner, serve_http
from workbench.wire.transport import Client

pytestmark = pytest.mark.anyio

PRIMED = Manner(primes=True, answers="sse")


async def test_initialize_grants_a_session_and_everything_after_belongs_to_it() -> None:
    async with over_http() as (url, sink), raw(url) as client:
        answer = await client.handshake()
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["result"]["protocolVersion"] == "2025-11-25"
        called = await client.post(call("hi"))
        assert called.json()["result"]["content"][0]["text"] == "hi"
    assert {unit.connection for unit in sink.units} == {1}
    assert [event["state"] for event in sink.events("session")] == ["granted"]


async def test_an_answer_with_progress_before_it_is_a_stream_that_ends_with_the_answer() -> None:
    async with over_http() as (url, _), raw(url) as client:
        await client.handshake()
        async with client.listening(call("hi", progress=2)) as events:
            assert events.response.headers["content-type"] == "text/event-stream"
            told = [json.loads(event.data) for event in await events.rest()]
    assert [each.get("method", each.get("id")) for each in told] == ["notifications/progress"] * 2 + [2]


async def test_each_session_is_a_client_and_a_connection_of_its_own() -> None:
    async with over_http() as (url, sink), raw(url) as one, raw(url) as two:
        first = await one.handshake()
        second = await two.handshake()
        assert first.headers["mcp-session-id"] != second.headers["mcp-session-id"]
    assert {unit.connection for unit in sink.units} == {1, 2}


async def test_requests_without_a_session_or_with_a_wrong_one_are_told_apart() -> None:
    async with over_http() as (url, _), raw(url) as client:
        missing = await client.post(call("hi"))
        assert (missing.status_code, missing.json()["error"]["code"]) == (400, -32000)
        unknown = await client.post(call("hi"), mcp_session_id="nobody")
        assert (unknown.status_code, unknown.json()["error"]["message"]) == (404, "Session not found")
        assert (await client.get()).status_code == 400
        assert (await client.get(mcp_session_id="nobody")).status_code == 404


async def test_a_session_that_is_deleted_is_gone() -> None:
    async with over_http() as (url, sink), raw(url) as client:
        await client.handshake()
        ended = await client.client.delete(url, headers=client.headers)
        assert ended.status_code == 200
        assert (await client.post(call("hi"))).status_code == 404
    assert [event["state"] for event in sink.events("session")] == ["granted", "ended"]


async def test_what_is_accepted_and_what_is_sent_must_fit() -> None:
    async with over_http() as (url, _), raw(url) as client:
        assert (await client.post(initialize(), accept="application/json")).status_code == 406
        assert (await client.post(initialize(), accept="*/*")).status_code == 200
        assert (await client.post(initialize(), content_type="text/plain")).status_code == 415
        await client.handshake()
        assert (await client.get(accept="application/json")).status_code == 406
        assert (await client.post(b"no json")).status_code == 400
        unknown = await client.post(call("hi"), mcp_protocol_version="1999-01-01")
        assert unknown.status_code == 400
        assert (await client.client.put(url)).status_code == 405
        assert (await client.client.post(url.replace("/mcp", "/nope"))).status_code == 404


@pytest.mark.parametrize(
    "header", [{"host": "evil.example"}, {"origin": "http://evil.example"}, {"origin": "null"}]
)
async def test_a_request_from_a_foreign_page_is_refused_and_recorded(header: dict[str, str]) -> None:
    async with over_http() as (url, sink), raw(url) as client:
        refused = await client.post(initialize(), **header)
        assert refused.status_code == 403
        assert "is not allowed here" in refused.json()["error"]["message"]
        assert (await client.post(initialize(), origin="http://localhost:6274")).status_code == 200
    assert sink.streams[1].status == 403


async def test_other_machines_are_let_in_only_when_that_is_said() -> None:
    with pytest.raises(UsageError, match="can be reached from other machines"):
        async with serve_http("0.0.0.0:0", echo, lambda _: pytest.fail("nobody comes")):
            pass
    async with over_http(manner=Manner(hosts=("tool.example",))) as (url, _), raw(url) as client:
        assert (await client.post(initialize(), host="tool.example:80")).status_code == 200


async def test_a_port_that_is_taken_is_told() -> None:
    async with over_http() as (url, _):
        port = httpx.URL(url).port
        with pytest.raises(UsageError, match=f"nothing can be served at 127.0.0.1:{port}"):
            async with serve_http(f"127.0.0.1:{port}", echo, lambda _: pytest.fail("nobody comes")):
                pass


async def test_what_the_server_says_on_its_own_goes_to_the_one_stream_that_listens() -> None:
    async def serve(client: Client) -> None:
        client.send(jsonrpc.notification("notifications/tools/list_changed"))
        await echo(client)

    async with over_http(serve) as (url, sink), raw(url) as client:
        await client.handshake()
        async with client.listening() as events:
            event = await events.next()
            assert event is not None
            assert json.loads(event.data)["method"] == "notifications/tools/list_changed"
            assert (await client.get()).status_code == 409
        await until(lambda: [event["state"] for event in sink.events("stream")] == ["open", "lost"])


async def test_a_request_of_the_server_is_answered_by_a_post_of_its_own() -> None:
    heard: list[bytes] = []

    async def serve(client: Client) -> None:
        while (received := await client.receive()) is not None:
            [seen] = received.decoded.messages
            if seen.method == "initialize":
                client.send(jsonrpc.result("1", "{}"), received.stream)
            elif seen.method == "tools/call":
                client.send(jsonrpc.request('"ask"', "ping"), received.stream)
                answer = await client.receive()
                assert answer is not None
                heard.append(answer.body)
                client.send(jsonrpc.result(seen.id or "", "{}"), received.stream)

    async with over_http(serve) as (url, _), raw(url) as client:
        await client.handshake()
        async with client.listening(call("hi")) as events:
            asked = await events.next()
            assert asked is not None
            assert json.loads(asked.data)["method"] == "ping"
            assert (await client.post({"jsonrpc": "2.0", "id": "ask", "result": {}})).status_code == 202
            [answer] = await events.rest()
            assert json.loads(answer.data)["id"] == 2
    assert json.loads(heard[0]) == {"jsonrpc": "2.0", "id": "ask", "result": {}}


async def test_a_batch_is_answered_when_all_its_requests_are() -> None:
    async with over_http() as (url, _), raw(url) as client:
        await client.handshake("2025-03-26")
        async with client.listening([message("ping", 5), message("ping", 6)]) as events:
            assert {json.loads(event.data)["id"] for event in await events.rest()} == {5, 6}


async def test_a_broken_answer_is_taken_up_again_after_the_last_event() -> None:
    release = anyio.Event()

    async def serve(client: Client) -> None:
        while (received := await client.receive()) is not None:
            for seen in received.decoded.messages:
                if seen.method == "tools/call":
                    client.send(jsonrpc.notification("notifications/progress", "{}"), received.stream)
                    await release.wait()
                if seen.id is not None:
                    client.send(jsonrpc.result(seen.id, "{}"), received.stream)

    async with over_http(serve, PRIMED) as (url, sink), raw(url) as client:
        await client.handshake()
        async with client.listening(call("hi")) as events:
            priming, progress = await events.next(), await events.next()
        assert priming is not None
        assert progress is not None
        assert (priming.data, bool(priming.id)) == (b"", True)
        await until(lambda: any(stream.closed_how == "cut" for stream in sink.streams.values()))
        release.set()
        async with client.listening(last_event_id=progress.id) as events:
            [answer] = await events.rest()
        assert json.loads(answer.data)["id"] == 2
        async with client.listening(last_event_id=priming.id) as events:
            assert len(await events.rest()) == 2
        assert (await client.get(last_event_id="99-7")).status_code == 400


async def test_a_server_that_hangs_up_says_how_long_to_wait() -> None:
    async def serve(client: Client) -> None:
        while (received := await client.receive()) is not None:
            for seen in received.decoded.messages:
                if seen.method == "tools/call":
                    client.hang_up(received.stream, retry=20)
                if seen.id is not None:
                    client.send(jsonrpc.result(seen.id, "{}"), received.stream)

    async with over_http(serve, PRIMED) as (url, _), raw(url) as client:
        await client.handshake()
        async with client.listening(call("hi")) as events:
            priming, waiting = await events.rest()
        assert waiting.retry == 20
        async with client.listening(last_event_id=priming.id) as events:
            answer = (await events.rest())[-1]
        assert json.loads(answer.data)["id"] == 2


async def test_answers_can_be_plain_json_always() -> None:
    async with over_http(manner=Manner(answers="json")) as (url, sink), raw(url) as client:
        await client.handshake()
        answer = await client.post(call("hi", progress=2))
        assert answer.json()["id"] == 2
    assert len(sink.events("undelivered")) == 1


async def test_without_sessions_nothing_is_granted_and_no_stream_is_there() -> None:
    async with over_http(manner=Manner(sessions=False)) as (url, _), raw(url) as client:
        answer = await client.post(initialize())
        assert "mcp-session-id" not in answer.headers
        assert (await client.post(call("hi"))).json()["id"] == 2
        assert (await client.get()).status_code == 405
        assert (await client.client.delete(url)).status_code == 405


async def test_whoever_serves_can_answer_with_a_status_of_its_own() -> None:
    async def serve(client: Client) -> None:
        while (received := await client.receive()) is not None:
            client.answer(received.stream, 401, headers=(("www-authenticate", "Bearer"),))

    async with over_http(serve) as (url, sink), raw(url) as client:
        answer = await client.post(initialize())
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert sink.streams[1].status == 401
    assert ("www-authenticate", "Bearer") in sink.streams[1].response_headers


async def test_when_serving_ends_the_session_is_over_and_open_answers_end() -> None:
    async def serve(client: Client) -> None:
        received = await client.receive()
        assert received is not None
        client.send(jsonrpc.result("1", "{}"), received.stream)
        while (received := await client.receive()) is not None and received.stream == 0:
            pass

    async with over_http(serve) as (url, _), raw(url) as client:
        await client.handshake()
        async with client.listening(call("hi")) as events:
            assert await events.rest() == []
        assert (await client.post(call("hi", 3))).status_code == 404


async def test_a_fault_in_serving_ends_that_client_alone() -> None:
    async def serve(client: Client) -> None:
        if client.name == "faulty":
            raise RuntimeError("a fault")
        await echo(client)

    async with over_http(serve) as (url, _), raw(f"{url}/faulty") as faulty, raw(url) as client:
        answer = await faulty.post(initialize())
        assert answer.status_code in (200, 404)
        assert answer.content == b"" or "error" in answer.json()
        await client.handshake()
        assert (await client.post(call("hi"))).status_code == 200


async def test_every_request_and_answer_is_tapped_below_the_parser() -> None:
    async with over_http() as (url, sink), raw(url) as client:
        await client.handshake()
        await client.post(b'{"jsonrpc":"2.0","id":2,"method":"ping","a":1,"a":2}')
        await client.post(b"no json \xff")
    sent = sink.bodies(Channel.HTTP, Direction.TO_SERVER)
    assert sent[2:] == [b'{"jsonrpc":"2.0","id":2,"method":"ping","a":1,"a":2}', b"no json \xff"]
    assert [stream.status for stream in sink.streams.values()] == [200, 202, 200, 400]
    assert {stream.closed_how for stream in sink.streams.values()} == {"end"}


async def test_the_session_that_is_idle_longest_makes_room_for_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("workbench.wire.serving_site.MOST_CLIENTS", 2)
    async with over_http() as (url, sink), raw(url) as one, raw(url) as two, raw(url) as three:
        await one.handshake()
        await two.handshake()
        assert (await one.post(message("ping"))).status_code == 200
        await three.handshake()
        assert (await two.post(message("ping"))).status_code == 404
        assert (await one.post(message("ping"))).status_code == 200
    assert [event["state"] for event in sink.events("session")] == ["granted", "granted", "ended", "granted"]


async def test_a_client_that_leaves_in_the_middle_of_its_request_harms_nobody() -> None:
    async with over_http() as (url, _), raw(url) as client:
        port = httpx.URL(url).port or 0
        head = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{"
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(head)
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(b"no http at all\r\n\r\n")
            assert (await stream.receive()).startswith(b"HTTP/1.1 400")
        await client.handshake()


async def test_a_body_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.wire.serving_exchange.LARGEST_BODY", 1000)
    async with over_http() as (url, _), raw(url) as client:
        assert (await client.post(call("x" * 1000))).status_code == 413


async def test_a_client_that_does_not_read_loses_the_oldest_and_that_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("workbench.wire.serving_outgoing.WAITING_EVENTS", 10)

    async def serve(client: Client) -> None:
        for number in range(15):
            client.send(jsonrpc.notification("notifications/message", str(number)))
        await echo(client)

    async with over_http(serve) as (url, sink), raw(url) as client:
        await client.handshake()
        async with client.listening() as events:
            first = await events.next()
            assert first is not None
            assert json.loads(first.data)["params"] == 5
    assert len(sink.events("undelivered")) == 5


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("127.0.0.1:0", "127.0.0.1", 0),
        ("8080", "127.0.0.1", 8080),
        (":8080", "127.0.0.1", 8080),
        ("localhost", "localhost", 0),
        ("http://localhost:9/mcp", "localhost", 9),
        ("[::1]:7", "::1", 7),
    ],
)
def test_an_address_is_a_host_and_a_port(address: str, host: str, port: int) -> None:
    assert place(address, anywhere=False) == (host, port)


@pytest.mark.parametrize("address", ["127.0.0.1:x", "127.0.0.1:99999", "[::1:7"])
def test_what_is_no_address_is_told(address: str) -> None:
    with pytest.raises(UsageError, match="is no address to serve at"):
        place(address, anywhere=True)
