"""What servers ask of us: answered at once, held for a user, taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.servers.targets import server
from tests.wire.stage import arguments, call_tool, running, text_of, until
from workbench.config import Root
from workbench.core.lifecycle import State
from workbench.core.question import Question
from workbench.core.rules import Rule, rule_like
from workbench.core.sampling import written

pytestmark = pytest.mark.anyio

HELD = ("sampling/createMessage", "elicitation/create")


async def test_without_anybody_to_answer_all_is_declined_at_once_and_said() -> None:
    async with running(server("asks_while_called")) as (connection, sink):
        await connection.ready()
        call = connection.call("tools/call", arguments("x"))
        answers = json.loads(text_of(await call.wait()))
        assert answers["1"]["code"] == -1
        assert answers["ask"] == {"action": "decline"}
        assert answers["3"] == {"roots": []}
        assert answers["4"]["code"] == -32601
        assert answers["5"] == {}
        assert "declined elicitation/create: no handler" in call.remarks
        assert "declined sampling/createMessage: no handler" in call.remarks
        assert not any("ping" in remark for remark in call.remarks)
        assert connection.inbox == {}
    assert {note["method"] for note in sink.notes()} == {*HELD, "roots/list", "made/up"}


async def test_what_somebody_can_answer_waits_in_the_inbox_and_each_can_be_answered() -> None:
    roots = (Root(uri="file:///work", name="work"),)
    async with running(server("asks_while_called", roots=roots), held=HELD) as (connection, _):
        await connection.ready()
        call = connection.call("tools/call", arguments("x"))
        await until(lambda: len(connection.inbox) == 2)
        assert [asked.id for asked in connection.view.peer_requests] == ["1", '"ask"']
        assert connection.answer('"ask"', '{"action":"accept","content":{"name":"Ada"}}')
        assert connection.answer("1", error=(-1, "not today", None))
        assert not connection.answer("1", "{}"), "an answer is given once"
        answers = json.loads(text_of(await call.wait()))
        assert answers["ask"] == {"action": "accept", "content": {"name": "Ada"}}
        assert answers["1"] == {"code": -1, "message": "not today"}
        assert answers["3"] == {"roots": [{"uri": "file:///work", "name": "work"}]}
        assert connection.inbox == {}


async def test_a_rule_made_of_an_answer_answers_what_waits_and_what_comes_and_is_told() -> None:
    async with running(server("asks_while_called"), held=HELD) as (connection, sink):
        await connection.ready()
        call = connection.call("tools/call", arguments("x"))
        await until(lambda: len(connection.inbox) == 2)
        asked = connection.inbox["1"]
        result = written("hello")
        assert connection.doubts(asked, result) == []
        assert connection.doubts(asked, "{}") != []
        connection.add_rule(rule_like(Question(asked.method, asked.params), result, name="greets"))
        assert list(connection.inbox) == ['"ask"']
        connection.add_rule(Rule("elicitation", "decline", tool="echo"))
        assert connection.inbox == {}
        answers = json.loads(text_of(await call.wait()))
        assert answers["1"] == json.loads(result)
        assert answers["ask"] == {"action": "decline"}
        assert "answered sampling/createMessage by rule 'greets'" in call.remarks
        again = connection.call("tools/call", arguments("x"))
        assert "hello" in text_of(await again.wait())
        assert len(again.remarks) == 4
    notes = {note["by"]: note["method"] for note in sink.notes()}
    assert notes['rule "greets"'] == "sampling/createMessage"
    told = [step.detail for step in connection.view.steps if step.label == "sampling/createMessage"]
    assert 'by rule "greets"' in told[0]


async def test_a_request_the_server_takes_back_disappears() -> None:
    async with running(server("asks_while_called"), held=HELD) as (connection, _):
        await connection.ready()
        call = connection.call("tools/call", arguments("take back"))
        await until(lambda: list(connection.inbox) == ['"ask"'])
        connection.answer('"ask"', '{"action":"cancel"}')
        assert "1" not in json.loads(text_of(await call.wait()))


async def test_what_was_not_offered_is_refused_even_if_somebody_could_answer() -> None:
    target = server("asks_while_called", capabilities={})
    async with running(target, held=HELD) as (connection, _):
        await connection.ready()
        answers = json.loads(text_of(await call_tool(connection, "x")))
        assert {answers[id]["code"] for id in ("1", "ask", "3", "4")} == {-32601}


async def test_an_inbox_is_empty_when_the_connection_is_over() -> None:
    async with running(server("asks_while_called"), held=HELD) as (connection, _):
        await connection.ready()
        connection.call("tools/call", arguments("x"))
        await until(lambda: len(connection.inbox) == 2)
        await connection.close()
        assert connection.inbox == {}
        assert connection.view.state is State.CLOSED


async def test_changed_roots_are_told_and_answered(tmp_path: Path) -> None:
    async with running(server("asks_while_called")) as (connection, sink):
        await connection.ready()
        connection.set_roots([Root(uri=tmp_path.as_uri())])
        assert sink.sent()[-1]["method"] == "notifications/roots/list_changed"
        answers = json.loads(text_of(await call_tool(connection, "x")))
        assert answers["3"] == {"roots": [{"uri": tmp_path.as_uri()}]}


async def test_a_burst_of_list_changes_is_read_once_more_and_page_by_page() -> None:
    async with running(server("changes_its_lists"), listing=True) as (connection, sink):
        await connection.ready()
        await connection.refresh()
        assert [tool.name for tool in connection.view.tools] == ["tool-0", "tool-1"]
        await call_tool(connection, "x")
        await until(lambda: len(connection.view.tools) == 3)
        await connection.listings.settled()
        listings = [message for message in sink.sent() if message["method"] == "tools/list"]
        first_pages = [message for message in listings if "params" not in message]
        assert 2 <= len(first_pages) <= 4
        assert connection.view.tools[2].change == "added"
