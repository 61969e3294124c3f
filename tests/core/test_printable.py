"""Text of a peer is shown, never obeyed."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.printable import printable, printable_json, printable_lines


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("plain text, ÄÖ 漢字 שלום", "plain text, ÄÖ 漢字 שלום"),
        ("\x1b]52;c;QUJD\x07", "␛]52;c;QUJD␇"),
        ("a\x9bb", "a\\x9bb"),
        ("a\r\b\x7f\x00", "a␍␈␡␀"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u061cb", "a\\u061cb"),
        ("x\u200dy", "x\\u200dy"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud83d", "\\ud83d"),
        ("one\ntwo", "one␊two"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_shown(sent: str, shown: str) -> None:
    assert printable(sent) == shown


def test_line_ends_stay_line_ends_in_text_of_several_lines() -> None:
    assert printable_lines("one\r\ntwo\n\tthree\rfour\x1b") == "one\ntwo\n    three␍four␛"


@given(st.text(st.characters(codec=None)))
def test_no_control_format_or_surrogate_character_is_left(text: str) -> None:
    shown = printable(text)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    shown.encode()
    assert printable(shown) == shown


@given(st.text())
def test_only_line_ends_are_left_in_lines(text: str) -> None:
    left = [c for c in printable_lines(text) if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert set(left) <= {"\n"}


@given(st.recursive(st.text() | st.integers(), st.lists))
def test_json_keeps_its_meaning_and_hides_nothing(value: object) -> None:
    shown = printable_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert json.loads(shown) == value
    assert printable_lines(shown) == shown
