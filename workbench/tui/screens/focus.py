"""What has the focus, in words for the table of commands."""

from __future__ import annotations

from textual.widget import Widget

#: What has the focus, by the names of classes: most of them are only loaded after the first paint.
_FOCUS = {
    "Rows": "list",
    "FieldKeys": "form",
    "JsonArea": "json",
    "ResultView": "result",
    "FrameLog": "log",
    "TextView": "text",
    "Lines": "lines",
    "ComparedLines": "compared",
    "LineInput": "line",
}


def focus_words(focused: Widget | None) -> set[str]:
    """``list``, ``form``, ``log``…; ``field`` as well while letters are text in one."""
    name = type(focused).__name__
    words = {_FOCUS[name]} if name in _FOCUS else set()
    if words == {"form"} and getattr(focused, "editing", False):
        words.add("field")
        if getattr(focused, "choosing", False):
            words.add("several")
    return words
