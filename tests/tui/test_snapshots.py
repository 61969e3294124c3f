"""How the screen looks, held as pictures: the shipped recording on every pane, at its sizes.

Snapshots do not see wide glyphs or font faults, and they pass for a screen that is wrong but
stays the same: look at a picture before taking one over (``pytest --snapshot-update``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.waiting import until
from workbench.demo.recording import RECORDING
from workbench.store.reader import Reader
from workbench.tui.app import Workbench
from workbench.tui.desk import Desk
from workbench.tui.dock import Dock
from workbench.tui.opened import RecordingDesk
from workbench.tui.screens.arranging import LOW
from workbench.tui.widgets.frame_log import FrameLog


@pytest.fixture(autouse=True)
def _same_time_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def at_rest(app: Workbench, pilot: Pilot[Any]) -> None:
    """Wait until the screen has shown the same for as long as anything could still be under way."""
    since, before = time.monotonic(), ""

    def same() -> bool:
        nonlocal since, before
        strips = app.screen._compositor.render_strips(app.size)
        now = "\n".join("".join(segment.text for segment in strip) for strip in strips)
        if now != before or not rows_are_there(app):
            since, before = time.monotonic(), now
        return time.monotonic() - since > AT_REST

    await until(pilot, same)


def rows_are_there(app: Workbench) -> bool:
    """Whether the frames in view have been read, which a loaded machine may take any time for."""
    for log in app.screen.query(FrameLog):
        feed = log._feed
        seqs = (
            feed.view.seqs(log.top, min(log.top + log.shown, log._count))
            if log.display and log.size.height
            else ()
        )
        if any(feed.row(seq) is None for seq in seqs):
            return False
    return True


#: Nothing else on the screen takes this long to follow what it shows (seconds).
AT_REST = 0.8

NEXT = "right_square_bracket"

LOOKS: dict[str, tuple[tuple[int, int], list[str], dict[str, str]]] = {
    "tools-80": ((80, 24), ["down"], {}),
    "tools-120": ((120, 40), ["down"], {}),
    "tools-200": ((200, 50), ["down"], {}),
    "tools-60": ((60, 15), [], {}),
    "resources-120": ((120, 40), [NEXT], {}),
    "prompts-80": ((80, 24), [NEXT, NEXT], {}),
    "logs-80": ((80, 24), [NEXT] * 3, {}),
    "logs-120": ((120, 40), [NEXT] * 3, {}),
    "server-80": ((80, 24), [NEXT] * 4, {}),
    "server-120": ((120, 40), [NEXT] * 4, {}),
    "inbox-80": ((80, 24), [NEXT] * 5, {}),
    "frames-80": ((80, 24), [NEXT] * 6, {}),
    "half-80": ((80, 24), ["f"], {}),
    "palette-80": ((80, 24), ["colon", "s", "h", "o", "w"], {}),
    "help-80": ((80, 24), ["question_mark"], {}),
    "ascii-16-colours": ((80, 24), ["down"], {"TERM": "screen", "LANG": "C"}),
    "no-colour": ((80, 24), ["down"], {"NO_COLOR": "1"}),
    "light": ((120, 40), ["down"], {"COLORFGBG": "0;15"}),
    "too-small": ((50, 12), [], {}),
}


@pytest.mark.parametrize("name", list(LOOKS))
def test_it_looks_as_it_did(
    name: str, snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    size, keys, environment = LOOKS[name]
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    desk = RecordingDesk(Reader.open(RECORDING))
    app = Workbench(desk)

    async def play(pilot: Pilot[Any]) -> None:
        await until(pilot, lambda: desk.views and desk.views[0].tools and "READING" not in desk.sign.word)
        await until(pilot, lambda: size < (60, 15) or (app._main.pane and app._main.pane.has_focus_within))
        await pilot.press(*keys)
        await until(pilot, lambda: app.keys.idle)
        await until(pilot, lambda: size[1] < LOW or app._main.query_one(Dock).frames.row is not None)
        await at_rest(app, pilot)

    try:
        assert snap_compare(app, terminal_size=size, run_before=play)
    finally:
        desk.close()


def test_the_empty_screen_looks_as_it_did(snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(Workbench(Desk()), terminal_size=(80, 24))
