"""Terminals that are small, that shrink and that grow, with something half done on the screen."""

from __future__ import annotations

import pytest
from textual import events
from textual.geometry import Size
from textual.widget import Widget

from tests.servers.targets import server
from tests.tui.at_work import AtWork, at_work, demo_target
from tests.tui.stage import Stage
from tests.tui.waiting import until
from workbench.tui.told_sizes import ToldSizes

pytestmark = pytest.mark.anyio

SIZES = ((20, 5), (60, 15), (200, 50), (59, 40), (80, 14), (80, 24))


async def resized(work: AtWork, width: int, height: int) -> None:
    await work.pilot.resize_terminal(width, height)
    await work.until(lambda: tuple(work.main.size) == (width, height))
    await work.pilot.pause()


async def test_below_the_least_size_one_line_says_so_and_nothing_else_is_seen() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        for width, height in ((20, 5), (59, 40), (80, 14)):
            await resized(work, width, height)
            await work.shows("needs 60×15")
            assert len([line for line in work.lines() if line.strip()]) == 1


async def test_what_is_being_typed_outlives_every_size() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("enter", *"1+2")
        for width, height in SIZES:
            await resized(work, width, height)
        await work.press(*"+3", "enter")
        await work.shows('{"expression":"1+2+3"}')
        assert b'"expression":"1+2+3"' in work.sent("tools/call")[0]


@pytest.mark.parametrize("key", ["question_mark", "colon", "n", "k", "f", "slash", "e"])
async def test_nothing_breaks_whatever_is_open_while_the_size_changes(key: str) -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press(key)
        for width, height in SIZES:
            await resized(work, width, height)
        await work.press("escape", "escape", "escape")
        await work.shows("demo ready", "calculator_arithmetic")


@pytest.mark.parametrize("size", [(60, 15), (80, 24)])
async def test_every_pane_fits_its_terminal_to_the_last_line(size: tuple[int, int]) -> None:
    async with at_work([demo_target()], size=size) as work:
        await work.ready()
        for _ in range(7):
            lines = work.lines()
            assert len(lines) == size[1]
            assert ": actions" in lines[-1]
            assert "demo" in lines[0]
            await work.press("right_square_bracket")


class Told(Widget):
    """Counts how often it is told its size."""

    def on_mount(self) -> None:
        self.sizes: list[Size] = []

    def on_resize(self, event: events.Resize) -> None:
        self.sizes.append(event.size)


async def test_a_size_the_framework_did_not_tell_is_told_once_after_the_layout() -> None:
    app = Stage(lambda: [Told()])
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        told = app.query_one(Told)
        told.sizes.clear()
        ToldSizes().watch(app.screen)
        told.refresh(layout=True)
        await until(pilot, lambda: told.sizes)
        told.refresh(layout=True)
        await pilot.pause()
        assert told.sizes == [told.outer_size]
        await pilot.resize_terminal(90, 30)
        await until(pilot, lambda: told.sizes[-1].width == 90)


async def test_panes_stand_side_by_side_where_there_is_room_for_both() -> None:
    async with at_work([demo_target()], size=(120, 40)) as work:
        await work.ready()
        for name in ("tools", "resources", "prompts", "logs"):
            await work.until(lambda name=name: work.main.panes[name].has_class("wide"))
            await work.press("right_square_bracket")


async def test_a_long_form_takes_the_rows_that_are_there_and_its_wire_line_stays_with_it() -> None:
    async with at_work([server("wants_many_arguments", name="many")]) as work:
        await work.ready()
        await work.press("enter", *"abc")
        await work.shows('wire        {"field_24":"abc"}')
        fields = [line for line in work.lines() if line.strip("› ").startswith("field_")]
        assert len(fields) >= 7
        assert "as listed" not in work.text
