"""The view of a connection: folded from its frames, published for other threads, told in time."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence

from workbench.check.checker import Checker
from workbench.check.noted import Noted
from workbench.check.rule import Finding
from workbench.core.fold import ConnectionFold, ConnectionView
from workbench.core.frame import Frame, Stream, StreamSink
from workbench.core.jsonrpc import Decoded

#: Changes within this time are published and told as one (seconds).
TOLD_EVERY = 0.03

#: Frames whose findings are kept at hand; the sink has them all.
MAX_FOUND = 1_000

_LOG = logging.getLogger(__name__)


class Publisher:
    """Folds and checks frames in the connection's loop. ``changed(seq)`` is called there, merged,
    after the view that contains the frame ``seq`` has been published. ``findings`` are the last ones
    of the checks."""

    def __init__(
        self, fold: ConnectionFold, changed: Callable[[int], None], sink: StreamSink | None = None
    ) -> None:
        self.last_seq = 0
        self.findings = Noted(MAX_FOUND)
        self._fold = fold
        self._sink = sink
        self._checker: Checker | None = Checker()
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
        self._check(lambda checker: checker.take(frame, decoded))
        self.last_seq = frame.seq
        self._soon()

    def seen_stream(self, stream: Stream) -> None:
        """Take an HTTP stream as it stands now; the tap calls this when the sink has it."""
        self._fold.stream(stream)
        self._check(lambda checker: checker.take_stream(stream))
        self._soon()

    def _soon(self) -> None:
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

    def _check(self, look: Callable[[Checker], Sequence[Finding]]) -> None:
        if self._checker is None:
            return
        try:
            found = look(self._checker)
        except Exception:
            # What is wrong in a check must not end the connection it looks at.
            _LOG.exception("the checks of connection %s end here", self._published.name)
            self._checker = None
            return
        self.findings.add(found)
        for finding in found:
            self._fold.found(finding.rule.severity)
            if self._sink is not None and finding.seq:
                self._sink.finding(finding.seq, finding.rule.id, finding.rule.severity, finding.pointer)
