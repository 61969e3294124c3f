"""One connection among others: a head, its pane or its answer, and its own tail of frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from workbench.tui.beside.answer import Answer
from workbench.tui.desk import Desk
from workbench.tui.lines import Bit, Fixed, Line
from workbench.tui.marks import marks_of
from workbench.tui.messages import Said
from workbench.tui.safe import safe_cut
from workbench.tui.strip import NAME, state_mark, state_word
from workbench.tui.widgets.frame_log import FrameLog
from workbench.tui.widgets.frame_scan import LogFilter

if TYPE_CHECKING:
    from workbench.core.view import ConnectionView
    from workbench.tui.panes.pane import Pane


class Column(Vertical):
    """``place`` counts columns from 0. Give it a view with ``show``."""

    DEFAULT_CSS = """
    Column { height: 1fr; width: 1fr; }
    Column > .body { height: 1fr; width: 1fr; }
    Column > .space { height: 1; }
    Column FrameLog { width: 1fr; }
    """

    def __init__(self, desk: Desk, place: int) -> None:
        super().__init__(id=f"column-{place}")
        self.desk = desk
        self.place = place
        self.head = Fixed()
        self.body = Vertical(classes="body")
        self.answer = Answer()
        self.space = Static("", classes="space", markup=False)
        self.tail = FrameLog()
        self.panes: dict[str, Pane] = {}
        self.number = 0
        self._view: ConnectionView | None = None
        self.tail.findings = desk.findings
        self._reader: object = None
        self._starting = False

    def compose(self) -> ComposeResult:
        yield self.head
        with self.body:
            yield self.answer
        yield self.space
        yield self.tail

    @property
    def pane(self) -> Pane | None:
        """The pane in view, ``None`` while an answer or nothing but frames is shown."""
        return next((pane for pane in self.panes.values() if pane.display), None)

    def show(
        self,
        view: ConnectionView,
        number: int,
        pane_name: str,
        rows: int,
        *,
        here: bool,
        answers: bool,
    ) -> None:
        """Show a connection as it is now. ``number`` is what it is called by in the strip, ``here``
        whether this column has the keys, ``rows`` the rows of its tail, ``answers`` whether answers
        stand in the panes' place."""
        self.number = view.number
        self.set_class(here, "here")
        self.head.lay(lambda width: [self._head(view, number, here, width)])
        whole = pane_name == "frames" and not answers
        self.body.display = not whole
        self.answer.display = answers and not whole
        for name, pane in self.panes.items():
            pane.display = name == pane_name and not answers
        self._view = view
        if not whole and not answers:
            self._show_pane(pane_name)
        self._show_tail(view.number, None if whole else rows)

    def _show_pane(self, name: str) -> None:
        if name in self.panes:
            self._first_look(self.panes[name])
            return
        if not self.body.is_mounted:
            return
        from workbench.tui.panes import PANE_CLASSES

        pane = self.panes[name] = PANE_CLASSES[name](self.desk, id=f"pane-{name}-{self.place}")
        self.body.mount(pane)
        pane.call_after_refresh(self._first_look, pane)

    def _first_look(self, pane: Pane) -> None:
        if not pane.is_mounted or not pane.display:
            return
        pane.show(self._view)
        if self._starting:
            self.start()

    def _show_tail(self, number: int, rows: int | None) -> None:
        """The tail in so many rows; ``None``: in all there are."""
        self.tail.display = rows != 0
        self.space.display = bool(rows)
        self.tail.styles.height = "1fr" if rows is None else max(rows, 1)
        if not self.tail.is_mounted:
            return
        self.tail.set_filter(LogFilter(connection=number))
        reader = self.desk.reader
        if reader is not None and reader is not self._reader:
            self._reader = reader
            self.tail.open(reader, self.desk.height, follow=self.desk.live or reader.live)
        self.tail.grew(self.desk.height)

    def _head(self, view: ConnectionView, number: int, here: bool, width: int) -> Line:
        mark, role = state_mark(view.state, marks_of(self))
        words = [view.revision or "", view.era] if view.revision else [state_word(view)]
        if view.revision and state_word(view) != "ready":
            words = [state_word(view), view.revision]
        name = safe_cut(view.name, NAME, marks_of(self).ellipsis)
        left: list[Bit] = [
            Bit(f" {number} ", "accent" if here else "quiet"),
            Bit(mark, role),
            Bit(f" {name}", "bright" if here else "text"),
        ]
        room = width - sum(cell_len(bit.text) for bit in left) - 1
        told = f"  {'  '.join(word for word in words if word)}"
        return [*left, Bit(safe_cut(told, room, marks_of(self).ellipsis), "quiet")]

    def start(self) -> None:
        """Take the focus: the answer's lines, the pane, or the tail."""
        pane = self.pane
        if self.answer.display:
            self.answer.lines.focus()
        elif pane is not None and pane.is_mounted:
            self._starting = False
            pane.start()
        elif self.body.display:
            # The pane is on its way.
            self._starting = True
        else:
            self.tail.focus()

    @on(FrameLog.Said)
    def _said(self, message: FrameLog.Said) -> None:
        message.stop()
        self.post_message(Said(message.text))
