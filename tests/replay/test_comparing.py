"""JSON texts held against each other: every difference is marked, on every side, and counted once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.replay.comparing import MAX_LINES, Comparison, Verdict, compare, merged
from workbench.replay.diff import differences

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
#: What cannot be mistaken for JSON or for lines within a string.
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("xyz", max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=4)
    ),
    max_leaves=12,
)


#: A loaded machine is slow in making values, which says nothing about comparing them.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def both(left: Any, right: Any) -> Comparison:
    return compare([json.dumps(left), json.dumps(right)])


def told(comparison: Comparison) -> list[tuple[str, ...]]:
    """Each line as ``mark path value`` for each side."""
    return [
        tuple(f"{side.mark} {side.path} {side.value}".strip() for side in line if side)
        for line in comparison.lines
    ]


def verdict(comparison: Comparison, column: int = 1) -> Verdict:
    found = comparison.verdicts[column]
    assert found is not None
    return found


@unhurried
@given(VALUES)
def test_a_value_has_no_difference_from_itself(value: Any) -> None:
    comparison = both(value, value)
    assert verdict(comparison) == Verdict()
    assert comparison.different() == []
    assert all(left and right and left[:2] == right[:2] for left, right in comparison.lines)


@unhurried
@given(PLAIN, PLAIN)
def test_values_differ_exactly_where_a_replay_says_so(left: Any, right: Any) -> None:
    assert bool(verdict(both(left, right)).differences) == bool(differences(left, right))


@unhurried
@given(VALUES, VALUES)
def test_every_difference_is_marked_on_both_sides(left: Any, right: Any) -> None:
    comparison = both(left, right)
    for one, other in comparison.lines:
        assert one is not None
        assert other is not None
        assert one.mark == other.mark
        if one.value is None or other.value is None or one.value != other.value:
            numbers = one.value and other.value and not one.mark
            assert one.mark or numbers
    assert bool(comparison.different()) == bool(verdict(comparison).differences)


@unhurried
@given(VALUES, VALUES)
def test_what_is_added_one_way_is_missing_the_other_way(left: Any, right: Any) -> None:
    there, back = verdict(both(left, right)), verdict(both(right, left))
    assert there.differences == back.differences
    assert (there.changed, there.added, there.missing) == (back.changed, back.missing, back.added)


def test_lines_stand_beside_each_other_with_marks_and_the_shape_is_told() -> None:
    comparison = both(
        {"results": [{"id": "a1", "score": 0.92}, {"id": "b7"}]},
        {"results": [{"id": "a1", "score": 0.91, "lang": "en"}, {"id": "b7"}]},
    )
    assert told(comparison) == [
        ('results[0].id "a1"', 'results[0].id "a1"'),
        ("~ results[0].score 0.92", "~ results[0].score 0.91"),
        ("+ results[0].lang None", '+ results[0].lang "en"'),
        ('results[1].id "b7"', 'results[1].id "b7"'),
    ]
    assert verdict(comparison).sentence == "2 differences: 1 changed, 1 added"
    assert verdict(comparison).shape == ("+ results[].lang",)


def test_elements_belong_together_by_name_uri_or_id_and_else_by_place() -> None:
    comparison = both(
        [{"uri": "a", "x": 1}, {"uri": "b", "x": 2}], [{"uri": "b", "x": 2}, {"uri": "a", "x": 1}]
    )
    assert verdict(comparison).sentence == "the same"
    assert told(comparison)[1] == ("[0].x 1", "[1].x 1")
    assert verdict(both([1, 2], [2, 1])).changed == 2


def test_an_element_that_is_new_is_one_difference_whatever_is_in_it() -> None:
    comparison = both([{"name": "a"}], [{"name": "new", "x": 1, "y": [1, 2]}, {"name": "a"}])
    assert verdict(comparison).sentence == "1 difference: 1 added"
    assert [line[0].mark for line in comparison.lines if line[0]] == ["+", "+", "+", "+", ""]


def test_numbers_are_shown_as_written_and_compare_by_value() -> None:
    comparison = compare(
        ['{"a":1.0,"b":9007199254740993,"c":1e400}', '{"a":1,"b":9007199254740992,"c":1e401}']
    )
    assert told(comparison) == [
        ("a 1.0", "a 1"),
        ("~ b 9007199254740993", "~ b 9007199254740992"),
        ("~ c 1e400", "~ c 1e401"),
    ]


def test_true_is_not_one_and_null_is_not_absent() -> None:
    comparison = both({"a": True, "b": None, "c": []}, {"a": 1, "c": {}})
    assert told(comparison) == [("~ a true", "~ a 1"), ("- b null", "- b None"), ("~ c []", "~ c {}")]
    assert verdict(comparison).shape == ("~ a boolean to number", "- b", "~ c array to object")


def test_a_member_that_is_there_twice_is_shown_twice() -> None:
    assert told(compare(['{"a":1,"a":2}', '{"a":1}'])) == [("a 1", "a 1"), ("- a 2", "- a None")]


def test_json_within_a_string_is_looked_into() -> None:
    comparison = both({"text": '{"n": [1, 2]}'}, {"text": '{"n":[1,3]}'})
    assert told(comparison) == [("text.n[0] 1", "text.n[0] 1"), ("~ text.n[1] 2", "~ text.n[1] 3")]


def test_lines_of_a_text_are_aligned_by_what_they_say() -> None:
    comparison = both({"text": "a\nb\nc"}, {"text": "new\na\nb\nd"})
    assert told(comparison) == [
        ("+ text:1 None", '+ text:1 "new"'),
        ('text:1 "a"', 'text:2 "a"'),
        ('text:2 "b"', 'text:3 "b"'),
        ('~ text:3 "c"', '~ text:4 "d"'),
    ]


def test_four_texts_are_held_against_the_first() -> None:
    comparison = compare(['{"a":1}', '{"a":1}', '{"a":2,"b":0}', "{}"])
    assert told(comparison) == [
        ("~ a 1", "a 1", "~ a 2", "- a None"),
        ("+ b None", "b None", "+ b 0", "b None"),
    ]
    assert [each and each.sentence for each in comparison.verdicts] == [
        "the same",
        "the same",
        "2 differences: 1 changed, 1 added",
        "1 difference: 1 missing",
    ]


def test_who_takes_no_part_leaves_its_column_free() -> None:
    comparison = compare([None, '{"a":1}', None, '{"a":2}'])
    assert comparison.verdicts[0] is None
    assert [side and side.mark for side in comparison.lines[0]] == [None, "~", None, "~"]
    assert compare([None, None]) == Comparison([], (None, None))
    assert compare([]) == Comparison([], ())


@pytest.mark.parametrize("odd", ["", "not json", "[" * 100_000, '{"a":', "\ud800", "NaN", "-0"])
def test_nothing_raises_whatever_the_text_is(odd: str) -> None:
    assert verdict(compare([odd, odd])).sentence == "the same"
    assert verdict(compare([odd, '{"a":1}'])).changed == 1


def test_large_texts_keep_the_lines_that_differ_and_count_the_others() -> None:
    many = {f"k{place}": place for place in range(30_000)}
    comparison = both(many, many | {"k29999": "x"})
    assert comparison.left
    assert len(comparison.lines) < MAX_LINES
    assert told(comparison)[-1] == ("~ k29999 29999", '~ k29999 "x"')


def test_orders_are_merged_behind_what_each_stood_behind() -> None:
    assert merged([["a", "b", "c"], ["a", "x", "y", "b"], ["z", "c"]]) == ["z", "a", "x", "y", "b", "c"]
