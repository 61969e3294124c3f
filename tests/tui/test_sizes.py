"""Terminals that are small, that shrink and that grow, with something half done on the screen."""

from __future__ import annotations

import pytest

from tests.tui.at_work import AtWork, at_work, demo_target

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
