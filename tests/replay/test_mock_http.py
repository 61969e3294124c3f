"""A mock server over HTTP, as a client sees it that reads every byte: sessions, streams, breaks, misses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.core.http_tape import HttpTape, head
from tests.core.http_tape import call as asked
from tests.core.http_tape import result as told
from tests.replay.build import Tape, call, note, progress, request, result, text
from tests.replay.mocked import mocked, part_of
from tests.servers.targets import ROOT
from tests.wire.raw import initialize, message, modern, modern_headers, raw
from workbench.core.sse import ServerEvent
from workbench.replay.cast import Part
from workbench.replay.faults import parse_fault
from workbench.replay.script import build
from workbench.store.chosen import choose_all

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def bodies(events: Sequence[ServerEvent]) -> list[Any]:
    return [json.loads(event.data) for event in events if event.data]


def recorded(name: str) -> Part:
    """A connection of a recording of ours."""
    (chosen,) = choose_all(str(ROOT / "tests" / "recordings" / name))
    return Part(chosen.name, chosen.revision, lambda: build(chosen.frames(), head=chosen.stream, lines=False))


def greeted() -> HttpTape:
    """A handshake over HTTP on streams 1 and 2."""
    tape = HttpTape()
    tape.post(1, asked(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={}))
    tape.body(1, told(1, protocolVersion="2025-11-25", capabilities={}, serverInfo={"name": "x"}))
    tape.post(2, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    tape.body(2, b"")
    return tape


GREETED = (head(1, status=200, response_headers=(("content-type", "application/json"),)), head(2, status=202))


async def test_what_belongs_to_a_call_comes_on_its_stream_and_the_rest_on_the_clients_own() -> None:
    tape = Tape().hello().s(note("notifications/tools/list_changed"))
    tape.c(call(7, "slow", token="old", n=1)).s(progress("old", 1)).s(text(7, "done"))
    async with mocked(part_of(tape.frames)) as (url, _), raw(url) as client:
        await client.handshake()
        async with client.listening(call("a", "slow", token=5, n=1)) as events:
            came = bodies(await events.rest())
        assert came == [progress(5, 1), text("a", "done")]
        async with client.listening() as own:
            event = await own.next()
            assert event is not None
            assert json.loads(event.data)["method"] == "notifications/tools/list_changed"


async def test_each_client_has_its_own_queue_and_the_nth_gets_the_nth_connection() -> None:
    parts = [
        part_of(Tape().hello().c(call(2, "t")).s(text(2, word)).frames, name=word) for word in ("one", "two")
    ]
    async with mocked(*parts) as (url, cast):
        said = []
        for _ in range(3):
            async with raw(url) as client:
                await client.handshake()
                said.append((await client.post(call(4, "t"))).json()["result"]["content"][0]["text"])
                again = (await client.post(call(5, "t"))).json()
                assert again["error"]["data"]["why"] == "already used"
        assert said == ["one", "two", "one"]
        assert [each["connection"] for each in cast.value()["clients"]] == ["one", "two", "one"]


async def test_one_connection_can_be_given_to_all() -> None:
    parts = [part_of(Tape().hello().c(call(2, "t")).s(text(2, w)).frames, name=w) for w in ("one", "two")]
    async with mocked(*parts) as (url, cast):
        cast.fix("two")
        for _ in range(2):
            async with raw(url) as client:
                await client.handshake()
                assert "two" in (await client.post(call(4, "t"))).text


async def test_a_client_gets_the_connection_that_began_as_it_does_wherever_that_was_recorded() -> None:
    def said(name: str) -> dict[str, Any]:
        return request(
            1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": name}
        )

    def recorded(name: str, serves: str) -> Part:
        tape = Tape().c(said(name)).s(result(1, protocolVersion="2025-11-25", capabilities={}, serverInfo={}))
        tape.c(note("notifications/initialized")).c(call(2, "who")).s(text(2, serves))
        return part_of(tape.frames, name=serves)

    parts = [recorded("a", "a1"), recorded("b", "b1"), recorded("a", "a2"), recorded("c", "c1")]
    async with mocked(*parts) as (url, cast):

        async def comes(name: str) -> str:
            async with raw(url) as client:
                begun = await client.post(said(name))
                client.headers = {"mcp-session-id": begun.headers["mcp-session-id"]}
                await client.post(note("notifications/initialized"))
                answer = (await client.post(call(7, "who"))).json()
                return str(answer["result"]["content"][0]["text"])

        # The first stranger gets what is left, and when nothing is left all are there again.
        assert [await comes(name) for name in "abcxa"] == ["a1", "b1", "c1", "a2", "a1"]
        assert [await comes(name) for name in "cbaa"] == ["c1", "b1", "a2", "a1"]
        assert cast.value()["verdict"] == "ok"


async def test_a_stream_that_broke_breaks_again_and_goes_on_where_it_is_taken_up() -> None:
    async with mocked(recorded("http.jsonl")) as (url, _), raw(url) as client:
        await client.handshake()
        slow = message(
            "tools/call", 9, name="slow_report", arguments={"pages": 2}, _meta={"progressToken": 1}
        )
        async with client.listening(slow) as events:
            first = await events.rest()
        assert [each["method"] for each in bodies(first)] == [
            "notifications/progress",
            "notifications/message",
        ]
        last = [event.id for event in first if event.id is not None][-1]
        async with client.listening(last_event_id=last) as events:
            rest = bodies(await events.rest())
        assert [each.get("method", each.get("id")) for each in rest] == ["notifications/message", 9]


async def test_a_stream_that_was_cut_before_any_message_gives_an_id_to_come_back_with() -> None:
    tape = greeted()
    tape.post(3, asked(2, name="t"))
    tape.event(3, b"", id="e1", retry=30)
    tape.process("reconnect", stream=3, seconds=0, why="", attempt=1, resumes=True)
    tape.event(4, told(2, content=[]), id="e2")
    heads = [*GREETED, head(3, status=200), head(4, "GET", status=200)]
    async with mocked(part_of(tape.frames, heads)) as (url, _), raw(url) as client:
        await client.handshake()
        async with client.listening(message("tools/call", 8, name="t")) as events:
            first = await events.rest()
        assert not bodies(first)
        assert [event.retry for event in first if event.retry] == [30]
        last = [event.id for event in first if event.id is not None][-1]
        async with client.listening(last_event_id=last) as events:
            assert bodies(await events.rest()) == [result(8, content=[])]


async def test_a_session_that_was_forgotten_is_forgotten_again() -> None:
    tape = greeted()
    tape.post(3, asked(2, name="t"))
    tape.body(3, told(2, content=[]))
    tape.post(4, asked(3, name="u"))
    tape.body(4, b"")
    tape.process("session", state="lost", id="s")
    tape.process("unanswered", id="3", why="The session is gone.")
    heads = [*GREETED, head(3, status=200), head(4, status=404)]
    async with mocked(part_of(tape.frames, heads)) as (url, _), raw(url) as client:
        await client.handshake()
        assert (await client.post(message("tools/call", 8, name="t"))).json() == result(8, content=[])
        assert (await client.post(message("tools/call", 9, name="u"))).status_code == 404
        assert (await client.post(message("tools/call", 10, name="t"))).status_code == 404
        client.headers = {}
        assert (await client.handshake()).status_code == 200


async def test_an_http_error_comes_with_its_status_and_its_page() -> None:
    tape = greeted()
    tape.post(3, asked(2, name="t"))
    tape.body(3, b"<h1>Bad Gateway</h1>")
    tape.process("unanswered", id="2", why="502 Bad Gateway")
    heads = [*GREETED, head(3, status=502, response_headers=(("Content-Type", "text/html"),))]
    async with mocked(part_of(tape.frames, heads)) as (url, cast), raw(url) as client:
        await client.handshake()
        answer = await client.post(message("tools/call", 8, name="t"))
        assert (answer.status_code, answer.content) == (502, b"<h1>Bad Gateway</h1>")
        assert answer.headers["content-type"] == "text/html"
        assert cast.value()["verdict"] == "ok"


async def test_a_connection_that_broke_breaks_before_and_within_an_answer() -> None:
    tape = greeted()
    tape.post(3, asked(2, name="t"))
    tape.process("unanswered", id="2", why="It broke.")
    tape.post(4, asked(3, name="u", _meta={"progressToken": 1}))
    tape.event(4, progress(1, 1))
    tape.process("unanswered", id="3", why="It broke.")
    heads = [*GREETED, head(3), head(4, status=200, closed_how="cut")]
    async with mocked(part_of(tape.frames, heads)) as (url, _), raw(url) as client:
        await client.handshake()
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post(message("tools/call", 8, name="t"))
        asks = message("tools/call", 9, name="u", _meta={"progressToken": 4})
        async with client.listening(asks) as events:
            first = await events.next()
            assert first is not None
            assert json.loads(first.data) == progress(4, 1)
            with pytest.raises(httpx.RemoteProtocolError):
                await events.next()


async def test_a_server_that_died_in_a_call_is_dead_for_its_client_only() -> None:
    tape = Tape().hello().c(call(2, "die")).err(b"oh no").event(event="exited", code=3)
    async with mocked(part_of(tape.frames)) as (url, cast), raw(url) as client, raw(url) as other:
        await client.handshake()
        await other.handshake()
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post(call(7, "die"))
        assert (await client.post(message("ping", 8))).status_code == 404
        assert (await other.post(message("ping", 8))).json() == result(8)
        assert "exited with status 3, as recorded" in [each["ended"] for each in cast.value()["clients"]]


async def test_an_answer_that_its_client_did_not_wait_for_begins_all_the_same() -> None:
    asks = request(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "raw"})
    events = (("content-type", "text/event-stream"), ("mcp-session-id", "s"))
    tape = HttpTape()
    tape.post(1, asks)
    tape.process("session", state="ended", id="s")
    heads = [head(1, status=200, response_headers=events, closed_how="closed")]
    async with mocked(part_of(tape.frames, heads)) as (url, cast), raw(url) as client:
        async with client.listening(asks) as begun:
            assert begun.response.status_code == 200
            assert begun.response.headers["mcp-session-id"]
        assert cast.value()["verdict"] == "ok"


async def test_a_fault_that_no_client_met_is_told() -> None:
    tape = Tape().hello().c(call(2, "t")).s(text(2, "x"))
    faults = (parse_fault("tools/call:t=error"), parse_fault("tools/call:u=drop"))
    async with mocked(part_of(tape.frames), faults=faults) as (url, cast), raw(url) as client:
        await client.handshake()
        assert "error" in (await client.post(call(7, "t"))).json()
        assert cast.value()["notes"] == ["--fault tools/call:u=drop: no such request came."]
    assert cast.value()["notes"] == ["--fault tools/call:u=drop: no such request came."]


async def test_garbage_in_an_answer_is_sent_as_it_was() -> None:
    tape = greeted()
    tape.post(3, asked(2, name="t"))
    tape.event(3, b"{not json")
    tape.event(3, told(2, content=[]))
    heads = [*GREETED, head(3, status=200, response_headers=(("content-type", "text/event-stream"),))]
    async with mocked(part_of(tape.frames, heads)) as (url, _), raw(url) as client:
        await client.handshake()
        async with client.listening(message("tools/call", 5, name="t")) as events:
            data = [event.data for event in await events.rest()]
        assert data == [b"{not json", json.dumps(told(5, content=[])).encode()]


async def test_a_miss_is_an_answer_with_status_200_that_says_what_is_nearest() -> None:
    tape = Tape().hello().c(call(2, "t", city="Oslo")).s(text(2, "x"))
    async with mocked(part_of(tape.frames)) as (url, cast), raw(url) as client:
        await client.handshake()
        answer = await client.post(call(7, "t", city="Lima"))
        assert answer.status_code == 200
        error = answer.json()["error"]
        assert error["code"] == -32010
        assert error["data"]["nearest"]["seq"] == 4
        assert error["data"]["nearest"]["differences"] == [
            {"pointer": "/arguments/city", "recorded": '"Oslo"', "live": '"Lima"'}
        ]
        assert cast.value()["misses"][0]["client"] == "1"
        assert not cast.agrees()


async def test_a_question_within_a_call_waits_for_its_answer() -> None:
    tape = Tape().hello().c(call(2, "ask")).s(request("q", "roots/list")).c(result("q", roots=[]))
    tape.s(text(2, "asked"))
    async with mocked(part_of(tape.frames)) as (url, _), raw(url) as client:
        await client.handshake()
        async with client.listening(call(7, "ask")) as events:
            question = await events.next()
            assert question is not None
            assert json.loads(question.data) == request("q", "roots/list")
            assert (await client.post(result("q", roots=[]))).status_code == 202
            assert bodies(await events.rest()) == [text(7, "asked")]


async def test_the_older_transport_is_served_from_the_same_recording() -> None:
    tape = Tape().hello().c(call(2, "t", token="p")).s(progress("p", 1)).s(text(2, "x"))
    async with mocked(part_of(tape.frames), path="/sse") as (url, _), raw(url) as client:
        async with client.listening() as events:
            endpoint = await events.next()
            assert endpoint is not None
            assert endpoint.name == "endpoint"
            client.url = str(httpx.URL(url).join(endpoint.data.decode()))
            for body in (initialize(), message("notifications/initialized", None), call(9, "t", token=2)):
                assert (await client.post(body)).status_code == 202
            came = [json.loads(event.data) for event in [await events.next() for _ in range(3)] if event]
        assert [each.get("id", each.get("method")) for each in came] == [1, "notifications/progress", 9]


@pytest.mark.parametrize(
    "headers", [{"host": "evil.example"}, {"origin": "https://evil.example"}, {"origin": "null"}]
)
async def test_a_request_of_a_foreign_page_is_refused_before_anything_is_used(
    headers: dict[str, str],
) -> None:
    tape = Tape().hello().c(call(2, "t")).s(text(2, "x"))
    async with mocked(part_of(tape.frames)) as (url, cast), raw(url) as client:
        assert (await client.post(initialize(), **headers)).status_code == 403
        assert cast.value()["client_count"] == 0


# The stateless era


def stateless() -> Tape:
    tape = Tape()
    tape.c(modern("tools/call", 1, name="t", arguments={}))
    return tape.s(result(1, content=[], resultType="complete"))


async def test_a_handshake_meets_what_a_server_of_the_stateless_era_says() -> None:
    async with mocked(part_of(stateless().frames)) as (url, _), raw(url) as client:
        answer = await client.post(initialize())
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32022)
        assert answer.json()["error"]["data"]["supported"] == ["2026-07-28"]


async def test_a_probe_meets_what_a_server_of_the_handshake_era_says() -> None:
    async with mocked(part_of(Tape().hello().frames)) as (url, cast), raw(url) as client:
        answer = await client.post(modern("server/discover"), **modern_headers("server/discover"))
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] not in (-32020, -32021, -32022)
        assert (await client.handshake()).status_code == 200
        assert cast.agrees()


async def test_discovery_that_was_not_recorded_tells_what_was_used() -> None:
    server = {"io.modelcontextprotocol/serverInfo": {"name": "x", "version": "1"}}
    tape = stateless().c(modern("tools/list", 2)).s(result(2, tools=[], _meta=server))
    async with mocked(part_of(tape.frames)) as (url, _), raw(url) as client:
        answer = await client.post(modern("server/discover"), **modern_headers("server/discover"))
        assert answer.json()["result"]["supportedVersions"] == ["2026-07-28"]
        assert answer.json()["result"]["capabilities"] == {"tools": {}}
        assert answer.json()["result"]["_meta"] == server


@pytest.mark.parametrize("checks", [True, False])
async def test_headers_must_repeat_the_body_unless_that_is_switched_off(checks: bool) -> None:
    async with mocked(part_of(stateless().frames), checks=checks) as (url, _), raw(url) as client:
        body = modern("tools/call", 5, name="t", arguments={})
        answer = await client.post(body, **modern_headers("tools/call", "another"))
        if checks:
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)
        else:
            assert answer.json() == result(5, content=[], resultType="complete")


async def test_each_named_place_is_one_client_and_the_bare_path_is_shared() -> None:
    headers = modern_headers("tools/call", "t")
    body = modern("tools/call", 5, name="t", arguments={})
    async with mocked(part_of(stateless().frames)) as (url, cast):
        for path, why in (("", None), ("/first", None), ("/second", None), ("/first", "already used")):
            async with raw(url + path) as client:
                error = (await client.post(body, **headers)).json().get("error")
                assert (error and error["data"]["why"]) == why, path
        assert [each["client"] for each in cast.value()["clients"]] == ["1", "first", "second"]


async def test_a_client_that_closes_its_stream_has_cancelled_and_gets_nothing_more() -> None:
    tape = Tape()
    tape.c(modern("tools/call", 1, name="hold", _meta={"progressToken": 1}))
    tape.s(progress(1, 1)).c(note("notifications/cancelled", requestId=1))
    tape.c(modern("tools/call", 2, name="t")).s(result(2, content=[], resultType="complete"))
    async with mocked(part_of(tape.frames)) as (url, cast), raw(url) as client:
        hold = modern("tools/call", 5, name="hold", _meta={"progressToken": 9})
        async with client.listening(hold, **modern_headers("tools/call", "hold")) as events:
            first = await events.next()
            assert first is not None
            assert json.loads(first.data) == progress(9, 1)
        after = await client.post(modern("tools/call", 6, name="t"), **modern_headers("tools/call", "t"))
        assert after.json() == result(6, content=[], resultType="complete")
        assert cast.agrees()


async def test_a_listener_hears_what_was_told_when_what_caused_it_is_asked_again() -> None:
    key = "io.modelcontextprotocol/subscriptionId"
    heard = note("notifications/tools/list_changed", _meta={key: 1})
    tape = Tape().c(modern("subscriptions/listen", 1, notifications={"toolsListChanged": True}))
    tape.s(note("notifications/subscriptions/acknowledged", _meta={key: 1}, notifications={}))
    tape.c(modern("tools/call", 2, name="t")).s(heard).s(result(2, content=[], resultType="complete"))
    async with mocked(part_of(tape.frames)) as (url, _), raw(url) as client, raw(url) as other:
        listen = modern("subscriptions/listen", "L", notifications={"toolsListChanged": True})
        async with client.listening(listen, **modern_headers("subscriptions/listen")) as events:
            first = await events.next()
            assert first is not None
            assert json.loads(first.data)["params"]["_meta"] == {key: "L"}
            answer = await other.post(modern("tools/call", 6, name="t"), **modern_headers("tools/call", "t"))
            assert answer.json() == result(6, content=[], resultType="complete")
            second = await events.next()
            assert second is not None
            assert json.loads(second.data) == note("notifications/tools/list_changed", _meta={key: "L"})


async def test_a_refusal_of_the_stateless_era_keeps_its_status_whatever_it_was_recorded_over() -> None:
    error: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}
    tape = Tape().c(modern("no/such", 1)).s(error)
    async with mocked(part_of(tape.frames)) as (url, _), raw(url) as client:
        answer = await client.post(modern("no/such", 4), **modern_headers("no/such"))
        assert (answer.status_code, answer.json()) == (404, {**error, "id": 4})


def test_the_recording_is_of_both_eras_if_its_connections_are(tmp_path: Path) -> None:
    from workbench.replay.cast import Cast

    parts = [part_of(Tape().hello().frames), part_of(stateless().frames)]
    assert Cast("x", parts).eras == ("legacy", "modern")
    assert Cast("x", parts[:1]).eras == ("legacy",)


async def test_what_was_recorded_over_http_does_not_end_the_stream_of_the_older_transport() -> None:
    tape = greeted()
    tape.post(3, asked(2, name="t"))
    tape.event(3, told(2, content=[]))
    heads = [*GREETED, head(3, status=200)]
    async with mocked(part_of(tape.frames, heads), path="/sse") as (url, _), raw(url) as client:
        async with client.listening() as events:
            endpoint = await events.next()
            assert endpoint is not None
            client.url = str(httpx.URL(url).join(endpoint.data.decode()))
            came = []
            for body in (initialize(), message("tools/call", 8, name="t")):
                assert (await client.post(body)).status_code == 202
                event = await events.next()
                assert event is not None
                came.append(json.loads(event.data)["id"])
        assert came == [1, 8]


async def test_a_client_that_probed_before_its_handshake_is_of_the_handshakes_era() -> None:
    asks = request(0, "server/discover", _meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"})
    refused = {"jsonrpc": "2.0", "id": 0, "error": {"code": -32000, "message": "Not initialized"}}
    tape = Tape().c(asks).s(refused).hello().s(note("notifications/tools/list_changed"))
    async with mocked(part_of(tape.frames)) as (url, _), raw(url) as client:
        await client.handshake()
        async with client.listening() as own:
            event = await own.next()
            assert event is not None
            assert json.loads(event.data)["method"] == "notifications/tools/list_changed"


def test_who_asked_what_a_server_is_and_no_more_is_of_the_stateless_era() -> None:
    asks = request(0, "server/discover", _meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"})
    tape = Tape().c(asks).s(result(0, supportedVersions=["2026-07-28"]))
    assert build(tape.frames).modern
    assert not build(tape.hello().frames).modern
