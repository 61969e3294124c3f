"""The method table: names, gates, and the revisions that have a method."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.core.methods import (
    LIST_METHODS,
    METHODS,
    REVISIONS,
    exists_in,
    gate_of,
    has_capability,
    name_of,
)


def test_every_row_is_consistent() -> None:
    for name, method in METHODS.items():
        assert method.name == name
        assert method.to_server or method.to_client
        assert REVISIONS.index(method.first) <= REVISIONS.index(method.last)
        assert method.request is not name.startswith("notifications/")
    assert set(LIST_METHODS) <= set(METHODS)


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", {"name": "x", "arguments": {}}, "x"),
        ("prompts/get", {"name": "p"}, "p"),
        ("resources/read", {"uri": "file:///x"}, "file:///x"),
        ("resources/subscribe", {"uri": "u"}, "u"),
        ("notifications/resources/updated", {"uri": "u"}, "u"),
        ("tasks/get", {"taskId": "t"}, "t"),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}}, "p"),
        ("completion/complete", {"ref": {"type": "ref/resource", "uri": "u"}}, "u"),
        ("completion/complete", {"ref": 7}, None),
        ("tools/call", {"name": 7}, None),
        ("tools/call", [], None),
        ("tools/call", None, None),
        ("vendor/x", {"name": "x"}, None),
        (None, {"name": "x"}, None),
    ],
)
def test_a_message_is_known_by_its_name(method: str | None, params: Any, name: str | None) -> None:
    assert name_of(method, params) == name


def test_completion_needed_no_capability_in_the_first_revision() -> None:
    assert gate_of("completion/complete", "2024-11-05") == ""
    assert gate_of("completion/complete", "2025-03-26") == "completions"
    assert gate_of("vendor/x") == ""


@pytest.mark.parametrize(
    ("method", "revision", "there"),
    [
        ("elicitation/create", "2025-03-26", False),
        ("elicitation/create", "2025-06-18", True),
        ("tasks/list", "2025-11-25", True),
        ("tasks/list", "2026-07-28", False),
        ("initialize", "2026-07-28", False),
        ("server/discover", "2025-11-25", False),
        ("vendor/x", "2025-11-25", False),
    ],
)
def test_a_method_exists_from_its_first_to_its_last_revision(method: str, revision: str, there: bool) -> None:
    assert exists_in(method, revision) is there


@pytest.mark.parametrize(
    ("capabilities", "dotted", "there"),
    [
        ({"resources": {"subscribe": True}}, "resources.subscribe", True),
        ({"resources": {"subscribe": False}}, "resources.subscribe", False),
        ({"resources": {}}, "resources", True),
        ({"resources": None}, "resources", False),
        ({"resources": True}, "resources.subscribe", False),
        (None, "tools", False),
        ([], "tools", False),
    ],
)
def test_a_capability_is_there_when_it_is_neither_false_nor_null(
    capabilities: Any, dotted: str, there: bool
) -> None:
    assert has_capability(capabilities, dotted) is there
