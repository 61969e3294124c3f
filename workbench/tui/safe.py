"""The single way of remote text to the screen.

A string given to a widget of the framework is read as markup (a bad tag stops
the app), and its own text types let ESC and C1 through to the terminal, where
they are obeyed. So whatever a peer, a file or an environment wrote goes through
``safe`` (a ``Content`` for widgets) or one of the functions for strips, which
give text of a known width in cells.

Cutting comes before cleaning: a line of 5 MB costs what its visible part costs.
"""

from __future__ import annotations

import re

from rich.cells import cell_len, set_cell_size
from textual.content import Content
from textual.style import Style

from workbench.core.printable import printable, printable_lines

#: How many characters of a text are looked at for one cell of it. Combining marks take no cell,
#: so a cell can hold several characters; what stands on one cell beyond this is cut.
_CHARACTERS_A_CELL = 4
_SPARE = 32

_ODD = re.compile(r"[^\x20-\x7e\n\t]")


def safe(text: str, style: Style | None = None) -> Content:
    """The text as content of one line: literal, with every control and invisible character shown."""
    shown = printable(text)
    return Content.styled(shown, style) if style is not None else Content(shown)


def safe_lines(text: str, style: Style | None = None) -> Content:
    """The same for text of several lines; ``\\n`` ends a line, a tab is four spaces."""
    shown = printable_lines(text)
    return Content.styled(shown, style) if style is not None else Content(shown)


def safe_text(text: str) -> str:
    """The text as one line for a strip."""
    return printable(text)


def safe_cut(text: str, width: int, ellipsis: str = "…") -> str:
    """The text as one line of at most ``width`` cells; what is cut ends in ``ellipsis``."""
    if width <= 0:
        return ""
    limit = width * _CHARACTERS_A_CELL + _SPARE
    shown = printable(text[:limit])
    if len(text) <= limit and len(shown) <= width and shown.isascii():
        return shown
    if len(text) <= limit and cell_len(shown) <= width:
        return shown
    return set_cell_size(shown, width - 1).rstrip(" ") + ellipsis


def safe_fit(text: str, width: int, *, right: bool = False, ellipsis: str = "…") -> str:
    """The text cut or padded to exactly ``width`` cells, on the right side if ``right``."""
    shown = safe_cut(text, width, ellipsis)
    room = width - (len(shown) if shown.isascii() else cell_len(shown))
    if room <= 0:
        return shown
    return " " * room + shown if right else shown + " " * room


def safe_json(text: str) -> str:
    """JSON text for an editor: what cannot be seen is written as its ``\\u`` escape, which means the
    same within a string. Line breaks and tabs stay."""
    return _ODD.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    if printable(character) == character:
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def safe_bytes(data: bytes) -> str:
    """Bytes of a body as text for the functions above; a byte that is no UTF-8 shows as ``\\xff``."""
    return data.decode("utf-8", "backslashreplace")
