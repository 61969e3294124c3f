"""Every method of the stateless revision is sent and answered, or taken, over stdio and over HTTP.

The tasks extension aside. The peer is a server of the official SDK; only what that never sends comes
from a small one of ours. That no row is missing, the last test holds against the table of methods.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.servers.targets import server
from tests.wire.http_peers import served
from tests.wire.http_stage import target_of
from tests.wire.stage import MemorySink, running, text_of, until
from workbench.config import Root, Target
from workbench.core.frame import Direction
from workbench.core.methods import LATEST_STATELESS, METHODS, TASKS_EXTENSION_METHODS, exists_in, goes
from workbench.core.policy import ASKING
from workbench.wire.calls import Call
from workbench.wire.connection import Connection

pytestmark = pytest.mark.anyio

HELD = ("sampling/createMessage", "elicitation/create")
EVERYTHING = {
    "toolsListChanged": True,
    "promptsListChanged": True,
    "resourcesListChanged": True,
    "resourceSubscriptions": ["memo://one"],
}
ANSWERS: dict[str, Any] = {
    "form": {"action": "accept", "content": {"n": 3}},
    "url": {"action": "accept"},
    "sample": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hi"}},
    "roots": {"roots": [{"uri": "file:///work", "name": "work"}]},
}


class Stage(NamedTuple):
    """A connection that is ready, what it has recorded, and whether it is over HTTP."""

    connection: Connection
    sink: MemorySink
    http: bool

    async def ask(self, method: str, **params: Any) -> Any:
        """Send a request; its result."""
        outcome = await self.connection.request(method, json.dumps(params))
        assert outcome.how == "result", (method, outcome.sentence)
        return outcome.result

    def messages(self, direction: Direction, method: str) -> list[Any]:
        """The params of every message of a method that went this way."""
        bodies = [
            json.loads(unit.data) for unit in self.sink.units if unit.direction is direction and unit.data
        ]
        return [each.get("params") for each in bodies if each.get("method") == method]

    def sent(self, method: str) -> list[Any]:
        return self.messages(Direction.TO_SERVER, method)

    def told(self, method: str) -> list[Any]:
        return self.messages(Direction.TO_CLIENT, method)

    async def answered(self, call: Call) -> Any:
        """Answer what a call asks, each with the one of ``ANSWERS``; its result."""
        await until(lambda: len(self.connection.inbox) == 3 or call.outcome)
        for id_text, asked in list(self.connection.inbox.items()):
            result = json.dumps(ANSWERS[json.loads(id_text).partition("/")[2]])
            assert self.connection.doubts(asked, result) == []
            assert self.connection.answer(id_text, result)
        outcome = await call.wait()
        assert outcome.how == "result", outcome.sentence
        return outcome.result


Row = Callable[[Stage, Path], Awaitable[object]]

#: What a client sends, and what a server sends (in results: asks), by method.
TO_SERVER: dict[str, Row] = {}
TO_CLIENT: dict[str, Row] = {}


def row(*, sent: tuple[str, ...] = (), told: tuple[str, ...] = ()) -> Callable[[Row], Row]:
    def register(check: Row) -> Row:
        TO_SERVER.update(dict.fromkeys(sent, check))
        TO_CLIENT.update(dict.fromkeys(told, check))
        return check

    return register


@row(sent=("server/discover",))
async def _discover(stage: Stage, _: Path) -> None:
    assert stage.sent("server/discover")
    assert stage.connection.view.revision == LATEST_STATELESS
    assert stage.connection.view.server_info["name"] == "stateless"
    result = await stage.ask("server/discover")
    assert LATEST_STATELESS in result["supportedVersions"]


@row(sent=("tools/list", "tools/call"))
async def _tools(stage: Stage, _: Path) -> None:
    assert "tell" in [tool["name"] for tool in await stage.connection.list("tools/list")]
    assert (await stage.ask("tools/call", name="tell"))["structuredContent"] == {"result": "told"}


@row(sent=("resources/list", "resources/templates/list", "resources/read"))
async def _resources(stage: Stage, _: Path) -> None:
    assert [each["uri"] for each in await stage.connection.list("resources/list")] == ["memo://one"]
    (template,) = await stage.connection.list("resources/templates/list")
    assert template["uriTemplate"] == "memo://{name}/asked"
    assert (await stage.ask("resources/read", uri="memo://one"))["contents"][0]["text"] == "remember"


@row(sent=("prompts/list", "prompts/get"))
async def _prompts(stage: Stage, _: Path) -> None:
    assert {each["name"] for each in await stage.connection.list("prompts/list")} == {"asking", "greet"}
    result = await stage.ask("prompts/get", name="greet", arguments={"name": "Ann"})
    assert "Ann" in json.dumps(result["messages"])


@row(sent=("completion/complete",))
async def _completion(stage: Stage, _: Path) -> None:
    for ref in (
        {"type": "ref/prompt", "name": "greet"},
        {"type": "ref/resource", "uri": "memo://{name}/asked"},
    ):
        argument = {"name": "name", "value": "q"}
        result = await stage.ask("completion/complete", ref=ref, argument=argument)
        assert result["completion"]["values"] == ["qa", "qb"]


@row(told=("elicitation/create", "sampling/createMessage", "roots/list"))
async def _rounds(stage: Stage, _: Path) -> None:
    """What a server asks is part of a result, of a tool, a prompt or a resource."""
    for method, params in (
        ("tools/call", {"name": "ask"}),
        ("prompts/get", {"name": "asking"}),
        ("resources/read", {"uri": "memo://x/asked"}),
    ):
        call = stage.connection.call(method, json.dumps(params))
        result = await stage.answered(call)
        (text,) = [each["text"] for each in _texts(result)]
        heard = json.loads(text)
        assert heard["state"] == "half way"
        assert set(heard["answers"]) == set(ANSWERS)
        assert heard["answers"]["form"]["content"] == {"n": 3}
        assert heard["answers"]["url"]["action"] == "accept"
        assert heard["answers"]["sample"]["content"]["text"] == "hi"
        assert [root["name"] for root in heard["answers"]["roots"]["roots"]] == ["work"]
        assert len(call.rounds) == 1
        last = stage.sent(method)[-1]
        assert set(last["inputResponses"]) == set(ANSWERS)
        assert isinstance(last["requestState"], str)


def _texts(result: Any) -> list[Any]:
    """The text contents of a result of any kind."""
    messages = [each["content"] for each in result.get("messages", ())]
    return [*result.get("content", ()), *result.get("contents", ()), *messages]


@row(
    sent=("subscriptions/listen",),
    told=(
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
    ),
)
async def _listen(stage: Stage, _: Path) -> None:
    """Each kind of filter by itself hears its kind and no other, and all of them together hear all."""
    acknowledged = "notifications/subscriptions/acknowledged"
    changes = [method for method, check in TO_CLIENT.items() if check is _listen and method != acknowledged]
    for filter in (*({key: value} for key, value in EVERYTHING.items()), EVERYTHING):
        call = stage.connection.call("subscriptions/listen", json.dumps({"notifications": filter}))
        number = call.number
        await until(partial(_tagged, stage, number, acknowledged))
        assert _tagged(stage, number, acknowledged)[0]["notifications"] == filter
        await stage.ask("tools/call", name="tell")
        await until(partial(_heard, stage, number, changes, len(filter)))
        heard = {each for each in changes if _tagged(stage, number, each)}
        assert heard == {changes[list(EVERYTHING).index(key)] for key in filter}
        call.cancel()
        assert (await call.wait()).how == "cancelled"
    assert "memo://one" in stage.connection.view.updates


def _tagged(stage: Stage, id: int, *methods: str) -> list[Any]:
    """What was told of these methods on one subscription."""
    key = "io.modelcontextprotocol/subscriptionId"
    return [each for method in methods for each in stage.told(method) if each["_meta"][key] == id]


def _heard(stage: Stage, id: int, methods: list[str], count: int) -> bool:
    """Whether that many have been told on one subscription."""
    return len(_tagged(stage, id, *methods)) == count


@row(told=("notifications/progress", "notifications/message"))
async def _work(stage: Stage, _: Path) -> None:
    call = stage.connection.call("tools/call", '{"name":"work","arguments":{"steps":2}}')
    assert text_of(await call.wait()) == "done"
    assert [(each.progress, each.total, each.message) for each in call.progress] == [
        (1, 2, "step 0"),
        (2, 2, "step 1"),
    ]
    await until(lambda: stage.connection.view.log_count == 2)
    assert [(each.level, each.text) for each in stage.connection.view.logs] == [
        ("info", "step 0"),
        ("info", "step 1"),
    ]
    await stage.ask("logging/setLevel", level="debug")  # goes with every request from now on
    await stage.ask("tools/call", name="work", arguments={"steps": 1})
    await until(lambda: stage.connection.view.log_count == 4)
    assert not stage.sent("logging/setLevel")


@row(sent=("notifications/cancelled",))
async def _cancel(stage: Stage, folder: Path) -> None:
    """Over stdio a notification says it, over HTTP the end of the stream does."""
    file, before = folder / "held", len(stage.sent("notifications/cancelled"))
    call = stage.connection.call("tools/call", json.dumps({"name": "hold", "arguments": {"path": str(file)}}))
    await until(lambda: call.progress)
    call.cancel("enough")
    assert (await call.wait()).how == "cancelled"
    await until(file.exists)
    told = stage.sent("notifications/cancelled")[before:]
    assert told == ([] if stage.http else [{"requestId": call.number, "reason": "enough"}])
    assert (await stage.ask("tools/call", name="tell"))["structuredContent"] == {"result": "told"}


OPTIONS: dict[str, Any] = {
    "era": "modern",
    "log_level": "info",
    "roots": (Root(uri="file:///work", name="work"),),
}


@asynccontextmanager
async def target(http: bool) -> AsyncIterator[Target]:
    """The official SDK's server, over one of the two transports."""
    if not http:
        yield server("official_eras", **OPTIONS)
        return
    async with served([sys.executable, "-m", "tests.servers.official_eras"]) as port:
        yield target_of(f"http://127.0.0.1:{port}/mcp", **OPTIONS)


@pytest.mark.parametrize("http", [False, True], ids=["stdio", "http"])
async def test_every_method_does_its_work_with_the_official_sdks_server(http: bool, tmp_path: Path) -> None:
    async with target(http) as peer, running(peer, held=HELD) as (connection, sink):
        await connection.ready()
        for check in dict.fromkeys([*TO_SERVER.values(), *TO_CLIENT.values()]):
            if check is not _ended:
                await check(Stage(connection, sink, http), tmp_path)
                assert connection.inbox == {}
        assert {finding.rule.severity for finding in connection.findings} <= {"info", "warning"}


@row(told=("notifications/cancelled",))
async def _ended(stage: Stage, _: Path) -> None:
    """A server ends a subscription with it, and nothing else."""
    call = stage.connection.call("resources/subscribe", '{"uri":"a:1"}')
    assert (await call.wait()).how == "result"
    await stage.ask("tools/call", name="end")
    await until(lambda: stage.connection.dealings.remarks)
    assert list(stage.connection.dealings.remarks) == ["The server has ended the subscription."]
    assert (await stage.ask("tools/call", name="echo", arguments={"text": "on"}))["content"][0][
        "text"
    ] == "on"


async def test_a_server_ends_a_subscription(tmp_path: Path) -> None:
    async with running(server("stateless", era="modern")) as (connection, sink):
        await connection.ready()
        await _ended(Stage(connection, sink, False), tmp_path)
        assert not connection.subscribed
        assert not connection.view.subscribed
        assert not connection.view.open_calls


def test_no_method_of_the_stateless_revision_is_missing() -> None:
    there = {
        method
        for method in METHODS
        if exists_in(method, LATEST_STATELESS) and method not in TASKS_EXTENSION_METHODS
    }
    assert set(TO_SERVER) == {method for method in there if goes(method, LATEST_STATELESS, True)}
    assert set(TO_CLIENT) == {method for method in there if goes(method, LATEST_STATELESS, False)} | set(
        ASKING
    )
