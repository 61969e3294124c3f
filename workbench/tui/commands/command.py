"""One action of the screen."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

_SHOWN = {
    "slash": "/",
    "question_mark": "?",
    "colon": ":",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "plus": "+",
    "minus": "-",
    "escape": "esc",
    "pageup": "page up",
    "pagedown": "page down",
}


@dataclass(frozen=True)
class Command:
    """``short`` is for the status line, ``about`` a sentence for help and palette. ``keys`` are the
    framework's names. ``hint``: how early it stands in the status line, 0 for never. ``avoids``
    are words that rule it out."""

    name: str
    keys: tuple[str, ...]
    short: str
    about: str
    needs: frozenset[str] = frozenset()
    avoids: frozenset[str] = frozenset()
    hint: int = 0
    own: bool = False

    @property
    def shown(self) -> str:
        """The first key as it is written."""
        return key_text(self.keys[0]) if self.keys else ""

    def fits(self, words: Collection[str]) -> bool:
        return self.needs <= set(words) and not self.avoids & set(words)


def key_text(key: str) -> str:
    """A key as users read it."""
    return _SHOWN.get(key, key)


def command(
    name: str,
    keys: str,
    short: str,
    about: str,
    needs: str = "",
    *,
    avoids: str = "",
    hint: int = 0,
    own: bool = False,
) -> Command:
    """A row of the table, its words and keys with blanks between them."""
    wanted, ruled_out = frozenset(needs.split()), frozenset(avoids.split())
    return Command(name, tuple(keys.split()), short, about, wanted, ruled_out, hint, own)
