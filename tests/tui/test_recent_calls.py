"""The last calls of a connection stand below the list where there is room."""

from __future__ import annotations

import json

import pytest

from tests.tui.at_work import at_work, demo_target, reading
from workbench.demo.recording import RECORDING
from workbench.store.reader import Reader
from workbench.tui.opened import RecordingDesk

pytestmark = pytest.mark.anyio


async def test_the_newest_calls_are_shown_with_their_arguments_and_how_they_ended() -> None:
    async with at_work([demo_target()], size=(120, 40)) as work:
        await work.ready()
        await work.press("enter", *"1/0", "enter")
        await work.shows("tool error")
        await work.press("escape", "escape", "down", "enter", *"Oslo", "enter")
        await work.shows("snow")
        lines = [line for line in work.lines() if "✓ weather" in line or "✗ calculator" in line]
        assert len(lines) == 2, work.text
        assert '✓ weather_current {"locatio' in lines[0]
        assert "✗ calculator_arithmetic" in lines[1]
        await work.shows("recent calls")


async def test_a_call_that_runs_is_among_them_until_it_is_cancelled() -> None:
    async with at_work([demo_target()], size=(120, 40)) as work:
        await work.ready()
        await work.press("slash", *"long_op", "enter", "enter", *"60", "enter")
        await work.shows("◌ long_operation", "running")
        await work.press("x")
        await work.shows("◦ long_operation", "cancelled")


async def test_a_template_that_was_read_is_shown_by_the_uri_it_was_filled_in_to() -> None:
    async with at_work([demo_target()], size=(120, 40)) as work:
        await work.ready()
        await work.press("right_square_bracket", "end", "enter", *"Oslo", "tab", *"metric", "enter")
        await work.shows("recent calls", "✓ weather://Oslo/metric")


async def test_a_small_terminal_leaves_its_rows_to_the_list() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("enter", *"1+1", "enter")
        await work.shows("result")
        assert "recent calls" not in work.text


async def test_a_recording_shows_the_calls_that_were_recorded() -> None:
    async with reading(RecordingDesk(Reader.open(RECORDING)), size=(120, 40)) as work:
        await work.shows("recent calls", "✗ break_down")
        await work.press("right_square_bracket")
        await work.shows("recent calls", "✓ weather://Oslo/metric")


async def test_any_call_of_the_connection_is_taken_up_again_changed_and_sent() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("enter", *"6*7", "enter")
        await work.shows("result", "42")
        await work.press("escape", "escape", "down", "enter", *"Oslo", "enter")
        await work.shows("snow")
        await work.press("escape", "escape", "right_square_bracket", "H")
        await work.shows("weather_current", "calculator_arithmetic", '{"expression":"6*7"}')
        await work.press(*"calc", "enter")
        await work.shows('{"expression":"6*7"}')
        assert work.main.pane_name == "tools"
        await work.press("end", "0", "enter")
        await work.until(lambda: len(work.sent("tools/call")) == 3)
        sent = [json.loads(body)["params"] for body in work.sent("tools/call")]
        assert sent[2]["name"] == sent[0]["name"] == "calculator_arithmetic"
        assert sent[2]["arguments"] == {"expression": "6*70"}


async def test_what_is_not_listed_any_more_is_said_and_nothing_is_changed() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        work.desk.runs.new(1, "gone_tool", "tools/call", '{"name":"gone_tool","arguments":{}}')
        await work.press("H", "enter")
        await work.shows("gone_tool is not listed any more.")
