"""Every rule by its id."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.check import envelope
from workbench.check.rule import Rule

#: What each group of rules is about, and its rules.
GROUPS: Mapping[str, tuple[Rule, ...]] = {
    "Envelope": envelope.RULES,
}

RULES: Mapping[str, Rule] = {rule.id: rule for group in GROUPS.values() for rule in group}
