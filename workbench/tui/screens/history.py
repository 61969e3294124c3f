"""The calls of a connection, newest first, to take one up again."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.jsontext import lookup
from workbench.tui.marks import Marks
from workbench.tui.panes.recent import end_of
from workbench.tui.runs import Run
from workbench.tui.screens.overlay import Chooser
from workbench.tui.widgets.rows import Cell, RowSpec


def history(runs: Sequence[Run], marks: Marks) -> Chooser:
    """A list of calls; its answer is the key of one."""
    rows = [_row(run, marks) for run in runs]
    return Chooser("calls", "a name, an argument", rows, empty="no such call", verb="fill in again")


def _row(run: Run, marks: Marks) -> RowSpec:
    mark, role, took = end_of(run.outcome, marks)
    arguments = lookup(run.params, "/arguments") or ""
    seq = f"#{run.seq}" if run.seq is not None else ""
    return RowSpec(
        run.key,
        (Cell(run.item), Cell(arguments, "quiet")),
        mark,
        role,
        tail=f"{took:>9}  {seq:>6}",
        search=f"{run.item} {run.method} {arguments}",
    )
