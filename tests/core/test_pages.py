"""Reading a listing to its end: cursors are opaque, and no server can make it endless."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.core.pages import MAX_PAGES, Pages


def page(*names: str, **more: Any) -> dict[str, Any]:
    return {"tools": [{"name": name} for name in names], **more}


def test_the_first_page_is_asked_for_without_params() -> None:
    assert Pages("tools").params is None


def test_pages_are_followed_by_their_cursors_to_the_end() -> None:
    pages = Pages("tools")
    assert pages.take(page("a", nextCursor='c"1'))
    assert pages.params == '{"cursor":"c\\"1"}'
    assert not pages.take(page("b"))
    assert [item["name"] for item in pages.items] == ["a", "b"]
    assert pages.defects == []


def test_an_empty_cursor_is_a_cursor() -> None:
    pages = Pages("tools")
    assert pages.take(page("a", nextCursor=""))
    assert pages.params == '{"cursor":""}'


@pytest.mark.parametrize(
    ("cursor", "defect"), [(None, "cursor-null"), (7, "cursor-type"), ({}, "cursor-type")]
)
def test_a_cursor_that_is_no_string_ends_the_listing_and_is_flagged(cursor: Any, defect: str) -> None:
    pages = Pages("tools")
    assert not pages.take(page("a", nextCursor=cursor))
    assert pages.defects == [defect]


def test_a_cursor_seen_before_ends_the_listing() -> None:
    pages = Pages("tools")
    assert pages.take(page("a", nextCursor="1"))
    assert pages.take(page("b", nextCursor="2"))
    assert not pages.take(page("c", nextCursor="1"))
    assert pages.defects == ["cursor-loop"]
    assert len(pages.items) == 3


def test_a_server_that_never_ends_is_read_to_a_bound() -> None:
    pages = Pages("tools")
    count = 0
    while pages.more:
        pages.take(page("a", nextCursor=str(count)))
        count += 1
    assert count == MAX_PAGES
    assert pages.defects == ["too-many-pages"]


@pytest.mark.parametrize("result", [None, [], 7, {}, {"tools": None}, {"tools": {}}])
def test_a_result_without_items_ends_the_listing_and_is_flagged(result: Any) -> None:
    pages = Pages("tools")
    assert not pages.take(result)
    assert pages.defects == ["items-shape"]


def test_an_odd_item_does_not_hide_the_others() -> None:
    pages = Pages("tools")
    pages.take({"tools": [7, {"name": "a"}, None]})
    assert pages.items == [{"name": "a"}]
    assert pages.defects == ["items-shape"]
