"""A scroll bar of one hairline, seen only where the content does not fit."""

from __future__ import annotations

from rich.color import Color
from rich.segment import Segment, Segments
from rich.style import Style
from textual.scrollbar import ScrollBarRender

_BACK = Color.parse("default")


class ThinBar(ScrollBarRender):
    """The thumb is a line, the track is blank ground."""

    glyph = "│"
    flat = "─"

    @classmethod
    def render_bar(
        cls,
        size: int = 25,
        virtual_size: float = 50,
        window_size: float = 20,
        position: float = 0,
        thickness: int = 1,  # noqa: ARG003 - the signature of the framework
        vertical: bool = True,
        back_color: Color = _BACK,
        bar_color: Color = _BACK,
    ) -> Segments:
        thumb = min(size, max(1, round(size * window_size / max(virtual_size, 1))))
        room = max(virtual_size - window_size, 1)
        start = round((size - thumb) * min(max(position / room, 0), 1))
        above = Segment(" ", Style(bgcolor=back_color, meta={"@mouse.down": "scroll_up"}))
        below = Segment(" ", Style(bgcolor=back_color, meta={"@mouse.down": "scroll_down"}))
        bar = Segment(
            cls.glyph if vertical else cls.flat,
            Style(bgcolor=back_color, color=bar_color, meta={"@mouse.down": "grab"}),
        )
        cells = [above] * start + [bar] * thumb + [below] * (size - start - thumb)
        if vertical:
            return Segments(cells, new_lines=True)
        return Segments([*cells, Segment.line()], new_lines=False)


class AsciiBar(ThinBar):
    """The same where only ASCII can be shown."""

    glyph = "|"
    flat = "-"
