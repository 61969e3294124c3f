"""``--timing``: a replay waits as long as the server had taken, or a part of it, and not by default."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.replay.build import Tape, call, progress, request, result, text
from tests.replay.mocked import listening
from tests.replay.serving import hello_lines, lines, served
from tests.replay.test_mock_http_command import Talk
from workbench.core.frame import Unit
from workbench.errors import UsageError
from workbench.replay.actions import Send
from workbench.replay.options import Options, parse_timing
from workbench.replay.report import Report
from workbench.replay.script import build
from workbench.replay.server import MockServer
from workbench.store.recorder import Recorder

SECOND = 1_000_000_000


def timed(tape: Tape, *waits: float) -> Tape:
    """The tape with so many seconds before each of its last frames."""
    first = len(tape.frames) - len(waits)
    at = 0
    for place, frame in enumerate(tape.frames):
        at += int(waits[place - first] * SECOND) if place >= first else 0
        tape.frames[place] = frame._replace(mono_ns=at, wall_ns=at)
    return tape


def slow() -> Tape:
    """A call that takes 0.3 s, with progress after 0.1 s; asked 5 s after what was before it."""
    tape = Tape().hello().c(call(2, "t", token="p")).s(progress("p", 1)).s(text(2, "x"))
    return timed(tape, 5, 0.1, 0.2)


class Clocked:
    """A mock by a clock that is moved by hand."""

    def __init__(self, tape: Tape, pace: float) -> None:
        self.now = 100.0
        self.server = MockServer(
            build(tape.frames), Report("tape.db", "one"), Options(timing=pace), clock=lambda: self.now
        )
        self.server.start()
        for line in hello_lines().splitlines():
            self.feed(json.loads(line))

    def feed(self, body: Any) -> list[Any]:
        return self._sent(self.server.feed(json.dumps(body).encode()))

    def after(self, seconds: float) -> list[Any]:
        self.now += seconds
        return self._sent(self.server.tick())

    def _sent(self, actions: list[Any]) -> list[Any]:
        bodies = [json.loads(action.body) for action in actions if isinstance(action, Send)]
        return [body.get("method", body.get("id")) for body in bodies]


@pytest.mark.parametrize(("pace", "first", "second"), [(1.0, 0.1, 0.2), (0.1, 0.01, 0.02)])
def test_each_piece_waits_as_long_after_what_it_waited_for(pace: float, first: float, second: float) -> None:
    mock = Clocked(slow(), pace)
    assert mock.feed(call(7, "t", token=5)) == []
    assert mock.server.due == pytest.approx(first)
    assert mock.after(first * 0.9) == []
    assert mock.after(first * 0.2) == ["notifications/progress"]
    assert mock.server.due == pytest.approx(second - first * 0.1)
    assert mock.after(second) == [7]
    assert mock.server.due is None


def test_by_default_nothing_waits() -> None:
    mock = Clocked(slow(), 0.0)
    assert mock.feed(call(7, "t", token=5)) == ["notifications/progress", 7]


def test_what_waits_for_an_answer_is_timed_from_it() -> None:
    tape = Tape().hello().c(call(2, "ask")).s(request("q", "roots/list")).c(result("q", roots=[]))
    mock = Clocked(timed(tape.s(text(2, "x")), 1, 0.5, 60, 0.25), 1.0)
    assert mock.feed(call(7, "ask")) == []
    assert mock.after(0.5) == ["roots/list"]
    mock.now += 3
    assert mock.feed(result("q", roots=[])) == []
    assert mock.server.due == pytest.approx(0.25)
    assert mock.after(0.25) == [7]


def test_another_request_is_answered_meanwhile() -> None:
    mock = Clocked(slow(), 1.0)
    mock.feed(call(7, "t", token=5))
    assert mock.feed(request(8, "ping")) == [8]


def saved(tape: Tape, path: Path) -> Path:
    recorder = Recorder(str(path), name="tape")
    recorder.connect("server-1", "stdio", "server")
    for frame in tape.frames:
        recorder.put(Unit(1, frame.direction, frame.channel, frame.body, frame.wall_ns, frame.mono_ns))
    recorder.close()
    return path


def test_over_stdio_and_http_the_waits_are_kept(tmp_path: Path) -> None:
    path = saved(slow(), tmp_path / "a.db")
    began = time.monotonic()
    with listening(path, tmp_path, "--timing", "recorded") as mock:
        talk = Talk(mock.url)
        began = time.monotonic()
        assert talk.client.post(mock.url, json=call(7, "t")).status_code == 200
        assert 0.3 <= time.monotonic() - began < 4
    # The client leaves at once, so what was still to come is not sent.
    done = served(str(path), "--timing", "recorded", said=hello_lines() + lines(call(7, "t")))
    assert [json.loads(line).get("id") for line in done.stdout.splitlines()] == [1]


@pytest.mark.parametrize(
    ("words", "pace"), [("none", 0), ("recorded", 1), ("0.1x", 0.1), ("2x", 2), ("0x", 0)]
)
def test_timing_is_a_word_or_a_factor(words: str, pace: float) -> None:
    assert parse_timing(words) == pace


@pytest.mark.parametrize("words", ["", "x", "-1x", "1e9x", "infx", "nan", "1"])
def test_other_timings_are_wrong_usage(words: str) -> None:
    with pytest.raises(UsageError, match="recorded or a factor"):
        parse_timing(words)
