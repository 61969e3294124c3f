"""The last calls of a connection, below a list that leaves room for them: what was asked, how it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len

from workbench.core.actions import Outcome
from workbench.tui import figures
from workbench.tui.lines import Bit, Fixed, Line
from workbench.tui.marks import Marks, marks_of
from workbench.tui.palette import Role
from workbench.tui.runs import Run
from workbench.tui.safe import safe_cut

#: Calls that are shown at most.
MOST = 40

#: Rows that must be left for it to be worth a look: a blank one, a heading, two calls.
LEAST_ROOM = 4

#: Makes the name and the arguments of a call, as they are shown.
Words = Callable[[Run], tuple[str, str]]


class Recent(Fixed):
    """``show`` the newest calls in as many rows as there is ``room`` for."""

    def __init__(self, words: Words) -> None:
        super().__init__(classes="recent")
        self._words = words
        self._seen: object = None

    def show(self, runs: Sequence[Run], room: int) -> None:
        """``runs`` are newest first; with less room than needed nothing is shown."""
        shown = runs[: min(MOST, room - 2)] if room >= LEAST_ROOM else []
        seen = [(run.key, run.outcome is not None) for run in shown]
        self.display = bool(shown)
        if seen == self._seen:
            return
        self._seen = seen
        marks = marks_of(self)

        def lay(width: int) -> list[Line]:
            heading: Line = [Bit(" "), Bit("recent calls", "text")]
            return [[], heading, *(self._line(run, width, marks) for run in shown)] if shown else []

        self.lay(lay)

    def _line(self, run: Run, width: int, marks: Marks) -> Line:
        name, arguments = self._words(run)
        mark, role, took = end_of(run.outcome, marks)
        seq = f"#{run.seq}" if run.seq is not None else ""
        tail = f"{took:>9}  {seq:>6}"
        room = max(width - 6 - len(tail), 8)
        name = safe_cut(name, room, marks.ellipsis)
        left = room - cell_len(name) - 2
        arguments = safe_cut(arguments, left, marks.ellipsis) if left > 3 else ""
        gap = room - cell_len(name) - cell_len(arguments) - 1
        return [
            Bit("   "),
            Bit(mark, role),
            Bit(f" {name} ", "text"),
            Bit(arguments, "quiet"),
            Bit(" " * max(gap, 1)),
            Bit(tail, "quiet"),
        ]


def end_of(outcome: Outcome | None, marks: Marks) -> tuple[str, Role, str]:
    """Mark, its role, and the time taken, or the word that stands for it."""
    if outcome is None:
        return marks.on_the_way, "waiting", "running"
    took = figures.duration(round(outcome.seconds * 1e9))
    if outcome.how == "cancelled":
        return marks.closed, "quiet", "cancelled"
    if outcome.how != "result" or _is_tool_error(outcome):
        return marks.failed, "failed", took
    return marks.ok, "ok", took


def _is_tool_error(outcome: Outcome) -> bool:
    # A large result is not parsed for a mark.
    return not outcome.large and isinstance(outcome.result, dict) and outcome.result.get("isError") is True
