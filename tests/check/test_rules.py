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
