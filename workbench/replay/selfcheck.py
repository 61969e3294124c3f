"""A recording replayed against itself, in process: does it stand in for its server?

The recorded client half is fed to a mock server made of the same recording, in
recorded order, and what the mock sends is compared with what was recorded,
frame by frame. Done when a recording is kept or exported, because a recording
that cannot answer its own client will answer no other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from workbench.core.frame import Channel, Direction, Frame
from workbench.core.jsonrpc import decode
from workbench.replay.report import Report
from workbench.replay.script import build
from workbench.replay.server import Action, Exit, MockServer, Send

#: Problems beyond this are counted, not listed.
MAX_LISTED = 20


class Verdict(NamedTuple):
    """``frames`` that the server half had to send, ``given`` of them came back the same;
    ``problems`` are sentences about the rest."""

    frames: int
    given: int
    problems: tuple[str, ...]

    @property
    def whole(self) -> bool:
        return self.frames == self.given and not self.problems

    def __str__(self) -> str:
        if self.whole:
            return "replays 100 %"
        share = 100 * self.given // self.frames if self.frames else 0
        return f"replays {share} %, {self.given} of {self.frames} frames"


def selfcheck(frames: Iterable[Frame]) -> Verdict:
    """Check one connection's frames."""
    kept = list(frames)
    report = Report("", "")
    server = MockServer(build(kept), report)
    expected = {
        frame.seq: frame
        for frame in kept
        if frame.direction is Direction.TO_CLIENT and frame.channel not in (Channel.STDERR, Channel.PROCESS)
    }
    actions: list[Action] = server.start()
    for frame in kept:
        if frame.direction is Direction.TO_SERVER and frame.channel is not Channel.STDERR:
            actions += server.feed(frame.body)
    server.closed()
    sent = {action.seq: action.body for action in actions if isinstance(action, Send) and action.seq}
    given = sum(sent.get(seq) == frame.body for seq, frame in expected.items())
    ended = any(isinstance(action, Exit) for action in actions)
    problems = [f"{report.sentence(miss)}" for miss in report.misses] + [
        _problem(frame, sent) for seq, frame in expected.items() if sent.get(seq) != frame.body
    ]
    if ended and given < len(expected):
        problems.append("The server ended before everything it had sent was asked for.")
    return Verdict(len(expected), given, tuple(problems[:MAX_LISTED]))


def _problem(frame: Frame, sent: dict[int, bytes]) -> str:
    messages = decode(frame.body).messages
    what = frame.method or (messages[0].method if messages else None) or frame.kind.name.lower()
    how = "comes back changed" if frame.seq in sent else "is not sent"
    return f"#{frame.seq} {what} {how}."
