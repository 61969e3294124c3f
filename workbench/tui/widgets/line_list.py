"""The ground of every list: lines, a cursor, and nothing kept that is not on the screen.

A list knows how many lines it has and how to draw one of them; it never holds a
widget a line. Subclasses say ``count`` and ``draw``; the cursor, scrolling, keys
and the mouse are here. Column 0 is the gutter, column 1 the cursor or a mark,
column 2 blank; text begins at column ``TEXT``.
"""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from workbench.tui.marks import Marks, marks_of
from workbench.tui.palette import Palette, Role, palette_of
from workbench.tui.widgets.thin_bar import AsciiBar, ThinBar

#: Where the text of a line begins, in cells.
TEXT = 3


class LineView(ScrollView, can_focus=True, inherit_bindings=True):
    """A view of lines drawn one by one: look, ground and a thin scroll bar, no cursor."""

    DEFAULT_CSS = """
    LineView {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size: 1 1;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
    }
    """

    @property
    def palette(self) -> Palette:
        return palette_of(self)

    @property
    def marks(self) -> Marks:
        return marks_of(self)

    def on_mount(self) -> None:
        bar = ThinBar if self.marks.hairline == ThinBar.glyph else AsciiBar
        self.vertical_scrollbar.renderer = bar  # type: ignore[misc]
        self.horizontal_scrollbar.renderer = bar  # type: ignore[misc]

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """The framework tells a bar its place only while it is shown."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y

    def style_of(self, role: Role = "text", raised: bool = False) -> Style:
        return self.palette.style(role, raised)

    def scroll_line(self, top: int) -> None:
        """Put line ``top`` on the first row of the view, at once."""
        self.scroll_to(y=top, animate=False, force=True, immediate=True)

    @property
    def top(self) -> int:
        return int(self.scroll_offset.y)

    @property
    def shown(self) -> int:
        """How many lines fit."""
        return max(int(self.scrollable_content_region.height), 1)


class LineList(LineView):
    """A ``LineView`` with a cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "up", show=False),
        Binding("down", "move(1)", "down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home", "first", "first", show=False),
        Binding("end", "last", "last", show=False),
        Binding("enter", "choose", "open", show=False),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._cursor = 0

    # What a subclass says.

    @property
    def count(self) -> int:
        """How many lines there are."""
        raise NotImplementedError

    def draw(self, index: int, width: int, current: bool) -> list[Segment]:
        """The segments of a line; ``current`` says that it is drawn on raised ground."""
        raise NotImplementedError

    def can_stop(self, index: int) -> bool:
        """Whether the cursor may stand on a line."""
        return 0 <= index < self.count

    def cursor_moved(self) -> None:
        """The cursor stands on another line, by the user's hand."""

    def chosen(self) -> None:
        """The line under the cursor was chosen (enter, a second click)."""

    @property
    def cursor_shown(self) -> bool:
        """Whether the cursor is drawn at all."""
        return True

    # The cursor.

    @property
    def cursor(self) -> int:
        return self._cursor

    def put_cursor(self, index: int, *, show: bool = True) -> None:
        """Move the cursor without telling anyone."""
        index = max(0, min(index, self.count - 1)) if self.count else 0
        if index != self._cursor:
            old, self._cursor = self._cursor, index
            self.refresh_line(old)
            self.refresh_line(index)
        if show:
            self.show_line(index)

    def show_line(self, index: int) -> None:
        """Scroll as little as needed to have a line on the screen."""
        if index < self.top:
            self.scroll_line(index)
        elif index >= self.top + self.shown:
            self.scroll_line(index - self.shown + 1)

    def set_height(self) -> None:
        """Take over a changed ``count``."""
        size = Size(0, self.count)
        if size != self.virtual_size:
            self.virtual_size = size
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        index = self.top + y
        if index >= self.count:
            return self.draw_below(index - self.count, width)
        here = index == self._cursor
        raised = here and self.has_focus
        segments = self.draw(index, width, raised)
        strip = Strip(segments).adjust_cell_length(width, self.style_of("text", raised))
        return strip.apply_style(self.rich_style)

    def draw_below(self, offset: int, width: int) -> Strip:  # noqa: ARG002 - for subclasses
        """A row below the last line."""
        return Strip.blank(width, self.rich_style)

    def cursor_mark(
        self, index: int, mark: str = "", role: Role = "text", *, pinned: bool = False
    ) -> list[Segment]:
        """The first ``TEXT`` cells of a line: the cursor and up to two marks."""
        here = index == self._cursor and self.cursor_shown
        raised = here and self.has_focus
        blank = Segment(" ", self.style_of("text", raised))
        arrow = Segment(self.marks.cursor, self.style_of("accent" if raised else "quiet", raised))
        pin = Segment(self.marks.pin, self.style_of("accent", raised)) if pinned else blank
        if mark:
            shown = Segment(mark, self.style_of(role, raised))
            return [arrow, shown, pin] if here else [pin, shown, blank]
        return [pin, arrow if here else blank, blank]

    def on_focus(self) -> None:
        self.refresh_line(self._cursor)

    def on_blur(self) -> None:
        self.refresh_line(self._cursor)

    def on_resize(self) -> None:
        if self.count:
            self.show_line(self._cursor)

    def _go(self, index: int, step: int) -> None:
        """Put the cursor on ``index`` or the next line in direction ``step`` where it may stand."""
        count = self.count
        index = max(0, min(index, count - 1))
        first = index
        while 0 <= index < count and not self.can_stop(index):
            index += step
        if not 0 <= index < count:
            index = first
            while 0 <= index < count and not self.can_stop(index):
                index -= step
        if not 0 <= index < count:
            return
        if index == self._cursor:
            if index <= self.shown and step < 0:
                self.scroll_line(0)
            return
        self.put_cursor(index)
        self.cursor_moved()

    def action_move(self, step: int) -> None:
        self._go(self._cursor + step, step)

    def action_page(self, step: int) -> None:
        self._go(self._cursor + step * max(self.shown - 1, 1), step)

    def action_first(self) -> None:
        self._go(0, 1)

    def action_last(self) -> None:
        self._go(self.count - 1, -1)

    def action_choose(self) -> None:
        if self.can_stop(self._cursor):
            self.chosen()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        index = self.top + offset.y
        if not self.can_stop(index):
            return
        event.stop()
        if index == self._cursor:
            self.chosen()
        else:
            self._go(index, 1)
