"""The pieces below a connection: lines out of pipes, lines into pipes, frames out of lines."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import anyio
import pytest

from tests.wire.stage import MemorySink
from workbench.core.frame import Channel, Direction, Ending, Frame, Kind, Unit
from workbench.core.jsonrpc import Decoded
from workbench.wire.outbox import Outbox
from workbench.wire.pipes import CHUNK, read_lines
from workbench.wire.tap import Tap
from workbench.wire.turns import Turn

pytestmark = pytest.mark.anyio


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    yield reading, writing
    for end in (reading, writing):
        try:
            os.close(end)
        except OSError:
            continue


async def test_a_line_beyond_the_bound_comes_in_pieces_and_nothing_of_it_is_lost(
    pipe: tuple[int, int],
) -> None:
    reading, writing = pipe
    body = b"a" * 50_000 + b"\nshort\n" + b"b" * 10
    got: list[tuple[bytes, Ending]] = []
    assert os.write(writing, body) == len(body)
    os.close(writing)
    await read_lines(reading, lambda line, ending: got.append((line, ending)), lambda: True, 70_000, Turn())
    assert got == [(b"a" * 50_000, Ending.LF), (b"short", Ending.LF), (b"b" * 10, Ending.NONE)]

    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    got.clear()
    async with anyio.create_task_group() as group:
        group.start_soon(
            read_lines,
            reading,
            lambda line, ending: got.append((line, ending)),
            lambda: True,
            100_000,
            Turn(),
        )
        for _ in range(10):
            await anyio.to_thread.run_sync(os.write, writing, b"c" * CHUNK)
        await anyio.to_thread.run_sync(os.write, writing, b"\n")
        os.close(writing)
    os.close(reading)
    assert b"".join(line for line, _ in got) == b"c" * CHUNK * 10
    assert {ending for _, ending in got[:-1]} == {Ending.NONE}
    assert got[-1][1] is Ending.LF


async def test_lines_are_written_in_order_though_the_pipe_is_smaller_than_they_are(
    pipe: tuple[int, int],
) -> None:
    reading, writing = pipe
    outbox = Outbox(writing, lambda count, why: pytest.fail(f"{count} {why}"))
    lines = [bytes([65 + number]) * 200_000 for number in range(5)]
    got: list[bytes] = []

    def take(line: bytes, _: Ending) -> None:
        got.append(line)

    async with anyio.create_task_group() as group:
        group.start_soon(outbox.run)
        group.start_soon(read_lines, reading, take, lambda: True, 1 << 30, Turn())
        for line in lines:
            outbox.add(line + b"\n")
        await outbox.close(10)
    assert got == lines


async def test_what_a_broken_pipe_did_not_take_is_counted_now_and_later(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.close(reading)
    told: list[int] = []
    outbox = Outbox(writing, lambda count, _: told.append(count))
    async with anyio.create_task_group() as group:
        group.start_soon(outbox.run)
        outbox.add(b"12345")
        await anyio.wait_all_tasks_blocked()
        outbox.add(b"123")
        await outbox.close(1)
    assert told == [5, 3]


async def test_what_is_left_when_time_is_over_is_counted_without_what_is_out(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    told: list[int] = []
    outbox = Outbox(writing, lambda count, _: told.append(count))
    size = 1 << 20
    async with anyio.create_task_group() as group:
        group.start_soon(outbox.run)
        outbox.add(b"x" * size)
        await outbox.close(0.05)
    out = 0
    while chunk := os.read(reading, CHUNK):
        out += len(chunk)
    assert told == [size - out]


def test_the_sink_has_a_frame_before_it_is_seen_and_both_have_the_same() -> None:
    sink = MemorySink()
    seen: list[Frame] = []

    def observe(frame: Frame, _: Decoded | None) -> None:
        assert len(sink.units) == frame.seq
        seen.append(frame)

    tap = Tap(sink, 7, observe)
    body = b'{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"x"}}\r'
    seq, decoded = tap.message(Direction.TO_SERVER, body)
    assert (seq, decoded.kind) == (1, Kind.REQUEST)
    assert tap.message(Direction.TO_CLIENT, b"banner", Ending.NONE)[1].kind is Kind.INVALID
    assert tap.stderr(b"\xff") == 3
    assert tap.process("exited", code=0) == 4
    assert tap.note("mark", text="here") == 5
    frame = seen[0]
    assert (frame.method, frame.id, frame.name, frame.body) == ("tools/call", "1.0", "x", body)
    for frame, unit in zip(seen, sink.units, strict=True):
        check_same(frame, unit)
    assert json.loads(seen[3].body) == {"event": "exited", "code": 0}
    assert [frame.kind for frame in seen[2:]] == [Kind.STDERR, Kind.PROCESS, Kind.NOTE]
    assert [unit.channel for unit in sink.units[2:]] == [Channel.STDERR, Channel.PROCESS, Channel.NOTE]


def check_same(frame: Frame, unit: Unit) -> None:
    assert frame.body == unit.data
    assert unit.connection == 7
    assert unit.whole
    assert (frame.connection, frame.direction, frame.channel) == (7, unit.direction, unit.channel)
    assert (frame.wall_ns, frame.mono_ns, frame.ending) == (unit.wall_ns, unit.mono_ns, unit.ending)
    assert frame.size == len(unit.data)
