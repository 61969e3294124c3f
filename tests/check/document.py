"""Makes ``docs/findings.md`` from the rules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from workbench.check.rule import Rule
from workbench.check.rules import GROUPS, RULES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "findings.md"

HEAD = f"""# Findings

What the checks find on a wire, live and in recordings: {len(RULES)} rules. Made from the rules with
`make docs`; a test fails when the two differ, and another one runs every example through the checker.

**error** breaks a "must", **warning** a "should" or what nearly every peer relies on, **info** is worth
knowing and allowed. A finding names the side at fault by the direction of its frame: clients are checked as
servers are. A rule's id never changes its meaning. Bodies above 256 KiB are checked by their envelope, their
ids, tokens and error codes; what lies deeper in them is not looked at.

In an example `> …` is a body of the client, `< …` one of the server, `@ 2025-11-25` a handshake that agrees
on this revision with every capability on both sides (`none`: without any; `@http`: over HTTP), `$META` the
keys of `_meta` that 2026-07-28 requires. `1 POST /mcp => 200` is HTTP stream 1, on which `1> …` and `1< …`
are bodies and `1: {{…}} …` is an SSE event; a header that is not named is as it must be, and `Name: -` leaves it
out. `+ 0.5` lets half a second pass. `* …` is a step of authorization.
"""


def page() -> str:
    """The whole page, as it should be."""
    parts = [HEAD]
    for name, rules in GROUPS.items():
        parts.append(f"## {name}\n")
        parts.append("| rule | severity | revisions | what is wrong | source |\n|---|---|---|---|---|")
        parts.append("\n".join(map(_row, rules)) + "\n")
        parts.append("```text\n" + "\n\n".join("\n".join(_example(rule)) for rule in rules) + "\n```\n")
    return "\n".join(parts)


def _row(rule: Rule) -> str:
    first, last = rule.revisions
    revisions = first if first == last else f"{first} to {last}"
    cells = (f"`{rule.id}`", rule.severity, revisions, rule.explanation, rule.source)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _example(rule: Rule) -> Iterator[str]:
    yield f"{rule.id}:"
    for line in rule.example:
        shown = line if len(line) <= 1_000 else f"{line[:200]} … {line[-40:]}"
        yield "  " + "".join(each if each.isprintable() else _escaped(each) for each in shown).rstrip()


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def main() -> int:
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
