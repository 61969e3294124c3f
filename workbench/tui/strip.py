"""The first line: every connection with its mark and word, and what becomes of the frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.core.lifecycle import State, group
from workbench.tui import figures
from workbench.tui.desk import Sign
from workbench.tui.lines import Bit, Line, segments_of
from workbench.tui.marks import Marks, marks_of
from workbench.tui.palette import Role
from workbench.tui.safe import safe_cut

if TYPE_CHECKING:
    from workbench.core.view import ConnectionView

_ROLES: dict[str, Role] = {"ready": "ok", "on the way": "waiting", "closed": "quiet", "failed": "failed"}

#: Cells of a connection's name.
NAME = 20


def state_mark(state: State, marks: Marks) -> tuple[str, Role]:
    """The mark of a state and its role."""
    which = group(state)
    glyphs = {
        "ready": marks.ready,
        "on the way": marks.on_the_way,
        "closed": marks.closed,
        "failed": marks.failed,
    }
    return glyphs[which], _ROLES[which]


def state_word(view: ConnectionView) -> str:
    """The state in a word or two: ``ready``, ``exited 3``."""
    if view.state is State.EXITED:
        how = view.signal or (view.exit_code if view.exit_code is not None else "")
        return f"exited {how}".rstrip()
    return view.state.value.replace("_", " ")


class ConnectionStrip(Widget):
    """Shows the connections of ``show``; posts ``Picked`` for a click on one."""

    DEFAULT_CSS = "ConnectionStrip { height: 1; width: 1fr; }"

    class Picked(Message):
        """A connection was clicked; ``place`` counts from 0."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._views: Sequence[ConnectionView] = ()
        self._current = 0
        self._sign = Sign("")
        self._inbox = 0
        self._words = ""
        self._spans: list[tuple[int, int]] = []
        self._drawn: object = None

    def show(
        self,
        views: Sequence[ConnectionView],
        current: int,
        sign: Sign,
        inbox: int,
        words: str = "",
    ) -> None:
        """``current`` is the place of the connection in view; ``words`` stand where there is none."""
        drawn = ([_face(view) for view in views], current, sign, inbox, words)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        self._views, self._current, self._sign, self._inbox = views, current, sign, inbox
        self._words = words
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        right = self._right()
        room = width - _cells(right) - 2
        line: list[Bit] = []
        for detail in (2, 1, 0):
            line = self._left(detail, room)
            if _cells(line) <= room:
                break
        else:
            line = self._squeezed(room)
        gap = max(width - _cells(line) - _cells(right) - 1, 1)
        segments = segments_of(self, [*line, Bit(" " * gap), *right], width)
        return Strip(segments).adjust_cell_length(width).apply_style(self.rich_style)

    def _right(self) -> list[Bit]:
        sign = self._sign
        bits: list[Bit] = []
        if self._inbox:
            bits += [Bit("inbox ", "waiting"), Bit(str(self._inbox), "waiting"), Bit("   ")]
        bits.append(Bit(sign.word, sign.role))
        if sign.number is not None:
            bits.append(Bit(f" {figures.count(sign.number)}", "quiet"))
        return bits

    def _left(self, detail: int, room: int) -> list[Bit]:
        if not self._views:
            return [Bit(" "), Bit(safe_cut(self._words, max(room - 1, 0)), "quiet")]
        line: list[Bit] = []
        self._spans = []
        for place in range(len(self._views)):
            start = _cells(line)
            line += self._one(place, detail)
            self._spans.append((start, _cells(line)))
        return line

    def _one(self, place: int, detail: int) -> Line:
        view = self._views[place]
        marks = marks_of(self)
        mark, role = state_mark(view.state, marks)
        here = place == self._current
        name = safe_cut(view.name, NAME, marks.ellipsis)
        bits = [
            Bit(f" {place + 1} ", "accent" if here else "quiet"),
            Bit(mark, role),
            Bit(f" {name}", "bright" if here else "text"),
        ]
        ready = view.state is State.READY
        if detail >= 1 or not ready:
            bits.append(Bit(f" {state_word(view)}", "quiet"))
        if detail >= 2 and ready and view.latency_ns is not None:
            bits.append(Bit(f" {figures.duration(view.latency_ns)}", "quiet"))
        if view.errors and detail >= 1:
            bits += [Bit(f" {marks.failed}", "failed"), Bit(f" {view.errors}", "quiet")]
        if (found := view.findings.error + view.findings.warning) and detail >= 1:
            bits += [Bit(f" {marks.finding}", "finding"), Bit(f" {figures.count(found)}", "quiet")]
        return [*bits, Bit(" ")]

    def _squeezed(self, room: int) -> list[Bit]:
        """The current connection and its neighbours, as many as fit; the others are counted."""
        first = last = min(self._current, len(self._views) - 1)
        line = list(self._one(first, 0))
        while True:
            for place in (last + 1, first - 1):
                if 0 <= place < len(self._views):
                    wider = [*self._one(place, 0), *line] if place < first else [*line, *self._one(place, 0)]
                    if _cells(wider) + 10 <= room:
                        line = wider
                        first, last = min(first, place), max(last, place)
                        break
            else:
                break
        left = len(self._views) - (last - first + 1)
        self._spans = []
        return [*line, Bit(f" and {left} more", "quiet")] if left else line

    def on_click(self, event: events.Click) -> None:
        for place, (start, end) in enumerate(self._spans):
            if start <= event.x < end:
                self.post_message(self.Picked(place))


def _face(view: ConnectionView) -> object:
    told = (view.errors, view.findings, view.latency_ns, view.exit_code, view.signal)
    return (view.number, view.name, view.state, told)


def _cells(line: Line) -> int:
    return sum(cell_len(bit.text) for bit in line)
