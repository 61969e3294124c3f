"""Pictures of the widgets with fixed data: ``python -m tests.tui.gallery FOLDER [NAME…]``."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widget import Widget

from tests.tui.frames import MadeFrames
from tests.tui.stage import Stage
from workbench.core.actions import Outcome
from workbench.core.forms import form_of
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message
from workbench.tui.marks import ASCII
from workbench.tui.palette import LIGHT, SIXTEEN
from workbench.tui.widgets.form import Form
from workbench.tui.widgets.frame_log import FrameLog
from workbench.tui.widgets.json_view import TextView
from workbench.tui.widgets.progress_line import ProgressLine, Running
from workbench.tui.widgets.result import ResultView
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


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "location": {"type": "string", "description": "City, or latitude and longitude"},
        "units": {"type": "string", "enum": ["metric", "imperial", "kelvin"], "description": "Of the answer"},
        "days": {"type": "integer", "default": 5, "minimum": 1, "maximum": 14},
        "alerts": {"type": "boolean"},
        "station": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "stops": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["location"],
}


async def form(app: Stage, pilot: Pilot[Any]) -> None:
    widget = app.query_one(Form)
    widget.set_form(form_of(SCHEMA))
    widget.start()
    await pilot.press(*"San Francisco", "tab", *"im")


async def form_wrong(app: Stage, pilot: Pilot[Any]) -> None:
    widget = app.query_one(Form)
    widget.set_form(form_of(SCHEMA), '{"units":"kelvin","days":20,"station":null,"stops":[{"a":1}]}')
    widget.start()
    await pilot.press("enter", "tab", "tab", "tab", "tab", "tab", "escape")


async def form_json(app: Stage, pilot: Pilot[Any]) -> None:
    widget = app.query_one(Form)
    widget.set_form(form_of({"oneOf": [{"properties": {"via": {"const": "mail"}}}, {"properties": {}}]}))
    widget.start()
    await pilot.press("right", "enter", "x")


async def view(app: Stage, pilot: Pilot[Any]) -> None:
    widget = app.query_one(TextView)
    body = {
        "jsonrpc": "2.0",
        "id": 41,
        "result": {
            "content": [{"type": "text", "text": "Current weather in San Francisco: 68°F, " * 6}],
            "structuredContent": {"temperature": 68.0, "wind": {"from": "W", "mph": 8}, "gusts": None},
            "empty": [],
            "evil": "\x1b]52;c;QUJD\x07\u202e",
            "cities": ["東京", "San Francisco", "Zürich"],
        },
    }
    widget.show(json.dumps(body, ensure_ascii=False).encode())
    widget.focus()
    await pilot.press("/", *"francisco", "enter", "n")


async def view_hex(app: Stage, _pilot: Pilot[Any]) -> None:
    widget = app.query_one(TextView)
    widget.show(bytes(range(256)) * 4, "hex")
    widget.focus()


def outcome(result: object, seconds: float = 0.0123) -> Outcome:
    return Outcome("result", seconds, Message(Kind.RESULT, None, "1", {"result": result}), 1204)


async def result(app: Stage, pilot: Pilot[Any]) -> None:
    widget = app.query_one(ResultView)
    widget.show(
        outcome(
            {
                "content": [
                    {"type": "text", "text": "Current weather in San Francisco: 68°F, partly cloudy, " * 3},
                    {"type": "image", "mimeType": "image/png", "data": "A" * 4000},
                    {"type": "resource_link", "uri": "file:///x", "name": "x", "description": "The log"},
                    {
                        "type": "resource",
                        "resource": {"uri": "a://b", "mimeType": "text/x", "text": '{"a": 1}'},
                    },
                    {"type": "hologram", "z": [1.0]},
                ],
                "structuredContent": {"temperature": 68.0, "unit": "F"},
            }
        ),
        1203,
    )
    widget.focus()
    await pilot.press("down")


async def failed(app: Stage, _pilot: Pilot[Any]) -> None:
    error = {"code": -32602, "message": "Unknown tool: evil\x1b[2J", "data": {"known": ["a", "b"]}}
    message = Message(Kind.ERROR, None, "1", {"error": error})
    app.query_one(ResultView).show(Outcome("error", 0.4, message, 1204), 1203)


async def progress(app: Stage, _pilot: Pilot[Any]) -> None:
    first, second = app.query(ProgressLine)
    first.set_running([Running("1", "long_operation", 100.0, 2, 5, "step 2 of 5")])
    second.set_running(
        [
            Running("1", "long_operation", 100.0, 2, 5),
            Running("2", "天気を調べる", 43.0, 7, None),
            Running("3", "x", 1.0),
        ]
    )


def together_widgets() -> list[Widget]:
    return [Rows(), Form(), ResultView(), FrameLog()]


async def together(app: Stage, pilot: Pilot[Any]) -> None:
    app.stylesheet.add_source(
        "Rows { height: 6; } ResultView { height: 1fr; } FrameLog { height: 3; } "
        "Form, Rows, ResultView { margin: 0 0 1 0; }"
    )
    app.refresh_css(animate=False)
    await rows(app, pilot)
    app.query_one(FrameLog).open(MadeFrames(1204), 1204)
    app.query_one(Form).set_form(
        form_of({"properties": dict(list(SCHEMA["properties"].items())[:2]), "required": ["location"]}),
        '{"location":"San Francisco","units":"imperial"}',
    )
    text = "Current weather in San Francisco: 68°F, partly cloudy, wind W 8 mph"
    app.query_one(ResultView).show(outcome({"content": [{"type": "text", "text": text}]}), 1203)
    app.query_one(Form).start()
    await pilot.press("tab", "escape")
    await pilot.pause(0.2)


SCENES: dict[str, tuple[Callable[[], list[Widget]], Play]] = {
    "rows": (lambda: [Rows()], rows),
    "log": (lambda: [FrameLog()], log),
    "form": (lambda: [Form()], form),
    "form-wrong": (lambda: [Form()], form_wrong),
    "form-json": (lambda: [Form()], form_json),
    "view": (lambda: [TextView()], view),
    "result": (lambda: [ResultView()], result),
    "failed": (lambda: [ResultView()], failed),
    "progress": (lambda: [ProgressLine(now=lambda: 104.2), ProgressLine(now=lambda: 104.2)], progress),
    "together": (together_widgets, together),
    "view-hex": (lambda: [TextView()], view_hex),
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
