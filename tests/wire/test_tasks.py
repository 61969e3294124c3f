"""Calls that a server makes tasks of: followed, answered, cancelled, left behind ("Tasks", 2025-11-25)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.peers.fixtures import everything_command as everything_command
from tests.servers.targets import server
from tests.wire.stage import MemorySink, arguments, running, text_of, until
from workbench.config import Target, Timeouts
from workbench.core.frame import Channel, Direction
from workbench.core.rules import Rule
from workbench.wire.calls import Call
from workbench.wire.connection import Connection

pytestmark = pytest.mark.anyio

RELATED = "io.modelcontextprotocol/related-task"
ELICITATION = "elicitation/create"


def begin(connection: Connection, way: str, **options: Any) -> Call:
    return connection.call("tools/call", arguments(way), task=True, **options)


def methods(sink: MemorySink) -> list[str]:
    return [message["method"] for message in sink.sent() if "method" in message]


async def test_a_call_as_a_task_ends_with_the_tasks_result() -> None:
    async with running(server("runs_tasks")) as (connection, sink):
        await connection.ready()
        call = begin(connection, "quick", ttl=30)
        outcome = await call.wait()
        assert text_of(outcome) == "quick done"
        assert outcome.result["_meta"] == {RELATED: {"taskId": call.task}}
        assert json.loads(sink.units[(outcome.seq or 0) - 1].data)["result"] == outcome.result
        (task,) = connection.tasks.values()
        assert (task.id, task.call, task.status, task.ttl) == (call.task, call.number, "completed", 60.0)
        assert connection.calls == {}
    sent = sink.sent()
    assert sent[2]["params"]["task"] == {"ttl": 30_000}
    assert methods(sink)[2:] == ["tools/call", "tasks/get", "tasks/get", "tasks/result"]
    assert sent[3]["params"] == {"taskId": call.task}


async def test_what_a_task_asks_is_answered_while_its_result_is_awaited() -> None:
    async with running(server("runs_tasks"), held=[ELICITATION]) as (connection, _):
        await connection.ready()
        call = begin(connection, "asks")
        await until(lambda: connection.inbox)
        assert connection.tasks[call.task or ""].status == "input_required"
        (asked,) = connection.inbox.values()
        connection.answer(asked.id, '{"action":"accept","content":{"name":"Zoe"}}')
        answer = text_of(await call.wait())
        assert "Zoe" in answer
        assert RELATED in answer, "an answer within a task names the task"


async def test_a_server_that_makes_no_task_of_it_has_answered() -> None:
    async with running(server("runs_tasks")) as (connection, _):
        await connection.ready()
        call = begin(connection, "at once")
        assert text_of(await call.wait()) == "at once"
        assert "without a task" in call.remarks[0]
        assert connection.tasks == {}


async def test_a_server_without_tasks_is_asked_all_the_same_and_doubted() -> None:
    async with running(server("minimal")) as (connection, _):
        await connection.ready()
        call = begin(connection, "x")
        assert text_of(await call.wait()) == "x"
        assert any("does not declare tasks.requests.tools.call" in remark for remark in call.remarks)


@pytest.mark.parametrize(
    ("way", "how", "words"),
    [
        ("tool error", "result", ""),
        ("fails", "error", "it went wrong (-32603)"),
        ("forgotten", "error", "no such task (-32602)"),
    ],
)
async def test_a_task_that_ends_badly_ends_its_call_with_the_reason(way: str, how: str, words: str) -> None:
    async with running(server("runs_tasks")) as (connection, _):
        await connection.ready()
        outcome = await begin(connection, way).wait()
        assert (outcome.how, outcome.sentence) == (how, words)
        assert outcome.is_tool_error is (way == "tool error")


async def test_a_server_that_tells_by_itself_need_not_be_polled() -> None:
    async with running(server("runs_tasks")) as (connection, _):
        await connection.ready()
        assert text_of(await begin(connection, "told").wait()) == "told done"


async def test_a_task_whose_polls_are_never_answered_is_given_up() -> None:
    target = server("runs_tasks", timeouts={"request": 0.2})
    async with running(target) as (connection, _):
        await connection.ready()
        outcome = await begin(connection, "silent", timeout=10).wait()
        assert outcome.how == "timeout"
        assert "tasks/get" in outcome.why


async def test_a_cancelled_call_cancels_its_task_and_never_the_request() -> None:
    async with running(server("runs_tasks")) as (connection, sink):
        await connection.ready()
        call = begin(connection, "forever")
        await until(lambda: call.task)
        call.cancel("enough")
        outcome = await call.wait()
        assert (outcome.how, outcome.why) == ("cancelled", "enough")
        await until(lambda: connection.tasks[call.task or ""].status == "cancelled")
    assert "notifications/cancelled" not in methods(sink)
    assert methods(sink).count("tasks/cancel") == 1


@pytest.mark.parametrize("how", ["cancelled", "timeout"])
async def test_a_call_that_is_given_up_before_its_task_is_made_cancels_the_task_when_it_is(how: str) -> None:
    async with running(server("runs_tasks")) as (connection, sink):
        await connection.ready()
        call = begin(connection, "late", timeout=0.2 if how == "timeout" else None)
        if how == "cancelled":
            call.cancel()
        assert (await call.wait()).how == how
        assert connection.calls == {}
        await connection.ping().wait()
        await until(lambda: [task.status for task in connection.tasks.values()] == ["cancelled"])
    assert "notifications/cancelled" not in methods(sink)


async def test_several_tasks_run_at_once_and_are_listed_page_by_page() -> None:
    async with running(server("runs_tasks")) as (connection, _):
        await connection.ready()
        calls = [begin(connection, way) for way in ("quick", "forever", "quick", "told", "forever")]
        await until(lambda: all(call.task for call in calls))
        assert len({call.task for call in calls}) == 5
        assert len(await connection.list("tasks/list")) == 5
        for call in (calls[0], calls[2], calls[3]):
            assert (await call.wait()).how == "result"
        assert [call.state for call in calls] == ["done", "running", "done", "done", "running"]


async def test_a_task_that_is_left_behind_ends_its_call_as_lost() -> None:
    async with running(server("runs_tasks")) as (connection, _):
        await connection.ready()
        call = begin(connection, "forever")
        await until(lambda: call.task)
        await connection.close()
        assert (await call.wait()).how == "lost"
        assert begin(connection, "quick").outcome is not None, "a connection that is over makes no task"


TASKS: dict[str, Any] = {
    "list": {},
    "cancel": {},
    "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
}


def everything(command: list[str], **options: Any) -> Target:
    capabilities = {"sampling": {}, "elicitation": {"form": {}, "url": {}}, "roots": {}, "tasks": TASKS}
    timeouts = Timeouts(start=60, request=60, shutdown=5)
    return Target(
        command=command[0],
        args=tuple(command[1:]),
        era="legacy",
        timeouts=timeouts,
        **{"capabilities": capabilities, **options},
    )


async def test_the_reference_servers_research_is_a_task_that_asks(everything_command: list[str]) -> None:
    rule = Rule("elicitation", '{"action":"accept","content":{"interpretation":"historical"}}')
    async with running(everything(everything_command, rules=(rule,))) as (connection, sink):
        await connection.ready()
        params = json.dumps(
            {"name": "simulate-research-query", "arguments": {"topic": "x", "ambiguous": True}}
        )
        call = connection.call("tools/call", params, task=True, ttl=60)
        outcome = await call.wait()
        assert "historical" in text_of(outcome)
        assert any("by rule" in remark for remark in call.remarks)
    answers = [message for message in sink.sent() if message.get("result", {}).get("action") == "accept"]
    assert answers[0]["result"]["_meta"][RELATED]["taskId"] == call.task


@pytest.mark.parametrize(
    ("tool", "rule", "shown"),
    [
        ("trigger-sampling-request-async", "text:forty-two", "forty-two"),
        ("trigger-elicitation-request-async", '{"action":"accept","content":{"name":"Zoe"}}', "Zoe"),
    ],
)
async def test_the_reference_server_makes_tasks_of_its_own_requests(
    everything_command: list[str], tool: str, rule: str, shown: str
) -> None:
    method = "sampling" if "sampling" in tool else "elicitation"
    async with running(everything(everything_command, rules=(Rule(method, rule),))) as (connection, sink):
        await connection.ready()
        params = json.dumps({"name": tool, "arguments": {"prompt": "?"} if method == "sampling" else {}})
        outcome = await connection.request("tools/call", params)
        assert shown in json.dumps(outcome.result)
        asked = [
            json.loads(body)["method"]
            for body in sink.bodies(Channel.STDIO, Direction.TO_CLIENT)
            if b'"tasks/' in body and b'"method"' in body
        ]
        assert {"tasks/get", "tasks/result"} <= set(asked)


async def test_nothing_is_sent_to_be_made_a_task_where_there_is_no_handshake() -> None:
    async with running(server("stateless", era="modern")) as (connection, sink):
        await connection.ready()
        outcome = await connection.call("tools/call", arguments("x"), task=True).wait()
        assert (outcome.how, "connect with --era legacy" in outcome.why) == ("lost", True)
        assert text_of(await connection.request("tools/call", arguments("x"))) == "x"
        calls = [each for each in sink.sent() if each["method"] == "tools/call"]
        assert ["task" in each["params"] for each in calls] == [False]
