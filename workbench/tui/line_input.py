"""One line that is typed into: a filter, a target, a name. It has the focus while it is typed in."""

from __future__ import annotations

from collections.abc import Callable

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui.marks import marks_of
from workbench.tui.palette import palette_of
from workbench.tui.safe import safe_cut, safe_fit
from workbench.tui.widgets.line_edit import LineEdit


class LineInput(Widget, can_focus=True):
    """``text`` after ``label``. Posts ``Edited``, ``Done`` (enter) and ``Left`` (escape). The text of
    a ``secret`` one is not shown, only its length."""

    DEFAULT_CSS = "LineInput { height: 1; width: 1fr; }"

    class Told(Message):
        """Something about the line."""

        def __init__(self, line: LineInput) -> None:
            super().__init__()
            self.line = line

        @property
        def control(self) -> LineInput:
            return self.line

    class Edited(Told):
        """The text has changed."""

    class Done(Told):
        """Enter."""

    class Left(Told):
        """Escape."""

    def __init__(self, label: str, *, ghost: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self.label = label
        self.ghost = ghost
        self.secret = False
        #: What would go on from the end of a text; tab takes it.
        self.complete: Callable[[str], str] = lambda _: ""
        self._edit = LineEdit()

    @property
    def text(self) -> str:
        return self._edit.text

    @text.setter
    def text(self, text: str) -> None:
        self._edit = LineEdit(text)
        self.refresh()

    @property
    def editing(self) -> bool:
        """Whether letters are text now."""
        return self.has_focus

    def on_key(self, event: events.Key) -> None:
        before = self._edit.text
        if event.key == "enter":
            self.post_message(self.Done(self))
        elif event.key == "escape":
            self.post_message(self.Left(self))
        elif event.key == "tab" and (rest := self._offered):
            self._edit.insert(rest)
        elif not self._edit.press(event.key, event.character):
            return
        event.stop()
        event.prevent_default()
        self.refresh()
        if self._edit.text != before:
            self.post_message(self.Edited(self))

    @property
    def _offered(self) -> str:
        at_the_end = self._edit.caret == len(self._edit.text)
        return self.complete(self._edit.text) if at_the_end and not self.secret else ""

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._edit.insert(event.text.split("\n")[0].rstrip("\r"))
        self.refresh()
        self.post_message(self.Edited(self))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        palette, marks = palette_of(self), marks_of(self)
        if y:
            return Strip.blank(width, self.rich_style)
        raised = self.has_focus
        text, quiet = palette.style("text", raised), palette.style("quiet", raised)
        label = safe_cut(self.label, max(width // 3, 4), marks.ellipsis)
        segments = [Segment(f" {label} ", quiet)]
        room = max(width - len(label) - 3, 1)
        if not raised:
            shown = "*" * len(self.text) if self.secret else self.text
            segments.append(Segment(safe_fit(shown or self.ghost, room), text if shown else quiet))
        else:
            before, behind = self._edit.window(room)
            if self.secret:
                before, behind = "*" * len(before), "*" * len(behind)
            segments += [
                Segment(before, text),
                Segment(marks.caret, palette.style("accent", True)),
                Segment(behind, text),
            ]
            if rest := self._offered if self.text else "":
                segments.append(Segment(safe_cut(rest, max(room - cell_len(before) - 1, 0), ""), quiet))
            if not self.text:
                segments.append(Segment(safe_cut(self.ghost, room - 1, marks.ellipsis), quiet))
        strip = Strip(segments).adjust_cell_length(width, text)
        return strip.apply_style(self.rich_style)
