"""A small editor for JSON that is written by hand."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

#: Longer texts (characters) are for ``$EDITOR``: the framework's editor takes seconds for them.
MAX_EDITED = 128 * 1024


class JsonArea(TextArea):
    """Plain text on raised ground. Escape ends the edit, ctrl+r asks to send."""

    DEFAULT_CSS = """
    JsonArea, JsonArea:focus {
        border: none;
        padding: 0 1 0 3;
        height: auto;
        min-height: 3;
        max-height: 12;
        background: $background;
        color: $foreground;
        background-tint: transparent 0%;
        scrollbar-size: 1 1;
    }
    JsonArea > .text-area--cursor {
        background: $primary;
        color: $background;
        text-style: none;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "send", "run", priority=True),
        Binding("escape", "done", "fields"),
    ]

    class Sent(Message):
        """The text is to be sent."""

    class Left(Message):
        """The edit has ended."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, soft_wrap=True, show_line_numbers=False, tab_behavior="focus")
        self.highlight_cursor_line = False

    def action_send(self) -> None:
        self.post_message(self.Sent())

    def action_done(self) -> None:
        self.post_message(self.Left())
