"""The table of states, and the document that is drawn from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.core.lifecycle import (
    FAILED,
    ON_THE_WAY,
    OVER,
    STEPS,
    TABLES,
    Event,
    State,
    Table,
    advance,
    diagram,
    group,
)

DOCUMENT = Path(__file__).parents[2] / "docs" / "lifecycle.md"


@pytest.mark.parametrize("table", TABLES, ids=["either", "handshake", "stateless", "turning"])
def test_the_document_holds_the_diagram_drawn_from_each_table(table: Table) -> None:
    assert f"```mermaid\n{diagram(table)}\n```" in DOCUMENT.read_text(encoding="utf-8")


def test_no_step_stands_in_two_tables() -> None:
    assert sum(len(table) for table in TABLES) == len(STEPS)


@pytest.mark.parametrize("state", State)
def test_the_document_tells_of_every_state_with_its_mark(state: State) -> None:
    assert f"| `{state}` | {group(state)} |" in DOCUMENT.read_text(encoding="utf-8")


def test_the_diagram_has_an_arrow_for_every_row_of_the_table() -> None:
    for table in TABLES:
        arrows = [line for line in diagram(table).splitlines() if ": " in line]
        assert len(arrows) == len(table)


def test_every_state_can_be_reached() -> None:
    reached = {State.NEW}
    while True:
        further = {after for (state, _), after in STEPS.items() if state in reached} - reached
        if not further:
            break
        reached |= further
    assert reached == set(State)


def test_a_connection_that_is_over_can_only_be_started_again() -> None:
    for state in OVER:
        assert [event for event in Event if advance(state, event) is not state] == [Event.START]
        assert advance(state, Event.START) is State.STARTING


def test_an_event_that_means_nothing_in_a_state_leaves_it() -> None:
    assert advance(State.READY, Event.AGREED) is State.READY
    assert advance(State.NEW, Event.ENDED) is State.NEW


def test_every_state_is_in_one_group() -> None:
    assert {State.READY} | ON_THE_WAY | FAILED | {State.CLOSED} == set(State)
    assert [group(state) for state in (State.READY, State.CLOSING, State.CLOSED, State.REFUSED)] == [
        "ready",
        "on the way",
        "closed",
        "failed",
    ]
