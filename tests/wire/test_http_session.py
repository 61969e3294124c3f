"""Sessions: granted, shown, lost, ended."""

from __future__ import annotations

import json

import anyio
import pytest

from tests.servers.http_script import RESULT, SESSION, Asked, Table, Wire, as_json, reply, said, tells
from tests.wire.http_stage import case, connected
from tests.wire.stage import call_tool, until
from workbench.core.lifecycle import State

pytestmark = pytest.mark.anyio


def error(status: int, code: int, text: str, id: object = None) -> bytes:
    body = {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}}
    return reply(status, json.dumps(body), content_type="application/json")


async def test_a_session_is_granted_used_and_ended() -> None:
    async with connected() as stage:
        assert stage.sink.events("session") == [{"event": "session", "state": "granted", "id": SESSION}]
    assert stage.site.headers("DELETE", "mcp-session-id") == [SESSION]
    assert stage.sink.events("session")[-1] == {"event": "session", "state": "ended", "id": SESSION}


async def test_a_server_without_sessions_is_asked_for_none() -> None:
    async with connected(
        {"initialize": lambda asked: as_json(asked, RESULT), "tools/call": tells("x")}
    ) as stage:
        await stage.says()
        assert set(stage.site.headers("POST", "mcp-session-id")) == {None}
    assert stage.site.of("DELETE") == []
    assert stage.sink.events("session") == []


@pytest.mark.parametrize("status", [405, 404, 501])
async def test_a_server_may_keep_the_session(status: int) -> None:
    async with connected({"DELETE": reply(status)}) as stage:
        pass
    assert stage.connection.state is State.CLOSED
    last = stage.sink.events("session")[-1]
    assert (last["state"], last["id"]) == ("kept", SESSION)


async def test_ending_a_session_takes_no_longer_than_a_server_may_take_to_go() -> None:
    async def never(asked: Asked, wire: Wire) -> None:
        await wire.gone()

    async with connected({"DELETE": never}, timeouts={"shutdown": 0.3}) as stage:
        with anyio.fail_after(20):
            await stage.connection.close()
    assert stage.sink.events("session")[-1]["state"] == "kept"


async def test_another_session_id_on_a_later_answer_is_shown_and_not_taken_over() -> None:
    def other(asked: Asked) -> bytes:
        return as_json(asked, said("x"), Mcp_Session_Id="session-2")

    async with connected({"tools/call": other}) as stage:
        for _ in range(3):
            await stage.says()
        assert set(stage.site.headers("tools/call", "mcp-session-id")) == {SESSION}
        told = [each for each in stage.sink.events("session") if each["state"] == "other"]
        assert told == [{"event": "session", "state": "other", "id": "session-2", "ours": SESSION}]


@pytest.mark.parametrize(
    "answer",
    [
        reply(404),
        reply(404, "Session not found", content_type="text/plain"),
        error(404, -32600, "Session not found"),
        error(404, -32001, "Session not found", "server-error"),
        error(400, -32000, "Bad Request: No valid session ID provided"),
        reply(400, "unknown Mcp-Session-Id", content_type="text/plain"),
    ],
    ids=case,
)
async def test_a_session_the_server_does_not_know_any_more_ends_the_connection(answer: bytes) -> None:
    never = anyio.Event()

    async def wait(asked: Asked, wire: Wire) -> None:
        never.set()
        await wire.gone()

    async with connected({"tools/call": answer, "prompts/get": wait}) as stage:
        pending = stage.connection.call("prompts/get", '{"name":"p"}')
        with anyio.fail_after(20):
            await never.wait()
            outcome = await call_tool(stage.connection, "x")
            other = await pending.wait()
        assert (outcome.how, other.how) == ("lost", "lost")
        assert "does not know this session any more" in outcome.why
        assert "does not know this session any more" in other.why
        assert stage.connection.state is State.SESSION_LOST
        assert stage.connection.view.next_step == "Connect again for a new session."
        await stage.connection.close()
    assert stage.site.of("DELETE") == []
    assert [each["state"] for each in stage.sink.events("session")] == ["granted", "lost"]


async def test_a_method_the_server_does_not_know_is_no_lost_session() -> None:
    def unknown(asked: Asked) -> bytes:
        return error(404, -32601, "Method not found", asked.id)

    async with connected({"tools/call": unknown}) as stage:
        outcome = await call_tool(stage.connection, "x")
        assert (outcome.how, outcome.error["code"]) == ("error", -32601)
        assert stage.connection.state is State.READY


async def test_a_bad_request_that_does_not_speak_of_a_session_is_no_lost_session() -> None:
    bad = [
        error(400, -32600, "Unsupported protocol version"),
        error(400, -32602, "Invalid params: session is missing"),
        error(400, -32000, "The session attendance list is empty"),
    ]
    async with connected({"tools/call": bad}) as stage:
        for _ in bad:
            outcome = await call_tool(stage.connection, "x")
            assert outcome.how == "error"
            assert stage.connection.state is State.READY


async def test_without_a_session_a_404_fails_only_the_call() -> None:
    table: Table = {
        "initialize": lambda asked: as_json(asked, RESULT),
        "tools/call": [reply(404), tells("on")],
    }
    async with connected(table) as stage:
        outcome = await call_tool(stage.connection, "x")
        assert outcome.how == "lost"
        assert await stage.says() == "on"


async def test_a_lost_session_seen_by_a_notification_ends_the_connection_too() -> None:
    async with connected({"notifications/roots/list_changed": reply(404)}) as stage:
        stage.connection.notify("notifications/roots/list_changed")
        await until(lambda: stage.connection.state is State.SESSION_LOST)
