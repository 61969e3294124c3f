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
    goes,
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


TASKS = frozenset(name for name in METHODS if "tasks" in name.split("/"))


@pytest.mark.parametrize("revision", REVISIONS)
def test_each_revision_has_the_methods_that_the_official_sdk_knows_and_tasks(revision: str) -> None:
    from mcp_types import methods as sdk

    tables = (
        (sdk.CLIENT_REQUESTS, True, True),
        (sdk.SERVER_REQUESTS, True, False),
        (sdk.CLIENT_NOTIFICATIONS, False, True),
        (sdk.SERVER_NOTIFICATIONS, False, False),
    )
    for table, request, to_server in tables:
        theirs = {method for method, version in table if version == revision}
        ours = {
            row.name
            for row in METHODS.values()
            if row.request is request
            and exists_in(row.name, revision)
            and goes(row.name, revision, to_server)
        }
        assert ours - TASKS == theirs


@pytest.mark.parametrize(
    ("method", "ways"),
    [
        ("tasks/get", {"2025-11-25": (True, True), "2026-07-28": (True, False)}),
        ("tasks/cancel", {"2025-11-25": (True, True), "2026-07-28": (True, False)}),
        ("tasks/result", {"2025-11-25": (True, True)}),
        ("tasks/list", {"2025-11-25": (True, True)}),
        ("tasks/update", {"2026-07-28": (True, False)}),
        ("notifications/tasks", {"2026-07-28": (False, True)}),
        ("notifications/tasks/status", {"2025-11-25": (True, True)}),
    ],
)
def test_tasks_go_both_ways_until_they_are_an_extension(
    method: str, ways: dict[str, tuple[bool, bool]]
) -> None:
    found = {
        revision: (goes(method, revision, True), goes(method, revision, False))
        for revision in REVISIONS
        if exists_in(method, revision)
    }
    assert found == ways


@pytest.mark.parametrize("method", ["roots/list", "sampling/createMessage", "elicitation/create"])
def test_what_a_result_asks_in_the_stateless_era_is_no_message(method: str) -> None:
    assert exists_in(method, "2026-07-28")
    assert not goes(method, "2026-07-28", True)
    assert not goes(method, "2026-07-28", False)
    assert goes(method, "2025-11-25", False)


def test_a_method_nobody_knows_goes_nowhere() -> None:
    assert not goes("vendor/x", "2025-11-25", True)


GATES = {
    "": """initialize ping server/discover subscriptions/listen tasks/update notifications/tasks
        notifications/initialized notifications/cancelled notifications/progress
        notifications/elicitation/complete notifications/subscriptions/acknowledged""",
    "tools": "tools/list tools/call",
    "resources": "resources/list resources/templates/list resources/read",
    "resources.subscribe": "resources/subscribe resources/unsubscribe notifications/resources/updated",
    "prompts": "prompts/list prompts/get",
    "completions": "completion/complete",
    "logging": "logging/setLevel notifications/message",
    "tasks": "tasks/get tasks/result notifications/tasks/status",
    "tasks.list": "tasks/list",
    "tasks.cancel": "tasks/cancel",
    "roots": "roots/list",
    "roots.listChanged": "notifications/roots/list_changed",
    "sampling": "sampling/createMessage",
    "elicitation": "elicitation/create",
    "tools.listChanged": "notifications/tools/list_changed",
    "prompts.listChanged": "notifications/prompts/list_changed",
    "resources.listChanged": "notifications/resources/list_changed",
}


def test_every_method_has_its_gate_and_the_tasks_extension_none() -> None:
    gates = {method: gate for gate, methods in GATES.items() for method in methods.split()}
    assert {method: gate_of(method, "2025-11-25") for method in METHODS} == gates
    assert gate_of("tasks/get", "2026-07-28") == ""
