"""The fields of a form, a line each, with the line that shows what goes on the wire.

Under the current field stand what it means, what is wrong with it, and, while it
is edited, what it can be chosen from. The wire line stays on the screen however
many fields there are.
"""

from __future__ import annotations

from typing import Literal

from rich.cells import cell_len
from textual.geometry import Size
from textual.strip import Strip

from workbench.core.arguments import Presence
from workbench.core.forms import Field
from workbench.tui.safe import safe_cut
from workbench.tui.widgets.form_lines import Line, lines_of, rows_of
from workbench.tui.widgets.form_state import FormState, choices_of, takes_several
from workbench.tui.widgets.frame_columns import Pen
from workbench.tui.widgets.line_list import TEXT, LineView

_CHIPS = (Presence.ABSENT, Presence.NULL, Presence.VALUE)
#: Fields are drawn no wider, so that what stands at their right edge stays with them.
_WIDEST = 100

_CHIPS_WIDTH = len("absent null value")
_LABEL_LEAST, _LABEL_MOST = 8, 28


class FormFields(LineView):
    """Draws a ``FormState``. ``note`` is a sentence about the whole, ``wire`` what would be sent."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.state: FormState | None = None
        self.note = ""
        self.wire = ""
        self._lines: list[Line] = []
        self._foot: list[Line] = []
        self._label = 0

    def set_state(self, state: FormState | None) -> None:
        self.state = state
        fields = state.fields if state is not None else ()
        needs = [
            cell_len(safe_cut(field.name, _LABEL_MOST)) + (2 if field.required else 0) for field in fields
        ]
        self._label = max([_LABEL_LEAST, *needs])
        self.update()

    def update(self) -> None:
        """Take over what has changed in the state."""
        width = max(self.size.width, 20)
        self._lines = lines_of(self.state, self.has_focus) if self.state is not None else []
        room = max(width - self._value_at - 1, 8)
        notes = rows_of(self.note, max(width - TEXT - 1, 8), self.marks.ellipsis) if self.note else []
        self._foot = [Line("note", row, text) for row, text in enumerate(notes)]
        self._foot += [
            Line("wire", row, text) for row, text in enumerate(rows_of(self.wire, room, self.marks.ellipsis))
        ]
        size = Size(0, len(self._lines) + len(self._foot))
        if size != self.virtual_size:
            self.virtual_size = size
        self._show_current()
        self.refresh()

    @property
    def _value_at(self) -> int:
        return TEXT + min(self._label, _LABEL_MOST + 2, max(self.size.width // 3, 8)) + 2

    @property
    def room(self) -> int:
        """Rows for fields; the others are the foot's."""
        return max(self.shown - len(self._foot), 1)

    def _show_current(self) -> None:
        state = self.state
        if state is None:
            return
        at = next(
            (
                at
                for at, line in enumerate(self._lines)
                if line.kind == "field" and line.place == state.current
            ),
            0,
        )
        last = at
        while last + 1 < len(self._lines) and self._lines[last + 1].kind != "field":
            last += 1
        if at < self.top:
            self.scroll_line(at)
        elif last >= self.top + self.room:
            self.scroll_line(min(at, last - self.room + 1))
            # Where not even its choices fit below a field, the one under the hand is in view.
            picked = next(
                (row for row in range(at, last + 1) if self._lines[row] == Line("choice", state.picked or 0)),
                at,
            )
            if picked >= self.top + self.room:
                self.scroll_line(picked - self.room + 1)

    def field_at(self, y: int) -> int | None:
        """The place of the field that a row of the view belongs to."""
        index = self.top + y
        if y >= self.room or not 0 <= index < len(self._lines):
            return None
        while index > 0 and self._lines[index].kind != "field":
            index -= 1
        return self._lines[index].place

    def on_resize(self) -> None:
        self.update()

    def on_focus(self) -> None:
        self.update()

    def on_blur(self) -> None:
        self.update()

    # Drawing.

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        line = self._line_at(y)
        if line is None:
            return Strip.blank(width, self.rich_style)
        state = self.state
        here = state is not None and line.kind == "field" and line.place == state.current and self.has_focus
        pen = Pen(self.palette, self.marks, here)
        if line.kind == "field" and state is not None:
            self._draw_field(pen, state, state.fields[line.place], line.place, width)
        elif line.kind == "choice" and state is not None:
            self._draw_choice(pen, state, line.place, width)
        else:
            self._draw_text(pen, line, width)
        strip = Strip(pen.segments).adjust_cell_length(width, self.style_of("text", here))
        return strip.apply_style(self.rich_style)

    def _line_at(self, y: int) -> Line | None:
        lines = self._lines
        fits = len(lines) + len(self._foot) <= self.size.height
        if fits:
            both = [*lines, *self._foot]
            return both[y] if y < len(both) else None
        foot = y - (self.size.height - len(self._foot))
        if foot >= 0:
            return self._foot[foot] if foot < len(self._foot) else None
        index = self.top + y
        return lines[index] if index < len(lines) else None

    def _draw_field(self, pen: Pen, state: FormState, field: Field, place: int, width: int) -> None:
        here = place == state.current and self.has_focus
        pen.blank()
        pen.cell(self.marks.cursor if here else "", 1, "accent", gap=1)
        label = self._value_at - TEXT - 2
        mark = " *" if field.required else ""
        name = safe_cut(field.name, label - len(mark), self.marks.ellipsis)
        pen.cell(name, cell_len(name), "text" if here else "quiet")
        pen.cell(mark, label - cell_len(name), "waiting")
        pen.blank(2)
        width = min(width, _WIDEST)
        right = _CHIPS_WIDTH if width >= 60 else 6
        room = max(width - self._value_at - right - 3, 4)
        if here and state.edit is not None:
            self._draw_edit(pen, state, field, room)
        else:
            self._draw_value(pen, state, field, room)
        pen.blank(2)
        self._draw_presence(pen, state, field, right, here)
        pen.blank()

    def _draw_edit(self, pen: Pen, state: FormState, field: Field, room: int) -> None:
        assert state.edit is not None
        before, behind = state.edit.window(room)
        ghost = ""
        if not state.edit.text:
            ghost = state.shown(field) if choices_of(field) else _absent_words(state, field)
        used = cell_len(before) + 1 + cell_len(behind)
        pen.cell(before, cell_len(before), "text")
        pen.cell(self.marks.caret, 1, "accent")
        pen.cell(behind, cell_len(behind), "text")
        pen.cell(ghost, room - used, "quiet")

    def _draw_value(self, pen: Pen, state: FormState, field: Field, room: int) -> None:
        entry = state.entry(field)
        if entry.presence is Presence.VALUE:
            text = state.shown(field)
            pen.cell(text or '""', room, "text" if text else "quiet")
        else:
            pen.cell(_absent_words(state, field), room, "quiet")

    def _draw_presence(self, pen: Pen, state: FormState, field: Field, right: int, here: bool) -> None:
        presence = state.entry(field).presence
        if not here or right < _CHIPS_WIDTH:
            word = "null" if presence is Presence.NULL else field.word
            pen.cell(presence.value if here else word, right, right=True)
            return
        for chip in _CHIPS:
            role: Literal["bright", "quiet"] = "bright" if chip is presence else "quiet"
            pen.cell(chip.value, len(chip.value), role, gap=0 if chip is Presence.VALUE else 1)

    def _draw_choice(self, pen: Pen, state: FormState, place: int, width: int) -> None:
        matches = state.matches()
        if place >= len(matches):
            return
        choice, picked = matches[place], place == state.picked
        pen.blank(self._value_at - 2)
        pen.cell(self.marks.cursor if picked else "", 1, "accent", gap=1)
        room = max(width - self._value_at - 1, 4)
        field = state.field
        if field is not None and takes_several(field):
            pen.cell(self.marks.ok if choice.text in state.chosen(field) else "", 1, "ok", gap=1)
            room -= 2
        title = safe_cut(choice.title, room, self.marks.ellipsis)
        pen.cell(title, cell_len(title), "text" if picked else "quiet")
        if choice.text not in (choice.title, f'"{choice.title}"'):
            pen.cell(f"  {choice.text}", room - cell_len(title), "quiet")

    def _draw_text(self, pen: Pen, line: Line, width: int) -> None:
        if line.kind == "wire":
            pen.blank(TEXT)
            label = self._value_at - TEXT - 2
            pen.cell("wire" if not line.place else "", label, "quiet", gap=2)
            pen.cell(line.text, max(width - self._value_at - 1, 1), "text")
            return
        if line.kind == "note":
            pen.blank()
            pen.cell("" if line.place else self.marks.finding, 1, "waiting", gap=1)
            pen.cell(line.text, max(width - TEXT - 1, 1), "text")
            return
        if line.kind == "wrong":
            pen.blank(self._value_at - 2)
            pen.cell(self.marks.finding, 1, "finding", gap=1)
        else:
            pen.blank(self._value_at)
        pen.cell(line.text, max(width - self._value_at - 1, 1), "quiet")


def _absent_words(state: FormState, field: Field) -> str:
    """What stands where nothing was put in."""
    if state.entry(field).presence is Presence.NULL:
        return "null"
    if field.default is not None:
        return f"{field.default} by default"
    choices = choices_of(field)
    return ", ".join(choice.title for choice in choices[:8]) if choices else ""
