"""What a test did with a recording, in words, and the reports of several starts as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.core.printable import printable
from workbench.pytest_plugin.marked import Marked
from workbench.replay.junit import agrees, cases

#: Misses that are told; the report has all.
_MOST = 10


def told(how: Marked, report: dict[str, Any] | None) -> str:
    """Why a test and its recording do not agree, empty where they do."""
    if report is None or agrees(report):
        return ""
    lines = [f"This test and the recording {how.name} do not agree:"]
    failed = [case for case in cases(report) if case.failure]
    for case in failed[:_MOST]:
        lines.append(f"  {case.failure}")
        lines += [f"    {line}" for line in case.details.splitlines()]
    if len(failed) > _MOST:
        lines.append(f"  and {len(failed) - _MOST} more")
    return "\n".join(map(printable, lines))


def joined(reports: Sequence[dict[str, Any]], *, strict: bool) -> dict[str, Any]:
    """The reports of one or more starts of the same command as one: unused is what none has asked for."""
    first = reports[0]
    if len(reports) == 1:
        return first
    sums = {
        name: sum(report[name] for report in reports)
        for name in ("requests", "answered", "missed", "differing_answers")
    }
    left = set.intersection(*({each["seq"] for each in report["unused"]} for report in reports))
    unused = [each for each in first["unused"] if each["seq"] in left]
    wrong = sums["missed"] or sums["differing_answers"] or (strict and unused)
    return {
        **first,
        "verdict": "mismatch" if wrong else "ok",
        **sums,
        "misses": [miss for report in reports for miss in report["misses"]],
        "unused": unused,
        "unused_count": len(unused),
        "notes": list(dict.fromkeys(note for report in reports for note in report["notes"])),
    }
