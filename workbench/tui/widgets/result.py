"""How a call ended: one line that says so, and what came back as blocks.

Long text is shown up to a bound; ``enter`` opens the block whole. The head line
stays where it is while the rest scrolls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from workbench.core.actions import Outcome
from workbench.core.printable import printable_lines
from workbench.tui import figures
from workbench.tui.aside import aside
from workbench.tui.safe import safe_cut
from workbench.tui.widgets.documents import Span, TextRows
from workbench.tui.widgets.line_list import TEXT, LineView
from workbench.tui.widgets.result_blocks import Block, blocks_of, is_tool_error
from workbench.tui.widgets.result_head import failure_blocks, head_of

#: Remarks of one call that are shown; the last ones.
MAX_REMARKS = 50

#: Rows of one block that are shown in place.
BLOCK_ROWS = 400


class ResultView(LineView):
    """Shows an ``Outcome``; posts ``Opened`` with the bytes of the block under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "go(-1)", "up", show=False),
        Binding("down", "go(1)", "down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home", "edge(0)", "start", show=False),
        Binding("end", "edge(1)", "end", show=False),
        Binding("enter", "open", "open whole"),
    ]

    class Opened(Message):
        """A block is to be shown whole. ``title`` is as the server wrote it."""

        def __init__(self, title: str, whole: bytes) -> None:
            super().__init__()
            self.title = title
            self.whole = whole

    class Read(Message, bubble=False):
        """The blocks of a large result are here (from the thread that made them)."""

        def __init__(self, turn: int, blocks: list[Block], failed: bool) -> None:
            super().__init__()
            self.turn = turn
            self.blocks = blocks
            self.failed = failed

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.outcome: Outcome | None = None
        self._request_seq: int | None = None
        self._blocks: list[Block] = []
        self._remarks: list[Block] = []
        self._rows: list[tuple[int, list[Span]]] = []
        self._current = 0
        self._turn = 0
        self._reading = False
        self._failed = False

    # What goes down.

    def show(self, outcome: Outcome, request_seq: int | None = None, remarks: Sequence[str] = ()) -> None:
        """Show how a call ended; ``remarks`` are sentences about what was done on the way."""
        told = "\n".join(remarks[-MAX_REMARKS:])
        self._remarks = (
            [Block("on the way", told, False, told.encode("utf-8", "surrogateescape"))] if told else []
        )
        self.outcome = outcome
        self._request_seq = request_seq
        self._turn += 1
        self._current = 0
        self._reading = self._failed = False
        if outcome.how == "result" and outcome.large:
            self._reading = True
            self._take([])
            turn = self._turn
            aside(self, lambda: self._read(turn, outcome))
        elif outcome.how == "result":
            self._failed = outcome.is_tool_error
            self._take(blocks_of(outcome.text))
        else:
            self._take(failure_blocks(outcome))

    def clear(self) -> None:
        """Show nothing."""
        self.outcome = None
        self._turn += 1
        self._reading = self._failed = False
        self._take([])

    # What can be read.

    @property
    def block(self) -> Block | None:
        """The block under the cursor."""
        return self._blocks[self._current] if self._blocks else None

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(self._blocks)

    # Layout.

    def _read(self, turn: int, outcome: Outcome) -> ResultView.Read:
        text = outcome.text
        return self.Read(turn, blocks_of(text), is_tool_error(text))

    def on_result_view_read(self, message: ResultView.Read) -> None:
        if message.turn == self._turn:
            self._reading = False
            self._failed = message.failed
            self._take(message.blocks)

    def _take(self, blocks: list[Block]) -> None:
        self._blocks = blocks if self._reading or self.outcome is None else [*blocks, *self._remarks]
        self._lay_out()
        self.scroll_line(0)

    def _lay_out(self) -> None:
        width = max(self.size.width - TEXT - 1, 8)
        rows: list[tuple[int, list[Span]]] = []
        for place, block in enumerate(self._blocks):
            if rows:
                rows.append((place - 1, []))
            if block.title:
                rows.append((place, [Span(safe_cut(block.title, width, self.marks.ellipsis), "quiet")]))
            rows += [(place, spans) for spans in _body(block, width)]
        self._rows = rows
        size = Size(0, len(rows) + 1 if self.outcome is not None else 0)
        if size != self.virtual_size:
            self.virtual_size = size
        self.refresh()

    def on_resize(self) -> None:
        self._lay_out()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    # Drawing.

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if self.outcome is None:
            return Strip.blank(width, self.rich_style)
        if y == 0:
            segments = self._head_line(self.outcome, width)
        else:
            segments = self._body_line(self.top + y - 1)
        return Strip(segments).adjust_cell_length(width).apply_style(self.rich_style)

    def _head_line(self, outcome: Outcome, width: int) -> list[Segment]:
        head = head_of(outcome, self._request_seq, self.marks, self._failed)
        room = max(width - TEXT - 1 - cell_len(head.frames) - 2, 0)
        words = safe_cut(head.words, room, self.marks.ellipsis)
        gap = max(width - TEXT - cell_len(words) - cell_len(head.frames) - 1, 1)
        return [
            Segment(" "),
            Segment(head.mark, self.style_of(head.role)),
            Segment(" "),
            Segment(words, self.style_of("text")),
            Segment(" " * gap),
            Segment(head.frames, self.style_of("quiet")),
        ]

    def _body_line(self, index: int) -> list[Segment]:
        if index >= len(self._rows):
            words = "the result is being read" if self._reading and not index else ""
            return [Segment(" " * TEXT), Segment(words, self.style_of("quiet"))]
        place, spans = self._rows[index]
        first = not index or self._rows[index - 1][0] != place or not self._rows[index - 1][1]
        here = place == self._current and first and spans and self.has_focus and len(self._blocks) > 1
        segments = [
            Segment(" "),
            Segment(self.marks.cursor if here else " ", self.style_of("accent")),
            Segment(" "),
        ]
        return segments + [Segment(span.text, self.style_of(span.role)) for span in spans]

    # Keys.

    def action_go(self, step: int) -> None:
        """Scroll while the block reaches over the edge, then go to the next one."""
        edge = self.top + self.shown - 2 if step > 0 else self.top
        reaches = bool(self._rows) and (
            edge + 1 < len(self._rows) and self._rows[edge][0] == self._current == self._rows[edge + 1][0]
            if step > 0
            else self.top > 0 and self._rows[min(self.top, len(self._rows) - 1)][0] == self._current
        )
        if not reaches and 0 <= self._current + step < len(self._blocks):
            self._current += step
            self._show_current()
        else:
            self.scroll_line(self.top + step)
        self.refresh()

    def _show_current(self) -> None:
        first = next(at for at, row in enumerate(self._rows) if row[0] == self._current and row[1])
        if not self.top <= first < self.top + self.shown - 1:
            self.scroll_line(first)

    def action_page(self, step: int) -> None:
        self.scroll_line(self.top + step * max(self.shown - 2, 1))
        self._follow_scroll()

    def action_edge(self, last: int) -> None:
        self.scroll_line(len(self._rows) if last else 0)
        self._current = len(self._blocks) - 1 if last and self._blocks else 0
        self.refresh()

    def _follow_scroll(self) -> None:
        if self._rows:
            self._current = self._rows[min(self.top, len(self._rows) - 1)][0]
        self.refresh()

    def action_open(self) -> None:
        block = self.block
        if block is not None:
            self.post_message(self.Opened(block.title, block.whole))


def _body(block: Block, width: int) -> list[list[Span]]:
    if not block.text:
        return []
    laid = TextRows(printable_lines(block.text), width, json=block.json)
    rows = [laid.row(index, 0, width) for index in range(min(laid.height, BLOCK_ROWS))]
    if laid.height > BLOCK_ROWS or block.left:
        size = figures.size(len(block.whole))
        rows.append([Span(f"this is the beginning of {size}: enter opens the whole", "quiet")])
    return rows
