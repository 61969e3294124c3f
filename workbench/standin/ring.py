"""What is handed over, in memory that two processes share.

The pumps' process writes, the recorder's process reads. Putting is two copies
into the ring and the new end of it, so a pump never waits for the interpreter,
the disk or a pipe of the recorder; and what is in the ring is not lost when the
pumps' process is killed, because the recorder still has it.

Entries are a head and the bytes, wherever they fall: at the end of the memory
they go on at its beginning. Whenever everything has been taken, putting begins
anew at the beginning, so the memory in use is what a backlog needed, and mostly
a few warm pages. Two counters, of all bytes ever written and ever
taken, have one writing process each. A lock orders the threads that put; the
fence is a lock nobody waits for, taken because taking one makes what was written
before it visible before what is written after it.
"""

from __future__ import annotations

import mmap
import struct
import threading
import time
from typing import NamedTuple

from workbench.core.frame import Channel, Direction, Ending, Unit
from workbench.wire.bell import FIRST_CODE, Bell

#: The size of the memory (bytes): the backlog. Only what a backlog ever needed is really used.
SIZE = 64 << 20

#: A reader is asked to wait when less than this is free, so that what it has read, and every
#: process event, always fits (bytes). It is more than all pumps can have in their hands.
RESERVE = 1 << 20

#: How much is taken at once (bytes).
MOST = 1 << 20

#: How often somebody who waits for room looks again (seconds).
_LOOK = 0.002

#: An entry up to this size is put together first, because copying it is cheaper than a second store.
_JOINED = 4096

#: How long the recorder's process sleeps at most, in case it slept in while it was rung (seconds).
_NAP = 1.0

#: A body beyond this is taken in parts, so that it may be larger than the memory (bytes).
PART = 4 << 20

_HEAD = struct.Struct("=QQIIIIBBBB")
_pack = _HEAD.pack
_COUNTERS = 64
_END, _START, _BASE, _ASLEEP = range(4)

_DIRECTIONS = {direction.value: direction for direction in Direction}
_CHANNELS = {channel.value: channel for channel in Channel}
_ENDINGS = {ending.value: ending for ending in Ending}
_WHOLE, _WORD, _BEGUN = 1, 2, 3


class Word(NamedTuple):
    """Something said between units that is not a unit: JSON text."""

    text: bytes


class Ring:
    """Made before the processes part. ``put``, ``say`` and the two about room are for the pumps'
    process (any thread), ``take`` and ``sleep`` for the recorder's.

    ``abandoned`` is set by the pumps' process when nobody takes any more: there is then always
    room, and nothing is kept.
    """

    def __init__(self, bell: Bell, size: int = SIZE) -> None:
        self.abandoned = False
        self._size = size
        self._memory = memoryview(mmap.mmap(-1, _COUNTERS + size))
        self._counters = self._memory[:_COUNTERS].cast("Q")
        self._data = self._memory[_COUNTERS:]
        self._bell = bell
        self._lock = threading.Lock()
        self._fence = threading.Lock()
        self._tickets = 0
        self._end = 0
        self._start = 0
        self._base = 0
        self._begun: list[bytes] = []

    # The pumps' process

    def put(self, unit: Unit) -> int:
        """Take a unit; returns how many have been taken."""
        connection, direction, channel, data, wall_ns, mono_ns, whole, ending, stream, event = unit
        size = 0
        if event is not None:
            extra = event.encode("utf-8", "surrogatepass")
            data, size = data + extra, len(extra)
        with self._lock:
            if len(data) > PART:
                data = self._write_parts(data)
            self._write(
                _pack(
                    wall_ns,
                    mono_ns,
                    len(data),
                    size,
                    stream,
                    connection,
                    direction,
                    channel,
                    whole,
                    ending,
                ),
                data,
            )
            self._tickets = ticket = self._tickets + 1
        self._wake()
        return ticket

    def say(self, text: bytes) -> None:
        """Tell the recorder's process something, in order with the units."""
        with self._lock:
            self._write(_pack(0, 0, len(text), 0, 0, 0, 0, 0, _WORD, 0), text)
        self._wake()

    def has_room(self) -> bool:
        return self._end - self._counters[_START] < self._size - RESERVE or self.abandoned

    def wait_room(self, timeout: float | None = None) -> bool:
        """Wait until there is room to read on; False when ``timeout`` (seconds) passed first."""
        until = None if timeout is None else time.monotonic() + timeout
        while not self.has_room():
            if until is not None and time.monotonic() >= until:
                return False
            time.sleep(_LOOK)
        return True

    def _write(self, head: bytes, data: bytes) -> None:
        """Write an entry, with the lock held."""
        entry = head + data if len(data) <= _JOINED else head
        length = _HEAD.size + len(data)
        end = self._end
        if self._counters[_START] == end:
            self._base = self._counters[_BASE] = end
        while end + length - self._counters[_START] > self._size:
            if self.abandoned:
                return
            self._wake()
            time.sleep(_LOOK)
        self._store(end, entry)
        if len(entry) < length:
            self._store(end + len(entry), data)
        self._end = end + length
        with self._fence:
            self._counters[_END] = self._end

    def _write_parts(self, data: bytes) -> bytes:
        """Write all but the last part of a large body; returns that one."""
        last = (len(data) - 1) // PART * PART
        for start in range(0, last, PART):
            self._write(_pack(0, 0, PART, 0, 0, 0, 0, 0, _BEGUN, 0), data[start : start + PART])
        return data[last:]

    def _wake(self) -> None:
        if self._counters[_ASLEEP]:
            self._counters[_ASLEEP] = 0
            self._bell.ring(FIRST_CODE)

    def _store(self, at: int, data: bytes) -> None:
        at = (at - self._base) % self._size
        end = at + len(data)
        if end <= self._size:
            self._data[at:end] = data
        else:
            fits = self._size - at
            self._data[at:] = data[:fits]
            self._data[: end - self._size] = data[fits:]

    # The recorder's process

    def take(self, most: int = MOST) -> list[Unit | Word]:
        """What has been put and not been taken, oldest first, at most about ``most`` bytes of it."""
        end = self._counters[_END]
        with self._fence:
            # It moves only while there is nothing to take, so it is that of all entries up to the end.
            self._base = self._counters[_BASE]
            until = min(end, self._start + most)
        taken: list[Unit | Word] = []
        while self._start < until:
            if (entry := self._next()) is not None:
                taken.append(entry)
        self._counters[_START] = self._start
        return taken

    def _next(self) -> Unit | Word | None:
        """The next entry, ``None`` for a part of one."""
        head = _HEAD.unpack(self._load(self._start, _HEAD.size))
        wall_ns, mono_ns, size, extra, stream, connection, direction, channel, flags, ending = head
        data = self._load(self._start + _HEAD.size, size)
        self._start += _HEAD.size + size
        if flags == _WORD:
            return Word(data)
        if flags == _BEGUN:
            self._begun.append(data)
            return None
        if self._begun:
            data = b"".join((*self._begun, data))
            self._begun.clear()
        event = None
        if extra:
            data, event = data[:-extra], data[-extra:].decode("utf-8", "surrogatepass")
        return Unit(
            connection,
            _DIRECTIONS[direction],
            _CHANNELS[channel],
            data,
            wall_ns,
            mono_ns,
            flags == _WHOLE,
            _ENDINGS[ending],
            stream,
            event,
        )

    def _load(self, at: int, size: int) -> bytes:
        at = (at - self._base) % self._size
        end = at + size
        if end <= self._size:
            return bytes(self._data[at:end])
        return bytes(self._data[at:]) + bytes(self._data[: end - self._size])

    def sleep(self) -> bool:
        """Wait until something has been put. False when the pumps' process is gone, and all that
        it put has been taken."""
        self._counters[_ASLEEP] = 1
        with self._fence:
            empty = self._counters[_END] == self._start
        if empty and self._bell.wait(_NAP):
            return True
        self._counters[_ASLEEP] = 0
        return self._counters[_END] != self._start or not self._bell.gone
