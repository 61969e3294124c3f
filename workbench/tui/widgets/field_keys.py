"""The keys of a form's fields."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from workbench.tui.widgets.form_fields import FormFields
from workbench.tui.widgets.form_state import takes_several


class FieldKeys(FormFields, can_focus=True):
    """The fields with their keys; tells the form what it means."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "enter", "run"),
        Binding("ctrl+r", "run", "run", show=False),
        Binding("tab", "next(1)", "next"),
        Binding("shift+tab", "next(-1)", "previous", show=False),
        Binding("down", "down(1)", "next", show=False),
        Binding("up", "down(-1)", "previous", show=False),
        Binding("pagedown", "down(8)", "on", show=False),
        Binding("pageup", "down(-8)", "back", show=False),
        Binding("left", "presence(-1)", "absent, null, value", show=False),
        Binding("right", "presence(1)", "absent, null, value"),
        Binding("ctrl+t", "presence(1)", "absent, null, value"),
        Binding("escape", "done", "done"),
        Binding("e", "by_hand", "edit JSON"),
    ]

    class Did(Message):
        """Something to do with the whole form: ``change``, ``send``, ``by-hand``, ``leave``."""

        def __init__(self, what: str, step: int = 0) -> None:
            super().__init__()
            self.what = what
            self.step = step

    @property
    def editing(self) -> bool:
        return self.state is not None and self.state.edit is not None

    @property
    def choosing(self) -> bool:
        """Whether space chooses, one of several and more."""
        field = self.state.field if self.state is not None and self.editing else None
        return field is not None and takes_several(field)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "done":
            return self.editing
        if action == "by_hand":
            return not self.editing
        if action == "presence":
            return self.state is not None and bool(self.state.fields)
        return super().check_action(action, parameters)

    def on_key(self, event: events.Key) -> None:
        state = self.state
        if state is None or state.edit is None or not state.press(event.key, event.character):
            return
        event.stop()
        event.prevent_default()
        self._changed()

    def on_paste(self, event: events.Paste) -> None:
        if self.state is not None and self.editing:
            event.stop()
            self.state.paste(event.text)
            self._changed()

    def on_click(self, event: events.Click) -> None:
        place = self.field_at(event.y)
        if self.state is not None and place is not None:
            event.stop()
            self.state.end()
            self.state.current = place
            self.state.begin()
            self._changed()

    def begin(self) -> None:
        """Edit the first field to fill in."""
        if self.state is not None and self.state.fields and not self.editing:
            self.state.current = self.state.first_to_fill()
            self.state.begin()
            self._changed()

    def action_enter(self) -> None:
        if self.state is not None and self.state.fields and not self.editing:
            self.state.begin()
            self._changed()
        else:
            self.post_message(self.Did("send"))

    def action_run(self) -> None:
        self.post_message(self.Did("send"))

    def action_next(self, step: int) -> None:
        """The next field, edited; past the last one, out of the form."""
        if self.state is not None and self.state.move(step):
            if not self.editing:
                self.state.begin()
            self._changed()
        else:
            self.post_message(self.Did("leave", step))

    def action_down(self, step: int) -> None:
        state = self.state
        if state is None or (abs(step) == 1 and state.pick(step)):
            self._changed()
            return
        for _ in range(abs(step)):
            if not state.move(1 if step > 0 else -1):
                break
        self._changed()

    def action_presence(self, step: int) -> None:
        if self.state is not None:
            self.state.cycle(step)
            self._changed()

    def action_done(self) -> None:
        if self.state is not None:
            self.state.end()
            self._changed()

    def action_by_hand(self) -> None:
        self.post_message(self.Did("by-hand"))

    def _changed(self) -> None:
        self.post_message(self.Did("change"))
        self.refresh_bindings()
