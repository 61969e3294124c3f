"""Whose turn it is in the event loop that all connections of a session share.

Taking what a server sends is work in the thread in which everybody's calls go
out and come back. So it is done in slices, between which all others get their
turn; and while others have just asked for something, a connection takes no more
than its share of the time. What it has not read yet waits in its pipe or socket,
which slows its server down and loses nothing. Alone, it takes all there is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

import anyio
from anyio.lowlevel import checkpoint

Item = TypeVar("Item")

#: How long one connection works before others get their turn (seconds).
SLICE = 0.001

#: The part of the time that one connection takes while others are waiting.
SHARE = 0.1

#: How long others count as waiting after they have asked for something (seconds).
RECENT = 0.1


class Turns:
    """All connections of one loop, and when each has last asked its server for something."""

    def __init__(self) -> None:
        self._asked: dict[Turn, float] = {}

    def asked(self, turn: Turn) -> None:
        self._asked[turn] = time.monotonic()

    def gone(self, turn: Turn) -> None:
        self._asked.pop(turn, None)

    def others_wait(self, turn: Turn) -> bool:
        recent = time.monotonic() - RECENT
        return any(when > recent and each is not turn for each, when in self._asked.items())


class Turn:
    """One connection's. Whatever works through what its server sends calls ``begin`` before, ``over``
    now and then, and awaits ``rest`` when it is."""

    def __init__(self, turns: Turns | None = None) -> None:
        self._turns = turns or Turns()
        self._since = 0.0
        self._owed = 0.0

    def asked(self) -> None:
        """This connection has asked its server for something."""
        self._turns.asked(self)

    def gone(self) -> None:
        """Nothing of this connection is left."""
        self._turns.gone(self)

    def begin(self) -> None:
        now = time.perf_counter()
        self._owed = max(self._owed - (now - self._since) * SHARE, 0.0)
        self._since = now

    @property
    def over(self) -> bool:
        now = time.perf_counter()
        self._owed += now - self._since
        self._since = now
        return self._owed > SLICE

    async def rest(self) -> None:
        if self._turns.others_wait(self):
            await anyio.sleep(self._owed / SHARE)
        else:
            await checkpoint()
            self._owed = 0.0
        self.begin()


async def take_all(items: Iterable[Item], take: Callable[[Item], None], turn: Turn) -> None:
    """Give every item to ``take``. They have been received: cancelled, what is left is given at once."""
    rest = iter(items)
    turn.begin()
    try:
        for item in rest:
            take(item)
            if turn.over:
                await turn.rest()
    except anyio.get_cancelled_exc_class():
        for item in rest:
            take(item)
        raise
