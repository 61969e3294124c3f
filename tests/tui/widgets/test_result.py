"""Results and running calls, as they are read."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from textual.widget import Widget

from tests.tui.stage import Stage
from tests.tui.waiting import until
from workbench.core.actions import Outcome
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message, decode
from workbench.tui.widgets.progress_line import ProgressLine, Running
from workbench.tui.widgets.result import ResultView
from workbench.tui.widgets.result_blocks import Block, blocks_of, is_tool_error

pytestmark = pytest.mark.anyio


def stage() -> Stage:
    return Stage(lambda: [ResultView()])


def outcome(result: Any) -> Outcome:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()
    return Outcome("result", 0.0123, decode(body).messages[0], 1204)


def failure(error: Any) -> Outcome:
    return Outcome("error", 0.0123, Message(Kind.ERROR, None, "1", {"error": error}), 1204)


async def test_a_result_has_a_head_line_and_its_text() -> None:
    app = stage()
    async with app.run_test(size=(80, 12)) as pilot:
        app.query_one(ResultView).show(outcome({"content": [{"type": "text", "text": "68°F\nwindy"}]}), 1203)
        await pilot.pause()
        head = app.lines()[0]
        assert (head[:18], head[-12:], len(head)) == (" ✓ result  12.3 ms", " #1203 #1204", 79)
        assert app.lines()[1:3] == ["   68°F", "   windy"]


async def test_a_tool_error_and_a_protocol_error_are_told_apart() -> None:
    app = stage()
    async with app.run_test(size=(80, 12)) as pilot:
        view = app.query_one(ResultView)
        view.show(outcome({"content": [{"type": "text", "text": "no such city"}], "isError": True}))
        await pilot.pause()
        assert app.lines()[0].startswith(" ✗ tool error  12.3 ms")
        assert app.lines()[1] == "   no such city"
        view.show(failure({"code": -32602, "message": "Unknown tool: x\x1b[2J", "data": [1]}))
        await pilot.pause()
        assert app.lines()[0].startswith(" ✗ error -32602  12.3 ms")
        assert app.lines()[1].endswith("Unknown tool: x␛[2J")
        assert "   data" in app.lines()


@pytest.mark.parametrize("error", [None, "x", {}, {"code": "NaN", "message": 5}, {"message": "m"}, []])
async def test_an_error_of_any_shape_is_shown(error: Any) -> None:
    app = stage()
    async with app.run_test(size=(80, 12)) as pilot:
        app.query_one(ResultView).show(failure(error))
        await pilot.pause()
        assert app.lines()[0].startswith(" ✗ error")


@pytest.mark.parametrize(("how", "mark"), [("timeout", "✗"), ("lost", "✗"), ("cancelled", "◦")])
async def test_an_end_without_an_answer_gives_its_reason(how: str, mark: str) -> None:
    app = stage()
    async with app.run_test(size=(80, 12)) as pilot:
        app.query_one(ResultView).show(Outcome(how, 60.0, why="The server exited with code 3."), 7)
        await pilot.pause()
        assert app.lines()[0].startswith(f" {mark} {how}  1.00 min")
        assert app.lines()[1] == "   The server exited with code 3."


async def test_enter_opens_the_block_under_the_cursor_whole() -> None:
    app = stage()
    content = [
        {"type": "text", "text": "first"},
        {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"x" * 3000).decode()},
    ]
    async with app.run_test(size=(80, 12), message_hook=app.hear) as pilot:
        view = app.query_one(ResultView)
        view.focus()
        view.show(outcome({"content": content}))
        await pilot.press("enter", "down", "enter")
        opened = app.kept(ResultView.Opened)
        assert [message.whole for message in opened] == [b"first", content[1]["data"].encode()]
        assert "   image  image/png  3.0 kB" in [line.replace("›", " ") for line in app.lines()]


async def test_a_result_of_seventy_thousand_lines_is_read_aside_and_shown_as_far_as_fits() -> None:
    text = "".join(
        f"line {number} of the result, long enough to be five megabytes\n" for number in range(80_000)
    )
    app = stage()
    async with app.run_test(size=(80, 12)) as pilot:
        view = app.query_one(ResultView)
        view.focus()
        view.show(outcome({"content": [{"type": "text", "text": text}], "isError": True}), 1)
        await until(pilot, lambda: len(view.blocks) == 1)
        await pilot.press("end")
        await until(pilot, lambda: "enter opens the whole" in app.lines()[-1])
        assert view.blocks[0].whole == text.encode()
        assert app.lines()[0].startswith(" ✗ tool error")


async def test_long_blocks_scroll_and_the_cursor_goes_from_block_to_block() -> None:
    app = stage()
    content = [{"type": "text", "text": "\n".join(f"{name}{at}" for at in range(30))} for name in "abc"]
    async with app.run_test(size=(80, 12)) as pilot:
        view = app.query_one(ResultView)
        view.focus()
        view.show(outcome({"content": content}))
        seen = []
        for _ in range(100):
            await pilot.press("down")
            assert view.block is not None
            seen.append(view.block.text[0])
        assert "".join(dict.fromkeys(seen)) == "abc"
        await pilot.press("home")
        assert app.lines()[1].endswith("a0") or app.lines()[1].startswith(" › a0")


@pytest.mark.parametrize(
    ("result", "titles"),
    [
        ({"contents": [{"uri": "a://b", "mimeType": "text/x", "text": "t"}]}, ["a://b  text/x"]),
        ({"contents": [{"uri": "a://b", "blob": "AAAA"}]}, ["a://b  3 B"]),
        ({"messages": [{"role": "user", "content": {"type": "text", "text": "t"}}]}, ["user"]),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "t"}] * 2}]}, ["user", "user"]),
        ({"content": [{"type": "resource", "resource": {"uri": "a://b", "text": "t"}}]}, ["resource  a://b"]),
        (
            {"content": [{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}]},
            ["audio  audio/wav  3 B"],
        ),
        ({"content": [{"type": "resource_link", "uri": "a://b", "name": "n"}]}, ["link  n  a://b"]),
        ({"content": [{"type": "hologram"}], "_meta": {}}, ["hologram", "_meta"]),
        ({"content": [], "structuredContent": {"a": 1}}, ["structured"]),
        ({"content": "odd", "resultType": "x"}, ["content", "resultType"]),
        ({"content": [5, None, "x", {"type": 7}]}, ["", "", "", ""]),
        ({"tools": []}, [""]),
        ({}, [""]),
        (5, [""]),
    ],
)
def test_every_member_of_a_result_is_a_block(result: Any, titles: list[str]) -> None:
    assert [block.title for block in blocks_of(json.dumps(result))] == titles


def test_json_in_a_text_is_indented_and_its_source_kept() -> None:
    text = '{"id":9007199254740993,"n":1.0}'
    result = json.dumps({"content": [{"type": "text", "text": text}]})
    assert blocks_of(result) == [
        Block("JSON as text", '{\n  "id": 9007199254740993,\n  "n": 1.0\n}', True, text.encode())
    ]


def test_exact_digits_of_structured_content_are_shown() -> None:
    block = blocks_of('{"structuredContent":{"id":9007199254740993,"x":1.0,"y":1e400},"isError":true}')[0]
    assert '"id": 9007199254740993' in block.text
    assert '"y": 1e400' in block.text
    assert is_tool_error('{"isError":true}')
    assert not is_tool_error('{"isError":false}')


async def test_running_calls_show_time_progress_and_the_servers_words() -> None:
    now = [104.2]

    def lines() -> list[Widget]:
        return [ProgressLine(now=lambda: now[0])]

    app = Stage(lines)
    async with app.run_test(size=(80, 12)) as pilot:
        line = app.query_one(ProgressLine)
        assert line.size.height == 0
        line.set_running([Running("1", "long_operation", 100.0, 2, 5, "step 2 of 5")])
        await pilot.pause()
        shown = app.lines()[0]
        assert shown.startswith(" ◌ running  4.20 s   ━━━━")
        assert shown.endswith("step 2 of 5")
        assert (shown.count("━"), shown.count("─")) == (12, 17)
        assert app.lines()[1] == "   x cancels"
        line.set_running([Running(str(number), f"tool{number}", 100.0, 7, None) for number in range(6)])
        await pilot.pause()
        assert [row.split()[1] for row in app.lines()[:4]] == ["tool2", "tool3", "tool4", "tool5"]
        assert app.lines()[4] == "   x cancels   and 2 more"
        line.set_running([])
        await pilot.pause()
        assert app.lines()[0] == ""


@pytest.mark.parametrize(("progress", "total"), [(9, 5), (-3, 5), (0, 0), (5, -1), (float("inf"), 5.0)])
async def test_progress_that_makes_no_sense_is_drawn_all_the_same(progress: float, total: float) -> None:
    app = Stage(lambda: [ProgressLine(now=lambda: 1.0)])
    async with app.run_test(size=(80, 12)) as pilot:
        app.query_one(ProgressLine).set_running([Running("1", "x", 0.0, progress, total)])
        await pilot.pause()
        assert app.lines()[0].startswith(" ◌ running  1.00 s")
