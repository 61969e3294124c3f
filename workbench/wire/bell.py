"""One pipe on which a waiting thread is told everything that happens elsewhere.

Signals ring it through ``signal.set_wakeup_fd`` with their own number, threads
with a code from ``FIRST_CODE`` on. A pipe and not a lock, because the thread
that waits for it waits for other descriptors at the same time.
"""

from __future__ import annotations

import os
import select
from contextlib import suppress

#: Codes below are signal numbers.
FIRST_CODE = 128


class Bell:
    """``descriptor`` is readable when it has been rung; ``rung`` takes the codes, in order.

    In a process that only listens (``listen``) it also tells that nobody can ring any more:
    ``gone``.
    """

    __slots__ = ("_poll", "_write", "descriptor", "gone")

    def __init__(self) -> None:
        self.gone = False
        self.descriptor, self._write = os.pipe()
        os.set_blocking(self.descriptor, False)
        os.set_blocking(self._write, False)
        self._poll = select.poll()
        self._poll.register(self.descriptor, select.POLLIN)

    @property
    def handle(self) -> int:
        """The descriptor to ring it by, for ``signal.set_wakeup_fd``."""
        return self._write

    def ring(self, code: int) -> None:
        """Any thread. A full pipe means that thousands of rings have not been heard yet."""
        with suppress(BlockingIOError):
            os.write(self._write, bytes((code,)))

    def rung(self) -> bytes:
        try:
            codes = os.read(self.descriptor, 4096)
        except BlockingIOError:
            return b""
        self.gone = not codes
        return codes

    def wait(self, seconds: float) -> bytes:
        """The codes that have been rung, after ``seconds`` at the latest."""
        return self.rung() if self._poll.poll(int(seconds * 1000)) else b""

    def listen(self) -> None:
        """Give up ringing, in a process that was parted from the one that rings."""
        os.close(self._write)
