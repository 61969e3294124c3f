"""What breaks the protocol on a connection, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.check.rule import SEVERITIES, Finding, Rule
from workbench.cli import output

#: Frames that are named of one rule; the JSON has them all.
MOST_FRAMES = 8

#: How the mark of each severity looks.
MARKS = {"error": "!!", "warning": "! ", "info": "i "}


def print_findings(found: Sequence[Finding]) -> None:
    """Each rule once, the worst first: how often and where it is broken, what that means, and where it
    is written."""
    for rule, frames in _by_rule(found):
        count = f"{len(frames)} frames" if len(frames) > 1 else "once"
        output.line(f"  {MARKS[rule.severity]} {rule.severity} {rule.id}: {count}{_where(frames)}")
        output.line(f"       {rule.explanation}")
        output.line(f"       {_source(rule)}")
        for detail in list(dict.fromkeys(each.detail for each in found if each.rule is rule and each.detail))[
            :3
        ]:
            output.line(f"       {detail}")


def as_data(finding: Finding) -> dict[str, Any]:
    """A finding with its rule, whole."""
    rule = finding.rule
    return {
        "seq": finding.seq,
        "rule": rule.id,
        "severity": rule.severity,
        "pointer": finding.pointer,
        "detail": finding.detail or None,
        "explanation": rule.explanation,
        "source": rule.source,
        "revisions": list(rule.revisions),
    }


def _by_rule(found: Sequence[Finding]) -> list[tuple[Rule, list[int]]]:
    frames: dict[str, list[int]] = {}
    rules: dict[str, Rule] = {}
    for each in found:
        rules[each.rule.id] = each.rule
        seqs = frames.setdefault(each.rule.id, [])
        if each.seq not in seqs[-1:]:
            seqs.append(each.seq)
    ordered = sorted(rules.values(), key=lambda rule: SEVERITIES.index(rule.severity))
    return [(rule, frames[rule.id]) for rule in ordered]


def _where(frames: Sequence[int]) -> str:
    named = [str(seq) for seq in frames if seq][:MOST_FRAMES]
    if not named:
        return ""
    more = ", …" if len(frames) > len(named) else ""
    return f", frame{'s' if len(named) > 1 else ''} {', '.join(named)}{more}"


def _source(rule: Rule) -> str:
    first, last = rule.revisions
    return f"{rule.source} ({first if first == last else f'{first} to {last}'})"
