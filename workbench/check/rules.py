"""Every rule by its id."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.check import (
    answers,
    authorization,
    batches,
    caching,
    cancelling,
    completion,
    elicitation,
    envelope,
    errors,
    events,
    fields,
    handshake,
    ids,
    listen,
    logs,
    methods,
    names,
    noise,
    pagination,
    posts,
    progress,
    roots,
    rounds,
    routing,
    sampling,
    session,
    stateless,
)
from workbench.check.rule import Rule

#: What each group of rules is about, and its rules.
GROUPS: Mapping[str, tuple[Rule, ...]] = {
    "Envelope": (*noise.RULES, *envelope.RULES, *batches.RULES),
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
    "Logging": logs.RULES,
    "Names of tools": names.RULES,
    "Revisions and their members": fields.RULES,
    "Stateless era": stateless.RULES,
    "Caching": caching.RULES,
    "Several rounds": rounds.RULES,
    "Subscriptions": listen.RULES,
    "Headers of a stateless request": routing.RULES,
    "HTTP": posts.RULES,
    "Sessions over HTTP": session.RULES,
    "Streams of events": events.RULES,
    "Authorization": authorization.RULES,
}

RULES: Mapping[str, Rule] = {rule.id: rule for group in GROUPS.values() for rule in group}
