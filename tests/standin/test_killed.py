"""kill -9 at random moments of a busy session, again and again.

The server writes down what it got and when, on the clock the kill is told on, in a file that
survives with every line. Whatever passed it more than 250 ms before the kill must be recorded.

If the stand-in is killed, its recorder lives on, so that holds at any rate. If the recorder's
process is killed with it, it holds as long as the recorder keeps up, which other work on the machine
may hinder: the server then thinks for two milliseconds about each call.
"""

from __future__ import annotations

import random
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests.standin.running import ROOT, StandIn, frames_of, gone, in_background, seqs_are_gapless, until
from workbench.core.frame import Kind

LOGGING_SERVER = [sys.executable, str(ROOT / "tests" / "servers" / "keeps_a_log.py")]

#: What may be missing: frames younger than this at the kill (nanoseconds).
YOUNG_NS = 250_000_000

#: The kill comes when so many calls at most have been logged; some 40 bytes each.
MOST_CALLS = {False: 15_000, True: 1_000}


def _busy(stand_in: StandIn) -> None:
    """Two calls in flight at any time, of many sizes, until the pipe breaks."""
    number = 0
    try:
        while True:
            padding = b"x" * (number * 37 % 3_000)
            call = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"p":"%s"}}\n' % (
                number,
                padding,
            )
            stand_in.send(call)
            number += 1
            if number > 2 and not stand_in.line():
                return
    except (OSError, ValueError):
        return


def _kill(stand_in: StandIn, both: bool) -> int:
    recorder = stand_in.recorder()
    killed_ns = time.monotonic_ns()
    if both:
        recorder.kill()
    stand_in.process.kill()
    until(lambda: gone(stand_in.process.pid) and gone(recorder.pid))
    return killed_ns


@pytest.mark.parametrize("both", [False, True], ids=["the stand-in", "the recorder with it"])
@pytest.mark.parametrize("runs", [3, pytest.param(50, marks=[pytest.mark.long, pytest.mark.timeout(900)])])
def test_a_kill_at_a_random_moment_loses_nothing_that_is_older_than_a_quarter_second(
    tmp_path: Path, runs: int, both: bool
) -> None:
    moments = random.Random(runs)
    think = "0.002" if both else "0"
    old = 0
    for run in range(runs):
        file, log = tmp_path / f"{run}.db", tmp_path / f"{run}.log"
        log.touch()
        with StandIn(file, [*LOGGING_SERVER, str(log), think]) as stand_in:
            client = in_background(partial(_busy, stand_in))
            wanted = 40 * moments.randrange(MOST_CALLS[both])
            until(lambda log=log, wanted=wanted: log.stat().st_size >= wanted)  # type: ignore[misc]
            killed_ns = _kill(stand_in, both)
            client.join(30)
        old += _check(file, log, killed_ns)
    assert old > 500


def _check(file: Path, log: Path, killed_ns: int) -> int:
    """Returns how many frames had to be there."""
    frames = frames_of(file)
    assert seqs_are_gapless(frames)
    requests = {frame.id for frame in frames if frame.kind is Kind.REQUEST}
    answers = {frame.id for frame in frames if frame.kind is Kind.RESULT}
    lines = [line.split() for line in log.read_text().splitlines()]
    got = {identity for identity, at, _ in lines if int(at) < killed_ns - YOUNG_NS}
    answered = {identity for identity, _, at in lines if int(at) < killed_ns - YOUNG_NS}
    assert got - requests == set()
    assert answered - answers == set()
    return len(got) + len(answered)
