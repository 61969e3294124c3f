"""Lines of spans: text in roles, laid out by whoever gives it, scrolled by keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui.marks import marks_of
from workbench.tui.palette import Role, palette_of
from workbench.tui.safe import safe_cut, safe_fit, safe_text
from workbench.tui.widgets.line_list import LineView


class Bit(NamedTuple):
    """A piece of a line. ``width`` fits it to so many cells; 0 leaves it as long as it is."""

    text: str
    role: Role = "text"
    width: int = 0
    right: bool = False


Line = Sequence[Bit]

#: Makes the lines for a width.
Layout = Callable[[int], list[Line]]


def segments_of(widget: Widget, line: Line, width: int, *, raised: bool = False) -> list[Segment]:
    """A line as segments of at most ``width`` cells; the last bit that does not fit is cut."""
    palette, marks = palette_of(widget), marks_of(widget)
    segments: list[Segment] = []
    left = width
    for bit in line:
        if left <= 0:
            break
        if bit.width:
            text = safe_fit(bit.text, min(bit.width, left), right=bit.right, ellipsis=marks.ellipsis)
        else:
            text = safe_cut(bit.text, left, marks.ellipsis)
        segments.append(Segment(text, palette.style(bit.role, raised)))
        left -= cell_len(text)
    return segments


def wrapped(text: str, width: int, most: int = 1_000) -> list[str]:
    """Text on rows of at most ``width`` cells, broken at blanks where there are any; at most ``most``
    rows."""
    rows: list[str] = []
    for part in text.split("\n"):
        rest = safe_text(part[: width * most * 2])
        while True:
            if cell_len(rest) <= width or width < 2:
                rows.append(rest)
                break
            size = len(safe_cut(rest, width + 1, "").rstrip())
            while size > 1 and cell_len(rest[:size]) > width:
                size -= 1
            blank = rest.rfind(" ", 1, size + 1)
            at = blank if blank > 0 else max(size, 1)
            rows.append(rest[:at])
            rest = rest[at:].lstrip(" ")
            if len(rows) >= most:
                return rows[:most]
    return rows[:most]


class Fixed(Widget):
    """Lines that never scroll and take the height they need."""

    DEFAULT_CSS = "Fixed { height: auto; width: 1fr; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._layout: Layout = lambda _: []
        self._lines: list[Line] = []
        self._laid_for = -1

    def lay(self, layout: Layout) -> None:
        """Show what this makes of the width."""
        self._layout = layout
        before = self._lines
        self._laid_for = self.size.width
        self._lines = layout(self.size.width) if self.size.width else []
        # The height it has is what counts: a layout may have been made before these lines were.
        wrong = not self.size.width or len(self._lines) != self.size.height
        if wrong or self._lines != before:
            self.refresh(layout=wrong)

    def on_mount(self) -> None:
        # What was laid out before there was a width asks for its rows again.
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        if width != self._laid_for:
            self._laid_for = width
            self._lines = self._layout(width)
        return len(self._lines)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if width != self._laid_for:
            self._laid_for = width
            self._lines = self._layout(width)
        line = self._lines[y] if y < len(self._lines) else ()
        return Strip(segments_of(self, line, width)).adjust_cell_length(width).apply_style(self.rich_style)


class Lines(LineView):
    """Lines that scroll; without a cursor. ``stick`` keeps the end in view while it grows; with
    fewer than ``least`` rows, too few to read in, nothing is shown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "by(-1)", "up", show=False),
        Binding("down", "by(1)", "down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home", "edge(0)", "start", show=False),
        Binding("end", "edge(1)", "end", show=False),
    ]

    def __init__(
        self, *, stick: bool = False, least: int = 0, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._least = least
        self._layout: Layout = lambda _: []
        self._lines: list[Line] = []
        self._stick = stick
        self._at_end = stick

    def lay(self, layout: Layout) -> None:
        """Show what this makes of the width, from where it was scrolled to."""
        self._layout = layout
        self._lines = layout(max(self.size.width, 1)) if self.size.height >= self._least else []
        size = Size(0, len(self._lines))
        if size != self.virtual_size:
            self.virtual_size = size
        if self._at_end:
            self.scroll_line(max(len(self._lines) - self.shown, 0))
        self.refresh()

    def on_resize(self) -> None:
        self.lay(self._layout)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        index = self.top + y
        line = self._lines[index] if index < len(self._lines) else ()
        return Strip(segments_of(self, line, width)).adjust_cell_length(width).apply_style(self.rich_style)

    def action_by(self, lines: int) -> None:
        self._go(self.top + lines)

    def action_page(self, pages: int) -> None:
        self._go(self.top + pages * max(self.shown - 1, 1))

    def action_edge(self, last: int) -> None:
        self._go(len(self._lines) if last else 0)

    def _go(self, top: int) -> None:
        most = max(len(self._lines) - self.shown, 0)
        self.scroll_line(max(0, min(top, most)))
        self._at_end = self._stick and top >= most
