"""Tasks of ours: what a peer says of one, and what is made of it ("Tasks", 2025-11-25)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.tasks import (
    LEAST_INTERVAL,
    MOST_INTERVAL,
    STATUSES,
    USUAL_INTERVAL,
    Task,
    created,
    task_doubts,
    task_param,
)

MADE = {
    "taskId": "t",
    "status": "working",
    "statusMessage": "began",
    "createdAt": "2026-01-01T00:00:00Z",
    "lastUpdatedAt": "2026-01-01T00:00:00Z",
    "ttl": 60_000,
    "pollInterval": 500,
}


def made(**more: Any) -> Task:
    task = created({"task": MADE | more}, 7, 100.0)
    assert task is not None
    return task


def test_a_result_that_makes_a_task_tells_id_status_times_and_interval() -> None:
    task = made()
    assert (task.id, task.call, task.status, task.message) == ("t", 7, "working", "began")
    assert (task.ttl, task.interval, task.age(103.0), task.left(103.0)) == (60.0, 0.5, 3.0, 57.0)
    assert task.params == '{"taskId":"t"}'


@pytest.mark.parametrize(
    "result", [{}, {"task": None}, {"task": {}}, {"task": {"taskId": 1}}, None, [], {"content": []}]
)
def test_a_result_without_a_task_makes_none(result: Any) -> None:
    assert created(result, 1, 0.0) is None


def test_a_task_goes_on_and_never_leaves_its_end() -> None:
    task = made().told({"taskId": "t", "status": "input_required"})
    assert (task.status, task.over) == ("input_required", False)
    task = task.told({"taskId": "t", "status": "failed", "statusMessage": "sorry"})
    assert (task.status, task.message, task.over) == ("failed", "sorry", True)
    assert task.told({"taskId": "t", "status": "working"}) is task


@pytest.mark.parametrize(
    "said", [None, 3, {"taskId": "other", "status": "completed"}, {"status": "odd"}, {"status": 1}]
)
def test_what_cannot_be_read_changes_no_status(said: Any) -> None:
    assert made().told(said).status == "working"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(2000, 2.0), (0, LEAST_INTERVAL), (-5, LEAST_INTERVAL), (1e15, MOST_INTERVAL), ("1", 0.5), (None, 0.5)],
)
def test_an_interval_is_kept_within_bounds(value: Any, seconds: float) -> None:
    assert made().told({"taskId": "t", "pollInterval": value}).interval == seconds


def test_without_an_interval_the_usual_one_holds_and_without_a_ttl_none() -> None:
    task = created({"task": {"taskId": "t"}}, 1, 0.0)
    assert task is not None
    assert (task.interval, task.ttl, task.left(1e9)) == (USUAL_INTERVAL, None, None)
    assert made(ttl=None).ttl is None


def test_what_asks_for_a_task_names_milliseconds_or_nothing() -> None:
    assert [task_param(ttl) for ttl in (None, 60, 0.25, float("inf"))] == [
        "{}",
        '{"ttl":60000}',
        '{"ttl":250}',
        "{}",
    ]


def test_a_server_that_does_not_declare_tasks_is_doubted() -> None:
    declared: dict[str, Any] = {"tasks": {"requests": {"tools": {"call": {}}}}}
    assert task_doubts("tools/call", declared) == []
    assert "tasks.requests.tools.call" in task_doubts("tools/call", {"tasks": {}})[0]


json_values = st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.sampled_from(STATUSES)
flat = st.dictionaries(st.sampled_from(sorted(MADE)), json_values)


@given(st.lists(flat | json_values, max_size=8))
def test_whatever_a_peer_says_the_task_stays_readable(script: list[Any]) -> None:
    task = made()
    for said in script:
        task = task.told(said)
        assert task.status in STATUSES
        assert LEAST_INTERVAL <= task.interval <= MOST_INTERVAL
        assert task.ttl is None or task.ttl >= 0
