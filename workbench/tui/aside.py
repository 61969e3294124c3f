"""Work that would be felt, done in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable

from textual.message import Message
from textual.widget import Widget


def tell(widget: Widget, message: Message) -> None:
    """Post a message from any thread; nothing happens when the screen is gone."""
    try:
        widget.post_message(message)
    except RuntimeError:
        # The screen's loop ended while a thread was at work: nobody is left to tell.
        return


def aside(widget: Widget, make: Callable[[], Message]) -> None:
    """Make a message in a thread and post it to the widget when it is done."""
    threading.Thread(target=lambda: tell(widget, make()), name="aside", daemon=True).start()
