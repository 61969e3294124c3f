"""Telling every widget its size, also where the framework forgets to.

The framework compares a new layout with the one before and sends a resize to what
is new or has changed. But whoever asks any widget for its size between a mount and
the layout has that layout made at once, and then nothing seems new: the widget gets
its size, and is never told. Widgets that arrange themselves by their width would now
and then come up wrong, so after each layout those that changed are told again.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from textual import events
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget


class ToldSizes:
    """``watch`` a screen once it is mounted."""

    def __init__(self) -> None:
        self._told: WeakKeyDictionary[Widget, Size] = WeakKeyDictionary()

    def watch(self, screen: Screen[Any]) -> None:
        screen.screen_layout_refresh_signal.subscribe(screen, self._tell, immediate=True)

    def _tell(self, screen: Screen[Any]) -> None:
        for widget in screen.walk_children(Widget):
            size = widget.outer_size
            if size and self._told.get(widget) != size:
                self._told[widget] = size
                widget.post_message(events.Resize(size, widget.virtual_size, widget.container_size))
