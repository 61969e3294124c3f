"""How connections over HTTP look, held as pictures; see ``test_snapshots``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.test_snapshots import NEXT, at_rest
from tests.tui.waiting import until
from workbench.store.reader import Reader
from workbench.tui.app import Workbench
from workbench.tui.detail import Detail
from workbench.tui.dock import Dock
from workbench.tui.opened import RecordingDesk

RECORDINGS = Path(__file__).parents[1] / "recordings"
SERVER = [NEXT] * 4

#: Recording, size, keys.
LOOKS: dict[str, tuple[str, tuple[int, int], list[str]]] = {
    "server-120": ("http", (120, 40), SERVER),
    "server-80": ("http", (80, 24), SERVER),
    "streams-80": ("http", (80, 24), [*SERVER, "end"]),
    "stateless-120": ("stateless", (120, 40), SERVER),
    "stateless-80": ("stateless", (80, 24), SERVER),
    "unreachable-80": ("unreachable", (80, 24), SERVER),
    "frames-120": ("http", (120, 40), ["f", "f"]),
    "frames-80": ("http", (80, 24), ["f", "f", "end"]),
    "event-80": ("http", (80, 24), ["f", "f", *["down"] * 21, "enter"]),
    "heads-120": ("http", (120, 40), ["f", "f", "end", "up", "enter", "h"]),
}


@pytest.fixture(autouse=True)
def _same_time_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def opened(name: str) -> RecordingDesk:
    return RecordingDesk(Reader.open(str(RECORDINGS / f"{name}.jsonl")))


async def rested(app: Workbench, desk: RecordingDesk, pilot: Pilot[Any], keys: list[str]) -> None:
    await until(pilot, lambda: desk.views and "READING" not in desk.sign.word)
    await until(pilot, lambda: app._main.pane and app._main.pane.has_focus_within)
    await until(pilot, lambda: app._main.query_one(Dock).frames.row is not None)
    for key in keys:
        await pilot.press(key)
        await until(pilot, lambda: app.keys.idle)
    await at_rest(app, pilot)


@pytest.mark.parametrize("name", list(LOOKS))
def test_it_looks_as_it_did(name: str, snap_compare: Callable[..., bool]) -> None:
    recording, size, keys = LOOKS[name]
    desk = opened(recording)
    app = Workbench(desk)
    try:
        assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(app, desk, pilot, keys))
    finally:
        desk.close()


@pytest.mark.anyio
async def test_the_heads_of_a_frame_are_shown_and_the_body_again() -> None:
    desk = opened("http")
    app = Workbench(desk)
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            await rested(app, desk, pilot, ["f", "f", "end", "up", "enter"])
            detail = app.screen.query_one(Detail)
            await until(pilot, lambda: detail.text.text)
            assert detail.text.text.strip() == "upstream connect error"
            await pilot.press("h")
            await until(pilot, lambda: "502 Bad Gateway" in detail.text.text)
            assert "content-length: 22" in detail.text.text
            assert "Bearer <redacted:2 header authorization>" in detail.text.text
            # Frame after frame is looked through at its heads; one without heads shows its body.
            await pilot.press("h")
            await until(pilot, lambda: detail.text.text.strip() == "upstream connect error")
    finally:
        desk.close()
