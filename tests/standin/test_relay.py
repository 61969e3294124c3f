"""Pumps and relay by themselves, on pipes of the test's own."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.standin.running import in_background, until
from workbench.core.frame import Channel, Direction, Unit
from workbench.core.jsonrpc import loads
from workbench.wire.bell import FIRST_CODE, Bell
from workbench.wire.pump import Codes, Pump, Stream
from workbench.wire.relay import Relay

OVER = FIRST_CODE + 1


class Memory:
    """A sink that keeps everything, and has room as long as it is told so."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.room = threading.Event()
        self.room.set()

    def put(self, unit: Unit) -> int:
        self.units.append(unit)
        return len(self.units)

    def has_room(self) -> bool:
        return self.room.is_set()

    def wait_room(self, timeout: float | None = None) -> bool:
        return self.room.wait(timeout)

    @property
    def bytes(self) -> bytes:
        return b"".join(unit.data for unit in self.units if unit.channel is Channel.STDIO)

    @property
    def events(self) -> list[dict[str, object]]:
        return [loads(unit.data) for unit in self.units if unit.channel is Channel.PROCESS]


class Line(NamedTuple):
    """One pump between two pipes, and the ends the test holds."""

    pump: Pump
    sink: Memory
    bell: Bell
    into: int
    out: int
    held: set[int]

    def close(self, descriptor: int) -> None:
        self.held.remove(descriptor)
        os.close(descriptor)

    def write_all(self, data: bytes) -> None:
        """Write, then close; for a thread of its own."""
        os.write(self.into, data)
        self.close(self.into)


@pytest.fixture
def line() -> Iterator[Line]:
    bell, sink = Bell(), Memory()
    source, into = os.pipe()
    out, target = os.pipe()
    stream = Stream("stdin", 1, Direction.TO_SERVER, Channel.STDIO)
    pump = Pump(stream, source, target, sink, bell, Codes(FIRST_CODE, OVER))
    line = Line(pump, sink, bell, into, out, {into, out, source, target})
    yield line
    for descriptor in line.held:
        os.close(descriptor)


def relay(line: Line, look_ns: int = 0) -> threading.Thread:
    """Run the relay until the pump is over."""
    relay = Relay(line.bell, [line.pump], look_ns)

    def run() -> None:
        while not line.pump.over:
            relay.run(time.monotonic() + 5)

    return in_background(run)


@pytest.mark.parametrize("look_ns", [0, 1_000_000])
def test_small_chunks_pass_one_by_one_and_are_handed_over_before_they_are_written(
    line: Line, look_ns: int
) -> None:
    thread = relay(line, look_ns)
    for number in range(300):
        os.write(line.into, b"%d\n" % number)
        assert os.read(line.out, 100) == b"%d\n" % number
        assert line.sink.units[-1].data == b"%d\n" % number
    line.close(line.into)
    thread.join(10)
    assert line.sink.units[-2].data == b""
    assert line.sink.events == [{"event": "stdin_closed"}]
    assert os.read(line.out, 1) == b""


def test_a_full_pipe_holds_this_direction_and_nothing_is_lost(line: Line) -> None:
    thread = relay(line)
    data = os.urandom(3_000_000)
    writer = in_background(lambda: line.write_all(data))
    until(lambda: line.pump.in_hand > 0)
    got = b""
    while part := os.read(line.out, 1 << 20):
        got += part
    writer.join(10)
    thread.join(10)
    assert got == data
    assert line.sink.bytes == data


def test_a_full_backlog_holds_the_next_read_back_and_nothing_else(line: Line) -> None:
    thread = relay(line)
    os.write(line.into, b"one\n")
    assert os.read(line.out, 100) == b"one\n"
    line.sink.room.clear()
    os.write(line.into, b"two\n")
    until(lambda: line.pump.busy)
    assert line.sink.bytes == b"one\n"
    line.sink.room.set()
    assert os.read(line.out, 100) == b"two\n"
    os.write(line.into, b"three\n")
    assert os.read(line.out, 100) == b"three\n"
    line.close(line.into)
    thread.join(10)


def test_a_pump_that_waits_for_room_can_be_stopped(line: Line) -> None:
    thread = relay(line)
    line.sink.room.clear()
    os.write(line.into, b"one\n")
    until(lambda: line.pump.busy)
    line.pump.stop()
    thread.join(10)
    assert line.pump.over
    assert os.read(line.out, 100) == b""


def test_a_target_that_is_gone_ends_the_pump_and_breaks_the_source(line: Line) -> None:
    thread = relay(line)
    line.close(line.out)
    os.write(line.into, b"lost\n")
    thread.join(10)
    assert line.pump.broken
    assert line.sink.bytes == b"lost\n"
    assert line.sink.events[0] == {
        "event": "undelivered",
        "stream": "stdin",
        "bytes": 5,
        "why": line.pump.broken,
    }
    with pytest.raises(BrokenPipeError):
        os.write(line.into, b"more\n")


def test_what_comes_after_a_stop_is_handed_over_as_not_delivered(line: Line) -> None:
    thread = relay(line)
    line.pump.stop()
    os.write(line.into, b"late\n")
    thread.join(10)
    assert line.sink.bytes == b"late\n"
    assert [event["event"] for event in line.sink.events] == ["stdin_closed", "undelivered"]


def test_the_relay_returns_when_its_time_has_come(line: Line) -> None:
    began = time.monotonic()
    assert Relay(line.bell, [line.pump]).run(began + 0.05) == b""
    assert 0.05 <= time.monotonic() - began < 5


def test_the_relay_returns_what_was_rung_for_its_caller(line: Line) -> None:
    line.bell.ring(15)
    line.bell.ring(OVER)
    assert Relay(line.bell, [line.pump]).run(time.monotonic() + 5) == bytes((15, OVER))
