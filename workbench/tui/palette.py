"""Colours by role, for strips, content and the style sheet alike.

A role says what a thing is (quiet, accent, failed), a palette says how it looks.
Most terminals behind SSH show 256 colours, so the colours are cells of that cube
and the picture is the same everywhere. The framework only knows 24-bit colours
and maps them down; its mapping of greys misses by one from cell 247 on, so the
greys here are nudged by up to two levels to where they come out as the cell meant.

With 16 colours the ground and the text are the terminal's own and only marks
have a colour; without colours, weight alone is left. Nothing is ever said by
colour only, so both lose no meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from rich.color import Color as RichColor
from rich.style import Style
from textual.style import Style as ContentStyle

Role = Literal[
    "text",
    "bright",
    "quiet",
    "accent",
    "client",
    "ok",
    "waiting",
    "failed",
    "finding",
    "link",
    "hairline",
    "struck",
]

_WEIGHTS: Mapping[str, str] = {"bright": "bold", "link": "underline"}


class Palette:
    """The styles of all roles on both grounds.

    ``style`` is for strips, ``content`` for ``Content``, ``variables`` for the style sheet. A
    style on the ground sets no background, one on a raised row sets the raised ground.
    """

    def __init__(
        self,
        name: str,
        *,
        dark: bool,
        ansi: bool,
        ground: str,
        raised: str,
        colours: Mapping[str, str],
        quiet_raised: str,
        dim_quiet: bool = False,
    ) -> None:
        self.name = name
        self.dark = dark
        self.ansi = ansi
        self.ground = ground
        self.raised = raised
        self.colours = colours
        self.quiet_raised = quiet_raised
        self._dim_quiet = dim_quiet
        self._styles: dict[tuple[str, bool], Style] = {}
        self._contents: dict[tuple[str, bool], ContentStyle] = {}

    def style(self, role: Role = "text", raised: bool = False) -> Style:
        """The style of a role for a segment of a strip."""
        key = (role, raised)
        if key not in self._styles:
            self._styles[key] = self._make(role, raised)
        return self._styles[key]

    def content(self, role: Role = "text", raised: bool = False) -> ContentStyle:
        """The style of a role for a ``Content``."""
        key = (role, raised)
        if key not in self._contents:
            self._contents[key] = ContentStyle.from_rich_style(self.style(role, raised))
        return self._contents[key]

    def variables(self) -> dict[str, str]:
        """Style sheet variables: ``role-quiet`` and so on, ``role-ground`` and ``role-raised``."""
        named = {**self.colours, "ground": self.ground, "raised": self.raised}
        return {f"role-{role}": _css(colour) for role, colour in named.items()}

    def _make(self, role: str, raised: bool) -> Style:
        if role == "struck":  # what cannot be used: quiet, with a line through it
            return self._make("quiet", raised) + Style(strike=True)
        colour = self.quiet_raised if raised and role == "quiet" else self.colours[role]
        weight = _WEIGHTS.get(role)
        dim = self._dim_quiet and role in ("quiet", "hairline") and not raised
        bold = weight == "bold" or (raised and self.raised == "default" and role == "text")
        return Style(
            color=_rich(colour),
            bgcolor=_rich(self.raised) if raised else None,
            bold=True if bold else None,
            underline=True if weight == "underline" else None,
            dim=True if dim else None,
        )


def cell(number: int) -> str:
    """``#rrggbb`` of a cell of the 256-colour cube (16 to 255)."""
    if number >= 232:
        step = number - 232
        level = 8 + 10 * step
        # Lightness times 25 must round to step + 1 in the framework's way down to 256 colours.
        while round(level / 255 * 25) < step + 1:
            level += 1
        return f"#{level:02x}{level:02x}{level:02x}"
    number -= 16
    levels = (0, 95, 135, 175, 215, 255)
    red, green, blue = levels[number // 36], levels[number // 6 % 6], levels[number % 6]
    return f"#{red:02x}{green:02x}{blue:02x}"


def _rich(colour: str) -> RichColor:
    return RichColor.parse(colour)


def _css(colour: str) -> str:
    return colour if colour.startswith("#") else f"ansi_{colour}"


def _cube(**cells: int) -> dict[str, str]:
    return {role: cell(number) for role, number in cells.items()}


DARK = Palette(
    "dark",
    dark=True,
    ansi=False,
    ground=cell(234),
    raised=cell(236),
    quiet_raised=cell(249),
    colours=_cube(
        text=252,
        bright=255,
        quiet=245,
        accent=110,
        client=144,
        ok=108,
        waiting=179,
        failed=174,
        finding=139,
        link=252,
        hairline=240,
    ),
)

LIGHT = Palette(
    "light",
    dark=False,
    ansi=False,
    ground=cell(255),
    raised=cell(253),
    quiet_raised=cell(241),
    colours=_cube(
        text=235,
        bright=235,
        quiet=241,
        accent=25,
        client=58,
        ok=22,
        waiting=94,
        failed=124,
        finding=96,
        link=235,
        hairline=249,
    ),
)

_PLAIN = dict.fromkeys(
    ("text", "bright", "quiet", "accent", "client", "ok", "waiting", "failed", "finding", "link", "hairline"),
    "default",
)

SIXTEEN = Palette(
    "sixteen",
    dark=True,
    ansi=True,
    ground="default",
    raised="default",
    quiet_raised="default",
    dim_quiet=True,
    colours={
        **_PLAIN,
        "accent": "bright_blue",
        "client": "bright_yellow",
        "ok": "bright_green",
        "waiting": "bright_yellow",
        "failed": "bright_red",
        "finding": "bright_magenta",
    },
)

NO_COLOUR = Palette(
    "no-colour",
    dark=True,
    ansi=True,
    ground="default",
    raised="default",
    quiet_raised="default",
    dim_quiet=True,
    colours=_PLAIN,
)


def palette_of(widget: object) -> Palette:
    """The palette of the app a widget lives in (its attribute ``palette``), the dark one without."""
    found = getattr(getattr(widget, "app", widget), "palette", DARK)
    return found if isinstance(found, Palette) else DARK
