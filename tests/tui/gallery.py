"""Pictures of the widgets with fixed data: ``python -m tests.tui.gallery FOLDER [NAME…]``."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widget import Widget

from tests.tui.frames import MadeFrames
from tests.tui.stage import Stage
from workbench.tui.marks import ASCII
from workbench.tui.palette import LIGHT, SIXTEEN
from workbench.tui.widgets.frame_log import FrameLog
from workbench.tui.widgets.rows import Cell, Rows, RowSpec

Play = Callable[[Stage, Pilot[Any]], Awaitable[None]]


def tools() -> list[RowSpec]:
    named = [
        ("calculator_arithmetic", "expression: string", ""),
        ("weather_current", "location: string, units?: metric|imperial|kelvin", "read-only"),
        ("long_operation", "duration?: number = 10, steps?: integer = 5", ""),
        ("ask_for_name", "()", "asks"),
        ("add_a_tool", "name: string", ""),
        ("天気を調べる", "場所: string, 単位?: metric|imperial", ""),
        ("evil\x1b[2J\u202etool", "[/bold] x: string", ""),
        ("a_tool_with_a_very_long_name_that_never_ends_and_goes_on", "query: string, limit?: int = 10", ""),
    ]
    rows = [RowSpec("head", (Cell("demo"),), heading=True)]
    for name, signature, tail in named:
        rows.append(RowSpec(name, (Cell(name), Cell(signature, "quiet")), tail=tail))
    return rows


async def rows(app: Stage, pilot: Pilot[Any]) -> None:
    widget = app.query_one(Rows)
    widget.set_rows(tools())
    widget.focus()
    await pilot.press("down")


async def log(app: Stage, pilot: Pilot[Any]) -> None:
    widget = app.query_one(FrameLog)
    widget.focus()
    widget.open(MadeFrames(12_904), 12_904)
    for _ in range(5):
        await pilot.pause(0.05)
    await pilot.press("up", "up", "up", "m", "up")


SCENES: dict[str, tuple[Callable[[], list[Widget]], Play]] = {
    "rows": (lambda: [Rows()], rows),
    "log": (lambda: [FrameLog()], log),
}


async def shoot(folder: Path, names: list[str]) -> None:
    for name, (build, play) in SCENES.items():
        if names and name not in names:
            continue
        looks: list[tuple[str, dict[str, Any], tuple[int, int]]] = [
            ("80", {}, (80, 24)),
            ("120", {}, (120, 40)),
            ("light", {"palette": LIGHT}, (80, 24)),
            ("ascii16", {"palette": SIXTEEN, "marks": ASCII}, (80, 24)),
        ]
        for look, options, size in looks:
            app = Stage(build, **options)
            async with app.run_test(size=size) as pilot:
                await play(app, pilot)
                await pilot.pause(0.1)
                app.picture(folder / f"{name}-{look}.png")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(shoot(target, sys.argv[2:]))
