"""JSON as text: nothing but white space ever changes."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import many
from workbench.core import jsontext

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES, st.sampled_from([None, 0, 3]), st.booleans())
def test_pretty_printing_changes_white_space_only(value: object, indent: int | None, escaped: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    shown = jsontext.pretty(text)
    assert list(jsontext.tokens(shown)) == list(jsontext.tokens(text))
    assert "".join(jsontext.pretty_pieces(text)) == shown
    assert jsontext.compact(shown) == jsontext.compact(text)


@given(st.text(alphabet='{}[]",:\\ \n\t019.eE+-truefalsnNI\u00e9\ud800\u2028x', max_size=200))
def test_any_text_is_printed_without_losing_a_token(text: str) -> None:
    shown = jsontext.pretty(text)
    assert list(jsontext.tokens(shown)) == list(jsontext.tokens(text))


@given(VALUES)
def test_compact_is_what_a_json_writer_makes_of_it(value: object) -> None:
    assert jsontext.compact(json.dumps(value, indent=2)) == json.dumps(value, separators=(",", ":"))


def test_spelling_order_and_duplicate_keys_are_kept() -> None:
    text = '{"b":1.0,"a":9007199254740993,"b":1e400,"c":-0,"d":"\\u00e9\\/","e":[],"f":{}}'
    assert jsontext.pretty(text).splitlines() == [
        "{",
        '  "b": 1.0,',
        '  "a": 9007199254740993,',
        '  "b": 1e400,',
        '  "c": -0,',
        '  "d": "\\u00e9\\/",',
        '  "e": [],',
        '  "f": {}',
        "}",
    ]


def test_what_strict_json_refuses_is_printed_all_the_same() -> None:
    assert jsontext.pretty('{"a":[NaN,-Infinity]}').splitlines() == [
        "{",
        '  "a": [',
        "    NaN,",
        "    -Infinity",
        "  ]",
        "}",
    ]
    assert jsontext.pretty('{"a":[1,"half') == '{\n  "a": [\n    1,\n    "half'


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 900 + "1," * 100_000, '{"a":' * 50_000, "]" * 1000])
def test_deep_nesting_neither_fails_nor_grows_without_bound(text: str) -> None:
    shown = jsontext.pretty(text)
    assert len(shown) <= len(text) * (2 * jsontext.MAX_INDENT + 2)


def test_a_long_string_full_of_escapes_takes_linear_time() -> None:
    def seconds(count: int) -> float:
        text = '{"a":"' + "\\n" * count + '"'
        began = time.perf_counter()
        "".join(jsontext.pretty_pieces(text))
        return time.perf_counter() - began

    seconds(1000)
    assert seconds(800_000) < 60 * max(seconds(80_000), 0.001)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "expecting value"),
        ("{", "expecting property name enclosed in double quotes"),
        ("{'a':1}", "expecting property name enclosed in double quotes"),
        ("1 2", "extra data"),
        ("NaN", "NaN is not JSON"),
        ("[" * 100_000, "nested too deeply to be read"),
    ],
)
def test_a_text_that_is_not_json_says_why(text: str, why: str) -> None:
    found = jsontext.problem(text)
    assert found is not None
    assert found.why == why


def test_a_problem_has_its_place() -> None:
    assert jsontext.problem('{\n "a": x}') == jsontext.Problem("expecting value", 2, 7)


@pytest.mark.parametrize("text", ["1", "9" * 5000, "1e400", '"x"', "null", '{"a":1,"a":2}', " [1] "])
def test_a_text_that_is_json_has_no_problem(text: str) -> None:
    assert jsontext.problem(text) is None


def test_members_are_cut_out_as_they_are_written() -> None:
    text = ' {"a" : 1.0, "b":{"c":[1, 2]},"a":' + "9" * 5000 + "} "
    assert jsontext.members(text) == [("a", "1.0"), ("b", '{"c":[1, 2]}'), ("a", "9" * 5000)]
    assert jsontext.members("{}") == []
    assert jsontext.elements('[1, {"a":2}]') == [("0", "1"), ("1", '{"a":2}')]


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"a"}', '{"a":1,}', '{"a":1} x', "{1:2}", "[" * 100_000])
def test_what_is_no_object_has_no_members(text: str) -> None:
    assert jsontext.members(text) is None


@given(st.dictionaries(st.text(), VALUES))
@settings(max_examples=many(50))
def test_a_pointer_finds_every_member(value: dict[str, object]) -> None:
    text = json.dumps(value)
    for key, inner in value.items():
        pointer = "/" + key.replace("~", "~0").replace("/", "~1")
        assert jsontext.lookup(text, pointer) == json.dumps(inner)


def test_a_pointer_to_nothing_finds_nothing() -> None:
    text = '{"a":[10,{"b":20}],"a":[30]}'
    assert jsontext.lookup(text, "") == text
    assert jsontext.lookup(text, "/a/0") == "30"
    assert jsontext.lookup(text, "/a/1/b") is None
    assert jsontext.lookup(text, "/a/0/b") is None
    assert jsontext.lookup(text, "a") is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (" {}", "object"),
        ("[", "array"),
        ('"', "string"),
        ("-1", "number"),
        ("t", "boolean"),
        ("n", "null"),
        ("", ""),
    ],
)
def test_the_kind_of_a_value_is_told_by_its_first_character(text: str, kind: str) -> None:
    assert jsontext.kind_of(text) == kind
