"""Every method of the handshake revisions can be sent, or is answered and taken, in each revision that has it.

``ROWS`` is the table of the specification's methods. What a client sends goes to the reference
server; what a server sends comes from one that does as it is told. A row says what shows that the
method did its work. That no row is missing, the last test holds against the table of methods.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

import pytest

from tests.peers.fixtures import everything_command as everything_command
from tests.servers.targets import server
from tests.wire.stage import MemorySink, arguments, running, text_of, until
from workbench.config import Root, Target, Timeouts
from workbench.core.actions import Outcome
from workbench.core.methods import HANDSHAKE_REVISIONS, LATEST_HANDSHAKE, METHODS, exists_in
from workbench.wire.connection import Connection

pytestmark = pytest.mark.anyio

HELD = ("sampling/createMessage", "elicitation/create")
CLIENT: dict[str, Any] = {
    "roots": {"listChanged": True},
    "sampling": {"tools": {}},
    "elicitation": {"form": {}, "url": {}},
    "tasks": {
        "list": {},
        "cancel": {},
        "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
    },
}
SERVER = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "logging": {},
    "tasks": {"requests": {"tools": {"call": {}}}},
}
ROOTS = (Root(uri="file:///work", name="work"),)
URI = "demo://resource/static/document/features.md"


class Stage(NamedTuple):
    """A connection that is ready, its sink, and the revision it speaks."""

    connection: Connection
    sink: MemorySink
    revision: str

    async def ask(self, method: str, params: Any = None, **options: Any) -> Any:
        """Send a request; its result."""
        text = None if params is None else json.dumps(params)
        outcome = await self.connection.request(method, text, **options)
        assert outcome.how == "result", (method, outcome.sentence)
        return outcome.result

    async def told(self, *steps: Any) -> list[Any]:
        """Let the server do these steps; what it heard meanwhile."""
        outcome: Outcome = await self.connection.request("tools/call", arguments(json.dumps(steps)))
        heard: list[Any] = json.loads(text_of(outcome))
        return heard

    async def answer(self, method: str, params: Any = None, do: Callable[[], object] | None = None) -> Any:
        """Let the server ask this, and answer with ``do`` once it is in the inbox; what it was told."""
        id = f"q{len(self.sink.units)}"  # never one that was used before
        asked = {"id": id, "method": method} | ({} if params is None else {"params": params})
        call = self.connection.call("tools/call", arguments(json.dumps([{"send": asked}, {"answer": id}])))
        if do is not None:
            await until(lambda: self.connection.inbox)
            do()
        heard = json.loads(text_of(await call.wait()))
        (answer,) = [each for each in heard if each.get("id") == id and "method" not in each]
        return answer["result"]

    def sent(self, method: str) -> list[Any]:
        """The params of everything we sent of a method."""
        return [each.get("params") for each in self.sink.sent() if each.get("method") == method]


Row = Callable[[Stage], Awaitable[object]]

#: What a client sends, by method.
TO_SERVER: dict[str, Row] = {}
#: What a server sends, by method.
TO_CLIENT: dict[str, Row] = {}


def row(table: dict[str, Row], *methods: str) -> Callable[[Row], Row]:
    def register(check: Row) -> Row:
        table.update(dict.fromkeys(methods, check))
        return check

    return register


# To the server: requests


@row(TO_SERVER, "initialize", "notifications/initialized")
async def _initialize(stage: Stage) -> None:
    assert [each["method"] for each in stage.sink.sent()[:2]] == ["initialize", "notifications/initialized"]
    assert stage.sink.sent()[0]["params"]["protocolVersion"] == stage.revision
    assert stage.connection.view.revision == stage.revision


@row(TO_SERVER, "ping")
async def _ping(stage: Stage) -> None:
    assert (await stage.connection.ping().wait()).result == {}


@row(TO_SERVER, "tools/list", "tools/call")
async def _tools(stage: Stage) -> None:
    names = [tool["name"] for tool in await stage.connection.list("tools/list")]
    assert "echo" in names
    result = await stage.ask("tools/call", {"name": "echo", "arguments": {"message": "x"}})
    assert result["content"] == [{"type": "text", "text": "Echo: x"}]


@row(TO_SERVER, "resources/list", "resources/templates/list", "resources/read")
async def _resources(stage: Stage) -> None:
    assert URI in [resource["uri"] for resource in await stage.connection.list("resources/list")]
    assert "uriTemplate" in (await stage.connection.list("resources/templates/list"))[0]
    assert (await stage.ask("resources/read", {"uri": URI}))["contents"][0]["uri"] == URI


@row(TO_SERVER, "resources/subscribe", "resources/unsubscribe")
async def _subscriptions(stage: Stage) -> None:
    connection = stage.connection
    assert (await connection.subscribe(URI).wait()).how == "result"
    assert list(connection.subscribed) == [URI]
    assert (await connection.unsubscribe(URI).wait()).how == "result"
    assert list(connection.subscribed) == []


@row(TO_SERVER, "prompts/list", "prompts/get")
async def _prompts(stage: Stage) -> None:
    assert "args-prompt" in [prompt["name"] for prompt in await stage.connection.list("prompts/list")]
    result = await stage.ask("prompts/get", {"name": "args-prompt", "arguments": {"city": "Oslo"}})
    assert "Oslo" in json.dumps(result["messages"])


@row(TO_SERVER, "completion/complete")
async def _completion(stage: Stage) -> None:
    params = {
        "ref": {"type": "ref/prompt", "name": "completable-prompt"},
        "argument": {"name": "name", "value": ""},
        "context": {"arguments": {"department": "Sales"}},
    }
    values = (await stage.ask("completion/complete", params))["completion"]["values"]
    assert values
    if stage.revision >= "2025-06-18":
        params["context"] = {"arguments": {"department": "Engineering"}}
        assert (await stage.ask("completion/complete", params))["completion"]["values"] != values


@row(TO_SERVER, "logging/setLevel")
async def _level(stage: Stage) -> None:
    await stage.ask("logging/setLevel", {"level": "warning"})
    assert stage.connection.conversation.log_level == "warning"


@row(TO_SERVER, "tasks/get", "tasks/result", "tasks/list", "tasks/cancel")
async def _tasks(stage: Stage) -> None:
    connection = stage.connection
    text = json.dumps({"name": "simulate-research-query", "arguments": {"topic": "x"}})
    first, second = (connection.call("tools/call", text, task=True, ttl=60) for _ in range(2))
    await until(lambda: first.task and second.task)
    assert {task["taskId"] for task in await connection.list("tasks/list")} == {first.task, second.task}
    second.cancel()
    await until(lambda: connection.tasks[second.task or ""].status == "cancelled")
    assert "Research Report" in text_of(await first.wait())
    assert stage.sent("tasks/get")
    assert stage.sent("tasks/result") == [{"taskId": first.task}]
    assert stage.sent("tasks/cancel") == [{"taskId": second.task}]


# To the server: notifications


@row(TO_SERVER, "notifications/cancelled")
async def _cancel(stage: Stage) -> None:
    params = {"name": "trigger-long-running-operation", "arguments": {"duration": 30, "steps": 30}}
    call = stage.connection.call("tools/call", json.dumps(params))
    call.cancel("enough")
    assert (await call.wait()).how == "cancelled"
    assert stage.sent("notifications/cancelled")[-1] == {"requestId": call.number, "reason": "enough"}


@row(TO_SERVER, "notifications/roots/list_changed")
async def _roots_changed(stage: Stage) -> None:
    asked = len(_roots_told(stage))
    stage.connection.set_roots([Root(uri="file:///changed")])
    assert stage.sent("notifications/roots/list_changed")
    await until(lambda: len(_roots_told(stage)) > asked)
    assert _roots_told(stage)[-1] == [{"uri": "file:///changed"}]


def _roots_told(stage: Stage) -> list[Any]:
    answers = [each.get("result") for each in stage.sink.sent()]
    return [each["roots"] for each in answers if isinstance(each, dict) and "roots" in each]


# From the server: requests


@row(TO_CLIENT, "ping")
async def _peer_ping(stage: Stage) -> None:
    assert await stage.answer("ping") == {}


@row(TO_CLIENT, "roots/list")
async def _roots(stage: Stage) -> None:
    assert await stage.answer("roots/list") == {"roots": [{"uri": "file:///work", "name": "work"}]}


@row(TO_CLIENT, "sampling/createMessage")
async def _sampling(stage: Stage) -> None:
    params: dict[str, Any] = {"messages": [], "maxTokens": 5, "includeContext": "none"}
    result = '{"role":"assistant","model":"m","content":{"type":"text","text":"hi"},"stopReason":"endTurn"}'
    assert await stage.answer("sampling/createMessage", params, _with(stage, result)) == json.loads(result)
    if stage.revision >= "2025-11-25":
        params |= {
            "tools": [{"name": "add", "inputSchema": {"type": "object"}}],
            "toolChoice": {"mode": "required"},
        }
        use = {"type": "tool_use", "id": "1", "name": "add", "input": {}}
        result = json.dumps({"role": "assistant", "model": "m", "content": [use], "stopReason": "toolUse"})
        assert await stage.answer("sampling/createMessage", params, _with(stage, result)) == json.loads(
            result
        )


@row(TO_CLIENT, "elicitation/create")
async def _elicitation(stage: Stage) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    form = {"message": "?", "requestedSchema": schema}
    result = '{"action":"accept","content":{"n":1}}'
    assert await stage.answer("elicitation/create", form, _with(stage, result)) == json.loads(result)
    if stage.revision >= "2025-11-25":
        url = {"mode": "url", "url": "https://example.com/", "elicitationId": "1", "message": "?"}
        for action in ("accept", "decline", "cancel"):
            result = json.dumps({"action": action})
            assert await stage.answer("elicitation/create", url, _with(stage, result)) == {"action": action}


def _with(stage: Stage, result: str) -> Callable[[], object]:
    """What answers the one request in the inbox, which the result fits."""

    def do() -> None:
        (asked,) = stage.connection.inbox.values()
        assert stage.connection.doubts(asked, result) == []
        assert stage.connection.answer(asked.id, result)

    return do


@row(TO_CLIENT, "tasks/get", "tasks/result", "tasks/list", "tasks/cancel")
async def _received_tasks(stage: Stage) -> None:
    asked = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}, "task": {"ttl": 60_000}}
    made = [await stage.answer("elicitation/create", asked) for _ in range(2)]
    first, second = (each["task"]["taskId"] for each in made)
    (waiting, _) = stage.connection.inbox
    assert len((await stage.answer("tasks/list"))["tasks"]) >= 2
    assert (await stage.answer("tasks/get", {"taskId": first}))["status"] == "working"
    assert (await stage.answer("tasks/cancel", {"taskId": second}))["status"] == "cancelled"
    decline = '{"action":"decline"}'
    result = await stage.answer(
        "tasks/result", {"taskId": first}, lambda: stage.connection.answer(waiting, decline)
    )
    assert result["action"] == "decline"
    assert result["_meta"] == {"io.modelcontextprotocol/related-task": {"taskId": first}}
    assert stage.connection.inbox == {}


# From the server: notifications


@row(TO_CLIENT, "notifications/cancelled")
async def _taken_back(stage: Stage) -> None:
    asked = {"id": "c", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}
    back = {"method": "notifications/cancelled", "params": {"requestId": "c"}}
    heard = await stage.told(
        {"send": asked}, {"send": {"id": "p", "method": "ping"}}, {"answer": "p"}, {"send": back}
    )
    assert [each["id"] for each in heard] == ["p"]
    await until(lambda: not stage.connection.inbox)


@row(TO_CLIENT, "notifications/progress")
async def _progress(stage: Stage) -> None:
    ping = stage.connection.ping()
    await ping.wait()
    token = ping.number + 1  # a call's token is its number
    params = {"progressToken": token, "progress": 0.5, "total": 1, "message": "half"}
    call = stage.connection.call(
        "tools/call",
        arguments(json.dumps([{"send": {"method": "notifications/progress", "params": params}}])),
    )
    await call.wait()
    assert [(each.progress, each.total, each.message) for each in call.progress] == [(0.5, 1, "half")]


@row(TO_CLIENT, "notifications/message")
async def _message(stage: Stage) -> None:
    before = stage.connection.view.log_count
    await stage.told(
        {"send": {"method": "notifications/message", "params": {"level": "info", "data": {"a": 1}}}}
    )
    await until(lambda: stage.connection.view.log_count == before + 1)


@row(
    TO_CLIENT,
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
)
async def _list_changed(stage: Stage) -> None:
    for kind in ("tools", "prompts", "resources"):
        before = len(stage.sent(f"{kind}/list"))
        await stage.told({"send": {"method": f"notifications/{kind}/list_changed"}}, {"hear": f"{kind}/list"})
        assert len(stage.sent(f"{kind}/list")) == before + 1
    await stage.connection.listings.settled()


@row(TO_CLIENT, "notifications/resources/updated")
async def _updated(stage: Stage) -> None:
    uri = "file:///updated"
    await stage.told({"send": {"method": "notifications/resources/updated", "params": {"uri": uri}}})
    await until(lambda: uri in stage.connection.view.updates)


@row(TO_CLIENT, "notifications/elicitation/complete")
async def _complete(stage: Stage) -> None:
    url = {"mode": "url", "url": "https://example.com/done", "elicitationId": "done", "message": "?"}
    await stage.answer("elicitation/create", url, _with(stage, '{"action":"accept"}'))
    for id in ("unknown", "done"):
        await stage.told(
            {"send": {"method": "notifications/elicitation/complete", "params": {"elicitationId": id}}}
        )
    await until(
        lambda: any("https://example.com/done is done" in each for each in stage.connection.dealings.remarks)
    )
    assert not any("unknown" in each for each in stage.connection.dealings.remarks)


@row(TO_CLIENT, "notifications/tasks/status")
async def _status(stage: Stage) -> None:
    """Of a task of ours, on the server that makes them; see also ``test_tasks``."""
    async with running(server("runs_tasks")) as (connection, _):
        await connection.ready()
        assert (
            text_of(await connection.call("tools/call", arguments("told"), task=True).wait()) == "told done"
        )


# Notifications that only an answer to the server makes us send.


async def _reported(stage: Stage) -> None:
    asked = {
        "id": "q",
        "method": "sampling/createMessage",
        "params": {"messages": [], "maxTokens": 1, "_meta": {"progressToken": "t"}},
    }
    call = stage.connection.call(
        "tools/call",
        arguments(json.dumps([{"send": asked}, {"hear": "notifications/progress"}, {"answer": "q"}])),
    )
    await until(lambda: stage.connection.inbox)
    (id,) = stage.connection.inbox
    assert stage.connection.report(id, 1, 2, "thinking")
    stage.connection.answer(id, error=(-1, "no", None))
    heard = json.loads(text_of(await call.wait()))
    assert heard[0]["params"] == {"progressToken": "t", "progress": 1, "total": 2, "message": "thinking"}


async def _status_told(stage: Stage) -> None:
    asked = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}, "task": {}}
    made = await stage.answer("elicitation/create", asked)
    _with(stage, '{"action":"decline"}')()
    told = stage.sent("notifications/tasks/status")[-1]
    assert (told["taskId"], told["status"]) == (made["task"]["taskId"], "completed")


ANSWERING: Mapping[str, Row] = {
    "notifications/progress": _reported,
    "notifications/tasks/status": _status_told,
}


def rows(table: Mapping[str, Row], revision: str) -> list[tuple[str, Row]]:
    """The rows of a revision, each check once."""
    found = {check: method for method, check in table.items() if exists_in(method, revision)}
    return [(method, check) for check, method in found.items()]


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_what_a_client_sends_is_answered_by_the_reference_server(
    everything_command: list[str], revision: str
) -> None:
    target = Target(
        command=everything_command[0],
        args=tuple(everything_command[1:]),
        era="legacy",
        offer=revision,
        roots=ROOTS,
        capabilities=CLIENT,
        timeouts=Timeouts(start=60, request=60),
    )
    async with running(target) as (connection, sink):
        await connection.ready()
        await until(lambda: _roots_told(Stage(connection, sink, revision)), 60)
        for _, check in rows(TO_SERVER, revision):
            await check(Stage(connection, sink, revision))


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_what_a_server_sends_is_answered_or_taken(revision: str) -> None:
    target = server("does_as_told", json.dumps(SERVER), offer=revision, roots=ROOTS, capabilities=CLIENT)
    async with running(target, held=HELD, listing=True) as (connection, sink):
        await connection.ready()
        await connection.listings.settled()
        for _, check in [*rows(TO_CLIENT, revision), *rows(ANSWERING, revision)]:
            await check(Stage(connection, sink, revision))
            assert connection.inbox == {}


def test_no_method_of_the_handshake_revisions_is_missing() -> None:
    era = [method for method in METHODS.values() if method.first <= LATEST_HANDSHAKE]
    to_server = {method.name for method in era if method.to_server}
    to_client = {method.name for method in era if method.to_client}
    assert set(TO_SERVER) | set(ANSWERING) == to_server
    assert set(TO_CLIENT) == to_client
