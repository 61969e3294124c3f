"""The viewer: exact text, any size, few rows looked at, search while keys work."""

from __future__ import annotations

import json
import time

import pytest

from tests.tui.stage import Stage
from tests.tui.waiting import until
from workbench.tui.widgets.documents import HexRows, TextRows, lay_out
from workbench.tui.widgets.json_view import TextView

pytestmark = pytest.mark.anyio


def stage() -> Stage:
    return Stage(lambda: [TextView()])


async def test_json_is_indented_with_every_token_as_it_was_written() -> None:
    app = stage()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TextView)
        view.show(b'{"id":9007199254740993,"n":1.0,"n":1e400,"t":"\\u00e9","e":[]}')
        await pilot.pause()
        assert app.lines()[:7] == [
            " {",
            '   "id": 9007199254740993,',
            '   "n": 1.0,',
            '   "n": 1e400,',
            '   "t": "\\u00e9",',
            '   "e": []',
            " }",
        ]


async def test_the_views_go_round_and_the_source_stays_as_it_came() -> None:
    body = b'{"a":"\x1b[2J \xff"}'
    app = stage()
    async with app.run_test(size=(90, 12)) as pilot:
        view = app.query_one(TextView)
        view.focus()
        view.show(body)
        await pilot.pause()
        assert app.lines()[1] == '   "a": "␛[2J \\xff"'
        await pilot.press("v")
        assert app.lines()[0] == ' {"a":"␛[2J \\xff"}'
        await pilot.press("v")
        assert app.lines()[0].startswith(" 00000000  7b 22 61 22 3a 22 1b 5b")
        await pilot.press("v")
        assert app.lines()[0] == " {"
        assert view.source == body


async def test_what_is_no_json_is_shown_as_text() -> None:
    app = stage()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TextView)
        view.show("Server v1 up on stdin\r\n\tsecond\u2028line\n".encode())
        await pilot.pause()
        assert app.lines()[:3] == [" Server v1 up on stdin", "     second\\u2028line", ""]
        assert view.status == "text   38 B"


async def test_one_line_of_five_megabytes_is_wrapped_while_keys_answer() -> None:
    body = json.dumps({"text": "word " * 1_000_000}).encode()
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(TextView)
        view.focus()
        view.show(body)
        assert view.busy
        slowest = 0.0
        while view.busy:
            began = time.perf_counter()
            await pilot.pause(0)
            slowest = max(slowest, time.perf_counter() - began)
        assert slowest < 0.5
        await pilot.press("end")
        await until(pilot, lambda: app.lines()[-1].startswith(" }"))
        assert view.height > 60_000
        began = time.perf_counter()
        await pilot.press("pageup", "pageup", "home")
        assert time.perf_counter() - began < 2
        assert app.lines()[1].startswith('   "text": "word word')


async def test_without_wrapping_a_long_line_is_scrolled_sideways() -> None:
    app = stage()
    async with app.run_test(size=(40, 6)) as pilot:
        view = app.query_one(TextView)
        view.focus()
        view.show(b"[" + b"0123456789" * 20 + b"]", "raw")
        await pilot.press("z")
        assert view.height == 1
        await pilot.press("right", "right")
        assert app.lines()[0].startswith(" 5678901234")
        await pilot.press(*["right"] * 60)
        assert app.lines()[0].endswith("789]")
        await pilot.press(*["left"] * 60)
        assert app.lines()[0].startswith(" [0123")


async def test_search_finds_on_goes_round_and_says_when_there_is_nothing() -> None:
    lines = [f"line {number}" for number in range(1000)]
    lines[700] = "a Needle here"
    app = stage()
    async with app.run_test(size=(60, 10)) as pilot:
        view = app.query_one(TextView)
        view.focus()
        view.show("\n".join(lines).encode())
        await pilot.press("slash", *"needle")
        assert app.lines()[-1].startswith(" / needle▏")
        await pilot.press("enter")
        await until(pilot, lambda: any("Needle" in line for line in app.lines()))
        assert view.status.endswith("lines")
        await pilot.press("n")
        await until(pilot, lambda: "from the start again" in view.status)
        await pilot.press("N")
        await until(pilot, lambda: "from the end again" in view.status)
        view.search("NEEDLE")
        await until(pilot, lambda: "no NEEDLE here" in view.status)


async def test_letters_are_text_while_a_search_is_typed_and_escape_ends_it() -> None:
    app = stage()
    async with app.run_test(size=(60, 10)) as pilot:
        view = app.query_one(TextView)
        view.focus()
        view.show(b"{}")
        await pilot.press("slash", "v", "n", "z")
        assert app.lines()[-1].startswith(" / vnz▏")
        assert view.view == "pretty"
        await pilot.press("escape")
        assert app.lines()[-1] == ""


async def test_a_new_width_keeps_the_place() -> None:
    app = stage()
    async with app.run_test(size=(60, 10)) as pilot:
        view = app.query_one(TextView)
        view.show("\n".join(f"{number:04} " + "words " * 20 for number in range(300)).encode())
        await pilot.pause()
        row = next(at for at in range(view.height) if "0150" in view.text[view.row_bounds(at)])
        view.scroll_line(row)
        await pilot.resize_terminal(40, 10)
        await pilot.pause()
        assert app.lines()[0].startswith(" 0150")


@pytest.mark.parametrize("wrap", [True, False])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n",
        b"\n\n\n",
        b"[" * 2000,
        "漢字".encode() * 500,
        "e\u0301\u202e\x1b".encode() * 500,
        b"\xff\xfe" * 300,
        b'{"a":1}\n{"b":2}\n',
    ],
)
def test_rows_hold_the_whole_text_whatever_it_is(body: bytes, wrap: bool) -> None:
    rows = lay_out(body, "raw", 30, wrap)
    assert isinstance(rows, TextRows)
    shown = "".join("".join(span.text for span in rows.row(at, 0, 10**9)) for at in range(rows.height))
    assert shown == rows.text.replace("\n", "")


@pytest.mark.parametrize("width", [20, 77, 120])
def test_hex_shows_every_byte(width: int) -> None:
    body = bytes(range(256)) + b"tail"
    rows = HexRows(body, width)
    digits = "".join(rows.row(at, 0, 100)[1].text for at in range(rows.height))
    assert bytes.fromhex(digits) == body
