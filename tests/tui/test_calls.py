"""Using a server on the screen; what went over the wire is read from the recording."""

from __future__ import annotations

import base64
import json
import shlex

import anyio
import pytest

from tests.cli.command import PROGRAM
from tests.tui.at_work import at_work, demo_target
from workbench.core.frame import Kind

pytestmark = pytest.mark.anyio


async def test_a_tool_is_filled_in_run_and_its_result_shown() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("down", "enter", *"Oslo", "tab", *"kel", "enter")
        await work.shows("result", "Oslo")
        sent = json.loads(work.sent("tools/call")[0])
        assert sent["params"]["name"] == "weather_current"
        assert sent["params"]["arguments"] == {"location": "Oslo", "units": "kelvin"}


async def test_the_wire_line_is_what_is_sent() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("enter", *'1 + "2"')
        await work.shows('{"expression":"1 + \\"2\\""}')
        await work.press("enter")
        await work.until(lambda: work.sent("tools/call"))
        assert b'"arguments":{"expression":"1 + \\"2\\""}' in work.sent("tools/call")[0]


async def test_letters_are_text_in_a_field_and_commands_outside_of_it() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("enter", *"qkfn?", "escape")
        assert work.app.is_running
        await work.shows('{"expression":"qkfn?"}')
        await work.press("escape", "question_mark")
        await work.shows("Keys that work now")


async def test_escape_goes_back_and_never_quits() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("enter", "x", *["escape"] * 6)
        assert work.app.is_running
        assert work.main.pane is not None
        assert work.main.pane.has_focus_within


async def test_a_call_that_runs_shows_progress_and_can_be_cancelled() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("slash", *"long_op", "enter", "enter", *"60", "enter")
        await work.shows("running", "x cancels")
        await work.press("x")
        await work.shows("cancelled")
        assert work.frames(Kind.NOTIFICATION, "notifications/cancelled")


async def test_several_calls_run_at_once() -> None:
    async with at_work([demo_target()], size=(120, 40)) as work:
        await work.ready()
        await work.press("slash", *"long_op", "enter", "enter", *"60", "enter", "enter", "enter")
        await work.until(lambda: len(work.desk.runs.open()) == 2)
        await work.shows("long_operation")
        assert len(work.sent("tools/call")) == 2


async def test_quitting_asks_while_a_call_runs() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("slash", *"long_op", "enter", "enter", *"60", "enter")
        await work.shows("x cancels")
        await work.press("q")
        await work.shows("A call runs")
        await work.press("escape")
        assert work.app.is_running
        await work.press("q", "q")
        await work.until(lambda: not work.app.is_running)


async def test_a_resource_is_read_and_a_template_is_filled_in() -> None:
    async with at_work([demo_target()], size=(120, 40)) as work:
        await work.ready()
        await work.press("right_square_bracket", "enter")
        await work.shows("result")
        assert json.loads(work.sent("resources/read")[0])["params"]["uri"] == "demo://readme"
        await work.press("end", "enter", *"Oslo", "tab", *"metric")
        await work.shows("reads  weather://Oslo/metric")
        await work.press("enter")
        await work.until(lambda: len(work.sent("resources/read")) == 2)
        assert json.loads(work.sent("resources/read")[1])["params"]["uri"] == "weather://Oslo/metric"


async def test_a_prompt_is_got_with_its_arguments() -> None:
    async with at_work([demo_target()], size=(120, 40)) as work:
        await work.ready()
        await work.press("right_square_bracket", "right_square_bracket", "down", "enter", *"Oslo", "enter")
        await work.shows("result")
        sent = json.loads(work.sent("prompts/get")[0])["params"]
        assert sent["name"] == "packing_list"
        assert sent["arguments"] == {"city": "Oslo"}


async def test_json_by_hand_goes_out_as_it_stands() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("e", "delete", "delete", *'{"no_such":1}', "ctrl+r")
        await work.until(lambda: work.sent("tools/call"))
        assert b'"arguments":{"no_such":1}' in work.sent("tools/call")[0]


async def test_an_elicitation_shows_a_badge_and_is_answered_by_its_form() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("slash", *"ask_for", "enter", "enter", "enter")
        await work.shows("inbox 1")
        await work.press("escape", "escape", *["right_square_bracket"] * 5, "enter", *"Zoe", "enter")
        await work.until(lambda: not work.desk.inbox)
        answer = work.frames(Kind.RESULT, "elicitation/create")[0]
        assert json.loads(answer.body)["result"] == {
            "action": "accept",
            "content": {"name": "Zoe", "loud": False},
        }


async def test_an_elicitation_is_declined_by_a_key() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("slash", *"ask_for", "enter", "enter", "enter")
        await work.shows("inbox 1")
        await work.press("escape", "escape", *["right_square_bracket"] * 5, "d")
        await work.until(lambda: not work.desk.inbox)
        answer = work.frames(Kind.RESULT, "elicitation/create")[0]
        assert json.loads(answer.body)["result"] == {"action": "decline"}


async def test_sampling_is_answered_with_text() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("slash", *"sample", "enter", "enter", *"Hi", "enter")
        await work.shows("inbox 1")
        await work.press("escape", *["right_square_bracket"] * 5, "enter", *"Hello", "enter")
        await work.until(lambda: not work.desk.inbox)
        result = json.loads(work.frames(Kind.RESULT, "sampling/createMessage")[0].body)["result"]
        assert result["content"] == {"type": "text", "text": "Hello"}
        assert result["role"] == "assistant"


async def test_logs_are_filtered_by_level_and_the_server_is_asked_for_one() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press(*["right_square_bracket"] * 3)
        await work.shows("the demo server is ready")
        await work.press("v", "v", "v")
        await work.shows("warning and above", "none of them passes")
        await work.press("l", *"err", "enter")
        await work.until(lambda: work.sent("logging/setLevel"))
        assert json.loads(work.sent("logging/setLevel")[0])["params"] == {"level": "error"}
        await work.shows("server's level error")


async def test_a_frame_opens_as_json_and_raw_and_leads_to_its_pair() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press(*["right_square_bracket"] * 6, "home")
        await work.press("slash", *"tools/list", "enter")
        await work.until(lambda: work.main.query_one("#dock").frames.count == 2)  # type: ignore[attr-defined]
        await work.press("home", "p", "enter")
        await work.shows("result tools/list", '"jsonrpc": "2.0"')
        await work.press("v")
        await work.shows('{"jsonrpc":"2.0"')
        await work.press("escape", "escape")
        await work.shows("Frames", "paused", "prompts/list")


async def test_two_connections_are_switched_by_digits() -> None:
    async with at_work([demo_target(), demo_target()]) as work:
        await work.ready(2)
        assert [view.name for view in work.desk.views] == ["demo", "demo-2"]
        await work.press("2", "enter", *"2+3", "enter")
        await work.shows("result")
        call = work.frames(Kind.REQUEST, "tools/call")[0]
        assert call.connection == work.desk.views[1].number


async def test_every_action_is_found_in_the_palette() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("enter", "ctrl+p", *"resources", "enter")
        await work.shows("demo://readme")
        assert work.main.pane_name == "resources"


async def test_a_call_is_copied_as_the_command_line_that_sends_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("enter", *"6*7", "enter")
        await work.shows("result", "42")
        written: list[str] = []
        assert work.app._driver is not None
        monkeypatch.setattr(work.app._driver, "write", written.append)
        await work.press("escape", "Y")
        await work.shows("copied, ")
        sequence = next(each for each in written if "]52;c;" in each)
        line = base64.b64decode(sequence.partition("]52;c;")[2].rstrip("\x07")).decode()
        words = shlex.split(line)
        assert words[:3] == ["mcp-workbench", "request", "tools/call"]
        sent = json.loads(work.sent("tools/call")[0])["params"]
        assert json.loads(words[3]).items() <= sent.items()
        done = await anyio.run_process([*PROGRAM, *words[1:]], check=False)
        assert (done.returncode, b"6*7 = 42" in done.stdout) == (0, True), (line, done)


async def test_copying_tells_the_size_and_refuses_what_terminals_do_not_take() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("y")
        await work.shows("copied, ")
