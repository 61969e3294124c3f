"""A form over ``core.forms``: one line a field, what goes on the wire, or JSON by hand.

A field takes letters while it is edited. Coming into the form begins with the
first field to fill in; Tab and the arrows go on, Enter sends, Esc ends the edit
and letters are commands again, until Enter begins it anew. What breaks the schema
is told in its place and goes out when Enter is pressed a second time; only what
is no JSON at all keeps fields from being sent. By hand (``e``), anything goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from workbench.core.arguments import Entry, entries_of
from workbench.core.forms import FormModel
from workbench.core.jsontext import compact, pretty, problem
from workbench.tui.safe import safe_json
from workbench.tui.widgets.field_keys import FieldKeys
from workbench.tui.widgets.form_state import FormState
from workbench.tui.widgets.json_area import MAX_EDITED, JsonArea

#: Makes what is sent (JSON text) of the arguments (JSON text).
Sent = Callable[[str], str]

#: The arguments (JSON text) within what is sent (JSON text); ``None`` if fields cannot show it.
Read = Callable[[str], str | None]

#: What is wrong with what would be sent, as sentences without full stops.
Check = Callable[[str], list[str]]


class Kept(NamedTuple):
    """A form as it was left."""

    state: FormState
    raw: str | None


class Form(Vertical):
    """Give it a model with ``set_form``; it posts ``Submitted`` with the arguments' JSON text."""

    DEFAULT_CSS = """
    Form { height: auto; max-height: 100%; }
    Form FieldKeys { height: auto; max-height: 100%; }
    Form.by-hand FieldKeys { max-height: 5; }
    Form JsonArea { display: none; }
    Form.by-hand JsonArea { display: block; }
    """

    class Submitted(Message):
        """The arguments are to be sent, exactly so."""

        def __init__(self, form: Form, text: str) -> None:
            super().__init__()
            self.form = form
            self.text = text

        @property
        def control(self) -> Form:
            return self.form

    class Changed(Message):
        """What would be sent has changed."""

        def __init__(self, form: Form) -> None:
            super().__init__()
            self.form = form

        @property
        def control(self) -> Form:
            return self.form

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._model = FormModel()
        self._state = FormState(self._model)
        self._raw: str | None = None
        self._warned: str | None = None
        self._sent: Sent | None = None
        self._read: Read | None = None
        self._check: Check | None = None
        self._untouched = ""

    def compose(self) -> ComposeResult:
        yield JsonArea()
        yield FieldKeys()

    def on_mount(self) -> None:
        self._show()

    # What goes down.

    def set_form(
        self,
        model: FormModel,
        text: str | None = None,
        *,
        sent: Sent | None = None,
        read: Read | None = None,
        check: Check | None = None,
        kept: Kept | None = None,
    ) -> None:
        """Show a form, filled in from arguments if ``text`` (JSON) is given, or as it was ``kept``. A
        model without fields but with a reason opens as JSON. ``sent`` makes what goes out of the
        arguments, where that is more than they are: the wire line shows it. With ``read``, its way
        back, all of that is written by hand, not the arguments alone. ``check`` looks at what would
        be sent."""
        self._model = model
        self._sent, self._read, self._check = sent, read, check
        self._warned = None
        if kept is not None:
            self._state, self._raw = kept
            self._show()
            return
        entries = entries_of(model, text) if text is not None and not model.reason else None
        self._state = FormState(model, entries)
        self._raw = None
        if model.reason:
            begun = text if text is not None else model.skeleton
            self._raw = safe_json(pretty(begun if sent is None or read is None else sent(begun)))
        elif text is not None and entries is None:
            self._raw = safe_json(pretty(text))
        self._untouched = self.sent
        self._show()

    def set_text(self, text: str) -> None:
        """Take arguments written elsewhere: into the fields if they can show them, else as JSON."""
        entries = None if self._model.reason or self._raw is not None else self._entries(text)
        if entries is None:
            self._raw = safe_json(text)
        else:
            self._fill(entries)
        self._show()

    def start(self) -> None:
        """Focus the form and begin with the first field to fill in."""
        if self._raw is not None:
            self.query_one(JsonArea).focus()
            return
        fields = self.query_one(FieldKeys)
        fields.focus()
        fields.begin()

    # What can be read.

    @property
    def wire(self) -> str:
        """The arguments as they go on the wire now: one line of JSON text, or what was written by hand."""
        if self._raw is None:
            return self._state.wire
        return one_line(self._raw)

    @property
    def sent(self) -> str:
        """What goes out: the arguments, or what is made of them."""
        whole = self._sent is None or (self._raw is not None and self._read is not None)
        return self.wire if whole or self._sent is None else self._sent(self.wire)

    @property
    def needs(self) -> int:
        """The rows it would take."""
        area = self.query_one(JsonArea)
        fields = int(self.query_one(FieldKeys).virtual_size.height)
        return fields + (area.document.line_count + 1 if self._raw is not None else 0)

    @property
    def faults(self) -> list[str]:
        """What is wrong with what would be sent, as sentences without full stops."""
        wrong = None
        if self._raw is None:
            wrong = self._state.first_wrong(doubtful=False) or self._state.first_wrong(doubtful=True)
        if wrong is not None:
            return [wrong[1].rstrip(".")]
        return self._check(self.sent) if self._check is not None else []

    @property
    def kept(self) -> Kept:
        """What was filled in so far, to be shown again with ``set_form``."""
        return Kept(self._state, self._raw)

    @property
    def touched(self) -> bool:
        """Whether anything was filled in since the form was set."""
        return self.sent != self._untouched

    @property
    def by_hand(self) -> bool:
        return self._raw is not None

    @property
    def editing(self) -> bool:
        """Whether letters are text now."""
        return self.query_one(JsonArea).has_focus or self.query_one(FieldKeys).editing

    @property
    def text(self) -> str:
        """The arguments to hand to an editor."""
        return self._raw if self._raw is not None else pretty(self._whole)

    @property
    def model(self) -> FormModel:
        return self._model

    # Inside.

    @property
    def _whole(self) -> str:
        """What is written by hand: the arguments, or all that goes out."""
        return self._state.wire if self._read is None else self.sent

    def _entries(self, text: str) -> dict[str, Entry] | None:
        """The entries that what was written by hand comes to."""
        arguments = text if self._read is None else self._read(text)
        return None if arguments is None else entries_of(self._model, arguments)

    def _fill(self, entries: dict[str, Entry]) -> None:
        """The same fields with other values; a member that is not among them is absent."""
        current = self._state.current
        self._state = FormState(self._model)
        self._state.entries = dict(entries)
        self._state.current = current

    def _show(self) -> None:
        if not self.children:  # while it is being mounted, the framework does not call it mounted yet
            return
        area, fields = self.query_one(JsonArea), self.query_one(FieldKeys)
        by_hand = self._raw is not None
        had_focus = area.has_focus or fields.has_focus
        self.set_class(by_hand, "by-hand")
        fields.can_focus = not by_hand
        if by_hand and self._raw is not None and area.text != self._raw:
            with area.prevent(JsonArea.Changed):
                area.load_text(self._raw)
            area.read_only = len(self._raw) > MAX_EDITED
        fields.set_state(None if by_hand else self._state)
        self._update()
        if had_focus:
            (area if by_hand else fields).focus()

    def _update(self) -> None:
        fields = self.query_one(FieldKeys)
        fields.wire = self.sent
        fields.note = self._note()
        fields.update()
        self.post_message(self.Changed(self))

    def _note(self) -> str:
        if self._raw is None:
            return self._warning if self._warned == self.wire else ""
        if self._warned == self.wire:
            return self._warning
        if len(self._raw) > MAX_EDITED:
            return "The arguments are too long to be edited here: E opens them in your editor."
        wrong = problem(self._raw)
        if wrong is not None:
            return f"This is not JSON (line {wrong.line}: {wrong.why}), and is sent as it is."
        return self._model.reason

    _warning = ""

    def on_field_keys_did(self, message: FieldKeys.Did) -> None:
        message.stop()
        if message.what == "change":
            self._update()
        elif message.what == "send":
            self._send()
        elif message.what == "by-hand":
            self.toggle()
        elif message.step > 0:
            self._state.end()
            self.screen.focus_next()
        else:
            self._state.end()
            self.screen.focus_previous()

    def on_json_area_sent(self, message: JsonArea.Sent) -> None:
        message.stop()
        self._send()

    def on_json_area_left(self, message: JsonArea.Left) -> None:
        message.stop()
        self.toggle()

    def on_text_area_changed(self, message: JsonArea.Changed) -> None:
        message.stop()
        if self._raw is not None:
            self._raw = self.query_one(JsonArea).text
            self._update()

    def toggle(self) -> None:
        """From fields to JSON by hand, and back where fields can show what was written."""
        if self._raw is None:
            self._raw = safe_json(pretty(self._whole))
            self._state.end()
            self._show()
            self.query_one(JsonArea).focus()
            return
        entries = None if self._model.reason else self._entries(self._raw)
        if entries is None:
            self.screen.focus_previous()
            return
        self._fill(entries)
        self._raw = None
        self._show()
        self.query_one(FieldKeys).focus()

    def _send(self) -> None:
        if (self._raw is None and not self._may_send()) or not self._checked():
            return
        self._warned = None
        self.post_message(self.Submitted(self, self.wire))

    def _may_send(self) -> bool:
        wrong = self._state.first_wrong(doubtful=False)
        if wrong is not None:
            self._point_at(*wrong)
            return False
        doubt = self._state.first_wrong(doubtful=True)
        if doubt is None or self._warned == self.wire:
            return True
        self._warned = self.wire
        self._point_at(doubt[0], f"{doubt[1]} Enter once more sends it as it is.")
        return False

    def _checked(self) -> bool:
        """Whether what would be sent is right, or was told to be wrong and is wanted all the same."""
        faults = self._check(self.sent) if self._check is not None else []
        if not faults or self._warned == self.wire:
            return True
        key = "ctrl+r" if self._raw is not None else "Enter"
        self._warning = f"{_sentence(faults)} {key} once more sends it as it is."
        self._warned = self.wire
        self._update()
        return False

    def _point_at(self, place: int, sentence: str) -> None:
        editing = self._state.edit is not None
        self._state.end()
        self._state.current = place
        if editing:
            self._state.begin()
        self._warning = sentence
        self._warned = self.wire
        self._update()


def _sentence(faults: list[str]) -> str:
    told = "; ".join(faults)
    return f"{told[:1].upper()}{told[1:]}."


def one_line(text: str) -> str:
    """Text written by hand as it can stand in a frame, which has no line breaks: as it is if it has
    none, else without the white space between its tokens."""
    if "\n" not in text and "\r" not in text:
        return text
    return compact(text).replace("\r", " ").replace("\n", " ")
