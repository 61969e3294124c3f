"""A recording replayed against itself, in process: does it stand in for its server?

A mock client made of the recording talks to a mock server made of the same
recording. The client sends what was sent, each frame as soon as what it waits for
has come; every frame of the server must come back the same, byte for byte, and
every answer must be the one that was recorded. Done when a recording is kept or
exported, because a recording that cannot answer its own client will answer no other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from workbench.core.frame import Channel, Direction, Frame, Kind
from workbench.core.jsonrpc import decode
from workbench.replay.actions import Action, ClientAction, Connect, Exit, Leave, Send, Stderr, Write
from workbench.replay.client import MockClient
from workbench.replay.client_script import build as build_client
from workbench.replay.manner import Manner
from workbench.replay.proper import proper
from workbench.replay.report import STOPS, Report, sentence
from workbench.replay.script import build as build_server
from workbench.replay.server import MockServer
from workbench.replay.veil import placeholders, with_secrets
from workbench.replay.verification import AGREE, Compared, lines_of

#: Problems beyond this are counted, not listed.
MAX_LISTED = 20

#: Longer than any patience of the client: nothing more comes of itself in one process (seconds).
_LONG = 1e6


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
    talk = _Talk(kept)
    talk.run()
    return talk.verdict()


class _Talk:
    """A mock client and a mock server in conversation."""

    def __init__(self, frames: list[Frame]) -> None:
        self._report = Report("", "")
        self._server = MockServer(build_server(frames), self._report)
        # Nobody knows the secrets that were taken out of the recording, so each gets one that is made up:
        # the client sends it, and the server's frames hold it, wherever the same placeholder stands.
        self._secrets = {number: f"made-up-secret-{number:0>8}" for number in placeholders(frames)}
        self._client = MockClient(build_client(frames), Manner(secrets=self._secrets))
        self._expected = {frame.seq: frame for frame in proper(frames) if _is_from_server(frame)}
        self._sent: dict[int, bytes] = {}
        self._problems: list[str] = []
        self._to_server: deque[ClientAction] = deque()
        self._to_client: deque[Action] = deque()

    def run(self) -> None:
        self._to_client.extend(self._server.start())
        self._to_server.extend(self._client.next())
        while True:
            if self._to_client:
                self._at_client(self._to_client.popleft())
            elif self._to_server:
                self._at_server(self._to_server.popleft())
            elif self._server.stuck:
                self._to_client.extend(self._server.release())
            elif self._client.deadline() is not None:
                # Whatever is waited for does not come any more.
                self._to_server.extend(self._client.tick(self._now))
                self._now += _LONG
            else:
                break
        self._server.closed()

    _now = _LONG

    def _at_client(self, action: Action) -> None:
        if isinstance(action, (Send, Stderr)) and action.seq:
            if action.seq in self._sent:
                self._problems.append(f"#{action.seq} is sent twice.")
            self._sent[action.seq] = action.body
        if isinstance(action, Send) and self._client.connections:
            self._to_server.extend(self._client.feed(with_secrets(action.body, self._secrets)))
        elif isinstance(action, Exit):
            for connection in self._client.connections:
                self._to_server.extend(self._client.ended(connection, "The server ended.", code=action.code))

    def _at_server(self, action: ClientAction) -> None:
        if isinstance(action, Connect):
            self._to_server.extend(self._client.opened(action.connection))
        elif isinstance(action, Write) and not self._server.over:
            self._to_client.extend(self._server.feed(action.body))
        elif isinstance(action, Leave):
            self._server.read_all()

    def verdict(self) -> Verdict:
        given = sum(self._sent.get(seq) == frame.body for seq, frame in self._expected.items())
        misses = [sentence(miss) for miss in self._report.misses if miss["why"] != STOPS]
        missing = [
            _problem(frame, seq in self._sent)
            for seq, frame in self._expected.items()
            if self._sent.get(seq) != frame.body
        ]
        told = self._client.verification()
        differing = [_different(each) for each in told.compared if each.verdict not in AGREE]
        asked = [each.sentence for each in told.questions]
        problems = (*misses, *self._problems, *missing, *differing, *asked)
        return Verdict(len(self._expected), given, tuple(dict.fromkeys(problems))[:MAX_LISTED])


def _is_from_server(frame: Frame) -> bool:
    if frame.direction is not Direction.TO_CLIENT or frame.kind in (Kind.HTTP, Kind.SSE, Kind.AUTH):
        return False
    return frame.channel not in (Channel.PROCESS, Channel.NOTE)


def _problem(frame: Frame, sent: bool) -> str:
    messages = decode(frame.body).messages
    what = frame.method or (messages[0].method if messages else None) or frame.kind.name.lower()
    return f"#{frame.seq} {what} {'comes back changed' if sent else 'is not sent'}."


def _different(each: Compared) -> str:
    why = each.why or "; ".join(lines_of(each.differences[:3]))
    return f"#{each.request.seq} {each.request.method}: {each.verdict}, {why}"
