"""The last line: the keys that work now. Above it, a sentence when there is something to say."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui.lines import Bit, segments_of
from workbench.tui.marks import marks_of

#: A key and what it does now.
Hint = tuple[str, str]


class StatusLine(Widget):
    """Shows hints, the most important first; ``last`` ones stay whatever the width is."""

    DEFAULT_CSS = "StatusLine { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._hints: Sequence[Hint] = ()
        self._last: Sequence[Hint] = ()

    def show(self, hints: Sequence[Hint], last: Sequence[Hint]) -> None:
        if (list(hints), list(last)) != (list(self._hints), list(self._last)):
            self._hints, self._last = hints, last
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        room = width - 2 - _cells(self._last)
        shown: list[Hint] = []
        for hint in self._hints:
            if room - _cells([hint]) < 0:
                break
            shown.append(hint)
            room -= _cells([hint])
        bits = [Bit(" ")]
        for key, words in [*shown, *self._last]:
            bits += [Bit(key, "text"), Bit(f" {words}   ", "quiet")]
        strip = Strip(segments_of(self, bits, width)).adjust_cell_length(width)
        return strip.apply_style(self.rich_style)


class NoticeLine(Widget):
    """One sentence, until the next key; a blank line otherwise."""

    DEFAULT_CSS = "NoticeLine { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.text = ""
        self._bad = False

    def say(self, text: str, *, bad: bool = False) -> None:
        if (text, bad) != (self.text, self._bad):
            self.text, self._bad = text, bad
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        bits: list[Bit] = []
        if self.text and not y:
            marks = marks_of(self)
            mark = Bit(marks.failed, "failed") if self._bad else Bit(marks.event, "quiet")
            bits = [Bit(" "), mark, Bit(f" {self.text}", "text")]
        strip = Strip(segments_of(self, bits, max(width - 1, 0))).adjust_cell_length(width)
        return strip.apply_style(self.rich_style)


def _cells(hints: Sequence[Hint]) -> int:
    return sum(cell_len(key) + cell_len(words) + 4 for key, words in hints)
