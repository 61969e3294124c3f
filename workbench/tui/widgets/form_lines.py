"""The lines of a form, worked out from its state: fields, and what stands under them."""

from __future__ import annotations

from typing import Literal, NamedTuple

from rich.cells import cell_len

from workbench.core.arguments import Presence, encode
from workbench.core.forms import Field
from workbench.tui import figures
from workbench.tui.safe import safe_cut, safe_text
from workbench.tui.widgets.form_state import FormState, choices_of

#: Choices that stand under a field at once.
CHOICES = 6

#: Rows that the wire line takes at most.
WIRE_ROWS = 3


class Line(NamedTuple):
    """A line; ``place`` is that of its field, of its choice, or its row among several."""

    kind: Literal["field", "about", "wrong", "choice", "more", "note", "wire"]
    place: int = 0
    text: str = ""


def lines_of(state: FormState, focused: bool) -> list[Line]:
    """The lines above the foot: under the current field stand what it means, what is wrong with it
    and, while it is edited, what it is chosen from."""
    lines: list[Line] = []
    for place, field in enumerate(state.fields):
        lines.append(Line("field", place))
        entry = state.entry(field)
        encoded = encode(field, entry)
        wrong = encoded.broken or (encoded.doubt if entry.presence is not Presence.ABSENT else "")
        if wrong:
            lines.append(Line("wrong", place, f"{field.name} {wrong}."))
        if place != state.current or not focused:
            continue
        about = _about(field)
        if about:
            lines.append(Line("about", place, about))
        if state.edit is not None and choices_of(field):
            lines += _choices(state, place)
    return lines


def _choices(state: FormState, place: int) -> list[Line]:
    matches = state.matches()
    first = max(0, min((state.picked or 0) - CHOICES // 2, len(matches) - CHOICES))
    lines = [Line("choice", at) for at in range(first, min(first + CHOICES, len(matches)))]
    total = figures.count(len(choices_of(state.fields[place])))
    if not matches:
        lines.append(Line("more", place, f"none of {total} choices"))
    elif len(matches) > CHOICES:
        lines.append(Line("more", place, f"{figures.count(len(matches))} of {total} choices"))
    return lines


def _about(field: Field) -> str:
    title = field.title.strip()
    titled = f"{title}." if title and title not in (field.name, field.description.strip()) else ""
    parts = [titled, f"JSON, because {field.why}." if field.why else "", field.description.strip()]
    return " ".join(part for part in parts if part)


def rows_of(text: str, room: int, ellipsis: str) -> list[str]:
    """The beginning of a text on up to ``WIRE_ROWS`` rows, broken at a blank where there is one."""
    shown = safe_text(text[: room * WIRE_ROWS * 2])
    rows: list[str] = []
    while shown and len(rows) < WIRE_ROWS:
        size = len(shown)
        if cell_len(shown) > room:
            size = len(safe_cut(shown, room + 1, "").rstrip()) or 1
            while size > 1 and cell_len(shown[:size]) > room:
                size -= 1
            blank = shown.rfind(" ", room // 2, size)
            size = blank + 1 if blank > 0 else size
        rows.append(shown[:size])
        shown = shown[size:]
    if shown:
        rows[-1] = safe_cut(rows[-1] + shown, room, ellipsis)
    return rows or [""]
