"""How long what a server told is fresh, and what makes it stale."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.core.caching import MAX_HINTS, Freshness
from workbench.core.jsonrpc import Message, decode


def result(**members: Any) -> Message:
    body = {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", **members}}
    return decode(json.dumps(body).encode()).messages[0]


def test_a_listing_is_fresh_for_as_long_as_it_says() -> None:
    fresh = Freshness()
    fresh.take("tools/list", None, result(ttlMs=1500, cacheScope="public"), 100.0)
    assert fresh.is_fresh("tools/list", None, 101.4)
    assert not fresh.is_fresh("tools/list", None, 101.5)
    hint = fresh.hint("tools/list")
    assert hint is not None
    assert (hint.ttl, hint.scope) == (1.5, "public")


@pytest.mark.parametrize("ttl", [None, -5, "60000", True, [], 0])
def test_what_says_nothing_readable_is_never_fresh(ttl: Any) -> None:
    fresh = Freshness()
    fresh.take("tools/list", None, result(ttlMs=ttl), 0.0)
    assert not fresh.is_fresh("tools/list", None, 0.0)


def test_pages_and_resources_are_fresh_by_themselves() -> None:
    fresh = Freshness()
    fresh.take("tools/list", None, result(ttlMs=1000), 0.0)
    fresh.take("tools/list", "next", result(ttlMs=9000), 0.0)
    fresh.take("resources/read", "a:1", result(ttlMs=1000), 0.0)
    assert not fresh.is_fresh("tools/list", None, 5.0)
    assert fresh.is_fresh("tools/list", "next", 5.0)
    assert not fresh.is_fresh("resources/read", "a:2", 0.5)


def test_a_result_of_another_method_is_never_kept() -> None:
    fresh = Freshness()
    fresh.take("tools/call", None, result(ttlMs=9000), 0.0)
    assert fresh.hint("tools/call") is None


def test_a_changed_list_is_stale_with_all_its_pages() -> None:
    fresh = Freshness()
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        for page in (None, "next"):
            fresh.take(method, page, result(ttlMs=9000), 0.0)
    fresh.changed("notifications/resources/list_changed")
    assert not fresh.is_fresh("resources/list", None, 1.0)
    assert not fresh.is_fresh("resources/templates/list", "next", 1.0)
    assert fresh.is_fresh("tools/list", "next", 1.0)
    assert fresh.is_fresh("prompts/list", None, 1.0)


@pytest.mark.parametrize(
    ("uri", "stale"), [("a:/x", True), ("a:/x/y", True), ("a:/", True), ("a:/xy", False)]
)
def test_an_updated_resource_is_stale_and_so_is_what_it_is_part_of(uri: str, stale: bool) -> None:
    fresh = Freshness()
    fresh.take("resources/read", "a:/x", result(ttlMs=9000), 0.0)
    fresh.changed("notifications/resources/updated", uri)
    assert fresh.is_fresh("resources/read", "a:/x", 1.0) is not stale


def test_what_is_kept_is_bounded() -> None:
    fresh = Freshness()
    for number in range(MAX_HINTS + 5):
        fresh.take("resources/read", str(number), result(ttlMs=9000), 0.0)
    assert not fresh.is_fresh("resources/read", "0", 1.0)
    assert fresh.is_fresh("resources/read", str(MAX_HINTS + 4), 1.0)
