"""Telling listeners what has changed: merged, and never before it can be read back.

A change rests on a frame. It is told when the recorder has committed that frame,
so whoever looks into the recording because of it finds the frame there. Only
words and numbers are told; the listener then reads a view or a window of rows.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

_LOG = logging.getLogger(__name__)

#: A change is told after this time even if its frame is not committed: the disk may refuse (seconds).
PATIENCE = 0.25


class Change(NamedTuple):
    """Something has changed. ``what`` is ``frames`` (``seq`` is the last committed one),
    ``connection``, ``call``, ``task`` or ``inbox`` (of the connection of this number), or
    ``trouble``."""

    what: str
    connection: int | None
    seq: int


Listener = Callable[[Change], None]


class Announcer:
    """Belongs to the loop it was made in; only ``committed`` and ``soon`` may be called from
    elsewhere."""

    def __init__(self) -> None:
        self.last_seq = 0
        self._listeners: list[Listener] = []
        self._waiting: dict[tuple[str, int | None], int] = {}
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell this listener from now on; returns what ends that. It is called in the loop and must
        not block."""
        self._listeners.append(listener)

        def end() -> None:
            with suppress(ValueError):
                self._listeners.remove(listener)

        return end

    def changed(self, what: str, connection: int | None, seq: int) -> None:
        """Something rests on the frame ``seq``."""
        key = (what, connection)
        self._waiting[key] = max(seq, self._waiting.get(key, 0))
        if self._timer is None:
            self._timer = self._loop.call_later(0 if seq <= self.last_seq else PATIENCE, self._tell_all)

    def committed(self, seq: int) -> None:
        """The recorder has committed everything up to ``seq``. Called from its thread."""
        self.soon(self._on_commit, seq)

    def soon(self, work: Callable[..., None], *args: object) -> None:
        """Do something in the loop, from any thread; nothing once the loop is closed."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(work, *args)

    def _on_commit(self, seq: int) -> None:
        if seq <= self.last_seq:
            return
        self.last_seq = seq
        self._tell(Change("frames", None, seq))
        for (what, connection), rests_on in list(self._waiting.items()):
            if rests_on <= seq:
                del self._waiting[what, connection]
                self._tell(Change(what, connection, rests_on))
        if not self._waiting and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tell_all(self) -> None:
        self._timer = None
        waiting, self._waiting = self._waiting, {}
        for (what, connection), seq in waiting.items():
            self._tell(Change(what, connection, seq))

    def _tell(self, change: Change) -> None:
        for listener in list(self._listeners):
            try:
                listener(change)
            except Exception:
                _LOG.exception("a listener failed on %s", change)
