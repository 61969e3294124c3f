"""Waiting for what a screen shows, with a deadline instead of a guess."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot


async def until(pilot: Pilot[Any], holds: Callable[[], object], seconds: float = 30.0) -> None:
    """Let the app work until the condition holds; fails after ``seconds``."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "what was waited for did not come"
        await pilot.pause(0.01)
