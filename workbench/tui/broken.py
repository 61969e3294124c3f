"""What is wrong with an opened frame: the rules it breaks, what that means, and where it is written."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.check.rule import SEVERITIES, Finding
from workbench.check.rules import RULES
from workbench.core.frame import Row
from workbench.tui.lines import Bit, Line, wrapped
from workbench.tui.marks import Marks
from workbench.tui.palette import Role

#: Findings that are shown above a body; the others are counted.
MOST = 4

_ROLES: dict[str, Role] = {"error": "finding", "warning": "finding", "info": "quiet"}


def findings_of(found: Sequence[Finding], row: Row | None) -> tuple[Finding, ...]:
    """The findings of a frame, the worst first: those at hand, else those that are stored."""
    stored = () if row is None else dict.fromkeys(row.findings)
    known = list(found) or [Finding(row.seq if row else 0, RULES[each]) for each in stored if each in RULES]
    return tuple(sorted(known, key=lambda each: SEVERITIES.index(each.rule.severity)))


def lines(findings: Sequence[Finding], width: int, rows: int, marks: Marks) -> list[Line]:
    """A head for each of the first, and as many of their paragraphs as there are ``rows`` for."""
    told: list[Line] = []
    shown = findings[: max(min(MOST, rows), 1)]
    left = rows - len(shown)
    for finding in shown:
        told.append(_head(finding, marks))
        paragraph = _paragraph(finding, width)
        if len(paragraph) <= left:
            told += paragraph
            left -= len(paragraph)
    if len(findings) > len(shown):
        told.append([Bit(f"   and {len(findings) - len(shown)} more", "quiet")])
    return told


def _head(finding: Finding, marks: Marks) -> Line:
    rule = finding.rule
    where = "  ".join(part for part in (finding.pointer, finding.detail) if part)
    mark = marks.finding if rule.severity != "info" else marks.event
    role = _ROLES[rule.severity]
    return [Bit(f" {mark} ", role), Bit(f"{rule.severity} {rule.id}", role), Bit(f"   {where}", "quiet")]


def _paragraph(finding: Finding, width: int) -> list[Line]:
    cells = max(width - 5, 10)
    says: list[Line] = [[Bit(f"   {row}", "text")] for row in wrapped(finding.rule.explanation, cells)]
    source = f"{finding.rule.source}, {_revisions(finding)}"
    return says + [[Bit(f"   {row}", "quiet")] for row in wrapped(source, cells)]


def _revisions(finding: Finding) -> str:
    first, last = finding.rule.revisions
    return first if first == last else f"{first} to {last}"
