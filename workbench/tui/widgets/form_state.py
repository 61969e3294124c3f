"""What a form holds while it is filled in, without a widget: values, the current field, the edit.

Values follow the keys at once, there is nothing to confirm. A field that was only
passed through keeps what it held. Text that is taken away again leaves an empty
string in a string field (that is a value) and nothing in any other; one more
backspace makes the string field absent.
"""

from __future__ import annotations

from workbench.core.arguments import (
    ABSENT,
    NULL,
    Entry,
    Presence,
    arguments_text,
    encode,
    initial,
    title_of,
    value,
)
from workbench.core.field import item_choices
from workbench.core.forms import Choice, Field, FieldKind, FormModel
from workbench.core.jsontext import compact, elements
from workbench.tui.widgets.line_edit import LineEdit

_BOOLEANS = (Choice("true", "true"), Choice("false", "false"))


class FormState:
    """``current`` is the place of the field under the cursor; ``edit`` is its text while it is
    edited (for a choice: what the choices are filtered by); ``picked`` the choice under the hand."""

    def __init__(self, model: FormModel, entries: dict[str, Entry] | None = None) -> None:
        self.model = model
        self.entries = {field.name: initial(field) for field in model.fields} | (entries or {})
        self.current = 0
        self.edit: LineEdit | None = None
        self.picked: int | None = None
        self._kept: dict[str, Entry] = {}
        self._before = ABSENT

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.model.fields

    @property
    def field(self) -> Field | None:
        return self.fields[self.current] if self.fields else None

    def entry(self, field: Field) -> Entry:
        return self.entries.get(field.name, ABSENT)

    @property
    def wire(self) -> str:
        """The arguments as they would be sent now."""
        return arguments_text(self.model, self.entries)

    def first_to_fill(self) -> int:
        """The first required field that holds nothing, else the first field."""
        for place, field in enumerate(self.fields):
            if field.required and self.entry(field).presence is Presence.ABSENT:
                return place
        return 0

    def first_wrong(self, *, doubtful: bool) -> tuple[int, str] | None:
        """The first field whose text is no JSON (or, ``doubtful``, that the schema is against), and
        the sentence to say about it."""
        for place, field in enumerate(self.fields):
            encoded = encode(field, self.entry(field))
            why = encoded.doubt if doubtful else encoded.broken
            if why:
                return place, f"{field.name} {why}."
        return None

    def move(self, step: int) -> bool:
        """Go to a neighbour field; false at the edge. The edit goes along."""
        if not 0 <= self.current + step < len(self.fields):
            return False
        editing = self.edit is not None
        self.end()
        self.current += step
        if editing:
            self.begin()
        return True

    def begin(self) -> None:
        """Edit the current field."""
        field = self.field
        if field is None:
            return
        entry = self._before = self.entry(field)
        if choices_of(field):
            self.edit = LineEdit()
            self.picked = 0 if takes_several(field) else self._place(entry)
        else:
            self.edit = LineEdit(entry.text if entry.presence is Presence.VALUE else "")

    def end(self) -> None:
        self.edit = None
        self.picked = None

    def press(self, key: str, character: str | None) -> bool:
        """Take a key while a field is edited; false if it is none for its text."""
        field, edit = self.field, self.edit
        if field is None or edit is None:
            return False
        was = edit.text
        if key == "space" and takes_several(field):
            self._toggle(field)
            return True
        if key in ("backspace", "ctrl+h") and not was:
            self.entries[field.name] = ABSENT
            self._before = ABSENT
            self.picked = None
            return True
        if not edit.press(key, character):
            return False
        if edit.text != was:
            self._typed(field, edit.text)
        return True

    def paste(self, text: str) -> None:
        if self.edit is not None and self.field is not None:
            self.edit.insert(text)
            self._typed(self.field, self.edit.text)

    def pick(self, step: int) -> bool:
        """Go through the choices; false where there are none."""
        field = self.field
        matches = self.matches()
        if field is None or self.edit is None or not choices_of(field) or not matches:
            return False
        place = (0 if step > 0 else len(matches) - 1) if self.picked is None else self.picked + step
        if not 0 <= place < len(matches):
            return False
        self.picked = place
        if not takes_several(field):
            self.entries[field.name] = value(matches[place].text)
        return True

    def chosen(self, field: Field) -> list[str]:
        """What is chosen in a field that takes several: JSON texts."""
        entry = self.entry(field)
        parts = elements(entry.text) if entry.presence is Presence.VALUE else None
        return [compact(part.text) for part in parts or ()]

    def _toggle(self, field: Field) -> None:
        """Choose what is under the hand, or no longer; what is chosen keeps the order of the schema."""
        matches = self.matches()
        if self.picked is None or not self.picked < len(matches):
            return
        chosen = set(self.chosen(field)) ^ {matches[self.picked].text}
        texts = [choice.text for choice in choices_of(field) if choice.text in chosen]
        self.entries[field.name] = value(f"[{','.join(texts)}]")

    def matches(self) -> tuple[Choice, ...]:
        """The choices that contain what was typed."""
        field = self.field
        if field is None or self.edit is None:
            return ()
        sought = self.edit.text.casefold()
        found = choices_of(field)
        if not sought:
            return found
        return tuple(
            choice
            for choice in found
            if sought in choice.title.casefold() or sought in choice.text.casefold()
        )

    def cycle(self, step: int = 1) -> None:
        """Absent, null, value, and round again; the value is the one that was there before."""
        field = self.field
        if field is None:
            return
        entry = self.entry(field)
        if entry.presence is Presence.VALUE:
            self._kept[field.name] = entry
        order = (Presence.ABSENT, Presence.NULL, Presence.VALUE)
        wanted = order[(order.index(entry.presence) + step) % 3]
        new = ABSENT if wanted is Presence.ABSENT else NULL
        if wanted is Presence.VALUE:
            new = self._kept.get(field.name) or self._some_value(field)
        self.entries[field.name] = new
        if self.edit is not None:
            self.begin()

    def shown(self, field: Field) -> str:
        """What a field holds, as it is read; empty for absent and null."""
        entry = self.entry(field)
        if entry.presence is not Presence.VALUE:
            return ""
        if takes_several(field):
            titles = {choice.text: choice.title for choice in choices_of(field)}
            return ", ".join(titles.get(text, text) for text in self.chosen(field)) or entry.text
        return title_of(field, entry.text) if choices_of(field) else entry.text

    def _some_value(self, field: Field) -> Entry:
        choices = choices_of(field)
        if field.default is not None and field.kind is not FieldKind.STRING:
            return value(field.default)
        if choices:
            return value(choices[0].text)
        empty = {"array": "[]", "object": "{}"}.get(field.word.split(" ")[0], "")
        return value(empty if field.kind is FieldKind.JSON else "")

    def _typed(self, field: Field, text: str) -> None:
        if takes_several(field):
            self.picked = 0 if self.matches() else None
            return
        if choices_of(field):
            matches = self.matches()
            if text and matches:
                self.picked = 0
                self.entries[field.name] = value(matches[0].text)
            elif not text:
                self.picked = self._place(self._before)
                self.entries[field.name] = self._before
            else:
                self.picked = None
                self.entries[field.name] = value(text)
            return
        keeps_empty = field.kind is FieldKind.STRING
        self.entries[field.name] = value(text) if text or keeps_empty else ABSENT

    def _place(self, entry: Entry) -> int | None:
        if entry.presence is not Presence.VALUE:
            return None
        return next((place for place, choice in enumerate(self.matches()) if choice.text == entry.text), None)


def choices_of(field: Field) -> tuple[Choice, ...]:
    """What a field is chosen from, empty for one that is typed."""
    if takes_several(field):
        return item_choices(field.schema) or ()
    return _BOOLEANS if field.kind is FieldKind.BOOLEAN else field.choices


def takes_several(field: Field) -> bool:
    """Whether any number of its choices make the value: an array of them."""
    return field.kind is FieldKind.JSON and item_choices(field.schema) is not None
