"""What was handed over and is not written yet.

Handing over is a lock and an append. The thread that writes is woken only when
it sleeps, because waking it costs the one who hands over its turn: as long as
frames keep coming it looks by itself, ``LINGER`` after the oldest unwritten one.
"""

from __future__ import annotations

import threading
import time
from typing import Any, NamedTuple

from workbench.core.frame import Stream, Unit

#: How long the oldest unwritten frame waits for company, in seconds.
LINGER = 0.025

#: A transaction is written at once at this many bytes, and a burst is cut into such transactions.
COMMIT_BYTES = 1 << 20

#: Bytes handed over and not yet committed above which transports are asked to read no more.
BACKLOG_BYTES = 64 << 20

#: What a unit weighs beside its data (bytes), so that a flood of empty lines is bounded too.
UNIT_BYTES = 100


#: Findings handed over and not yet written; beyond it they are left out: they can be made again.
MAX_FINDINGS = 100_000


class Statement(NamedTuple):
    """A change to the recording that is no frame."""

    sql: str
    values: tuple[Any, ...]


class Finding(NamedTuple):
    """What a check says of the frame that a ticket became."""

    ticket: int
    rule: str
    severity: str
    pointer: str


class Taken(NamedTuple):
    """What the writing thread took; ``weight`` in bytes."""

    units: list[Unit]
    statements: list[Statement | Stream]
    findings: list[Finding]
    weight: int


class Backlog:
    """The half of a recorder that other threads see."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._settled = threading.Condition(self._lock)
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._units: list[Unit] = []
        self._statements: list[Statement | Stream] = []
        self._findings: list[Finding] = []
        self._since = 0.0
        self._tickets = 0
        self._asked = 0
        self._writing_tickets = 0
        self._writing_statements = 0
        self._waiting_bytes = 0
        self._writing_bytes = 0
        self._asleep = True
        self._closing = False
        self._ended = False

    def put(self, unit: Unit) -> int:
        """Take a unit; returns its ticket, the frame's seq as long as all units are whole and the
        disk takes them (``Recorder.seq_of`` knows for sure). After ``close`` it goes nowhere."""
        with self._lock:
            if not self._units:
                self._since = time.monotonic()
            self._units.append(unit)
            self._waiting_bytes += len(unit.data) + UNIT_BYTES
            self._tickets = ticket = self._tickets + 1
            asleep = self._asleep
            self._asleep = False
        if asleep:
            self._rouse()
        elif self._waiting_bytes > COMMIT_BYTES and not self._hurry.is_set():
            self._hurry.set()
        return ticket

    def has_room(self) -> bool:
        """Whether to read on. A unit is taken even without room, however large it is."""
        return self._waiting_bytes + self._writing_bytes < BACKLOG_BYTES

    def wait_room(self, timeout: float | None = None) -> bool:
        """Wait until there is room to read on; False when ``timeout`` (seconds) passed first."""
        if self.has_room():
            return True
        with self._settled:
            return self._settled.wait_for(self.has_room, timeout)

    def finding(self, seq: int, rule: str, severity: str, pointer: str = "") -> None:
        """Take a finding about a frame, given by its ticket: derived, so it can be made again."""
        with self._lock:
            if len(self._findings) < MAX_FINDINGS:
                self._begin()
                self._findings.append(Finding(seq, rule, severity, pointer))
        self._rouse()

    def _later(self, change: Statement | Stream) -> None:
        with self._lock:
            self._begin()
            self._statements.append(change)
            self._asked += 1
        self._rouse()

    def _begin(self) -> None:
        if not self._units and not self._statements and not self._findings:
            self._since = time.monotonic()
        self._asleep = False

    def _wait_written(self, timeout: float) -> bool:
        """Wait until all that was handed over so far is written, or lost."""
        with self._settled:
            tickets, statements = self._tickets, self._asked

            def reached() -> bool:
                return self._ended or (
                    self._tickets - len(self._units) - self._writing_tickets >= tickets
                    and self._asked - len(self._statements) - self._writing_statements >= statements
                )

            if not reached():
                self._nudge()
            return self._settled.wait_for(reached, timeout)

    # The writing thread

    def _take(self) -> Taken | None:
        """Wait for something to write; ``None`` when there is nothing and nothing will come."""
        while True:
            self._wake.wait()
            self._hurry.wait(self._patience())
            with self._lock:
                self._hurry.clear()
                if self._units or self._statements or self._findings:
                    return self._taken()
                if self._closing:
                    self._ended = True
                    self._asleep = True
                    self._settled.notify_all()
                    return None
                self._asleep = True
                self._wake.clear()

    def _patience(self) -> float:
        with self._lock:
            if self._closing:
                return 0.0
            waiting = self._units or self._statements or self._findings
            since = self._since if waiting else time.monotonic()
        return max(0.0, since + LINGER - time.monotonic())

    def _taken(self) -> Taken:
        taken = Taken(self._units, self._statements, self._findings, self._waiting_bytes)
        self._units, self._statements, self._findings = [], [], []
        self._writing_tickets = len(taken.units)
        self._writing_statements = len(taken.statements)
        self._writing_bytes, self._waiting_bytes = taken.weight, 0
        return taken

    def _settle(self, units: int, weight: int, statements: int) -> None:
        """So much of what was taken is written (or lost)."""
        with self._settled:
            self._writing_tickets -= units
            self._writing_bytes -= weight
            self._writing_statements -= statements
            self._settled.notify_all()

    def _nudge(self) -> None:
        self._hurry.set()
        self._wake.set()

    def _rouse(self) -> None:
        if self._ended:
            with self._lock:
                self._units.clear()
                self._statements.clear()
                self._findings.clear()
                self._waiting_bytes = 0
                self._asleep = True
        else:
            self._wake.set()
