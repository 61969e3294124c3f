"""Calls that are running: a line each, with the time, the progress and what the server says of it.

A line changes when progress comes and once a second for its time; nothing spins.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual.geometry import Size
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from workbench.tui import figures
from workbench.tui.marks import marks_of
from workbench.tui.palette import palette_of
from workbench.tui.safe import safe_cut
from workbench.tui.widgets.frame_columns import Pen

#: Lines at once; of more calls the newest are shown and the others counted.
MAX_LINES = 4

_BAR = 32
_TIME = 8


class Running(NamedTuple):
    """A call on its way. ``began`` is monotonic seconds; texts are as the server wrote them."""

    key: str
    name: str
    began: float
    progress: float | None = None
    total: float | None = None
    message: str = ""


class ProgressLine(Widget):
    """Shows the calls of ``set_running``, and nothing, not even a row, when there are none."""

    DEFAULT_CSS = "ProgressLine { height: auto; }"

    def __init__(
        self,
        *,
        now: Callable[[], float] = time.monotonic,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._now = now
        self._calls: tuple[Running, ...] = ()
        self._own: str | None = None
        self._timer: Timer | None = None

    def set_running(self, running: Sequence[Running], own: str | None = None) -> None:
        """Show these calls, oldest first. A single one needs no name if it is that of ``own``, which
        is on the screen anyway, or if nothing is said of that."""
        new = tuple(running)
        if new == self._calls and own == self._own:
            return
        self._own = own
        layout = bool(new) != bool(self._calls) or len(new) != len(self._calls)
        self._calls = new
        if new and self._timer is None and self.is_mounted:
            self._timer = self.set_interval(1.0, self.refresh)
        elif not new and self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.refresh(layout=layout)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        if not self._calls:
            return 0
        return min(len(self._calls), MAX_LINES) + 1

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        pen = Pen(palette_of(self), marks_of(self), False)
        shown = self._calls[-MAX_LINES:]
        if y < len(shown):
            self._draw(pen, shown[y], width)
        elif y == len(shown) and shown:
            more = len(self._calls) - len(shown)
            words = f"x cancels   and {figures.count(more)} more" if more else "x cancels"
            pen.blank(3)
            pen.cell(words, max(width - 4, 1), "quiet")
        return Strip(pen.segments).adjust_cell_length(width).apply_style(self.rich_style)

    def _draw(self, pen: Pen, call: Running, width: int) -> None:
        marks = marks_of(self)
        alone = len(self._calls) == 1 and self._own in (None, call.name)
        name = "running" if alone else call.name
        label = max(min(width // 4, 24), 7)
        shown = safe_cut(name, label, marks.ellipsis)
        pen.blank()
        pen.cell(marks.on_the_way, 1, "waiting", gap=1)
        pen.cell(shown, label if len(self._calls) > 1 else cell_len(shown), "text", gap=2)
        elapsed = figures.duration(round(max(self._now() - call.began, 0) * 1e9))
        pen.cell(elapsed, _TIME if len(self._calls) > 1 else cell_len(elapsed), "quiet", right=True, gap=3)
        used = sum(cell_len(segment.text) for segment in pen.segments)
        room = width - used - 1
        bar = min(_BAR, room // 2) if call.total else 0
        if bar >= 8 and call.total and call.progress is not None:
            done = round(bar * min(max(call.progress / call.total, 0.0), 1.0))
            pen.cell(marks.bar * done, done, "accent")
            pen.cell(marks.line * (bar - done), bar - done, "hairline")
            pen.blank(3)
            room -= bar + 3
        pen.cell(_words(call), max(room, 1), "quiet")


def _words(call: Running) -> str:
    """``step 2 of 5`` in the server's words, else ``2 of 5``."""
    if call.message:
        return call.message
    if call.progress is None:
        return ""
    return f"{call.progress:g} of {call.total:g}" if call.total else f"{call.progress:g}"
