"""One widget on a bare app in the product's colours, for tests of widgets and for their pictures."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from textual.app import App, ComposeResult
from textual.message import Message
from textual.theme import Theme
from textual.widget import Widget

from workbench.tui.marks import UNICODE, Marks
from workbench.tui.palette import DARK, Palette

M = TypeVar("M", bound=Message)


class Stage(App[None]):
    """Shows the widgets that ``build`` makes; keeps the messages that reach it."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self, build: Callable[[], list[Widget]], *, palette: Palette = DARK, marks: Marks = UNICODE
    ) -> None:
        super().__init__(ansi_color=palette.ansi)
        self.palette = palette
        self.marks = marks
        self._build = build
        self.heard: list[Message] = []
        colours = palette.variables()
        self.register_theme(
            Theme(
                name="stage",
                dark=palette.dark,
                primary=colours["role-accent"],
                background=colours["role-ground"],
                surface=colours["role-ground"],
                foreground=colours["role-text"],
                variables=colours | {"scrollbar": colours["role-hairline"]},
            )
        )
        self.theme = "stage"

    def compose(self) -> ComposeResult:
        yield from self._build()

    def hear(self, message: Message) -> None:
        """The hook of ``run_test``: every message, once."""
        if not any(message is other for other in self.heard[-20:]):
            self.heard.append(message)

    def kept(self, kind: type[M]) -> list[M]:
        """The messages of a kind so far."""
        return [message for message in self.heard if isinstance(message, kind)]

    def lines(self) -> list[str]:
        """The text on the screen, line by line."""
        return [
            "".join(segment.text for segment in strip).rstrip()
            for strip in self.screen._compositor.render_strips(self.size)
        ]

    def picture(self, path: Path) -> None:
        """Write what is on the screen as PNG."""
        import resvg_py

        svg = self.export_screenshot(simplify=True)
        svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)
        svg = svg.replace("Fira Code", "DejaVu Sans Mono")
        data = resvg_py.svg_to_bytes(svg_string=svg, font_dirs=["/usr/share/fonts/truetype/dejavu"])
        path.write_bytes(bytes(data))
