"""Rules on the screen: a row each, what they say, and how one is made of an answer."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence

from workbench.core.jsontext import pretty
from workbench.core.question import Question
from workbench.core.rules import TEXT, WORDS, Rule, rule_like
from workbench.tui.desk import Inquiry
from workbench.tui.inbox.answering import NOUNS, Given
from workbench.tui.lines import Bit, Line, wrapped
from workbench.tui.widgets.rows import Cell, RowSpec

#: What begins the key of a rule's row.
PREFIX = "rule "

#: Characters of what a request says that a rule made of it looks for.
MAX_PATTERN = 200


def rule_rows(rules: Sequence[tuple[int, Rule]], names: Mapping[int, str]) -> list[RowSpec]:
    """The rows of the rules that answer."""
    if not rules:
        return []
    rows = [RowSpec(f"{PREFIX}heading", (Cell("rules that answer"),), heading=True)]
    for place, (number, rule) in enumerate(rules):
        cells = (
            Cell(NOUNS.get(rule.method, rule.method)),
            Cell(names.get(number, ""), "quiet"),
            Cell(f"{_narrowed(rule)}{rule.name or rule.answer}"),
        )
        rows.append(RowSpec(f"{PREFIX}{place}", cells, tail="rule"))
    return rows


def rule_lines(rule: Rule, width: int) -> list[Line]:
    """All that a rule says."""
    lines: list[Line] = [[Bit(" "), Bit("rule", "bright"), Bit(f"   {rule.name}", "text")]]
    said = [
        ("answers", rule.method),
        ("during", rule.tool),
        ("saying", rule.message),
        ("server", rule.server),
        (
            "with",
            rule.answer if rule.answer in WORDS or rule.answer.startswith(TEXT) else pretty(rule.answer),
        ),
    ]
    for name, text in said:
        for place, row in enumerate(wrapped(text, width - 14, 200) if text else ()):
            lines.append([Bit("   "), Bit("" if place else name, "quiet", 10), Bit(row, "text")])
    return lines


def narrow(inquiry: Inquiry) -> list[tuple[str, str, dict[str, str]]]:
    """How far a rule made of an answer can reach: a key, words, and the rule's filters."""
    found = [("a", f"to every {NOUNS.get(inquiry.method, inquiry.method)}", dict[str, str]())]
    if inquiry.during:
        name = inquiry.during[0][0]
        found.append(("t", f"while {name} runs", {"tool": glob.escape(name)}))
    said = Question(inquiry.method, inquiry.params).message
    if said:
        more = "*" if len(said) > MAX_PATTERN else ""
        found.append(("m", "when it says this", {"message": glob.escape(said[:MAX_PATTERN]) + more}))
    return found


def rule_of(inquiry: Inquiry, given: Given, filters: Mapping[str, str]) -> Rule:
    """The rule that always answers so. Raises ``ValueError`` with the end of a sentence."""
    return rule_like(Question(inquiry.method, inquiry.params), given.result, **filters)


def _narrowed(rule: Rule) -> str:
    parts = [part for part in (rule.tool, rule.message, rule.server) if part]
    return f"{', '.join(parts)}: " if parts else ""
