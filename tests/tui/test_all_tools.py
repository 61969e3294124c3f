"""The tools of every connection in one list: owners, names that collide, and whose wire a call takes."""

from __future__ import annotations

import json

import pytest

from tests.servers.targets import server
from tests.tui.at_work import AtWork, at_work, demo_target, reading
from workbench.config import Target
from workbench.core.frame import Direction, Kind
from workbench.demo.recording import RECORDING
from workbench.store.reader import Reader
from workbench.tui.opened import RecordingDesk
from workbench.tui.panes.all_tools import AllToolsPane

pytestmark = pytest.mark.anyio


def shown(work: AtWork) -> AllToolsPane:
    pane = work.main.pane
    assert isinstance(pane, AllToolsPane)
    return pane


def calls_of(work: AtWork) -> list[tuple[int, str]]:
    """The connection and the tool of each call on the wire."""
    frames = [
        frame for frame in work.frames(Kind.REQUEST, "tools/call") if frame.direction is Direction.TO_SERVER
    ]
    return [(frame.connection, json.loads(frame.body)["params"]["name"]) for frame in frames]


async def three(work: AtWork) -> None:
    def done() -> bool:
        views = work.desk.views
        return len(views) == 3 and all("tools/list" in view.listed and view.tools for view in views)

    await work.until(done)
    await work.ready(3)
    await work.press("A")
    await work.shows("All tools")


def targets() -> list[Target]:
    """Two that share all names of tools, and one that adds tools by itself."""
    moving = server("changes_its_lists", name="moving")
    return [demo_target(), demo_target("--name", "staging"), moving]


async def test_every_tool_stands_there_once_an_owner_and_names_that_collide_are_marked() -> None:
    async with at_work(targets(), size=(200, 50)) as work:
        await three(work)
        pane = shown(work)
        wanted = [(view.number, tool.name) for view in work.desk.views for tool in view.tools]
        rows = [(pane._owner_of[key], pane._items[key].name) for key in pane.list.rows.keys]
        assert sorted(rows) == sorted(wanted)
        for line in work.lines():
            if "weather_current" in line and "location" in line and "│" not in line:
                assert "! " in line, line
        names = {view.number: view.name for view in work.desk.views}
        for row in pane.list.rows._all:
            number, name, _ = row.key.split("\0")
            others = [other for other, tool in wanted if tool == name and other != int(number)]
            assert row.cells[1].text == names[int(number)]
            assert row.tail.endswith(f"also {names[others[0]]}" if others else "") or not others
            assert (row.mark == "!") == bool(others), row


async def test_a_call_goes_to_its_owners_wire_only() -> None:
    async with at_work(targets(), size=(120, 40)) as work:
        await three(work)
        numbers = [view.number for view in work.desk.views]
        await work.press("slash", *"staging calc", "enter", "enter", *"2*3", "enter")
        await work.shows("2*3 = 6")
        assert calls_of(work) == [(numbers[1], "calculator_arithmetic")]
        assert work.main.view is not None
        assert work.main.view.name == "staging"
        await work.press("escape", "1")
        await work.until(lambda: work.main.view is not None and work.main.view.name == "demo")
        pane = shown(work)
        assert pane._owner_of[pane.list.rows.key or ""] == numbers[0]
        await work.press("enter", *"1+1", "enter")
        await work.shows("1+1 = 2")
        assert calls_of(work)[1:] == [(numbers[0], "calculator_arithmetic")]


async def test_a_change_of_one_list_is_shown_within_one_paint_and_moves_no_cursor() -> None:
    async with at_work(targets(), size=(120, 40)) as work:
        await three(work)
        pane = shown(work)
        await work.press("down", "down")
        before = pane.list.rows.key
        owner = work.desk.views[1]
        work.desk.call(
            owner.number, "add_a_tool", "tools/call", '{"name":"add_a_tool","arguments":{"name":"brand_new"}}'
        )
        await work.until(lambda: any(tool.name == "brand_new" for tool in work.desk.views[1].tools))
        work.main.look()
        rows = [(pane._owner_of[key], pane._items[key].name) for key in pane.list.rows.keys]
        assert rows.count((owner.number, "brand_new")) == 1
        assert [row for row in rows if row[1] == "brand_new"] == [(owner.number, "brand_new")]
        assert pane.list.rows.key == before


@pytest.mark.parametrize("size", [(60, 15), (80, 24)])
async def test_it_fits_a_small_terminal_and_going_back_leads_to_where_one_came_from(
    size: tuple[int, int],
) -> None:
    async with at_work([demo_target()], size=size) as work:
        await work.ready()
        await work.press("right_square_bracket", "A")
        await work.shows("All tools", "calculator_arithmetic")
        assert len(work.lines()) == size[1]
        assert ": actions" in work.lines()[-1]
        await work.press("escape")
        assert work.main.pane_name == "resources"


async def test_a_recording_shows_its_tools_and_a_wide_list_leaves_signatures_to_the_form() -> None:
    async with reading(RecordingDesk(Reader.open(RECORDING)), size=(80, 24)) as work:
        await work.shows("calculator_arithmetic")
        await work.press("A")
        await work.shows("All tools", "expression: string")
        await work.pilot.resize_terminal(120, 40)
        await work.until(lambda: "expression: string" not in work.text and "weather_current" in work.text)
