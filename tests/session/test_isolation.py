"""Connections of one session know nothing of each other: not a word of one is sent or told on another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from tests.servers.http_script import Asked, as_json, message, reply, said, serve_http
from tests.servers.targets import server
from tests.wire.http_stage import target_of
from tests.wire.stage import arguments, text_of
from tests.wire.test_eras_http import stateless
from workbench.config import Root, Target
from workbench.core.rules import Rule
from workbench.session import Session
from workbench.wire.connection import Connection

pytestmark = pytest.mark.anyio

META = "io.modelcontextprotocol/"
MARKS = ("AARDVARK", "BUFFALO")
FORM = {"type": "object", "properties": {"mark": {"type": "string"}}}
STEPS = [
    {"env": "MARK"},
    {"send": {"id": "r", "method": "roots/list"}},
    {
        "send": {
            "id": "e",
            "method": "elicitation/create",
            "params": {"message": "?", "requestedSchema": FORM},
        }
    },
    {"send": {"id": "s", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}},
    {"answer": "r"},
    {"answer": "e"},
    {"answer": "s"},
]


def rules(mark: str) -> tuple[Rule, ...]:
    content = json.dumps({"action": "accept", "content": {"mark": mark}})
    return (Rule("elicitation", content, name=mark), Rule("sampling", f"text:{mark}", name=mark))


def marked(mark: str, **options: Any) -> dict[str, Any]:
    """Everything of a target that is its own, with a mark in each."""
    return {
        "name": f"connection-{mark}",
        "client_info": {"name": f"client-{mark}", "version": "1"},
        "roots": (Root(uri=f"file:///{mark}", name=mark),),
        "rules": rules(mark),
        "capabilities": {
            "roots": {"listChanged": True},
            "sampling": {},
            "elicitation": {},
            "experimental": {mark: {}},
        },
        **options,
    }


def heard_by(session: Session, connection: Connection) -> Iterator[bytes]:
    for frame in session.reader.frames():
        if frame.connection == connection.number:
            yield frame.body


async def recorded(session: Session, connection: Connection) -> bytes:
    """All frames of a connection, once the last one it has seen is written."""
    wanted = connection.view.frames
    with anyio.fail_after(30):
        while len(bodies := list(heard_by(session, connection))) < wanted:
            await anyio.sleep(0.01)
    return b"\n".join(bodies)


async def test_nothing_of_one_connection_appears_in_the_frames_of_another() -> None:
    async with Session.open(record=False) as session:
        connections = [
            session.connect(server("does_as_told", **marked(mark, env={"MARK": mark}))) for mark in MARKS
        ]
        for connection in connections:
            await connection.ready()
        calls = [connection.call("tools/call", arguments(json.dumps(STEPS))) for connection in connections]
        for mark, call in zip(MARKS, calls, strict=True):
            told = text_of(await call.wait())
            assert told.count(mark) >= 4, "the environment, the root and what both rules say"
        connections[0].set_roots([Root(uri=f"file:///{MARKS[0]}/changed")])
        await connections[0].ping().wait()
        for mine, other, connection in zip(MARKS, reversed(MARKS), connections, strict=True):
            frames = await recorded(session, connection)
            assert frames.count(mine.encode()) >= 6
            assert other.encode() not in frames
            assert not any(other in remark for remark in connection.dealings.remarks)


async def test_nothing_of_one_connection_is_said_on_another_where_every_request_says_it_all() -> None:
    """Without a handshake, to one server at one address: who, what and which answers, in each request."""
    asked = {"elicitation/create": ({"message": "?", "requestedSchema": FORM}), "roots/list": {}}
    inputs = {key: {"method": key, "params": params} for key, params in asked.items()}
    calls: list[Asked] = []

    def told(given: Asked) -> bytes:
        calls.append(given)
        answers = given.message["params"].get("inputResponses")
        if answers is not None:
            return as_json(given, {"resultType": "complete", **said(json.dumps(answers))})
        return as_json(given, {"resultType": "input_required", "inputRequests": inputs})

    async with serve_http(stateless(**{"tools/call": told})) as site, Session.open(record=False) as session:
        connections = [session.connect(_http(site.url, mark, era="modern")) for mark in MARKS]
        for connection in connections:
            await connection.ready()
        waiting = [connection.call("tools/call", arguments(mark)) for mark, connection in _each(connections)]
        for mark, call in zip(MARKS, waiting, strict=True):
            assert text_of(await call.wait()).count(mark) == 3, "what a rule says, and the root twice"
        for mine, other in zip(MARKS, reversed(MARKS), strict=True):
            own = [each for each in site.asked if each.headers.get("x-mark") == mine]
            assert len([each for each in own if each.method == "tools/call"]) == 2
            for each in own:
                meta = each.message["params"]["_meta"]
                assert meta[f"{META}clientInfo"]["name"] == f"client-{mine}"
                assert mine in meta[f"{META}clientCapabilities"]["experimental"]
                assert other not in repr(each)
        assert len(calls) == 4


def _each(connections: list[Connection]) -> Iterator[tuple[str, Connection]]:
    return iter(zip(MARKS, connections, strict=True))


async def test_headers_of_one_connection_are_sent_on_no_other() -> None:
    async with serve_http({"tools/call": _said}) as first, serve_http({"tools/call": _said}) as second:
        sites = (first, second)
        async with Session.open(record=False) as session:
            connections = [
                session.connect(_http(site.url, mark)) for site, mark in zip(sites, MARKS, strict=True)
            ]
            for connection in connections:
                await connection.ready()
                assert (await connection.request("tools/call", arguments("x"))).how == "result"
        for site, mine, other in zip(sites, MARKS, reversed(MARKS), strict=True):
            assert {each.headers.get("x-mark") for each in site.asked} == {mine}
            everything = repr(site.asked)
            assert f"client-{mine}" in everything
            assert other not in everything


async def test_a_rule_of_a_connection_stays_with_it_and_one_for_all_is_for_all() -> None:
    async with Session.open(record=False) as session:
        first, second = (session.connect(server("does_as_told", name=name)) for name in ("one", "two"))
        for connection in (first, second):
            await connection.ready()
        first.add_rule(Rule("elicitation", '{"action":"cancel"}', name="mine"))
        assert [await _action(each) for each in (first, second)] == ["cancel", "decline"]
        session.add_rule(Rule("elicitation", '{"action":"accept"}', name="all"))
        assert [await _action(each) for each in (first, second)] == ["cancel", "accept"]
        third = session.connect(server("does_as_told", name="three"))
        await third.ready()
        assert await _action(third) == "accept"
        again = await first.reconnect()
        await again.ready()
        assert await _action(again) == "cancel"


async def _action(connection: Connection) -> str:
    steps = [STEPS[2], {"answer": "e"}]
    outcome = await connection.request("tools/call", arguments(json.dumps(steps)))
    (answer,) = json.loads(text_of(outcome))
    return str(answer["result"]["action"])


def _http(url: str, mark: str, **options: Any) -> Target:
    return target_of(url, headers={"X-Mark": mark}, **marked(mark, **options))


def _said(asked: Asked) -> bytes:
    result = {"content": [{"type": "text", "text": "said"}]}
    return reply(200, message(asked, result), content_type="application/json")
