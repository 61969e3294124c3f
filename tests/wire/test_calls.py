"""Requests of ours: results, errors, progress, timeouts, cancellation, odd answers."""

from __future__ import annotations

import json

import anyio
import pytest

from tests.servers.targets import server
from tests.wire.stage import MemorySink, arguments, call_tool, running, text_of, until
from workbench.core.frame import Channel, Direction

pytestmark = pytest.mark.anyio


async def test_a_call_knows_its_name_number_frames_and_time() -> None:
    async with running(server("minimal")) as (connection, sink):
        await connection.ready()
        call = connection.call("tools/call", arguments("x"))
        assert (call.name, call.state, connection.calls) == ("echo", "running", {call.number: call})
        assert json.loads(sink.units[call.request_seq - 1].data)["id"] == call.number
        outcome = await call.wait()
        assert (call.state, call.outcome, connection.calls) == ("done", outcome, {})
        assert outcome.seconds == call.seconds > 0


async def test_params_go_out_as_they_were_given_but_for_the_progress_token() -> None:
    params = '{ "name":"echo", "arguments":{"text":"x","n":1.0,"big":9007199254740993,"n":2} }'
    async with running(server("minimal")) as (connection, sink):
        await connection.ready()
        await connection.request("tools/call", params, progress=False)
        with_token = connection.call("tools/call", params)
        await with_token.wait()
    bodies = sink.bodies(Channel.STDIO, Direction.TO_SERVER)
    assert params.encode() in bodies[-2]
    assert b'"n":1.0,"big":9007199254740993,"n":2' in bodies[-1]
    assert json.loads(bodies[-1])["params"]["_meta"] == {"progressToken": with_token.number}


async def test_an_error_and_a_tools_own_error_are_told_apart() -> None:
    async with running(server("official")) as (connection, _):
        await connection.ready()
        failed = await connection.request("tools/call", '{"name":"fail","arguments":{}}')
        assert (failed.how, failed.is_tool_error) == ("result", True)
        unknown = await connection.request("no/such")
        assert unknown.how == "error"
        assert unknown.error["code"] == -32601


async def test_each_report_of_progress_reaches_its_call() -> None:
    async with running(server("official")) as (connection, _):
        await connection.ready()
        params = '{"name":"count","arguments":{"steps":3}}'
        calls = [connection.call("tools/call", params) for _ in range(3)]
        for call in calls:
            await call.wait()
            assert [report.progress for report in call.progress] == [1, 2, 3]


async def test_a_call_without_progress_times_out_is_cancelled_and_its_late_answer_is_shown_as_late() -> None:
    async with running(server("reports_progress")) as (connection, sink):
        await connection.ready()
        call = connection.call("tools/call", arguments("silent"), timeout=0.3)
        outcome = await call.wait()
        assert outcome.how == "timeout"
        await until(lambda: call.late_seq)
        assert b"too late" in sink.units[(call.late_seq or 0) - 1].data
        assert call.outcome is outcome
        assert text_of(await call_tool(connection, "0")) == "done"
    [cancelled] = [message for message in sink.sent() if message["method"] == "notifications/cancelled"]
    assert cancelled["params"]["requestId"] == call.number
    [told] = sink.events("timeout")
    assert told["id"] == str(call.number)
    assert told["seconds"] >= 0.3


async def test_progress_keeps_a_call_alive_past_its_timeout() -> None:
    async with running(server("reports_progress")) as (connection, _):
        await connection.ready()
        call = connection.call("tools/call", arguments("0", steps=5), timeout=1.0)
        for step in range(5):
            await anyio.sleep(0.4)  # the time that passes is what this test is about
            connection.send_raw(b'{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}')
            await until(lambda step=step: len(call.progress) == step + 1)  # type: ignore[misc]
        assert (await call.wait()).how == "result"
        assert call.seconds > 1.5


async def test_a_cancelled_call_ends_at_once_and_the_server_is_told_why() -> None:
    async with running(server("reports_progress")) as (connection, sink):
        await connection.ready()
        call = connection.call("tools/call", arguments("silent"))
        call.cancel("no longer needed")
        assert (await call.wait()).how == "cancelled"
        await until(lambda: call.late_seq)
    assert sink.sent()[-1]["params"] == {"requestId": call.number, "reason": "no longer needed"}


async def test_whoever_stops_waiting_for_a_request_cancels_it() -> None:
    async with running(server("reports_progress")) as (connection, sink):
        await connection.ready()
        with anyio.move_on_after(0.1):
            await connection.request("tools/call", arguments("silent"))
        assert sink.sent()[-1]["method"] == "notifications/cancelled"
        assert connection.calls == {}


ODD = [
    ("both", "error", "result-and-error"),
    ("neither", "result", "no-message"),
    ("text id", "result", "answer-id-type"),
    ("unknown id", "result", "answer-unknown"),
    ("null result", "result", "result-not-object"),
    ("error text", "error", "error-shape"),
    ("two in a line", "result", "several-values"),
    ("invalid utf-8", "result", "invalid-utf8"),
]


@pytest.mark.parametrize(("how", "ending", "rule"), ODD)
async def test_an_odd_answer_is_found_and_the_connection_goes_on(how: str, ending: str, rule: str) -> None:
    async with running(server("answers_oddly")) as (connection, _):
        await connection.ready()
        outcome = await call_tool(connection, how)
        assert outcome.how == ending
        assert rule in [finding.rule.id for finding in connection.findings]
        assert text_of(await call_tool(connection, "text id")) == "right"


async def test_a_second_answer_is_found_and_changes_nothing() -> None:
    async with running(server("answers_oddly")) as (connection, _):
        await connection.ready()
        assert text_of(await call_tool(connection, "twice")) == "first"
        await until(lambda: "answer-duplicate" in [finding.rule.id for finding in connection.findings])


async def test_a_carriage_return_stays_in_the_frame_and_a_lone_surrogate_does_no_harm() -> None:
    async with running(server("answers_oddly")) as (connection, sink):
        await connection.ready()
        assert (await call_tool(connection, "crlf")).result == {"content": []}
        assert text_of(await call_tool(connection, "surrogate")) == "\ud83d"
    assert any(body.endswith(b"\r") for body in sink.bodies(Channel.STDIO))


async def test_a_last_line_without_an_end_is_a_frame_and_answers_its_call() -> None:
    async with running(server("answers_oddly")) as (connection, _):
        await connection.ready()
        assert (await call_tool(connection, "no line end")).how == "result"


async def test_raw_bytes_are_sent_as_they_are_one_frame_a_line() -> None:
    sink = MemorySink()
    async with running(server("minimal"), sink) as (connection, _):
        await connection.ready()
        connection.send_raw(b'{"jsonrpc":"2.0","id":"mine","method":"ping"}\n{"jsonrpc":"2.0","method":"x"}')
        await until(lambda: any(b'"mine"' in body for body in sink.bodies(Channel.STDIO)))
        assert text_of(await call_tool(connection, "still here")) == "still here"
    assert [message["method"] for message in sink.sent()][-3:-1] == ["ping", "x"]


async def test_many_calls_at_once_each_get_their_own_answer() -> None:
    async with running(server("minimal")) as (connection, _):
        await connection.ready()
        calls = [connection.call("tools/call", arguments(str(number))) for number in range(500)]
        for number, call in enumerate(calls):
            outcome = await call.wait()
            assert text_of(outcome) == str(number)
            assert call.request_seq < (outcome.seq or 0)
