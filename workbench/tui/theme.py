"""How the screen looks on this terminal: colours and marks, worked out from the environment."""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import Theme

from workbench.tui.marks import ASCII, UNICODE, Marks
from workbench.tui.palette import DARK, LIGHT, NO_COLOUR, SIXTEEN, Palette

#: What a theme of the settings names.
PALETTES = {"dark": DARK, "light": LIGHT, "sixteen": SIXTEEN, "no-colour": NO_COLOUR}


def choose_palette(environ: Mapping[str, str], wanted: str = "") -> Palette:
    """``NO_COLOR`` decides over everything, then a wanted theme, then what the terminal can do."""
    if environ.get("NO_COLOR"):
        return NO_COLOUR
    if wanted in PALETTES:
        return PALETTES[wanted]
    if not _many_colours(environ):
        return SIXTEEN
    ground = environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if ground in ("7", "15") else DARK


def choose_marks(environ: Mapping[str, str]) -> Marks:
    """ASCII where the locale says that the terminal takes nothing else."""
    character = environ.get("LC_CTYPE", "")
    if character == "C.UTF-8" and environ.get("LANG"):
        character = ""  # the interpreter sets this itself in the C locale
    said = environ.get("LC_ALL") or character or environ.get("LANG") or ""
    utf8 = "utf8" in said.lower().replace("-", "")
    return UNICODE if utf8 or not said else ASCII


def theme_of(palette: Palette) -> Theme:
    """The framework's theme in our colours."""
    colours = palette.variables()
    return Theme(
        name="workbench",
        dark=palette.dark,
        primary=colours["role-accent"],
        background=colours["role-ground"],
        surface=colours["role-ground"],
        foreground=colours["role-text"],
        variables=colours
        | {
            "scrollbar": colours["role-hairline"],
            "scrollbar-hover": colours["role-quiet"],
            "scrollbar-active": colours["role-quiet"],
        },
    )


def _many_colours(environ: Mapping[str, str]) -> bool:
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return True
    return environ.get("TERM", "").rpartition("-")[2] in ("256color", "kitty", "direct")
