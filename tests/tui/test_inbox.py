"""What a server asks is answered by exactly what the wire line shows."""

from __future__ import annotations

import json

import pytest

from tests.servers.targets import server
from tests.tui.at_work import AtWork, at_work, demo_target
from workbench.core.frame import Kind
from workbench.core.jsonrpc import dumps

pytestmark = pytest.mark.anyio


async def asked(work: AtWork, tool: str, *keys: str) -> None:
    """Call a tool that asks, and go to the inbox."""
    await work.ready()
    await work.press("slash", *tool, "enter", "enter", *keys, "enter")
    await work.shows("inbox 1")
    await work.press("escape", "escape", *["right_square_bracket"] * 5, "enter")


async def test_the_wire_line_of_an_elicitation_is_the_answer_as_it_is_sent() -> None:
    async with at_work([demo_target()], size=(120, 40)) as work:
        await asked(work, "ask_for")
        await work.press(*"Zoe")
        await work.shows('{"action":"accept","content":{"name":"Zoe"}}')
        await work.press("enter")
        await work.until(lambda: work.frames(Kind.RESULT, "elicitation/create"))
        body = work.frames(Kind.RESULT, "elicitation/create")[0].body
        assert b'"result":{"action":"accept","content":{"name":"Zoe"}}' in body


async def test_the_wire_line_of_a_sampling_answer_is_the_message_as_it_is_sent() -> None:
    async with at_work([demo_target()], size=(200, 50)) as work:
        await asked(work, "sample", *"Hi")
        await work.press(*"Hello")
        sent = {
            "role": "assistant",
            "content": {"type": "text", "text": "Hello"},
            "model": "written by hand",
            "stopReason": "endTurn",
        }
        await work.shows(dumps(sent)[:60])
        await work.press("enter")
        await work.until(lambda: work.frames(Kind.RESULT, "sampling/createMessage"))
        answer = json.loads(work.frames(Kind.RESULT, "sampling/createMessage")[0].body)
        assert answer["result"] == sent


async def test_a_whole_sampling_result_written_by_hand_goes_out_as_it_is() -> None:
    async with at_work([demo_target()], size=(120, 40)) as work:
        await asked(work, "sample", *"Hi")
        written = '{"role":"user","content":[],"model":"m"}'
        await work.press("escape", "e", *["up"] * 9, "home", *["delete"] * 99, *written, "ctrl+r")
        await work.until(lambda: work.frames(Kind.RESULT, "sampling/createMessage"))
        body = work.frames(Kind.RESULT, "sampling/createMessage")[0].body.decode()
        assert f'"result":{written}' in body


async def test_of_many_requests_the_one_taken_back_disappears_and_the_call_goes_on() -> None:
    target = server("asks_while_called", name="asks")
    async with at_work([target], size=(120, 40)) as work:
        await work.ready()
        await work.press("enter", *"take back", "enter")
        await work.until(lambda: work.frames(Kind.NOTIFICATION, "notifications/cancelled"))
        await work.until(lambda: len(work.desk.inbox) == 1)
        await work.press("escape", "escape", *["right_square_bracket"] * 5)
        await work.shows("inbox 1", "Name?", "waits for you")
        await work.press("enter", "enter")
        await work.until(lambda: not work.desk.runs.open())
        answers = json.loads(
            json.loads(work.frames(Kind.RESULT, "tools/call")[0].body)["result"]["content"][0]["text"]
        )
        assert answers["ask"] == {"action": "accept", "content": {}}
        assert answers["5"] == {}
        assert answers["4"]["code"] == -32601
