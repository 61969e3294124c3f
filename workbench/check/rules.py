"""Every rule by its id."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.check import (
    answers,
    cancelling,
    completion,
    elicitation,
    envelope,
    errors,
    handshake,
    ids,
    methods,
    pagination,
    progress,
    roots,
    sampling,
)
from workbench.check.rule import Rule

#: What each group of rules is about, and its rules.
GROUPS: Mapping[str, tuple[Rule, ...]] = {
    "Envelope": envelope.RULES,
    "Ids": ids.RULES,
    "Answers": answers.RULES,
    "Handshake": handshake.RULES,
    "Methods and capabilities": methods.RULES,
    "Error codes": errors.RULES,
    "Progress": progress.RULES,
    "Cancellation": cancelling.RULES,
    "Pagination": pagination.RULES,
    "Completion": completion.RULES,
    "Sampling": sampling.RULES,
    "Elicitation": elicitation.RULES,
    "Roots": roots.RULES,
}

RULES: Mapping[str, Rule] = {rule.id: rule for group in GROUPS.values() for rule in group}
