"""The stand-in's pumps: bytes from one pipe to another, unchanged, and seen on the way.

A pump is one direction of one stream. It never looks into the bytes, so banners,
batches, broken UTF-8 and lines of any length pass as they are, in the pieces in
which they came.

* **Hand over first, write afterwards.** A child cannot answer what it has not
  got, so no answer is ever handed over before its request. If the write then
  fails, a process frame says how many bytes were not delivered.
* **Only reading waits.** What has been read is passed on at once; a full backlog
  holds the next read back, which slows the peer down and loses nothing.
* **Nothing is set to non-blocking.** The standard input and output we were given
  are shared with whoever else holds them, and so is that setting.

A small chunk for a pipe that has room is carried by the thread that waits for
both directions (``relay``): that is the short way, and it cannot block. Anything
else (a large chunk, a full pipe, a full backlog) is lent to the pump's own
thread, which reads and writes with blocking calls while the stream flows and
gives the direction back when it pauses. One thread that did all of it would
deadlock as soon as both pipes are full.
"""

from __future__ import annotations

import json
import os
import select
import threading
import time
from typing import Any, NamedTuple, Protocol

from workbench.core.frame import Channel, Direction, Sink, Unit
from workbench.wire.bell import Bell

#: What is read at once (bytes). It is also what a Linux pipe holds.
CHUNK = 64 * 1024

#: A chunk up to this size goes without blocking into a pipe that ``poll`` calls writable.
SHORT = select.PIPE_BUF

#: How long the pump's own thread waits for more before it gives the direction back (milliseconds).
PATIENCE = 2

#: How often a pump that waits for room looks whether it has been stopped (seconds).
LOOK = 0.1


class PacedSink(Sink, Protocol):
    """A sink whose room can be waited for."""

    def wait_room(self, timeout: float | None = None) -> bool: ...


class Stream(NamedTuple):
    """Whose bytes a pump carries; ``name`` is what process events call its end."""

    name: str
    connection: int
    direction: Direction
    channel: Channel


class Codes(NamedTuple):
    """What a pump rings the bell with: when its direction is free again, and when it is over."""

    back: int
    over: int


class Pump:
    """Carries one stream from ``source`` to ``target`` (descriptors).

    ``over`` is true when nothing more will be carried, ``broken`` says why the target took no
    more (empty as long as it did). With ``go_on`` a broken target does not end the pump: it
    reads and hands over to the end of the stream, so that the writer never blocks and what it
    said is known. ``carried`` counts bytes read; ``busy`` is true while the pump's own thread
    has bytes in its hand (``in_hand``) or waits for room.
    """

    def __init__(
        self,
        stream: Stream,
        source: int,
        target: int,
        sink: PacedSink,
        bell: Bell,
        codes: Codes,
        *,
        go_on: bool = False,
    ) -> None:
        self.stream = stream
        self.source = source
        self.codes = codes
        self.broken = ""
        self.over = False
        self.busy = False
        self.carried = 0
        self.in_hand = 0
        self._label = stream[1:]
        self._target = target
        self._sink = sink
        self._bell = bell
        self._go_on = go_on
        self._stopped = False
        self._closed = threading.Lock()
        self._lost = 0
        self._rest = b""
        self._lent = threading.Lock()
        self._lent.acquire()
        self._thread: threading.Thread | None = None
        self._writable = select.poll()
        self._writable.register(target, select.POLLOUT)

    # The short way; the relay's thread

    def carry(self) -> bool:
        """Carry what is there to be read. False when the direction is lent or over: the relay
        watches its source again when the pump has rung ``back``."""
        if not self._sink.has_room():
            return self.lend()
        data = self._take()
        if not data:
            return False
        if len(data) > SHORT or self.broken or not self._writable.poll(0):
            return self.lend(data)
        try:
            written = os.write(self._target, data)
        except OSError as error:
            return self._break(error, len(data))
        return written == len(data) or self.lend(data[written:])

    def lend(self, rest: bytes = b"") -> bool:
        """Let the pump's own thread write ``rest`` and go on from there; always False."""
        self._rest = rest
        self.busy = True
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"pump {self.stream.name}", daemon=True)
            self._thread.start()
        self._lent.release()
        return False

    def start(self) -> None:
        """Carry the whole stream in the pump's own thread, for what nobody waits for."""
        self._thread = threading.Thread(target=self._flow, name=f"pump {self.stream.name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Carry nothing more, and close the target, whatever the pump is doing. Any thread.

        The target is replaced and not closed, so that its number cannot come to mean another
        file while the pump writes. A write that is under way keeps the old target until it is done.
        """
        self._stopped = True
        self._close()

    # The long way; the pump's own thread

    def _run(self) -> None:
        readable = select.poll()
        readable.register(self.source, select.POLLIN)
        while True:
            self._lent.acquire()
            rest, self._rest = self._rest, b""
            if (rest and not self._deliver(rest)) or not self._flow(readable):
                return
            self._bell.ring(self.codes.back)

    def _flow(self, readable: select.poll | None = None) -> bool:
        """Carry until the stream pauses (never, without ``readable``); False when it is over."""
        while True:
            while not self._sink.wait_room(LOOK):
                if self._stopped:
                    return self._finish()
            self.busy = False
            if readable is not None and not readable.poll(PATIENCE):
                return True
            data = self._take()
            self.busy = True
            if not data or not self._deliver(data):
                return False

    # Both

    def _take(self) -> bytes:
        """Read and hand over; empty when the stream is over."""
        try:
            data = os.read(self.source, CHUNK)
        except OSError:  # a closed standard input, a terminal that is gone
            data = b""
        self._sink.put(Unit(*self._label, data, time.time_ns(), time.monotonic_ns(), False))
        self.carried += len(data)
        if data and self._stopped:
            self.undelivered(len(data), "the stream was closed already")
            data = b""
        if not data:
            self._finish()
        return data

    def _deliver(self, data: bytes) -> bool:
        """Write all of it; False when the pump is over."""
        if self.broken:
            self._lost += len(data)
            return True
        if self._stopped:
            self.undelivered(len(data), "the stream was closed already")
            return self._finish()
        rest = memoryview(data)
        self.in_hand = len(rest)
        try:
            while rest:
                rest = rest[os.write(self._target, rest) :]
                self.in_hand = len(rest)
        except OSError as error:
            return self._break(error, len(rest))
        return True

    def _break(self, error: OSError, missing: int) -> bool:
        self.broken = error.strerror or str(error)
        self.in_hand = 0
        if self._go_on:
            self._lost += missing
            self._bell.ring(self.codes.over)
            return True
        self.undelivered(missing, self.broken)
        return self._finish()

    def undelivered(self, missing: int, why: str) -> None:
        """Say that so many bytes have been handed over and not been written."""
        self._tell({"event": "undelivered", "stream": self.stream.name, "bytes": missing, "why": why})

    def _tell(self, event: dict[str, Any]) -> None:
        self._sink.put(process_unit(self.stream.connection, event))

    def _finish(self) -> bool:
        if self._lost:
            self.undelivered(self._lost, self.broken)
        self._close()
        replace(self.source)
        self.over = True
        self.busy = False
        self._bell.ring(self.codes.over)
        return False

    def _close(self) -> None:
        if not self._closed.acquire(blocking=False):
            return
        if self.stream.channel is Channel.STDIO:
            self._tell({"event": f"{self.stream.name}_closed"})
        replace(self._target)


def process_unit(connection: int, event: dict[str, Any]) -> Unit:
    """A process event as the unit of one whole frame; the body is the event as JSON."""
    body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogateescape")
    return Unit(connection, Direction.NONE, Channel.PROCESS, body, time.time_ns(), time.monotonic_ns())


def replace(descriptor: int) -> None:
    """Close what a descriptor stands for, but keep its number taken: it is the null device now."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, descriptor, inheritable=False)
    os.close(null)
