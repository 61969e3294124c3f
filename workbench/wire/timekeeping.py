"""Calls something back when its next deadline comes, however often that moves."""

from __future__ import annotations

import math
from collections.abc import Callable

import anyio


class Timekeeper:
    """Runs ``tick`` at the deadline that ``next_deadline`` names (seconds of the loop's clock,
    which is ``time.monotonic``)."""

    def __init__(self, next_deadline: Callable[[], float | None], tick: Callable[[], None]) -> None:
        self._next_deadline = next_deadline
        self._tick = tick
        self._armed = -math.inf
        self._sooner = anyio.Event()

    async def run(self) -> None:
        while True:
            deadline = self._next_deadline()
            self._armed = math.inf if deadline is None else deadline
            self._sooner = anyio.Event()
            with anyio.CancelScope(deadline=self._armed):
                await self._sooner.wait()
            self._tick()

    def moved(self) -> None:
        """The deadline may have changed. Only a sooner one needs a hand: a timer that is early
        finds out by itself."""
        deadline = self._next_deadline()
        if deadline is not None and deadline < self._armed:
            self._armed = deadline
            self._sooner.set()
