"""Remote text on its way to the screen."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from workbench.tui import figures
from workbench.tui.marks import ASCII, UNICODE
from workbench.tui.palette import DARK, LIGHT, NO_COLOUR, SIXTEEN, Palette, cell
from workbench.tui.safe import safe, safe_cut, safe_fit, safe_json, safe_lines
from workbench.tui.widgets.line_edit import LineEdit

OBEYED = "\x1b\x07\x08\r\x00\x9b\x9d\u202e\u2066\u200b\u2028\ufeff"


@given(st.text(), st.integers(0, 60))
def test_no_control_character_passes_and_the_width_holds(text: str, width: int) -> None:
    cut = safe_cut(text, width)
    assert not set(cut) & set(OBEYED)
    assert cell_len(cut) <= width
    assert cell_len(safe_fit(text, width)) == width
    assert not set(safe(text).plain) & set(OBEYED + "\n")
    assert not set(safe_lines(text).plain) & set(OBEYED)


def test_markup_is_shown_not_obeyed() -> None:
    assert safe("[bold]x[/nope]").plain == "[bold]x[/nope]"
    assert safe("[bold]x[/nope]").spans == []


def test_a_text_of_megabytes_is_cut_before_it_is_cleaned() -> None:
    assert safe_cut("\x1b" * 5_000_000, 4) == "␛␛␛…"
    assert safe_fit("漢字漢字", 5) == "漢字…"
    assert safe_fit("12 ms", 8, right=True) == "   12 ms"


@given(st.text())
def test_json_for_an_editor_means_the_same_and_hides_nothing(text: str) -> None:
    written = safe_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert not set(written) & set(OBEYED)


@pytest.mark.parametrize("marks", [UNICODE, ASCII])
def test_every_mark_is_one_cell_wide(marks: tuple[str, ...]) -> None:
    assert all(len(mark) == 1 and cell_len(mark) == 1 for mark in marks)


def test_ascii_marks_are_ascii() -> None:
    assert all(mark.isascii() for mark in ASCII)


USED = (
    234,
    236,
    252,
    255,
    245,
    249,
    110,
    144,
    108,
    179,
    174,
    139,
    240,
    253,
    235,
    241,
    25,
    58,
    22,
    94,
    124,
    96,
)


@pytest.mark.parametrize("number", USED)
def test_every_colour_comes_out_as_its_cell_on_a_terminal_of_256(number: int) -> None:
    from rich.color import Color, ColorSystem

    assert Color.parse(cell(number)).downgrade(ColorSystem.EIGHT_BIT).number == number
    assert cell(number) in {colour for palette in (DARK, LIGHT) for colour in _all_colours(palette)}


def _all_colours(palette: Palette) -> list[str]:
    return [*palette.colours.values(), palette.ground, palette.raised, palette.quiet_raised]


def test_every_palette_has_every_role_without_italic_reverse_or_blink() -> None:
    for palette in (DARK, LIGHT, SIXTEEN, NO_COLOUR):
        assert palette.colours.keys() == DARK.colours.keys()
        for role in ("text", "bright", "quiet", "accent", "client", "ok", "waiting", "failed", "finding"):
            for raised in (False, True):
                style = palette.style(role, raised)
                assert not any((style.italic, style.reverse, style.blink))
                assert palette.content(role).foreground is not None


@pytest.mark.parametrize(
    ("ns", "shown"),
    [
        (None, ""),
        (0, "0.00 ms"),
        (420_000, "0.42 ms"),
        (12_340_000, "12.3 ms"),
        (412_000_000, "412 ms"),
        (999_600_000, "1.00 s"),
        (4_204_000_000, "4.20 s"),
        (59_990_000_000, "1.00 min"),
        (130_000_000_000, "2.17 min"),
        (3_780_000_000_000, "1.05 h"),
    ],
)
def test_durations_have_three_digits(ns: int | None, shown: str) -> None:
    assert figures.duration(ns) == shown


def test_sizes_times_and_counts_are_short() -> None:
    sizes = [figures.size(number) for number in (0, 999, 1000, 2_100, 999_960, 16_777_216, 10**15)]
    assert sizes == ["0 B", "999 B", "1.0 kB", "2.1 kB", "1.0 MB", "16.8 MB", "1000.0 TB"]
    assert figures.count(12904) == "12,904"
    offsets = [figures.offset(seconds * 10**9 + 133_000_000) for seconds in (0, 62, 3723)]
    assert offsets == ["+0.133", "+1:02.133", "+1:02:03"]
    assert figures.offset(-5_000_000) == "-0.005"
    assert len(figures.clock(1_700_000_000_123_000_000)) == 12
    assert figures.clock(10**30) == "--:--:--.---"


def typed(text: str, *keys: str) -> LineEdit:
    edit = LineEdit(text)
    for key in keys:
        assert edit.press(key, key if len(key) == 1 else None)
    return edit


@pytest.mark.parametrize(
    ("keys", "text", "caret"),
    [
        (["x"], "one twox", 8),
        (["home", "x"], "xone two", 1),
        (["left", "left", "backspace"], "one wo", 4),
        (["ctrl+left", "ctrl+k"], "one ", 4),
        (["ctrl+w"], "one ", 4),
        (["ctrl+w", "ctrl+w", "ctrl+w"], "", 0),
        (["home", "delete", "ctrl+right"], "ne two", 2),
        (["ctrl+u"], "", 0),
        (["right", "delete", "end"], "one two", 7),
    ],
)
def test_a_line_is_edited_with_the_usual_keys(keys: list[str], text: str, caret: int) -> None:
    edit = typed("one two", *keys)
    assert (edit.text, edit.caret) == (text, caret)


def test_keys_that_mean_nothing_to_a_line_are_not_taken() -> None:
    assert not LineEdit("x").press("f5", None)
    assert not LineEdit("x").press("escape", "\x1b")


@given(st.text(), st.integers(0, 300), st.integers(1, 40))
def test_the_caret_is_always_within_the_window(text: str, caret: int, width: int) -> None:
    edit = LineEdit(text)
    edit.caret = min(caret, len(text))
    before, behind = edit.window(width)
    assert cell_len(before) + 1 + cell_len(behind) <= width
    assert not set(before + behind) & set(OBEYED + "\n")
