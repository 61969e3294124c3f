"""One line of text under the user's hands, without a widget: the text, a caret, and keys.

The text is the user's and may hold anything that was pasted; drawing it goes
through ``safe`` like everything else. A line break in a pasted text stays in the
text and shows as ``␊``, because a string argument may have one.
"""

from __future__ import annotations

import re

from rich.cells import cell_len

from workbench.tui.safe import safe_text

_WORD = re.compile(r"\w+|[^\w\s]+")


class LineEdit:
    """``text`` and ``caret``, a place between characters (0 to ``len(text)``)."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.caret = len(text)

    def insert(self, text: str) -> None:
        self.text = self.text[: self.caret] + text + self.text[self.caret :]
        self.caret += len(text)

    def press(self, key: str, character: str | None) -> bool:
        """Take a key as the framework names it; false if it means nothing to a line of text."""
        action = _KEYS.get(key)
        if action is not None:
            action(self)
            return True
        if character is not None and character.isprintable() and len(character) == 1:
            self.insert(character)
            return True
        return False

    def left(self) -> None:
        self.caret = max(self.caret - 1, 0)

    def right(self) -> None:
        self.caret = min(self.caret + 1, len(self.text))

    def home(self) -> None:
        self.caret = 0

    def end(self) -> None:
        self.caret = len(self.text)

    def word_left(self) -> None:
        starts = [found.start() for found in _WORD.finditer(self.text, 0, self.caret)]
        self.caret = starts[-1] if starts else 0

    def word_right(self) -> None:
        found = _WORD.search(self.text, self.caret)
        self.caret = found.end() if found else len(self.text)

    def rub_out(self) -> None:
        """Take away the character before the caret."""
        if self.caret:
            self._cut(self.caret - 1, self.caret)

    def delete(self) -> None:
        self._cut(self.caret, self.caret + 1)

    def rub_out_word(self) -> None:
        end = self.caret
        self.word_left()
        self._cut(self.caret, end)

    def rub_out_start(self) -> None:
        self._cut(0, self.caret)

    def cut_rest(self) -> None:
        self._cut(self.caret, len(self.text))

    def _cut(self, start: int, end: int) -> None:
        self.text = self.text[:start] + self.text[end:]
        self.caret = start

    def window(self, width: int) -> tuple[str, str]:
        """What is to be seen before and behind the caret, together with the caret's own cell
        ``width`` cells at most."""
        room = max(width - 1, 0)
        behind = _head(safe_text(self.text[self.caret : self.caret + room]), room)
        before = safe_text(self.text[max(self.caret - room, 0) : self.caret])
        wanted = min(cell_len(behind), room // 4)
        before = _tail(before, room - wanted)
        return before, _head(behind, room - cell_len(before))


_KEYS = {
    "left": LineEdit.left,
    "right": LineEdit.right,
    "home": LineEdit.home,
    "end": LineEdit.end,
    "ctrl+e": LineEdit.end,
    "ctrl+left": LineEdit.word_left,
    "ctrl+right": LineEdit.word_right,
    "backspace": LineEdit.rub_out,
    "ctrl+h": LineEdit.rub_out,
    "delete": LineEdit.delete,
    "ctrl+d": LineEdit.delete,
    "ctrl+w": LineEdit.rub_out_word,
    "ctrl+u": LineEdit.rub_out_start,
    "ctrl+k": LineEdit.cut_rest,
}


def _head(text: str, cells: int) -> str:
    while cell_len(text) > cells:
        text = text[:-1]
    return text


def _tail(text: str, cells: int) -> str:
    while cell_len(text) > cells:
        text = text[1:]
    return text
