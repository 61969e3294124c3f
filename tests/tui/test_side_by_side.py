"""Connections next to each other, one call to all of them, and their answers held together.

Real servers in two builds; what went over each wire is read from the recording.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.servers.targets import ROOT, server
from tests.tui.at_work import AtWork, at_work, reading
from tests.tui.seeded import SeededDesk
from tests.tui.waiting import until
from workbench.config import Target
from workbench.core.frame import Direction, Frame, Kind
from workbench.core.lifecycle import State, group
from workbench.tui.beside.side_by_side import SideBySide

pytestmark = pytest.mark.anyio

SIZES = ((60, 15), (200, 50), (59, 12), (80, 24), (160, 40), (120, 30))


def build(name: str, which: str) -> Target:
    return server("searches", which, name=name)


def two() -> list[Target]:
    return [build("prod", "old"), build("next", "new")]


def four() -> list[Target]:
    """Two builds, one that ended at once, one without the tool ``search``."""
    return [*two(), server("exits_at_once", name="gone"), build("bare", "bare")]


async def settled(work: AtWork, count: int) -> None:
    """Every connection is ready with its tools, or has failed."""

    def done() -> bool:
        views = work.desk.views
        return len(views) == count and all(
            group(view.state) == "failed" or (view.state is State.READY and "tools/list" in view.listed)
            for view in views
        )

    await work.until(done)
    await work.ready(1)


async def split(work: AtWork, count: int) -> SideBySide:
    """Split the screen, and wait until the first column has the focus."""
    await settled(work, count)
    await work.press("b")
    await work.until(lambda: work.main.split is not None and work.main.split.column.has_focus_within)
    found = work.main.split
    assert found is not None
    return found


async def filled_in(work: AtWork, *keys: str) -> None:
    """Fill in ``search`` and send it."""
    await work.press("enter")
    await work.until(lambda: work.main.typing)
    await work.press(*(keys or ("o", "t")), "enter")


def calls(work: AtWork, name: str) -> list[Frame]:
    """The calls that went to a connection."""
    numbers = [view.number for view in work.desk.views if view.name == name]
    return [
        frame
        for frame in work.frames(Kind.REQUEST, "tools/call")
        if frame.connection in numbers and frame.direction is Direction.TO_SERVER
    ]


def params(frame: Frame) -> Any:
    """What was asked, without what the protocol adds."""
    sent = json.loads(frame.body)["params"]
    return {name: value for name, value in sent.items() if name != "_meta"}


def joined(work: AtWork) -> str:
    return " ".join(work.text.split())


def names_shown(work: AtWork) -> list[str]:
    """The heads of the columns on the screen."""
    head = next(line for line in work.lines()[4:7] if "◉" in line or "✗" in line)
    return [part.split()[2] for part in head.split("│")]


async def test_one_key_splits_the_screen_and_gives_each_connection_its_pane_and_its_tail() -> None:
    async with at_work(two()) as work:
        await split(work, 2)
        await work.shows("1 ◉ prod  2025-11-25", "2 ◉ next  2025-11-25", "search of build old", "build new")
        await work.until(lambda: work.text.count("tools/list") >= 4)
        assert names_shown(work) == ["prod", "next"]
        await work.press("b")
        await work.until(lambda: work.main.split is None)
        await work.shows("frames", "following")
        assert "│ 2 ◉" not in work.text


async def test_the_key_does_nothing_while_there_is_only_one_connection() -> None:
    async with at_work([build("prod", "old")]) as work:
        await settled(work, 1)
        await work.press("b")
        assert work.main.split is None
        assert "side by side" not in [command.short for command in work.main.available()]


async def test_a_tail_shows_the_frames_of_its_own_connection_only() -> None:
    async with at_work(two(), size=(120, 40)) as work:
        columns = await split(work, 2)
        await filled_in(work)
        await work.until(lambda: len(calls(work, "prod")) == 1 and not work.desk.runs.open())
        for column in columns.columns[:2]:
            seqs = [frame.seq for frame in work.frames() if frame.connection == column.number]
            await work.until(lambda column=column, seqs=seqs: column.tail.count == len(seqs))


async def test_a_call_goes_to_one_connection_unless_all_are_asked() -> None:
    async with at_work(two()) as work:
        await split(work, 2)
        await work.shows("sends to 1 prod")
        await filled_in(work)
        await work.shows("✓ result")
        assert params(calls(work, "prod")[0])["arguments"] == {"query": "ot"}
        assert calls(work, "next") == []


async def test_a_call_to_all_goes_over_each_wire_and_the_answers_stand_marked_in_columns() -> None:
    async with at_work(two()) as work:
        await split(work, 2)
        await work.press("a")
        await work.shows("sends to all 2: 1 prod  2 next")
        await filled_in(work)
        await work.shows("2 differences: 1 changed, 1 added", "shape + results[].lang")
        for name in ("prod", "next"):
            assert len(calls(work, name)) == 1
            assert params(calls(work, name)[0]) == {"name": "search", "arguments": {"query": "ot"}}
        rows = [line for line in work.lines() if "results[0]" in line]
        changed, added = (next(row for row in rows if mark in row) for mark in ("~", "+"))
        assert [part.split() for part in changed.split("│")] == [
            ["~", "results[0].score", "0.92"],
            ["~", "results[0].score", "0.91"],
        ]
        assert [part.split() for part in added.split("│")] == [
            ["+", "results[0].lang", "absent"],
            ["+", "results[0].lang", '"en"'],
        ]
        ends = next(line for line in work.lines() if "✓ result" in line)
        assert ends.count("ms") == 2


async def test_a_failed_connection_and_one_without_the_tool_are_columns_like_the_others() -> None:
    async with at_work(four(), size=(160, 40)) as work:
        await split(work, 4)
        assert names_shown(work) == ["prod", "next", "gone", "bare"]
        await work.press("a")
        await filled_in(work)
        await work.shows("2 differences", "exited 2, so nothing was sent", "no tool search there")
        assert calls(work, "gone") == []
        assert calls(work, "bare") == []
        assert len(calls(work, "prod")) == len(calls(work, "next")) == 1


async def test_an_error_and_a_tool_error_stand_beside_each_other() -> None:
    async with at_work(two(), size=(120, 30)) as work:
        await split(work, 2)
        await work.press("a", "end", "enter")
        await work.until(lambda: work.main.typing or work.main.query("FieldKeys:focus"))
        await work.press("enter")
        await work.shows("error -32603", "the index is gone", "tool error")
        assert len(calls(work, "prod")) == len(calls(work, "next")) == 1


async def waiting_calls(work: AtWork) -> SideBySide:
    columns = await split(work, 2)
    await work.press("a", "down", "enter")
    await work.until(lambda: work.main.query("FieldKeys:focus"))
    await work.press("enter")
    await work.until(lambda: len(work.desk.runs.open()) == 2 and work.text.count("running") >= 2)
    return columns


def cancelled(work: AtWork) -> list[int]:
    return [frame.connection for frame in work.frames(Kind.NOTIFICATION, "notifications/cancelled")]


async def test_a_running_call_is_cancelled_in_one_column() -> None:
    async with at_work(two()) as work:
        await waiting_calls(work)
        await work.press(">", "x")
        await work.until(lambda: len(work.desk.runs.open()) == 1)
        await work.shows("cancelled", "running")
        assert cancelled(work) == [work.desk.views[1].number]
        await work.press("X")
        await work.until(lambda: not work.desk.runs.open())


async def test_all_running_calls_are_cancelled_with_one_key() -> None:
    async with at_work(two()) as work:
        await waiting_calls(work)
        await work.press("X")
        await work.until(lambda: not work.desk.runs.open())
        await work.until(lambda: work.text.count("cancelled") >= 2)
        assert sorted(cancelled(work)) == [view.number for view in work.desk.views]


async def test_escape_leads_from_the_answers_to_the_form_to_the_list_to_one_connection() -> None:
    async with at_work(two()) as work:
        columns = await split(work, 2)
        await work.press("a")
        await filled_in(work)
        await work.shows("2 differences")
        await work.press("escape")
        await work.until(lambda: not columns.answers and work.main.typing)
        await work.press("t", "enter")
        await work.until(lambda: len(calls(work, "next")) == 2)
        assert params(calls(work, "next")[1])["arguments"] == {"query": "ott"}
        await work.press(*["escape"] * 5)
        await work.until(lambda: work.main.split is None)
        assert work.app.is_running


async def test_what_does_not_fit_is_paged_and_the_head_says_what_is_seen() -> None:
    async with at_work(four()) as work:
        await split(work, 4)
        await work.shows("1–2 of 4")
        await work.press("]")
        await work.shows("3–4 of 4", "sends to 3 gone")
        assert names_shown(work) == ["gone", "bare"]
        await work.press(">", ">")
        await work.shows("1–2 of 4", "sends to 1 prod")
        await work.press("3")
        await work.shows("2–3 of 4", "sends to 3 gone")
        await work.pilot.resize_terminal(60, 15)
        await work.shows("3 of 4")
        assert names_shown(work) == ["gone"]
        await work.press("[")
        await work.shows("2 of 4")


async def test_a_call_to_all_reaches_the_columns_that_are_on_another_page() -> None:
    async with at_work(four(), size=(60, 15)) as work:
        await split(work, 4)
        await work.press("a")
        await work.shows("sends to all 4:", "4 bare")
        await filled_in(work)
        await work.until(lambda: calls(work, "next"))
        await work.press("]")
        await work.shows("2 of 4", "2 differences")


async def test_a_column_is_taken_out_and_put_back() -> None:
    async with at_work(four(), size=(160, 40)) as work:
        await split(work, 4)
        await work.press("3", "-")
        await work.until(lambda: names_shown(work) == ["prod", "next", "bare"])
        await work.press("a")
        await work.shows("sends to all 3: 1 prod  2 next  4 bare")
        await work.press("+")
        await work.shows("sends to all 4:")
        assert names_shown(work) == ["prod", "next", "bare", "gone"]


async def test_tab_stays_within_a_column_and_keys_go_from_one_to_the_next() -> None:
    async with at_work(two()) as work:
        columns = await split(work, 2)
        for _ in range(6):
            await work.press("tab")
            assert columns.column.place == 0
            assert columns.columns[0].has_focus_within
        await work.press("escape", ">")
        await work.until(lambda: columns.columns[1].has_focus_within)
        assert work.main.view is not None
        assert work.main.view.name == "next"
        await work.shows("sends to 2 next")


async def test_columns_show_any_pane_and_frames_open_from_their_tails() -> None:
    async with at_work(two(), size=(120, 40)) as work:
        columns = await split(work, 2)
        await work.press("{", "{", "{")
        await work.shows("we offer")
        assert work.text.count("it offers") == 2
        await work.press("}", "}")
        await work.until(lambda: columns.column.tail.has_focus and columns.column.tail.row is not None)
        await work.press("home", "enter")
        await work.shows("#1", "process")
        await work.press("escape")
        await work.until(lambda: columns.column.tail.has_focus)


async def test_a_connection_that_is_made_again_keeps_its_column() -> None:
    async with at_work([build("prod", "old"), server("exits_at_once", name="gone")]) as work:
        columns = await split(work, 2)
        before = list(columns.chosen.numbers)
        await work.press(">", "c")
        await work.until(lambda: columns.chosen.numbers != before)
        await work.shows("2 ✗ gone  exited 2")
        assert columns.chosen.numbers[0] == before[0]
        assert names_shown(work) == ["prod", "gone"]


async def test_a_large_answer_blocks_no_key() -> None:
    async with at_work(two(), size=(120, 40)) as work:
        await split(work, 2)
        await work.press("a", "down", "down", "enter")
        await work.until(lambda: work.main.typing)
        await work.press(*"60000", "enter")
        await work.until(lambda: len(work.desk.runs.open()) == 2 or "result" in work.text)
        # Keys are answered while the answers come and are compared.
        await work.press(">")
        await work.shows("sends to all 2:")
        await work.press("question_mark")
        await work.shows("Keys that work now")
        await work.press("escape")
        await until(work.pilot, lambda: "1 difference: 1 changed" in joined(work), seconds=90)
        await work.press("d")
        await work.shows("numbers[59999].square")


async def test_sizes_change_while_answers_are_shown_and_nothing_breaks() -> None:
    async with at_work(four(), size=(160, 40)) as work:
        await split(work, 4)
        await work.press("a")
        await filled_in(work)
        await work.shows("2 differences")
        for width, height in SIZES:
            await work.pilot.resize_terminal(width, height)
            await work.until(lambda size=(width, height): tuple(work.main.size) == size)
            await work.pilot.pause()
            assert all(len(line) <= width for line in work.lines())
        await work.shows("2 differences", "1–3 of 4")


async def test_every_key_has_an_entry_in_the_palette_and_a_line_in_the_help() -> None:
    async with at_work(four()) as work:
        await split(work, 4)
        shorts = {command.short for command in work.main.available()}
        assert {"side by side", "send to all", "more columns", "next column", "drop column"} <= shorts
        await work.press("colon", *"send to all", "enter")
        await work.shows("sends to all 4:")


async def test_what_a_server_writes_is_never_obeyed_in_a_column() -> None:
    async with at_work([build("prod", "old"), build("\x1b[31mevil", "new")]) as work:
        await split(work, 2)
        await work.press("a")
        await filled_in(work, "[", "/", "b", "]")
        await work.shows("2 differences", "[/b]")
        assert "\x1b" not in work.text


async def test_a_connection_that_comes_stands_beside_the_others() -> None:
    async with at_work(two(), size=(120, 30)) as work:
        await split(work, 2)
        command = f"{sys.executable} -m tests.servers.searches bare"
        await work.press("n", *f"--stdio '{command}' --cwd {ROOT} --name third", "enter")
        await work.until(lambda: names_shown(work) == ["prod", "next", "third"])
        await work.shows("sends to 3 third")


async def test_an_answer_opens_whole_and_closes_to_where_one_was() -> None:
    async with at_work(two()) as work:
        columns = await split(work, 2)
        await work.press("a")
        await filled_in(work)
        await work.shows("2 differences")
        await work.press(">", "enter")
        await work.shows('"content": [', "search")
        assert not columns.display
        await work.press("escape")
        await work.until(lambda: columns.columns[1].answer.lines.has_focus)


async def test_an_opened_recording_is_shown_in_columns_and_takes_no_calls(tmp_path: Path) -> None:
    desk = SeededDesk(tmp_path)
    desk.live = False
    async with reading(desk, size=(120, 30)) as work:
        await work.until(lambda: len(desk.views) == 4 and desk.views[3].tools)
        await work.until(lambda: work.main.pane is not None and work.main.pane.has_focus_within)
        await work.press("b")
        await work.shows("1 ◉ prod  2025-06-18", "2 ◉ build-412", "1–3 of 4")
        assert "sends to" not in work.text
        assert "send to all" not in {command.short for command in work.main.available()}
