"""The frame log's filter as it is typed: what it shows, what it says of a mistake, what it offers."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.waiting import until
from workbench.demo.recording import RECORDING
from workbench.store.reader import Reader
from workbench.tui.app import Workbench
from workbench.tui.dock import Dock
from workbench.tui.opened import RecordingDesk

pytestmark = pytest.mark.anyio


async def test_a_filter_is_typed_completed_corrected_and_taken_back() -> None:
    desk = RecordingDesk(Reader.open(RECORDING))
    app = Workbench(desk)
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: desk.views and "READING" not in desk.sign.word)
            await press(app, pilot, "f", "f", "slash", *"kind:err")
            dock = app._main.query_one(Dock)
            log = dock.frames
            # What is not known yet is said, and stands for nothing until it is.
            await until(pilot, lambda: "kind:err is not known" in text(dock))
            assert log.wanted.everything
            await press(app, pilot, "tab")
            await until(pilot, lambda: dock.line.text == "kind:error" and log.count == 1)
            await press(app, pilot, "space", *"-na", "tab", *"break_down", "enter")
            assert dock.line.text == "kind:error -name:break_down"
            await until(pilot, lambda: "0 of" in log.status)
            await press(app, pilot, "escape")
            await until(pilot, lambda: log.wanted.everything and log.count == desk.height)
    finally:
        desk.close()


async def test_the_names_of_what_the_servers_offer_are_offered() -> None:
    desk = RecordingDesk(Reader.open(RECORDING))
    app = Workbench(desk)
    try:
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: desk.views and desk.views[0].tools)
            await press(app, pilot, "f", "f", "slash", *"name:weather_f", "tab")
            dock = app._main.query_one(Dock)
            await until(pilot, lambda: dock.line.text == "name:weather_forecast")
            await until(pilot, lambda: dock.frames.count == 2)
    finally:
        desk.close()


def text(dock: Dock) -> str:
    """The head line of the log."""
    return "".join(segment.text for segment in dock.head.render_line(0))


async def press(app: Workbench, pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await until(pilot, lambda: app.keys.idle)
