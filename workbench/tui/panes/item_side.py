"""The other side of a list of items: head, form, what runs, the result, and before that the definition."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from workbench.core.view import Item
from workbench.tui.lines import Fixed, Lines
from workbench.tui.messages import Said
from workbench.tui.panes.item_head import definition
from workbench.tui.runs import Run
from workbench.tui.widgets.form import Form
from workbench.tui.widgets.progress_line import ProgressLine
from workbench.tui.widgets.result import ResultView

#: With fewer rows there is nothing to read in a definition.
_LEAST_LISTED = 5

_NEVER = object()


class ItemSide(Vertical):
    """Shows one item and how its last call goes."""

    def __init__(self) -> None:
        super().__init__(classes="side")
        self.head = Fixed(classes="head")
        self.form = Form()
        self.progress = ProgressLine()
        self.result = ResultView()
        self.listed = Lines(least=_LEAST_LISTED, classes="listed")
        self._shown: object = _NEVER

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.form
        yield self.progress
        yield self.result
        yield self.listed

    def define(self, item: Item | None) -> None:
        """Show a definition, until there is a result to show."""
        self.listed.lay(lambda _: definition(item))

    def show_open(self, runs: Sequence[Run], own: str) -> None:
        """Show the calls that run; ``own`` is the name of the item in view."""
        self.progress.set_running([run.running for run in runs], own)
        self.progress.display = bool(runs)

    def news(self, run: Run | None) -> bool:
        """Whether there is something else to show of this call, or of none, than what is shown."""
        before = self._shown
        self._shown = (run.key, run.outcome is not None) if run is not None else None
        return self._shown != before

    def show_run(self, run: Run | None) -> None:
        """Show how a call ended; nothing while it runs."""
        outcome = run.outcome if run is not None else None
        self.listed.display = run is None
        if run is None or outcome is None:
            self.result.clear()
            return
        self.result.show(outcome, run.seq, run.remarks)
        for remark in run.remarks:
            self.post_message(Said(remark))
