"""What a connection answered, in its column: the call, how it ended, how it differs, line by line."""

from __future__ import annotations

import time
from typing import NamedTuple

from textual.app import ComposeResult
from textual.containers import Vertical

from workbench.core.actions import Outcome
from workbench.replay.comparing import Comparison, Verdict
from workbench.tui import figures
from workbench.tui.beside.compared import ComparedLines
from workbench.tui.beside.lines import shape_words
from workbench.tui.beside.together import Sent
from workbench.tui.lines import Bit, Fixed, Line, wrapped
from workbench.tui.marks import Marks, marks_of
from workbench.tui.messages import Call
from workbench.tui.safe import safe_cut
from workbench.tui.widgets.result_head import head_of

#: Below this height the call is left out above the answer.
TIGHT = 12


class Held(NamedTuple):
    """A column of a comparison. ``failed``: its result says ``isError: true``; ``only``: lines that
    are the same are left out."""

    comparison: Comparison
    column: int
    failed: bool
    only: bool

    @property
    def verdict(self) -> Verdict | None:
        return self.comparison.verdicts[self.column]


class Answer(Vertical):
    """``show`` what became of a call on this connection; ``hold`` it against the others."""

    DEFAULT_CSS = "Answer { height: 1fr; width: 1fr; } Answer ComparedLines { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.head = Fixed()
        self.lines = ComparedLines()
        self.display = False
        self._call: Call | None = None
        self._sent: Sent | None = None
        self._here = False
        self._held: Held | None = None

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.lines

    @property
    def outcome(self) -> Outcome | None:
        return self._sent.outcome if self._sent is not None else None

    def show(self, call: Call, sent: Sent | None, here: bool) -> None:
        """Show how it goes, or how it ended; ``here``: in the column that has the keys."""
        if call is not self._call:
            self._held = None
            self.lines.clear()
        self._call, self._sent, self._here = call, sent, here
        self._lay()

    def hold(self, held: Held | None) -> None:
        """Show this column of a comparison, or none."""
        if held == self._held:
            return
        self._held = held
        if held is None:
            self.lines.clear()
        else:
            self.lines.show(held.comparison, held.column, held.only)
        self._lay()

    def on_resize(self) -> None:
        self._lay()

    def _lay(self) -> None:
        marks = marks_of(self)
        self.head.lay(lambda width: self._lines(width, marks))

    def _lines(self, width: int, marks: Marks) -> list[Line]:
        if self._call is None:
            return []
        tall = self.size.height >= TIGHT
        lines: list[Line] = [_call_line(self._call)] if tall else []
        lines += self._end(width, marks)
        lines += self._verdict(width)
        return [*lines, []] if tall else lines

    def _end(self, width: int, marks: Marks) -> list[Line]:
        sent = self._sent
        if sent is None:
            return [[Bit(" "), Bit(marks.closed, "quiet"), Bit(" was not asked", "quiet")]]
        if sent.run is None:
            rows = wrapped(sent.why, max(width - 4, 8), 3)
            first = [Bit(" "), Bit(marks.failed, "failed"), Bit(f" {rows[0]}", "text")]
            return [first, *([Bit("   "), Bit(row, "text")] for row in rows[1:])]
        outcome = sent.outcome
        if outcome is None:
            running = sent.run.running
            elapsed = figures.duration(round(max(time.monotonic() - running.began, 0) * 1e9))
            words = running.message or ("" if running.progress is None else f"{running.progress:g}")
            return [
                [
                    Bit(" "),
                    Bit(marks.on_the_way, "waiting"),
                    Bit(f" running  {elapsed}", "text"),
                    Bit("   x cancels" if self._here else "", "quiet"),
                    Bit(f"   {words}", "quiet"),
                ]
            ]
        head = head_of(outcome, None, marks, self._held is not None and self._held.failed)
        end: list[Line] = [[Bit(" "), Bit(head.mark, head.role), Bit(f" {head.words}", "text")]]
        if self._alone(outcome):
            end += [[Bit("   "), Bit(row, "text")] for row in wrapped(outcome.sentence, max(width - 4, 8), 4)]
        return end

    def _alone(self, outcome: Outcome) -> bool:
        """Whether it is no result and took no part in the comparison."""
        if outcome.how == "result":
            return False
        return self._held is None or self._held.verdict is None

    def _verdict(self, width: int) -> list[Line]:
        held = self._held
        if held is None:
            words = "the answers are held against each other" if self.outcome is not None else ""
            return [[Bit("   "), Bit(words, "quiet")], []]
        verdict = held.verdict
        if verdict is None:
            return [[], []]
        taking_part = [place for place, each in enumerate(held.comparison.verdicts) if each is not None]
        if len(taking_part) < 2:
            return [[Bit("   nothing to compare it with", "quiet")], []]
        if taking_part[0] == held.column:
            return [[Bit("   the others are held against this", "quiet")], []]
        told: list[Line] = [[Bit("   "), Bit(verdict.sentence, "finding" if verdict.differences else "ok")]]
        shape = f"shape {shape_words(verdict.shape)}" if verdict.shape else "shape the same"
        return [
            *told,
            [Bit("   "), Bit(safe_cut(shape, max(width - 4, 8), marks_of(self).ellipsis), "quiet")],
        ]


def _call_line(call: Call) -> Line:
    return [Bit(" "), Bit(call.item.name, "bright"), Bit(f"  {call.arguments}", "quiet")]
