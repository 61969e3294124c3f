"""Frames written by hand go out as they are typed, and only an answer that can come is waited for."""

from __future__ import annotations

import json

import pytest

from tests.servers.targets import server
from tests.tui.at_work import AtWork, at_work, demo_target
from workbench.core.frame import Direction

pytestmark = pytest.mark.anyio


def out(work: AtWork) -> list[bytes]:
    return [frame.body for frame in work.frames() if frame.direction is Direction.TO_SERVER]


async def typed(work: AtWork, text: str) -> None:
    """Have a text in the editor, and send it."""
    pane = work.main.panes["raw_frame"]
    pane.area.text = text  # type: ignore[attr-defined]
    await work.press("ctrl+r")


async def test_a_request_goes_out_byte_for_byte_and_its_answer_is_shown() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("J")
        await work.shows("a frame by hand", "ping, id", "an answer is waited for")
        text = (
            '{ "method":"tools/call", "id": "mine","jsonrpc":"2.0","params":{"name":"nobody","arguments":{}}}'
        )
        await typed(work, text)
        await work.until(lambda: text.encode() in out(work))
        await work.shows("✗", "error", "nobody")
        await typed(work, '{"jsonrpc":"2.0","id":"by-hand-1","method":"ping"}')
        await work.shows("✓", "result")
        await work.press("escape", "escape")
        await work.shows("calculator_arithmetic")
        assert work.main.pane_name == "tools"


async def test_letters_are_text_while_a_frame_is_written_and_commands_after_escape() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("J", *"qJA")
        await work.shows('"ping"}qJA', "no JSON", "nothing waits")
        assert work.main.pane_name == "raw_frame"
        await work.press("escape", "e", "backspace")
        await work.shows('"ping"}qJ')


@pytest.mark.parametrize("text", ['{"jsonrpc":"2.0","id":7,"method":', "[1,2", "plain words", '{"a":NaN}'])
async def test_what_is_no_message_goes_out_all_the_same_and_nothing_waits_for_it(text: str) -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("J")
        await typed(work, text)
        await work.until(lambda: text.encode() in out(work))
        await work.shows("sent  ")
        (raw,) = work.desk.raw
        assert not raw.waiting
        assert raw.outcome is None
        await work.press("escape", "escape")
        await work.press("enter", *"2+2", "enter")
        await work.shows("result", "4")


async def test_an_answer_that_does_not_come_is_waited_for_as_long_as_for_any_request() -> None:
    silent = server("does_as_told", name="silent", timeouts={"request": 1.5})
    async with at_work([silent]) as work:
        await work.until(lambda: work.desk.views and work.desk.views[0].tools)
        await work.press("J")
        steps = {"name": "any", "arguments": {"text": '[{"hear":"never"}]'}}
        await typed(work, json.dumps({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": steps}))
        await work.shows("waits  ")
        assert work.desk.raw[0].waiting
        await work.shows("No answer came within 1.5 s.")


async def test_a_frame_is_sent_again_as_it_was_and_written_on_from_what_was_sent() -> None:
    async with at_work([demo_target()], size=(120, 40)) as work:
        await work.ready()
        await work.press("J")
        first = '{"jsonrpc":"2.0","id":"a","method":"ping"}'
        await typed(work, first)
        await work.shows("result")
        await work.press("escape", "r")
        await work.until(lambda: out(work).count(first.encode()) == 2)
        await work.press("enter")
        await work.press("backspace", *',"x":1}', "ctrl+r")
        await work.until(lambda: (first[:-1] + ',"x":1}').encode() in out(work))


async def test_each_line_for_a_process_is_a_frame_of_its_own_and_that_is_said() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("J")
        await typed(work, '{"jsonrpc":"2.0",\n"id":1,"method":"ping"}')
        await work.shows("2 lines, each a frame of its own here")
        await work.until(lambda: b'{"jsonrpc":"2.0",' in out(work))


async def test_without_a_connection_a_sentence_says_so() -> None:
    async with at_work([server("exits_at_once", name="gone")]) as work:
        await work.until(lambda: work.desk.views and work.desk.views[0].exit_code is not None)
        await work.press("J", "ctrl+r")
        await work.shows("There is no connection to send it on; connect again.")
