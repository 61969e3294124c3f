"""The loop is shared: slices, the share of who sends much while others wait, and nothing lost on the way."""

from __future__ import annotations

import time

import anyio
import pytest

from workbench.wire import turns
from workbench.wire.turns import SHARE, SLICE, Turn, Turns, take_all

pytestmark = pytest.mark.anyio

#: What taking one item costs, by the clock of these tests (seconds).
COST = SLICE / 4


class Clock:
    """Goes on when an item is taken, and while somebody rests."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.rested: list[float] = []

    def take(self, _: int) -> None:
        self.now += COST

    async def sleep(self, seconds: float) -> None:
        self.rested.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "perf_counter", lambda: clock.now)
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(anyio, "sleep", clock.sleep)
    return clock


async def test_alone_a_connection_rests_for_nobody(clock: Clock) -> None:
    turn = Turn(Turns())
    turn.asked()
    await take_all(range(1000), clock.take, turn)
    assert clock.rested == []
    assert clock.now == pytest.approx(1000 + 1000 * COST)


async def test_while_others_wait_it_takes_its_share_and_no_long_slice(clock: Clock) -> None:
    shared = Turns()
    other, turn = Turn(shared), Turn(shared)
    began = clock.now
    for _ in range(100):
        other.asked()
        await take_all(range(10), clock.take, turn)
    worked = 1000 * COST
    assert worked / (clock.now - began) == pytest.approx(SHARE, rel=0.2)
    # A slice ends with the item that fills it.
    assert max(clock.rested) <= (SLICE + COST) / SHARE + 1e-9


async def test_who_asked_long_ago_or_is_gone_waits_no_more(clock: Clock) -> None:
    shared = Turns()
    other, gone, turn = Turn(shared), Turn(shared), Turn(shared)
    other.asked()
    clock.now += turns.RECENT
    gone.asked()
    gone.gone()
    await take_all(range(100), clock.take, turn)
    assert clock.rested == []


async def test_who_sends_little_never_rests(clock: Clock) -> None:
    shared = Turns()
    other, turn = Turn(shared), Turn(shared)
    for _ in range(1000):
        other.asked()
        await take_all((1,), clock.take, turn)
        clock.now += COST / SHARE
    assert clock.rested == []


async def test_what_was_received_is_taken_though_it_is_cancelled_in_between() -> None:
    shared = Turns()
    other, turn = Turn(shared), Turn(shared)
    taken: list[int] = []

    def take(item: int) -> None:
        taken.append(item)
        other.asked()
        if item == 3:
            scope.cancel()
        time.sleep(SLICE)

    with anyio.CancelScope() as scope:
        await take_all(range(20), take, turn)
    assert scope.cancelled_caught
    assert taken == list(range(20))
