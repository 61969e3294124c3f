"""Which era is begun with, and what one target offers in each."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.config import Target
from workbench.core.policy import Policy
from workbench.wire.eras import Eras, chosen, place_of, without_sessions


@pytest.mark.parametrize(
    ("options", "era"),
    [
        ({}, "auto"),
        ({"era": "legacy"}, "legacy"),
        ({"era": "modern"}, "modern"),
        ({"offer": "2025-06-18"}, "legacy"),
        ({"offer": "1999-01-01"}, "legacy"),
        ({"offer": "2026-07-28"}, "modern"),
        ({"offer": "2025-06-18", "era": "auto"}, "legacy"),
        ({"offer": "DRAFT-1", "era": "modern"}, "modern"),
        ({"transport": "http", "url": "http://x"}, "auto"),
        ({"transport": "sse", "url": "http://x"}, "legacy"),
        ({"transport": "sse", "url": "http://x", "era": "modern"}, "modern"),
    ],
)
def test_there_is_nothing_to_find_out_where_it_is_said(options: Any, era: str) -> None:
    assert chosen(Target(**{"command": "x", **options})) == era


def test_a_verdict_holds_for_the_same_command_and_environment_or_address() -> None:
    one = Target(command="x", args=("a",), env={"A": "1"})
    assert place_of(one) == place_of(one.model_copy(update={"name": "other"}))
    for other in ({"args": ("b",)}, {"env": {"A": "2"}}, {"cwd": "/"}):
        assert place_of(one) != place_of(one.model_copy(update=other))


def test_what_only_a_session_can_have_is_not_offered_without_one() -> None:
    given = {
        "roots": {"listChanged": True, "x": 1},
        "tasks": {},
        "sampling": {"tools": {}},
        "experimental": {},
    }
    assert without_sessions(given) == {"roots": {"x": 1}, "sampling": {"tools": {}}, "experimental": {}}
    assert given["roots"] == {"listChanged": True, "x": 1}


def test_one_target_offers_in_each_era_what_that_era_has() -> None:
    offered = {}
    for era in ("legacy", "modern"):
        eras = Eras(Target(command="x", era=era), {"name": "n"}, Policy(), lambda _: None)
        offered[era] = eras.first().capabilities
    assert offered["legacy"]["roots"] == {"listChanged": True}
    assert offered["modern"] == {"roots": {}, "sampling": {}, "elicitation": {"form": {}, "url": {}}}
