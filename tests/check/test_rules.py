"""Every rule's example breaks that rule and no other, and every rule is described."""

from __future__ import annotations

import re

import pytest

from tests.check.examples import found
from workbench.check.rule import SEVERITIES, Rule
from workbench.check.rules import GROUPS, RULES
from workbench.core.methods import REVISIONS


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_example_of_a_rule_breaks_it_and_no_other(rule: Rule) -> None:
    assert found(rule.example) == [rule.id]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_rule_says_where_it_is_written_and_what_breaking_it_does(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.id)
    assert rule.severity in SEVERITIES
    assert set(rule.revisions) <= set(REVISIONS)
    assert rule.revisions[0] <= rule.revisions[1]
    assert rule.source
    assert rule.explanation.endswith(".")


def test_no_two_rules_have_one_id() -> None:
    assert sum(map(len, GROUPS.values())) == len(RULES)


TOLD = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
PING = '{"jsonrpc":"2.0","id":%d,"method":"ping"}'
ASKED = '{"jsonrpc":"2.0","id":"s","method":"ping"}'
STREAM = "POST /mcp => 200 Content-Type: text/event-stream"


@pytest.mark.parametrize(
    ("message", "expected"), [(TOLD, []), (ASKED, ["message-on-two-streams"])], ids=["told", "asked"]
)
def test_two_calls_may_be_told_the_same_on_their_streams_but_not_asked_it(
    message: str, expected: list[str]
) -> None:
    lines = ["@http 2025-11-25", f"1 {STREAM}", f"2 {STREAM}", f"1> {PING % 7}", f"2> {PING % 8}"]
    told = [f"1: {{}} {message}", f"2: {{}} {message}"]
    assert [each for each in found((*lines, *told)) if each == "message-on-two-streams"] == expected
