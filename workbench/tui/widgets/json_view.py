"""A viewer for a body of any size: indented JSON, raw text or hex; wrapped or not; with search.

Laying out happens in a thread above a size that is not felt. What is drawn is what
is on the screen.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from workbench.tui import figures
from workbench.tui.aside import aside
from workbench.tui.safe import safe_cut
from workbench.tui.widgets.documents import (
    Document,
    Span,
    TextRows,
    View,
    lay_out,
    looks_like_json,
)
from workbench.tui.widgets.line_edit import LineEdit
from workbench.tui.widgets.line_list import LineView
from workbench.tui.widgets.text_search import MAX_SOUGHT, Place, find, highlighted

#: Bodies up to this size (bytes) are laid out at once.
AT_ONCE = 64 * 1024

VIEWS: tuple[View, ...] = ("pretty", "raw", "hex")


class TextView(LineView):
    """Shows bytes. ``show`` them; ``source`` is what there is to copy or save."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll(-1)", "up", show=False),
        Binding("down", "scroll(1)", "down", show=False),
        Binding("left", "sideways(-8)", "left", show=False),
        Binding("right", "sideways(8)", "right", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home", "edge(0)", "start", show=False),
        Binding("end", "edge(1)", "end", show=False),
        Binding("slash", "search", "search"),
        Binding("n", "match(1)", "next match"),
        Binding("N", "match(-1)", "previous match", show=False),
        Binding("v", "view", "raw, hex"),
        Binding("z", "wrap", "wrap"),
    ]

    class Changed(Message):
        """``status`` reads otherwise now."""

    class Ready(Message, bubble=False):
        """A layout is done (from the thread that made it)."""

        def __init__(self, turn: int, document: Document) -> None:
            super().__init__()
            self.turn = turn
            self.document = document

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.source = b""
        self._view: View = "pretty"
        self._wrap = True
        self._document: Document | None = None
        self._turn = 0
        self._left = 0
        self._laid_for = 0
        self._edit: LineEdit | None = None
        self._sought = ""
        self._found: Place | None = None
        self._note = ""
        self._searching: asyncio.Task[None] | None = None

    # What goes down.

    def show(self, body: bytes, view: View = "pretty") -> None:
        """Show a body, from its beginning."""
        self.source = body
        self._view = view
        self._document = None
        self._found = None
        self._note = ""
        self._left = 0
        self._lay_out()
        self.scroll_line(0)

    def show_text(self, text: str) -> None:
        """Show text as it stands."""
        self.show(text.encode("utf-8", "surrogateescape"), "raw")

    # What can be read.

    @property
    def view(self) -> View:
        return self._view

    @property
    def wrapping(self) -> bool:
        return self._wrap

    @property
    def busy(self) -> bool:
        """Whether the body is still being laid out."""
        return self._document is None and bool(self.source)

    @property
    def height(self) -> int:
        return self._document.height if self._document is not None else 0

    @property
    def text(self) -> str:
        """What is shown, whole; empty for hex."""
        return self._document.text if isinstance(self._document, TextRows) else ""

    def row_bounds(self, index: int) -> slice:
        """Where a row stands in ``text``."""
        document = self._document
        return slice(*document.bounds(index)) if isinstance(document, TextRows) else slice(0)

    @property
    def status(self) -> str:
        """``pretty   4.4 MB   12 of 357,402 lines``."""
        kind = self._view if self._view != "pretty" or looks_like_json(self.source) else "text"
        parts = [kind, figures.size(len(self.source))]
        if self.busy:
            parts.append("being laid out")
        elif self.height > self.shown:
            last = min(self.top + self.shown, self.height)
            parts.append(f"{figures.count(last)} of {figures.count(self.height)} lines")
        if self._note:
            parts.append(self._note)
        return "   ".join(parts)

    # Layout.

    def _lay_out(self) -> None:
        self._turn += 1
        width = self._laid_for = max(self.size.width - 2, 0)
        if not width:
            return
        if len(self.source) <= AT_ONCE:
            self._take(lay_out(self.source, self._view, width, self._wrap))
            return
        self._tell()
        turn, body, view, wrap = self._turn, self.source, self._view, self._wrap
        aside(self, lambda: self.Ready(turn, lay_out(body, view, width, wrap)))

    def on_text_view_ready(self, message: TextView.Ready) -> None:
        if message.turn == self._turn:
            self._take(message.document)

    def _take(self, document: Document) -> None:
        # Keep the place: the same text stays at the top when only the width has changed.
        before, place = self._document, None
        if isinstance(before, TextRows) and isinstance(document, TextRows) and before.height:
            row = min(self.top, before.height - 1)
            if len(before.text) == len(document.text):
                place = document.row_at(before.starts[row])
        self._document = document
        self.virtual_size = Size(0, document.height)
        if place is not None:
            self.scroll_line(place)
        self.refresh()
        self._tell()

    def on_resize(self) -> None:
        if self.size.width - 2 != self._laid_for and self.source:
            self._lay_out()

    def _tell(self) -> None:
        if self.is_mounted:
            self.post_message(self.Changed())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._tell()

    # Drawing.

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if self._edit is not None and y == self.size.height - 1:
            return self._search_line(self._edit, width)
        index = self.top + y
        if self._document is None:
            words = f"{figures.size(len(self.source))} are being laid out" if self.source and not y else ""
            return self._strip([Span(words, "quiet")], width)
        if index >= self._document.height:
            return Strip.blank(width, self.rich_style)
        spans = self._document.row(index, self._left, max(width - 2, 0))
        if self._found is not None and isinstance(self._document, TextRows):
            start = self._document.bounds(index)[0] + self._left
            spans = highlighted(spans, self._found[0] - start, self._found[1] - start)
        return self._strip(spans, width)

    def _strip(self, spans: list[Span], width: int) -> Strip:
        segments = [Segment(" ")]
        segments += [
            Segment(span.text, self.style_of(span.role, raised=span.role == "bright")) for span in spans
        ]
        return Strip(segments).adjust_cell_length(width).apply_style(self.rich_style)

    def _search_line(self, edit: LineEdit, width: int) -> Strip:
        before, behind = edit.window(max(width - 4, 1))
        segments = [
            Segment(" / ", self.style_of("quiet", raised=True)),
            Segment(before, self.style_of("text", raised=True)),
            Segment(self.marks.caret, self.style_of("accent", raised=True)),
            Segment(behind, self.style_of("text", raised=True)),
        ]
        strip = Strip(segments).adjust_cell_length(width, self.style_of("text", raised=True))
        return strip.apply_style(self.rich_style)

    # Keys.

    def action_scroll(self, lines: int) -> None:
        self.scroll_line(self.top + lines)

    def action_page(self, pages: int) -> None:
        self.scroll_line(self.top + pages * max(self.shown - 1, 1))

    def action_edge(self, last: int) -> None:
        self.scroll_line(self.height if last else 0)

    def action_sideways(self, cells: int) -> None:
        if self._wrap or self._document is None or self._view == "hex":
            return
        most = max(self._document.width - (self.size.width - 2), 0)
        self._left = max(0, min(self._left + cells, most))
        self.refresh()

    def action_view(self) -> None:
        """Pretty, raw, hex, and round again; text has no pretty view."""
        views = VIEWS if looks_like_json(self.source) else VIEWS[1:]
        place = views.index(self._view) if self._view in views else 0
        self.show(self.source, views[(place + 1) % len(views)])

    def action_wrap(self) -> None:
        self._wrap = not self._wrap
        self._left = 0
        self._lay_out()

    # Search.

    def action_search(self) -> None:
        if self._view != "hex":
            self._edit = LineEdit(self._sought)
            self.refresh()

    def on_key(self, event: events.Key) -> None:
        if self._edit is None:
            return
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self._edit = None
        elif event.key == "enter":
            text, self._edit = self._edit.text, None
            self.search(text)
        else:
            self._edit.press(event.key, event.character)
        self.refresh()

    def on_paste(self, event: events.Paste) -> None:
        if self._edit is not None:
            event.stop()
            self._edit.insert(event.text)
            self.refresh()

    def search(self, text: str) -> None:
        """Find a text from what is on the screen on; case counts only if it has capitals."""
        self._sought = text[:MAX_SOUGHT]
        self._found = None
        self._note = ""
        self.action_match(1)

    def action_match(self, step: int) -> None:
        document = self._document
        if not self._sought or not isinstance(document, TextRows):
            return
        if self._searching is not None:
            self._searching.cancel()
        self._searching = asyncio.create_task(self._match(document, step))

    async def _match(self, document: TextRows, step: int) -> None:
        if self._found is not None:
            start = self._found[1] if step > 0 else self._found[0]
        else:
            start = document.starts[min(self.top, document.height - 1)]
        self._found, wrapped = await find(document.text, self._sought, start, step)
        if self._found is None:
            self._note = f"no {safe_cut(self._sought, 20, self.marks.ellipsis)} here"
            self.refresh()
            self._tell()
            return
        self._note = ("from the start again" if step > 0 else "from the end again") if wrapped else ""
        self._show_match(document, self._found[0])

    def _show_match(self, document: TextRows, offset: int) -> None:
        row = document.row_at(offset)
        if not self._wrap:
            inner = offset - document.bounds(row)[0]
            room = max(self.size.width - 2, 1)
            if not self._left <= inner < self._left + room - len(self._sought):
                self._left = max(inner - room // 2, 0)
        if not self.top <= row < self.top + self.shown - 1:
            self.scroll_line(max(row - self.shown // 3, 0))
        self.refresh()
        self._tell()
