"""The list: cursor by key, filter, sections, safe and aligned text."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from tests.tui.stage import Stage
from workbench.tui.widgets.rows import Cell, Rows, RowSpec

pytestmark = pytest.mark.anyio


def item(key: str, signature: str = "()", **more: str) -> RowSpec:
    return RowSpec(key, (Cell(key), Cell(signature, "quiet")), tail=more.get("tail", ""))


def stage() -> Stage:
    return Stage(lambda: [Rows(empty="no tools yet")])


async def test_the_cursor_stays_on_its_item_when_the_list_changes() -> None:
    app = stage()
    async with app.run_test(size=(80, 12), message_hook=app.hear) as pilot:
        rows = app.query_one(Rows)
        rows.focus()
        rows.set_rows([item("b"), item("c"), item("d")])
        await pilot.press("down")
        assert rows.key == "c"
        rows.set_rows([item("a"), item("b"), item("b2"), item("c"), item("d")])
        assert rows.key == "c"
        await pilot.pause()
        assert app.lines()[3].startswith(" › c")
        assert [message.key for message in app.kept(Rows.Moved)] == ["c"]


async def test_when_the_item_is_gone_the_cursor_goes_to_a_neighbour() -> None:
    app = stage()
    async with app.run_test(size=(80, 12)) as pilot:
        rows = app.query_one(Rows)
        rows.set_rows([item(key) for key in "abcd"])
        rows.select("c")
        rows.set_rows([item(key) for key in "abd"])
        assert rows.key == "d"
        rows.set_rows([])
        assert rows.key is None
        await pilot.pause()
        assert app.lines()[0] == "   no tools yet"


async def test_enter_and_a_second_click_choose_an_item() -> None:
    app = stage()
    async with app.run_test(size=(80, 12), message_hook=app.hear) as pilot:
        rows = app.query_one(Rows)
        rows.set_rows([item(key) for key in "abc"])
        rows.focus()
        await pilot.press("end", "enter")
        await pilot.click(Rows, offset=(5, 0))
        await pilot.click(Rows, offset=(5, 0))
        assert [message.key for message in app.kept(Rows.Chosen)] == ["c", "a"]


async def test_headings_part_sections_and_are_never_under_the_cursor() -> None:
    app = stage()
    async with app.run_test(size=(80, 12)) as pilot:
        rows = app.query_one(Rows)
        rows.focus()
        heading = RowSpec("h1", (Cell("resources"),), heading=True)
        other = RowSpec("h2", (Cell("templates"),), heading=True)
        rows.set_rows([heading, item("a"), item("b"), other, item("c")])
        assert rows.key == "a"
        await pilot.press("down", "down")
        assert rows.key == "c"
        await pilot.press("home")
        assert rows.key == "a"
        assert rows.total == 3


async def test_the_filter_keeps_items_that_have_every_word_and_drops_empty_sections() -> None:
    app = stage()
    async with app.run_test(size=(80, 12)) as pilot:
        rows = app.query_one(Rows)
        first, second = (RowSpec(key, (Cell(key),), heading=True) for key in ("h1", "h2"))
        rows.set_rows([first, item("weather_current", "location: string"), second, item("add", "a: number")])
        rows.set_filter("LOCATION weather")
        assert rows.keys == ["weather_current"]
        await pilot.pause()
        assert [line for line in app.lines() if line] == [
            " h1",
            " › weather_current  location: string",
        ]
        rows.set_filter("nothing like it")
        await pilot.pause()
        assert app.lines()[0] == "   nothing matches nothing like it"
        rows.set_filter("")
        assert rows.keys == ["weather_current", "add"]


async def test_hostile_and_wide_names_are_shown_and_keep_the_columns_aligned() -> None:
    names = ["plain", "漢字の道具", "evil\x1b]52;c;QUJD\x07", "[/nope]", "e\u0301e\u0301", "x\u202ey\u200b"]
    app = stage()
    async with app.run_test(size=(80, 12)) as pilot:
        rows = app.query_one(Rows)
        rows.set_rows([item(name, "SIGNATURE", tail="asks") for name in names])
        await pilot.pause()
        lines = app.lines()[: len(names)]
        assert len({cell_len(line.partition("SIGNATURE")[0]) for line in lines}) == 1
        assert len({cell_len(line) for line in lines}) == 1
        assert not any(set(line) & set("\x1b\x07\u202e\u200b") for line in lines)
        assert "evil␛]52;c;QUJD␇" in lines[2]


async def test_what_does_not_fit_is_cut_with_an_ellipsis_at_every_width() -> None:
    app = stage()
    async with app.run_test(size=(120, 12)) as pilot:
        rows = app.query_one(Rows)
        rows.set_rows([item("n" * 60, "s" * 200, tail="read-only"), item("short")])
        for width in (120, 80, 60, 36, 20, 5):
            await pilot.resize_terminal(width, 12)
            await pilot.pause()
            line = app.lines()[0]
            assert cell_len(line) <= width
            assert "…" in line or width < 8


async def test_a_list_of_five_thousand_items_pages_and_keeps_the_cursor_in_view() -> None:
    app = stage()
    async with app.run_test(size=(80, 12)) as pilot:
        rows = app.query_one(Rows)
        rows.focus()
        rows.set_rows([item(f"tool{number:04}") for number in range(5000)])
        await pilot.press("pagedown", "pagedown")
        assert rows.key == "tool0022"
        await pilot.press("end")
        await pilot.pause()
        assert rows.key == "tool4999"
        assert app.lines()[-1].startswith(" › tool4999")
        rows.set_rows([item(f"tool{number:04}") for number in range(2500, 5000)])
        await pilot.pause()
        assert rows.key == "tool4999"
        assert app.lines()[-1].startswith(" › tool4999")
