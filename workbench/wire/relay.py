"""The thread that stands between a client and a server: it waits for both.

A call through a stand-in is two hops, and a hop is mostly the time it takes to
wake a sleeping thread. Where the other side answers at once, that is longer than
the call itself, so after each hop the relay looks again for a moment instead of
sleeping (``LOOK_NS``), as long as looking has lately paid: each side is remembered
by whether the last answer to it came within that time. A server that needs a
millisecond, or a client that thinks, costs no more than one look. Whoever else
wants the processor gets it between two looks: without that, a server of several
threads on two processors was slowed by a tenth.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Sequence
from math import ceil

from workbench.wire.bell import Bell
from workbench.wire.pump import Pump

#: How long the relay looks for the next chunk before it sleeps (nanoseconds).
LOOK_NS = 100_000

_let_others_run = getattr(os, "sched_yield", lambda: None)


class Relay:
    """Carries the pumps' small traffic in the calling thread, and hears the bell.

    With one processor only, looking would keep the other side from running, so ``look_ns`` is
    then 0 unless it is given.
    """

    def __init__(self, bell: Bell, pumps: Sequence[Pump], look_ns: int | None = None) -> None:
        self._bell = bell
        self._poll = select.poll()
        self._poll.register(bell.descriptor, select.POLLIN)
        self._sources: dict[int, Pump] = {}
        self._returning = {pump.codes.back: pump for pump in pumps}
        self._look_ns = look_ns if look_ns is not None else (LOOK_NS if _processors() > 1 else 0)
        self._quick: dict[int, bool] = {}
        self._last = -1
        for pump in pumps:
            self._watch(pump)

    def run(self, deadline: float | None = None) -> bytes:
        """Carry until somebody rings for the caller: the codes; empty when ``deadline``
        (monotonic seconds) has come."""
        clock = time.monotonic_ns
        while True:
            began = clock()
            ready = self._look(began) if self._quick.get(self._last) else []
            if not ready:
                ready = self._poll.poll(_milliseconds(deadline))
            if not ready:
                if deadline is not None and time.monotonic() >= deadline:
                    return b""
                continue
            self._quick[self._last] = clock() - began < self._look_ns
            codes = self._serve(ready)
            if codes:
                return codes

    def _look(self, began: int) -> list[tuple[int, int]]:
        until, poll, clock = began + self._look_ns, self._poll.poll, time.monotonic_ns
        while not (ready := poll(0)) and clock() < until:
            _let_others_run()
        return ready

    def _serve(self, ready: list[tuple[int, int]]) -> bytes:
        codes = b""
        for descriptor, _ in ready:
            pump = self._sources.get(descriptor)
            if pump is None:
                codes += self._heard()
                continue
            self._last = descriptor
            if not pump.carry():
                self._poll.unregister(descriptor)
                del self._sources[descriptor]
        return codes

    def _heard(self) -> bytes:
        """What was rung that is not for us."""
        kept = bytearray()
        for code in self._bell.rung():
            pump = self._returning.get(code)
            if pump is None:
                kept.append(code)
            else:
                self._watch(pump)
        return bytes(kept)

    def _watch(self, pump: Pump) -> None:
        self._sources[pump.source] = pump
        self._poll.register(pump.source, select.POLLIN)


def _milliseconds(deadline: float | None) -> int | None:
    if deadline is None:
        return None
    return max(0, ceil((deadline - time.monotonic()) * 1000))


def _processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
