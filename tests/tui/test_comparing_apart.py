"""Large answers are compared in another process, with the same outcome as here."""

from __future__ import annotations

import json

from workbench.replay.comparing import compare
from workbench.tui.beside.apart import APART, compare_apart
from workbench.tui.beside.lines import rows_of, shape_words, stem_of


def texts(numbers: int) -> list[str | None]:
    values = {f"k{place}": [place, 1.0, "é\u2028", None] for place in range(numbers)}
    first, second = json.dumps(values), json.dumps(values | {"k0": "\ud800", "new": 2**70})
    return [first, None, second]


def test_another_process_finds_what_this_one_does() -> None:
    large = texts(8_000)
    assert sum(len(text) for text in large if text) > APART
    assert compare_apart(large) == compare(large)


def test_small_texts_and_none_at_all_stay_here() -> None:
    assert compare_apart(texts(2)) == compare(texts(2))
    assert compare_apart([None, None]) == compare([None, None])


def test_paths_within_an_answer_stand_under_one_heading_in_every_column() -> None:
    answers: list[str | None] = [
        json.dumps({"content": [{"type": "text", "text": json.dumps({"hits": [number], "of": 1})}]})
        for number in (1, 2)
    ]
    comparison = compare([*answers, None])
    rows = [rows_of(comparison, column, only=False) for column in range(3)]
    assert [row.heading or (row.side and row.side.path) for row in rows[0]] == [
        "content[0].type",
        "content[0].text",
        "hits[0]",
        "of",
    ]
    assert len({len(column) for column in rows}) == 1
    assert [row.side for row in rows[2]] == [None] * 4
    assert [row.side and row.side.mark for row in rows_of(comparison, 0, only=True)] == [None, "~"]


def test_a_stem_is_where_the_answer_proper_begins() -> None:
    assert stem_of("structuredContent.a") == "structuredContent"
    assert stem_of("contents[2].text[0].a") == "contents[2].text"
    assert stem_of("messages[0].content.text:3") == "messages[0].content.text"
    assert stem_of("content[0].text") == ""
    assert shape_words(("+ content[].text.a", "+ structuredContent.a", "and more")) == "+ a, and more"
