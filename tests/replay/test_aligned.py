"""Differences as a person would say them: what belongs together is held against each other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.replay.aligned import aligned_differences
from workbench.replay.diff import ABSENT, Difference, differences


def found(recorded: Any, live: Any) -> list[Difference]:
    return aligned_differences(recorded, live, lambda *_: False)


def tools(*names: str, **more: str) -> dict[str, Any]:
    return {"tools": [{"name": name, "description": more.get(name, "a tool")} for name in names]}


def test_a_tool_that_is_gone_is_one_difference() -> None:
    [gone] = found(tools("a", "b", "c", "d"), tools("a", "c", "d"))
    assert gone.pointer == "/tools/1"
    assert gone.recorded["name"] == "b"
    assert gone.live is ABSENT


def test_a_tool_that_is_new_is_one_difference() -> None:
    [new] = found(tools("a", "c"), tools("a", "b", "c"))
    assert (new.pointer, new.recorded, new.live["name"]) == ("/tools/1", ABSENT, "b")


def test_a_list_in_another_order_is_one_difference() -> None:
    [order] = found(tools("a", "b", "c"), tools("c", "a", "b"))
    assert order.pointer == "/tools"
    assert order.why == "the same items in another order: 'a' was item 0 and is item 1"


def test_a_changed_member_is_found_in_a_list_in_another_order() -> None:
    order, changed = found(tools("a", "b"), tools("b", "a", b="other"))
    assert order.pointer == "/tools"
    assert (changed.pointer, changed.recorded, changed.live) == ("/tools/0/description", "a tool", "other")


def test_items_without_a_name_of_their_own_are_found_by_what_they_hold() -> None:
    [order] = found({"tags": ["x", "y", 1]}, {"tags": [1.0, "x", "y"]})
    assert (order.pointer, order.why) == ("/tags", "the same items in another order")


def test_what_is_the_same_at_both_ends_of_a_list_stays_out_of_it() -> None:
    [gone] = found([1, 2, 3, 4], [1, 3, 4])
    assert (gone.pointer, gone.recorded, gone.live) == ("/1", 2, ABSENT)
    [new] = found([1, 2, 3], [1, 2, 9, 3])
    assert (new.pointer, new.recorded, new.live) == ("/2", ABSENT, 9)
    changed, gone = found([1, 2, 3, 4], [1, 9, 4])[::-1]
    assert (changed.pointer, changed.recorded, changed.live) == ("/1", 2, 9)
    assert (gone.pointer, gone.recorded) == ("/2", 3)


def test_items_whose_names_the_server_made_up_belong_together_by_place() -> None:
    recorded = {"tasks": [{"id": "t-1", "state": "done"}, {"id": "t-2", "state": "open"}]}
    live = {"tasks": [{"id": "u-1", "state": "done"}, {"id": "u-2", "state": "lost"}]}
    assert [each.pointer for each in found(recorded, live)] == [
        "/tasks/0/id",
        "/tasks/1/id",
        "/tasks/1/state",
    ]


@pytest.mark.parametrize("same", ["x", "y"])
def test_names_that_stand_twice_name_nothing(same: str) -> None:
    recorded = [{"name": "x", "n": 1}, {"name": same, "n": 2}, {"name": "x", "n": 3}]
    assert [each.pointer for each in found(recorded, [*recorded[:2], {"name": "x", "n": 4}])] == ["/2/n"]


def test_an_excused_order_is_none() -> None:
    excused = aligned_differences(tools("a", "b"), tools("b", "a"), lambda pointer, *_: pointer == "/tools")
    assert excused == []


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "b", ""]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["name", "id", "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(_values, _values)
def test_it_finds_something_exactly_where_the_plain_comparison_does(left: Any, right: Any) -> None:
    assert bool(found(left, right)) == bool(differences(left, right))
