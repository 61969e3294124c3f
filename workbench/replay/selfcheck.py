"""A recording replayed against itself, in process: does it stand in for its server?

A simple client drives the recorded client half against a mock server made of the
same recording: it sends what the recorded client sent, in that order, answers a
question only once it has been asked, and compares what comes, frame by frame.
Done when a recording is kept or exported, because a recording that cannot answer
its own client will answer no other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from workbench.core.exchanges import Answered, Pairing
from workbench.core.frame import MESSAGES, Channel, Direction, Frame, Kind
from workbench.core.jsonrpc import decode
from workbench.replay.proper import proper
from workbench.replay.reading import read
from workbench.replay.report import STOPS, Report, sentence
from workbench.replay.script import build
from workbench.replay.server import Action, MockServer, Send, Stderr

#: Kinds of frames that a client sends over any transport.
_SENT = frozenset((*MESSAGES, Kind.BATCH, Kind.INVALID))

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
    kept = list(proper(frames))
    client = _Client(kept)
    for frame in kept:
        client.play(frame)
    return client.verdict()


class _Client:
    def __init__(self, frames: list[Frame]) -> None:
        self._report = Report("", "")
        self._server = MockServer(build(frames), self._report)
        self._pairing = Pairing(keep_related=False)
        self._expected = {frame.seq: frame for frame in frames if _is_from_server(frame)}
        self._sent: dict[int, bytes] = {}
        self._problems: list[str] = []
        self._take(self._server.start())

    def play(self, frame: Frame) -> None:
        """Do what the recorded client did at this frame."""
        events = self._pairing.take(frame, read(frame.body))
        if frame.direction is not Direction.TO_SERVER or frame.kind not in (
            *MESSAGES,
            Kind.BATCH,
            Kind.INVALID,
        ):
            return
        for event in events:
            if isinstance(event, Answered) and event.exchange.request not in self._sent:
                self._problems.append(
                    f"#{frame.seq} answers #{event.exchange.request} {event.exchange.method}, "
                    "which has not been asked by then."
                )
        self._take(self._server.feed(frame.body))

    def verdict(self) -> Verdict:
        self._server.closed()
        given = sum(self._sent.get(seq) == frame.body for seq, frame in self._expected.items())
        misses = [sentence(miss) for miss in self._report.misses if miss["why"] != STOPS]
        missing = [
            _problem(frame, seq in self._sent)
            for seq, frame in self._expected.items()
            if self._sent.get(seq) != frame.body
        ]
        problems = (*misses, *self._problems, *missing)
        return Verdict(len(self._expected), given, problems[:MAX_LISTED])

    def _take(self, actions: list[Action]) -> None:
        for action in actions:
            if isinstance(action, (Send, Stderr)) and action.seq:
                if action.seq in self._sent:
                    self._problems.append(f"#{action.seq} is sent twice.")
                self._sent[action.seq] = action.body


def _is_from_server(frame: Frame) -> bool:
    if frame.direction is not Direction.TO_CLIENT or frame.kind in (Kind.HTTP, Kind.SSE, Kind.AUTH):
        return False
    return frame.channel not in (Channel.PROCESS, Channel.NOTE)


def _problem(frame: Frame, sent: bool) -> str:
    messages = decode(frame.body).messages
    what = frame.method or (messages[0].method if messages else None) or frame.kind.name.lower()
    return f"#{frame.seq} {what} {'comes back changed' if sent else 'is not sent'}."
