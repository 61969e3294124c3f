"""What comes back on a POST, and what a call is told of it."""

from __future__ import annotations

import gzip
import json

import anyio
import pytest

from tests.servers.http_script import (
    CHUNKED,
    EVENTS,
    Asked,
    Table,
    Wire,
    answer_event,
    as_json,
    chunk,
    event,
    head,
    message,
    plain,
    reply,
    said,
    streams,
    tells,
)
from tests.wire.http_stage import case, connected
from tests.wire.stage import call_tool, text_of, until
from workbench.core.frame import Channel, Direction
from workbench.core.lifecycle import State

pytestmark = pytest.mark.anyio


async def test_every_post_says_what_it_takes_and_is_in_the_session_once_there_is_one() -> None:
    async with connected({"tools/call": tells("hello")}, headers={"X-Team": "blue"}) as stage:
        assert await stage.says() == "hello"
        first, *later = stage.site.of("POST")
        assert first.headers["accept"] == "application/json, text/event-stream"
        assert first.headers["content-type"] == "application/json"
        assert "mcp-session-id" not in first.headers
        assert {each.headers["mcp-session-id"] for each in later} == {"session-1"}
        assert {each.headers["x-team"] for each in stage.site.asked} == {"blue"}


async def test_what_the_user_sets_for_a_target_wins_over_what_is_usual() -> None:
    async with connected({"tools/call": tells("x")}, headers={"accept": "application/json"}) as stage:
        await stage.says()
        assert set(stage.site.headers("POST", "accept")) == {"application/json"}
        assert stage.site.headers("GET", "accept") == ["text/event-stream"]


async def test_the_revision_is_named_in_a_header_after_the_handshake_and_not_on_it() -> None:
    async with connected({"tools/call": tells("x")}) as stage:
        await stage.says()
        await until(lambda: stage.site.of("GET"))
        versions = stage.site.headers("POST", "mcp-protocol-version")
        assert versions[0] is None
        assert set(versions[1:]) == {"2025-11-25"}
    assert stage.site.headers("GET", "mcp-protocol-version") == ["2025-11-25"]
    assert stage.site.headers("DELETE", "mcp-protocol-version") == ["2025-11-25"]


async def test_a_revision_older_than_the_header_is_not_named_in_one() -> None:
    result = {
        "protocolVersion": "2025-03-26",
        "capabilities": {},
        "serverInfo": {"name": "s", "version": "1"},
    }
    table: Table = {"initialize": lambda asked: as_json(asked, result), "tools/call": tells("x")}
    async with connected(table) as stage:
        await stage.says()
        assert set(stage.site.headers("POST", "mcp-protocol-version")) == {None}


async def test_the_body_is_recorded_before_it_is_sent_on_a_stream_that_tells_the_heads() -> None:
    async with connected({"tools/call": tells("x")}) as stage:
        await stage.says()
        request = next(u for u in stage.sink.units if b"tools/call" in u.data)
        assert (request.channel, request.direction) == (Channel.HTTP, Direction.TO_SERVER)
        assert request.data == stage.site.of("tools/call")[0].body
        answer = next(
            u for u in stage.sink.units if b'"content"' in u.data and u.direction is Direction.TO_CLIENT
        )
        assert (answer.channel, answer.stream) == (Channel.HTTP, request.stream)
        stream = stage.sink.streams[request.stream]
        assert (stream.verb, stream.url, stream.status) == ("POST", stage.site.url, 200)
        assert stream.closed_how == "end"
        sent = stage.site.of("tools/call")[0].order
        assert set(stream.request_headers) == set(sent)
        assert ("content-type", "application/json") in stream.response_headers


async def test_an_answer_on_a_stream_comes_with_what_belongs_to_it() -> None:
    log = event('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"on it"}}')
    async with connected({"tools/call": streams(log, answer_event("done"))}) as stage:
        assert await stage.says() == "done"
        assert [entry.text for entry in stage.connection.view.logs] == ["on it"]
        assert len({unit.stream for unit in stage.sink.units if unit.channel is Channel.SSE}) == 1


async def test_a_request_of_the_server_on_the_stream_is_answered_by_a_post_of_its_own() -> None:
    got = anyio.Event()

    async def ask(asked: Asked, wire: Wire) -> None:
        await wire.write(EVENTS, event('{"jsonrpc":"2.0","id":"q","method":"ping"}'))
        await got.wait()
        await wire.write(event(message(asked, said("thanks"))))

    def post(asked: Asked) -> bytes:
        if asked.message.get("id") == "q":
            got.set()
        return plain(asked)

    async with connected({"tools/call": ask, "POST": post}) as stage:
        assert await stage.says() == "thanks"
        (answer,) = [each for each in stage.site.asked if each.message.get("id") == "q"]
        assert answer.message == {"jsonrpc": "2.0", "id": "q", "result": {}}


@pytest.mark.parametrize("eol", [b"\n", b"\r\n", b"\r"])
async def test_a_stream_may_end_its_lines_in_any_way_and_be_split_anywhere(eol: bytes) -> None:
    async def answer(asked: Asked, wire: Wire) -> None:
        body = eol.join(
            [b": hello", b"", b"event: message", b"data:" + message(asked, said("whole")), b"", b""]
        )
        await wire.write(EVENTS, *(body[at : at + 1] for at in range(len(body))))

    async with connected({"tools/call": answer}) as stage:
        assert await stage.says() == "whole"


async def test_data_of_several_lines_is_one_message_with_its_lines() -> None:
    def answer(asked: Asked) -> bytes:
        lines = json.dumps(json.loads(message(asked, said("several"))), indent=1).split("\n")
        return EVENTS + b"".join(f"data: {line}\n".encode() for line in lines) + b"\n"

    async with connected({"tools/call": answer}) as stage:
        assert await stage.says() == "several"
        assert stage.events()[-1][0].count(b"\n") > 4


async def test_priming_events_comments_and_other_data_are_recorded_and_answer_nothing() -> None:
    noise = (
        event(id="1"),
        b": keep-alive\n\n",
        b"event: ping\ndata: 2026\n\n",
        event('{"type":"heartbeat"}'),
        event(b"not json"),
    )
    async with connected({"tools/call": streams(*noise, answer_event("still"))}) as stage:
        assert await stage.says() == "still"
        assert stage.events()[:5] == [
            (b"", '{"id":"1"}'),
            (b"keep-alive", '{"comment":true}'),
            (b"2026", '{"name":"ping"}'),
            (b'{"type":"heartbeat"}', None),
            (b"not json", None),
        ]


async def test_the_last_event_counts_although_its_empty_line_is_missing() -> None:
    async with connected(
        {"tools/call": lambda asked: EVENTS + event(message(asked, said("last")))[:-2]}
    ) as stage:
        assert await stage.says() == "last"


async def test_a_stream_with_parameters_in_its_type_or_compressed_is_read_all_the_same() -> None:
    def answer(asked: Asked) -> bytes:
        body = gzip.compress(event(message(asked, said("small" * 100))))
        return reply(200, body, content_type="text/event-stream; charset=utf-8", content_encoding="gzip")

    async with connected({"tools/call": answer}) as stage:
        assert await stage.says() == "small" * 100
        stream = next(each for each in stage.sink.streams.values() if each.encoding)
        await until(lambda: stage.sink.streams[stream.number].closed_how == "end")
        stream = stage.sink.streams[stream.number]
        assert stream.encoding == "gzip"
        assert stream.wire_bytes is not None
        assert stream.wire_bytes < 300


async def test_a_stream_under_another_type_is_read_as_what_it_is() -> None:
    async def answer(asked: Asked, wire: Wire) -> None:
        await wire.write(head(200, {"content-type": "text/plain"}), event(message(asked, said("misnamed"))))
        await wire.gone()

    async with connected({"tools/call": answer}) as stage:
        assert await stage.says() == "misnamed"


async def test_json_under_another_type_or_none_is_read_as_what_it_is() -> None:
    def typed(asked: Asked) -> bytes:
        return reply(200, message(asked, said("plainly")), content_type="text/plain")

    def untyped(asked: Asked) -> bytes:
        return reply(200, message(asked, said("plainly")))

    async with connected({"tools/call": [typed, untyped]}) as stage:
        assert await stage.says() == await stage.says() == "plainly"


async def test_an_answer_that_is_not_compressed_as_its_head_says_fails_that_call_alone() -> None:
    wrong = reply(200, b"plain text", content_type="application/json", content_encoding="gzip")
    async with connected({"tools/call": [wrong, tells("fine")]}) as stage:
        outcome = await call_tool(stage.connection, "x")
        assert outcome.how == "lost"
        assert "not compressed the way its head says" in outcome.why
        assert await stage.says() == "fine"


async def test_several_answers_in_an_array_are_taken_where_the_revision_has_batches() -> None:
    def answer(asked: Asked) -> bytes:
        return reply(200, b"[" + message(asked, said("in an array")) + b"]", content_type="application/json")

    async with connected({"tools/call": answer}, offer="2025-03-26") as stage:
        assert await stage.says() == "in an array"


async def test_what_comes_after_the_answer_is_still_read() -> None:
    late = event(
        '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"after"}}'
    )
    async with connected({"tools/call": streams(answer_event("first"), late)}) as stage:
        assert await stage.says() == "first"
        await until(lambda: [entry.text for entry in stage.connection.view.logs] == ["after"])


async def test_a_stream_that_stays_open_after_its_answer_is_closed_after_a_while() -> None:
    gone = anyio.Event()

    async def answer(asked: Asked, wire: Wire) -> None:
        await wire.write(EVENTS, event(message(asked, said("here"))))
        await wire.gone()
        gone.set()

    async with connected({"tools/call": answer}) as stage:
        assert await stage.says() == "here"
        with anyio.fail_after(20):
            await gone.wait()
        await until(lambda: [each.closed_how for each in stage.streams("POST")][-1] == "closed")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (reply(202), "took the request with status 202 and sent no answer"),
        (reply(204), "took the request with status 204 and sent no answer"),
        (reply(200, content_type="application/json"), "took the request with status 200 and sent no answer"),
        (reply(200, "null", content_type="application/json"), "no answer to this request: “null”"),
        (reply(200, "{}", content_type="application/json"), "no answer to this request: “{}”"),
        (
            reply(200, "<html><title>Sign in</title></html>", content_type="text/html"),
            "an HTML page, “Sign in”",
        ),
        (EVENTS, "closed the stream before it answered"),
    ],
    ids=case,
)
async def test_a_success_without_an_answer_ends_the_call_with_a_sentence(answer: bytes, says: str) -> None:
    async with connected({"tools/call": [answer, tells("next")]}) as stage:
        outcome = await call_tool(stage.connection, "x")
        assert outcome.how == "lost"
        assert says in outcome.why
        assert stage.connection.state is State.READY
        assert await stage.says() == "next"


async def test_an_empty_answer_to_a_request_is_a_frame_and_one_to_a_notification_is_none() -> None:
    async with connected({"tools/call": reply(204)}) as stage:
        await call_tool(stage.connection, "x")
        stage.connection.notify("notifications/roots/list_changed")
        await until(lambda: stage.streams("POST")[-1].closed_how == "end")
        bodies = stage.sink.bodies(Channel.HTTP)
        assert bodies.count(b"") == 1


@pytest.mark.parametrize(
    "answer",
    [
        reply(202, content_type="application/json"),
        reply(204),
        reply(200),
        reply(200, "null", content_type="application/json"),
        reply(200, "{}", content_type="application/json"),
        reply(200, "Accepted", content_type="text/plain"),
    ],
    ids=case,
)
async def test_a_notification_may_be_taken_in_any_way(answer: bytes) -> None:
    table: Table = {"notifications/initialized": answer, "tools/call": tells("fine")}
    async with connected(table) as stage:
        assert await stage.says() == "fine"
        body = answer.partition(b"\r\n\r\n")[2]
        assert [each for each in stage.sink.bodies(Channel.HTTP)[1:] if each == body] == [body] * bool(body)
        await until(lambda: stage.site.of("GET"))


async def test_an_error_with_a_status_is_the_answer_even_without_an_id() -> None:
    def error(id: str) -> bytes:
        body = f'{{"jsonrpc":"2.0",{id}"error":{{"code":-32602,"message":"bad"}}}}'
        return reply(400, body, content_type="application/json")

    table: Table = {"tools/call": [lambda asked: error(f'"id":{asked.id},'), error('"id":null,'), error("")]}
    async with connected(table) as stage:
        for _ in range(3):
            outcome = await call_tool(stage.connection, "x")
            assert outcome.how == "error"
            assert outcome.error["code"] == -32602


async def test_an_error_for_another_id_is_told_with_its_status() -> None:
    body = '{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Not Acceptable"}}'
    async with connected({"tools/call": reply(406, body, content_type="application/json")}) as stage:
        outcome = await call_tool(stage.connection, "x")
        assert outcome.how == "lost"
        assert "status 406: Not Acceptable (-32600)" in outcome.why


@pytest.mark.parametrize("status", [400, 403, 404, 413, 429, 500, 502, 503, 504])
async def test_an_error_page_is_a_frame_and_fails_that_call_alone(status: int) -> None:
    page = f"<html><head><title>Trouble {status}</title></head><body>" + "x" * 5000
    result = lambda asked: as_json(asked, {"protocolVersion": "2025-11-25", "capabilities": {}})  # noqa: E731
    table: Table = {
        "initialize": result,
        "tools/call": [reply(status, page, content_type="text/html"), tells("on")],
    }
    async with connected(table) as stage:
        outcome = await call_tool(stage.connection, "x")
        assert outcome.how == "lost"
        assert f"status {status}" in outcome.why
        assert status == 403 or f"Trouble {status}" in outcome.why
        assert len(outcome.why) < 400
        assert page.encode() in stage.sink.bodies(Channel.HTTP)
        assert await stage.says() == "on"


async def test_a_server_that_hangs_up_fails_that_call_alone_and_is_not_asked_twice() -> None:
    async def hang_up(asked: Asked, wire: Wire) -> None:
        wire.reset()

    async with connected({"tools/call": [hang_up, tells("back")]}) as stage:
        outcome = await call_tool(stage.connection, "x")
        assert outcome.how == "lost"
        assert "broke before an answer came" in outcome.why
        assert "unknown" in outcome.why
        assert len(stage.site.of("tools/call")) == 1
        assert [each.closed_how for each in stage.streams("POST")][-1] == "failed"
        assert await stage.says() == "back"


async def test_a_connection_that_was_closed_between_two_calls_is_made_anew() -> None:
    async def once(asked: Asked, wire: Wire) -> None:
        await wire.write(as_json(asked, said("bye")))

    async with connected({"tools/call": once}) as stage:
        for _ in range(3):
            assert await stage.says() == "bye"
        assert stage.site.connections >= 3
        assert len(stage.site.of("tools/call")) == 3


async def test_an_answer_that_is_cut_short_is_recorded_and_fails_the_call() -> None:
    async def cut(asked: Asked, wire: Wire) -> None:
        await wire.write(
            head(200, {"content-type": "application/json", "content-length": "900"}), b'{"jsonrpc":'
        )

    async with connected({"tools/call": [cut, tells("whole")]}) as stage:
        outcome = await call_tool(stage.connection, "x")
        assert outcome.how == "lost"
        assert "in the middle of the answer" in outcome.why
        assert b'{"jsonrpc":' in stage.sink.bodies(Channel.HTTP)
        assert [each.closed_how for each in stage.streams("POST")][-1] == "cut"
        assert await stage.says() == "whole"


async def test_an_answer_in_a_stream_that_is_cut_right_after_it_counts() -> None:
    async def cut(asked: Asked, wire: Wire) -> None:
        await wire.write(CHUNKED, chunk(event(message(asked, said("just in time")))))

    async with connected({"tools/call": cut}) as stage:
        assert await stage.says() == "just in time"


async def test_calls_run_side_by_side_and_their_answers_come_in_any_order() -> None:
    second = anyio.Event()

    async def slow(asked: Asked, wire: Wire) -> None:
        text = asked.message["params"]["arguments"]["text"]
        if text == "first":
            await second.wait()
        else:
            second.set()
        await wire.write(as_json(asked, said(text)))

    async with connected({"tools/call": slow}) as stage, anyio.create_task_group() as group:
        texts: list[str] = []

        async def call(text: str) -> None:
            texts.append(text_of(await call_tool(stage.connection, text)))

        group.start_soon(call, "first")
        await until(lambda: stage.site.of("tools/call"))
        group.start_soon(call, "second")
        await until(lambda: len(texts) == 2)
        assert texts == ["second", "first"]


async def test_nothing_is_sent_before_the_server_has_taken_the_end_of_the_handshake() -> None:
    order: list[str] = []

    async def slowly(asked: Asked, wire: Wire) -> None:
        order.append("initialized came")
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        order.append("initialized taken")
        await wire.write(reply(202))

    def listing(asked: Asked) -> bytes:
        order.append(asked.method)
        return as_json(asked, {"tools": []})

    async with connected({"notifications/initialized": slowly, "tools/list": listing}) as stage:
        await stage.connection.list("tools/list")
        assert order == ["initialized came", "initialized taken", "tools/list"]


async def test_a_result_of_sixteen_megabytes_comes_whole_either_way() -> None:
    text = "m" * (16 * 1024 * 1024)
    async with connected({"tools/call": [tells(text), streams(answer_event(text))]}) as stage:
        for _ in range(2):
            outcome = await call_tool(stage.connection, "x")
            assert outcome.how == "result"
            assert len(outcome.text) > len(text)


async def test_the_server_is_not_read_while_the_sink_has_no_room() -> None:
    passed = 0

    async def flood(asked: Asked, wire: Wire) -> None:
        nonlocal passed
        await wire.write(EVENTS)
        filler = event(
            json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "f" * 65536}})
        )
        for _ in range(400):
            await wire.write(filler)
            passed += 1
        await wire.write(event(message(asked, said("through"))))

    async with connected({"tools/call": flood}) as stage:
        stage.sink.room = False
        call = stage.connection.call("tools/call", '{"name":"echo"}')
        before = -1
        while before != passed:
            before = passed
            for _ in range(20):
                await anyio.sleep(0.01)
        assert passed < 400
        stage.sink.room = True
        assert text_of(await call.wait()) == "through"
