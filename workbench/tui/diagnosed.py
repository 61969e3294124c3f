"""The steps of connecting as they were walked by themselves: which hold, which one fails."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.tui import figures
from workbench.tui.desk import Diagnosis
from workbench.tui.lines import Bit, Line, wrapped
from workbench.tui.marks import Marks
from workbench.tui.palette import Role

_NAME = 16


def diagnosis_lines(diagnosis: Diagnosis, width: int, marks: Marks) -> Iterator[Line]:
    """A line a step, and under one that failed what to do about it."""
    failed = any(step.verdict == "failed" for step in diagnosis.steps)
    words = "  connecting once more, step by step" if not diagnosis.over else ""
    if diagnosis.over:
        words = "  the step that fails is marked" if failed else "  every step holds now: c connects again"
    yield [Bit(" "), Bit("steps", "text"), Bit(words, "quiet")]
    shown: dict[str, tuple[str, Role]] = {"ok": (marks.ok, "ok"), "failed": (marks.failed, "failed")}
    for step in diagnosis.steps:
        mark, role = shown.get(step.verdict, (marks.event, "quiet"))
        took = "" if step.seconds is None else figures.duration(round(step.seconds * 1e9))
        rows = wrapped(step.says, max(width - _NAME - 18, 20), 6)
        head = [Bit("   "), Bit(mark, role), Bit(" "), Bit(step.name, "text", _NAME), Bit(rows[0], "text")]
        yield [*head, Bit(f"   {took}" if took else "", "quiet")]
        rows = rows[1:] + (
            wrapped(step.next, max(width - _NAME - 8, 20), 4) if step.verdict == "failed" else []
        )
        yield from ([Bit(" " * (_NAME + 5)), Bit(row, "quiet")] for row in rows if row)
    if not diagnosis.over:
        yield [Bit("   "), Bit(marks.on_the_way, "waiting"), Bit(" the next step", "quiet")]
