"""Two to four connections next to each other, and what was sent to all of them.

Columns are shown as far as there is room and page beyond that. A call to all goes
out on each connection's own wire at once; the answers stand in the columns, held
against the first one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widget import Widget

from workbench.tui.aside import aside
from workbench.tui.beside.answer import Held
from workbench.tui.beside.chosen import MOST, Chosen
from workbench.tui.beside.column import Column
from workbench.tui.beside.compared import ComparedLines
from workbench.tui.beside.together import Answers, Compared, Together
from workbench.tui.desk import Desk
from workbench.tui.hairline import Hairline
from workbench.tui.lines import Bit, Fixed, Line, wrapped
from workbench.tui.messages import Call, Entered, Show
from workbench.tui.safe import safe_cut
from workbench.tui.strip import NAME

if TYPE_CHECKING:
    from workbench.core.view import ConnectionView
    from workbench.tui.palette import Role

#: Rows of a tail while it is small; on tall screens a fifth. Below the height it is only there when
#: it is asked for.
TAIL = 3
LOW = 16
_SHARE = 5

#: Rows that an answer takes beside its lines, headings among them.
_AROUND = 12


class SideBySide(Vertical):
    """``chosen`` says what stands where. Posts ``Entered`` when the focus goes to another column."""

    DEFAULT_CSS = """
    SideBySide { height: 1fr; width: 1fr; }
    SideBySide > Horizontal { height: 1fr; width: 1fr; }
    SideBySide Hairline { width: 2; height: 1fr; }
    """

    def __init__(self, desk: Desk) -> None:
        super().__init__(id="beside")
        self.desk = desk
        self.chosen = Chosen()
        #: Whether a call goes to all that stand side by side.
        self.to_all = False
        self.together: Together | None = None
        #: Whether answers stand in the panes' place.
        self.answers = False
        self.head = Fixed()
        self.columns = [Column(desk, place) for place in range(MOST)]
        self.lines = [Hairline() for _ in range(MOST - 1)]
        self._only = False
        self._turn = 0
        self._ended: tuple[bool, ...] = ()
        self._held: Answers | None = None
        self._clock: Timer | None = None

    def compose(self) -> ComposeResult:
        yield self.head
        with Horizontal():
            for place, column in enumerate(self.columns):
                if place:
                    yield self.lines[place - 1]
                yield column

    def on_mount(self) -> None:
        self._clock = self.set_interval(1.0, self._show_answers, pause=True)

    # What goes down.

    def show(self, views: Sequence[ConnectionView], pane_name: str, size: str) -> None:
        """Show the connections as they are now."""
        known = {view.number: (place, view) for place, view in enumerate(views, 1)}
        self.chosen.keep({number: view.name for number, (_, view) in known.items()})
        self.chosen.widen(self.size.width or self.app.size.width)
        if not self.chosen.numbers:
            return
        shown = self.chosen.shown
        for place, column in enumerate(self.columns):
            column.display = place in shown
            if place:
                self.lines[place - 1].display = place in shown and place - 1 in shown
            if place in shown:
                number, view = known[self.chosen.numbers[place]]
                here = place == self.chosen.at
                rows = self._rows(size)
                column.show(view, number, pane_name, rows, here=here, answers=self.answers)
        self.head.lay(lambda width: self._head(known, width))
        self._compare()
        self._show_answers()

    def _rows(self, size: str) -> int:
        """Rows of the tails: the last few frames, more on tall screens
        and where short answers leave room, the half when asked for."""
        height = self.size.height - 1
        if size == "half":
            return max(height // 2, TAIL)
        if height < LOW:
            return 0
        rows = max(TAIL, height // _SHARE)
        if self.answers and self._held is not None:
            rows = max(rows, height - len(self._held.comparison.lines) - _AROUND)
        return rows

    def _head(self, known: dict[int, tuple[int, ConnectionView]], width: int) -> list[Line]:
        """To whom a call goes, every one of them, and which columns are seen."""
        pages = self.chosen.words if self.chosen.paged else ""
        names = "  ".join(
            f"{place} {safe_cut(view.name, NAME)}" for place, view in (known[each] for each in self.receivers)
        )
        words = "sends to"
        role: Role = "quiet"
        if self.to_all:
            words, role = f"sends to all {len(self.receivers)}:", "waiting"
        if not self.desk.live:
            words = names = ""
        told = cell_len(f" {words} {names}")
        rows = [names] if told + cell_len(pages) + 3 <= width else ["", *wrapped(names, max(width - 4, 8), 3)]
        gap = max(width - 3 - cell_len(words) - cell_len(rows[0]) - cell_len(pages), 1)
        first: Line = [
            Bit(" "),
            Bit(f"{words} ", role),
            Bit(rows[0], "text"),
            Bit(" " * gap),
            Bit(pages, "quiet"),
        ]
        return [first, *([Bit("   "), Bit(row, "text")] for row in rows[1:])]

    # What can be read.

    @property
    def receivers(self) -> list[int]:
        """The connections a call goes to."""
        chosen = self.chosen
        return list(chosen.numbers) if self.to_all else [chosen.numbers[chosen.at]]

    @property
    def column(self) -> Column:
        """The column that has the keys."""
        return self.columns[self.chosen.at]

    @property
    def answer(self) -> bytes | None:
        """The answer in the column that has the keys, whole."""
        if not self.answers or self._held is None or self.together is None:
            return None
        place = self.together.place(self.column.number)
        return (self._held.whole[place] or None) if place is not None else None

    # A call to all.

    def send(self, call: Call, views: Sequence[ConnectionView]) -> None:
        """Send a call to every connection that stands here, and show the answers."""
        numbers = self.chosen.numbers
        by_number = {view.number: view for view in views}
        self.together = Together(self.desk, call, [by_number[number] for number in numbers])
        self.answers = True
        self._ended, self._held = (), None
        self._turn += 1

    def _compare(self) -> None:
        """Hold the answers against each other, whenever one more has come."""
        together = self.together
        if together is None or together.ended == self._ended or not any(together.ended):
            return
        self._ended = together.ended
        self._turn += 1
        turn = self._turn
        aside(self, lambda: together.compared(turn))

    @on(Compared)
    def _compared(self, message: Compared) -> None:
        if message.turn == self._turn:
            self._held = message.answers
            # The keys that work and the room of the tails go by what has come.
            self.post_message(Entered())

    def _show_answers(self) -> None:
        together = self.together
        if self._clock is not None:
            self._clock.resume() if together is not None and together.running else self._clock.pause()
        if together is None or not self.answers:
            return
        for place in self.chosen.shown:
            column = self.columns[place]
            column.answer.show(together.call, together.of(column.number), place == self.chosen.at)
            self._hold(column, together)
            column.answer.lines.put(self.column.answer.lines.top)

    def _hold(self, column: Column, together: Together) -> None:
        place = together.place(column.number)
        if self._held is None or place is None:
            column.answer.hold(None)
            return
        column.answer.hold(Held(self._held.comparison, place, self._held.failed[place], self._only))

    # What happens.

    def on_resize(self) -> None:
        # What is in the columns goes by the room there is.
        self.post_message(Entered())

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        place = next((each.place for each in self.columns if each in event.widget.ancestors), None)
        if place is not None and place != self.chosen.at:
            self.chosen.go(place)
            self.post_message(Entered())

    @on(ComparedLines.Scrolled)
    def _scrolled(self, message: ComparedLines.Scrolled) -> None:
        message.stop()
        for place in self.chosen.shown:
            self.columns[place].answer.lines.put(message.top)

    @on(ComparedLines.Only)
    def _only_different(self, message: ComparedLines.Only) -> None:
        message.stop()
        self._only = not self._only
        self._show_answers()

    @on(ComparedLines.Opened)
    def _opened(self, message: ComparedLines.Opened) -> None:
        message.stop()
        answer, together = self.answer, self.together
        if answer is not None and together is not None:
            self.post_message(Show(together.call.item.name, answer))

    def within(self, widget: Widget) -> bool:
        """Whether a widget may have the focus: those of the column that has the keys."""
        return self.column in widget.ancestors
