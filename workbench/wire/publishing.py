"""The view of a connection: folded from its frames, published for other threads, told in time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from workbench.core.fold import ConnectionFold, ConnectionView
from workbench.core.frame import Frame
from workbench.core.jsonrpc import Decoded

#: Changes within this time are published and told as one (seconds).
TOLD_EVERY = 0.03


class Publisher:
    """Folds frames in the connection's loop. ``changed(seq)`` is called there, merged, after the
    view that contains the frame ``seq`` has been published."""

    def __init__(self, fold: ConnectionFold, changed: Callable[[int], None]) -> None:
        self.last_seq = 0
        self._fold = fold
        self._changed = changed
        self._published = fold.snapshot()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def view(self) -> ConnectionView:
        """What there is to show. Exact in the connection's loop, at most ``TOLD_EVERY`` old elsewhere."""
        if threading.get_ident() == self._thread:
            return self._fold.snapshot()
        return self._published

    def seen(self, frame: Frame, decoded: Decoded | None) -> None:
        """Take a frame; the tap calls this when the sink has it."""
        self._fold.advance(frame, decoded)
        self.last_seq = frame.seq
        if self._timer is None:
            self._timer = self._loop.call_later(TOLD_EVERY, self.publish)

    def publish(self) -> None:
        """Publish now, if there is anything new."""
        if self._timer is None:
            return
        self._timer.cancel()
        self._timer = None
        self._published = self._fold.snapshot()
        self._changed(self.last_seq)
