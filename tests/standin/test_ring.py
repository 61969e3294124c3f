"""The memory between pumps and recorder: everything, in order, whatever falls on its edge."""

from __future__ import annotations

import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.frame import Channel, Direction, Ending, Unit
from workbench.standin.ring import PART, RESERVE, Ring, Word
from workbench.wire.bell import Bell

SMALL = RESERVE + 10_000

#: A bell holds two descriptors for as long as its process lives.
BELL = Bell()

units = st.builds(
    Unit,
    connection=st.integers(0, 2**32 - 1),
    direction=st.sampled_from(Direction),
    channel=st.sampled_from(Channel),
    data=st.binary(max_size=9_000),
    wall_ns=st.integers(0, 2**64 - 1),
    mono_ns=st.integers(0, 2**64 - 1),
    whole=st.booleans(),
    ending=st.sampled_from(Ending),
    stream=st.integers(0, 2**32 - 1),
    event=st.none() | st.text(min_size=1, max_size=50),
)


def unit(data: bytes) -> Unit:
    return Unit(1, Direction.TO_SERVER, Channel.STDIO, data, 1, 2, False)


def take_all(ring: Ring) -> list[Unit | Word]:
    taken: list[Unit | Word] = []
    while entries := ring.take():
        taken += entries
    return taken


@given(st.lists(st.lists(units, max_size=3), max_size=8), st.integers(20_000, 30_000))
def test_what_is_put_is_taken_as_it_was_and_in_order(rounds: list[list[Unit]], size: int) -> None:
    ring = Ring(BELL, size)
    for number, batch in enumerate(rounds):
        for item in batch[:2]:
            ring.put(item)
        ring.say(b"%d" % number)
        assert take_all(ring) == [*batch[:2], Word(b"%d" % number)]


def test_there_is_no_room_when_only_the_reserve_is_left_and_again_when_it_was_taken() -> None:
    ring = Ring(BELL, SMALL)
    assert ring.wait_room(0)
    ring.put(unit(b"x" * 10_000))
    assert not ring.has_room()
    assert not ring.wait_room(0.01)
    ring.put(unit(b"y"))
    assert [entry.data for entry in take_all(ring) if isinstance(entry, Unit)] == [b"x" * 10_000, b"y"]
    assert ring.wait_room(0)


def test_a_ring_that_nobody_takes_from_any_more_has_room_for_ever_and_keeps_nothing() -> None:
    ring = Ring(BELL, SMALL)
    ring.abandoned = True
    for _ in range(5):
        ring.put(unit(b"x" * 1_000_000))
        assert ring.has_room()


def test_a_body_larger_than_the_memory_goes_through_it_in_parts() -> None:
    ring, body = Ring(BELL, PART + 100_000), os.urandom(3 * PART + 17)
    large = Unit(7, Direction.TO_CLIENT, Channel.SSE, body, 1, 2, True, Ending.NONE, 3, '{"id":"e"}')
    putting = threading.Thread(target=ring.put, args=(large,), daemon=True)
    putting.start()
    taken: list[Unit | Word] = []
    while not taken:
        taken = ring.take()
        putting.join(0.001)
    assert taken == [large]


def test_threads_that_put_at_once_lose_nothing_and_keep_their_order() -> None:
    ring, threads, each = Ring(BELL, SMALL), 4, 3_000

    def put(sender: int) -> None:
        for number in range(each):
            assert ring.wait_room(30)
            ring.put(unit(b"%d %d" % (sender, number)))

    senders = [threading.Thread(target=put, args=(sender,)) for sender in range(threads)]
    for sender in senders:
        sender.start()
    seen: list[list[int]] = [[] for _ in range(threads)]
    while sum(map(len, seen)) < threads * each:
        for entry in ring.take(5_000):
            assert isinstance(entry, Unit)
            who, number = map(int, entry.data.split())
            seen[who].append(number)
    assert seen == [list(range(each))] * threads


@pytest.mark.parametrize("items", [1, 20_000])
def test_another_process_gets_everything_and_learns_that_the_first_is_gone(items: int) -> None:
    bell = Bell()
    ring = Ring(bell, SMALL)
    answer, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        bell.listen()
        expected = 0
        while True:
            for entry in ring.take():
                expected += isinstance(entry, Unit) and entry.data == b"%d" % expected
            if not ring.sleep():
                break
        os.write(tell, b"%d" % expected)
        os._exit(0)
    os.close(tell)
    for number in range(items):
        ring.wait_room()
        ring.put(unit(b"%d" % number))
    os.close(bell.handle)
    assert os.read(answer, 100) == b"%d" % items
    os.close(answer)
    assert os.waitpid(pid, 0) == (pid, 0)
