"""JSON with comments and trailing commas, and the place of each value."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.config.jsonc import MAX_DEPTH, Document, Fault, Node

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)
GAPS = st.lists(
    st.sampled_from([" ", "\n", "\t", "\r\n", '// a, "b" ]}\n', "/* { \n * , */", "/***/", "//\n"]),
    max_size=3,
).map("".join)


def read(text: str) -> Any:
    return Document(text).root.plain()


@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_what_is_json_is_read_as_json(value: Any, indent: Any, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert repr(read(text)) == repr(json.loads(text))


@st.composite
def commented(draw: st.DrawFn) -> tuple[str, Any]:
    """A text with comments and trailing commas anywhere, and what it means."""
    value = draw(VALUES)

    def write(value: Any) -> str:
        gap = draw(GAPS)
        comma = draw(st.sampled_from(["", ",", f",{draw(GAPS)}"]))
        if isinstance(value, dict) and value:
            members = [
                f"{draw(GAPS)}{json.dumps(name)}{draw(GAPS)}:{write(item)}" for name, item in value.items()
            ]
            return f"{gap}{{{','.join(members)}{comma}}}{draw(GAPS)}"
        if isinstance(value, list) and value:
            return f"{gap}[{','.join(map(write, value))}{comma}]{draw(GAPS)}"
        return f"{gap}{json.dumps(value)}{draw(GAPS)}"

    return write(value), value


@given(commented())
def test_comments_and_trailing_commas_change_nothing(case: tuple[str, Any]) -> None:
    text, value = case
    assert repr(read(text)) == repr(value)


@given(commented())
def test_every_value_and_name_stands_where_it_is_said_to_stand(case: tuple[str, Any]) -> None:
    document = Document(case[0])

    def look(node: Node) -> None:
        assert repr(read(document.text[node.start : node.end])) == repr(node.plain())
        children = node.value.values() if isinstance(node.value, dict) else node.value
        for child in children if isinstance(node.value, (dict, list)) else ():
            look(child)
        if isinstance(node.value, dict):
            for name, child in node.value.items():
                decoded, _ = json.JSONDecoder().raw_decode(document.text, child.key)
                assert decoded == name

    look(document.root)


@given(st.text(alphabet='{}[]",:/*\\\n 1-e.truefalsn', max_size=30))
def test_whatever_json_takes_is_taken_and_anything_else_is_a_fault_with_a_place(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with suppress(Fault):
            Document(text)
        return
    assert repr(read(text)) == repr(expected)


FAULTS = [
    ("", 1, 1, "a value is missing where the end of the file stands"),
    ('{"a": }', 1, 7, "a value is missing where '}' stands"),
    ('{\n  "a": 1\n  "b": 2\n}', 3, 3, "a comma, or }, is missing"),
    ('{"a" 1}', 1, 6, "a colon is missing after the name 'a'"),
    ("{a: 1}", 1, 2, "a name in quotes, or }, is missing where 'a' stands"),
    ("[1 2]", 1, 4, "a comma, or ], is missing"),
    ('{"a": "x', 1, 7, "a text in quotes is broken (unterminated string starting)"),
    ('{"a": "x\n"}', 1, 9, "a text in quotes is broken"),
    ("{} x", 1, 4, "'x' stands after the end"),
    ("{} /* x", 1, 4, "a comment is not closed"),
    ("[NaN]", 1, 2, "'NaN' stands"),
    ("[01]", 1, 2, "'01' stands"),
    ("[,]", 1, 2, "a value is missing"),
    ("[1,,2]", 1, 4, "a value is missing"),
    ("[" * (MAX_DEPTH + 1), 1, MAX_DEPTH + 1, "nested deeper"),
]


@pytest.mark.parametrize(("text", "line", "column", "sentence"), FAULTS)
def test_a_fault_is_told_with_line_and_column(text: str, line: int, column: int, sentence: str) -> None:
    with pytest.raises(Fault) as failure:
        Document(text)
    before = text[: failure.value.at]
    assert (before.count("\n") + 1, failure.value.at - (before.rfind("\n") + 1) + 1) == (line, column)
    assert sentence in str(failure.value)


def test_a_place_is_line_and_column() -> None:
    document = Document('{\n  // x\n  "a": [1,\n    22]\n}')
    inner = document.root.value["a"].value[1]
    assert document.place(inner.start) == (4, 5)
    assert document.place(document.root.value["a"].key) == (3, 3)


def test_a_member_given_twice_is_told_and_the_last_one_counts() -> None:
    document = Document('{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}')
    assert document.root.plain() == {"a": 3, "b": {"c": 2}}
    assert [(one.name, one.first, one.second) for one in document.repeated] == [("c", 15, 23), ("a", 1, 32)]


def test_a_mark_of_byte_order_is_passed_over() -> None:
    assert read("\ufeff{}") == {}
