"""The screen's tests run on asyncio, on a terminal of 256 colours that takes UTF-8."""

from __future__ import annotations

import difflib
import pickle
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pytest_textual_snapshot import node_to_report_path, normalize_svg  # type: ignore[import-untyped]
from textual.app import App
from textual.pilot import Pilot

Play = Callable[[Pilot[Any]], Awaitable[None]]

#: How long a picture may take to become what is kept (seconds).
LATEST = 20.0


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_CTYPE", "COLORFGBG", "COLORTERM", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("LANG", "C.UTF-8")


@pytest.fixture
def snap_compare(snap_compare: Callable[..., bool], request: pytest.FixtureRequest) -> Callable[..., bool]:
    """As the plugin's, for a screen whose threads may be late, and tells in text which lines differ.

    The picture is taken when the screen shows what is kept, at the latest after ``LATEST`` seconds.
    """
    node = request.node
    kept = node.path.parent / "__snapshots__" / node.path.stem / f"{node.name}.svg"
    wanted = normalize_svg(kept.read_text()) if kept.exists() else None
    if request.config.getoption("update_snapshots"):
        wanted = None

    def compare(app: App[Any], run_before: Play | None = None, **kwargs: Any) -> bool:
        async def play(pilot: Pilot[Any]) -> None:
            if run_before is not None:
                await run_before(pilot)
            deadline = time.monotonic() + LATEST
            while wanted is not None and normalize_svg(app.export_screenshot(simplify=True)) != wanted:
                if time.monotonic() > deadline:
                    return
                await pilot.pause(0.05)

        same = snap_compare(app, run_before=play, **kwargs)
        if not same:
            _, expected, shown, *_ = pickle.loads(node_to_report_path(node).read_bytes())
            before, after = str(expected).splitlines(), normalize_svg(shown).splitlines()
            print("\n".join(difflib.unified_diff(before, after, "kept", "shown", n=0, lineterm="")))
        return same

    return compare
