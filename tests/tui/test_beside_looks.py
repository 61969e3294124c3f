"""How connections look side by side, held as pictures of the same four connections every time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.seeded import CONNECTIONS, SeededDesk
from tests.tui.test_snapshots import _same_time_everywhere, at_rest  # noqa: F401 - the one is a fixture
from tests.tui.waiting import until
from workbench.tui.app import Workbench

PANES: list[str] = []
ANSWERS = ["a", "enter", *"otters", "enter"]

LOOKS: dict[str, tuple[tuple[int, int], list[str]]] = {
    "panes-80": ((80, 24), PANES),
    "panes-120": ((120, 40), PANES),
    "answers-60": ((60, 15), ANSWERS),
    "answers-80": ((80, 24), ANSWERS),
    "answers-120": ((120, 40), ANSWERS),
    "answers-200": ((200, 50), ANSWERS),
}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[SeededDesk]:
    seeded = SeededDesk(tmp_path)
    yield seeded
    seeded.close()


@pytest.mark.parametrize("name", list(LOOKS))
def test_columns_look_as_they_did(name: str, desk: SeededDesk, snap_compare: Callable[..., bool]) -> None:
    size, keys = LOOKS[name]
    app = Workbench(desk)

    async def play(pilot: Pilot[Any]) -> None:
        main = app._main
        await until(pilot, lambda: len(desk.views) == len(CONNECTIONS) and desk.views[-1].tools)
        await until(pilot, lambda: main.pane is not None and main.pane.has_focus_within)
        await pilot.press("b")
        await until(pilot, lambda: main.split is not None and main.split.column.has_focus_within)
        await pilot.press(*keys)
        await until(pilot, lambda: app.keys.idle)
        await until(pilot, lambda: not keys or (main.split is not None and main.split.answers))
        await at_rest(app, pilot)

    assert snap_compare(app, terminal_size=size, run_before=play)
