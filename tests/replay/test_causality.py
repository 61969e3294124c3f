"""Whatever order a live client chooses, every frame comes once, and never before what it depends on."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import many
from tests.replay.build import Tape, call, note, progress, request, result, text
from workbench.core.frame import Direction
from workbench.replay.actions import Send
from workbench.replay.report import Report
from workbench.replay.script import build
from workbench.replay.server import MockServer


class Session:
    """A recorded session, with what depends on what as its author knows it."""

    def __init__(self) -> None:
        self.tape = Tape().hello()
        #: For each client message after the handshake, the server message it answers or follows.
        self.needs: dict[str, str] = {}
        #: Pairs: the first comes before the second.
        self.edges: list[tuple[str, str]] = []
        self.open: dict[int, list[str]] = {}
        self._next = 2

    def begin(self) -> None:
        id = self._next
        self._next += 1
        self.open[id] = [self._client(call(id, "tool", token=id, n=id))]

    def answer(self, id: int) -> None:
        self._server(id, text(id, f"result of {id}"))
        del self.open[id]

    def progress(self, id: int, step: int) -> None:
        self._server(id, progress(id, step))

    def ask(self, id: int) -> None:
        """The server asks, the client answers; what follows in this call depends on the answer."""
        question = f"q{self._next}"
        self._next += 1
        asked = self._server(id, request(question, "roots/list"))
        answered = self._client(result(question, roots=[{"uri": f"file:///{question}"}]))
        self.needs[answered] = asked
        self.open[id].append(answered)

    def cancel(self, id: int) -> None:
        cancelled = self._client(note("notifications/cancelled", requestId=id))
        self.needs[cancelled] = self.open.pop(id)[0]

    def list_tools(self, late: bool) -> None:
        id = self._next
        self._next += 1
        asked = self._client(request(id, "tools/list", cursor=f"c{id}"))
        if late:
            self.tape.s(note("notifications/message", data=f"while {id} is open"))
        self.edges.append((asked, self._of(self.tape.s(result(id, tools=[])))))

    def log(self, words: str) -> None:
        self.tape.s(note("notifications/message", data=words))

    def _client(self, body: dict[str, Any]) -> str:
        return self._of(self.tape.c(body))

    def _server(self, id: int, body: dict[str, Any]) -> str:
        sent = self._of(self.tape.s(body))
        self.edges += [(before, sent) for before in self.open[id]]
        # Within a call the recorded order holds.
        self.open[id].append(sent)
        return sent

    def _of(self, tape: Tape) -> str:
        return tape.frames[-1].body.decode()


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    session = Session()
    for step in range(draw(st.integers(1, 16))):
        what = draw(st.sampled_from(("begin", "begin", "answer", "progress", "ask", "cancel", "log", "list")))
        if what == "begin" and len(session.open) < 4:
            session.begin()
        elif what == "list":
            session.list_tools(draw(st.booleans()))
        elif what == "log":
            session.log(f"log {step}")
        elif session.open:
            id = draw(st.sampled_from(sorted(session.open)))
            if what == "answer":
                session.answer(id)
            elif what == "progress":
                session.progress(id, step)
            elif what == "cancel":
                session.cancel(id)
            elif len(session.open) == 1:
                # With several calls open nobody could tell on stdio which one asks.
                session.ask(id)
    session.tape.event(event="stdin_closed")
    return session


def drive(session: Session, choose: Any) -> list[tuple[str, str]]:
    """Send the client half in any order that its own dependencies allow; returns all that passed."""
    server = MockServer(build(session.tape.frames), Report("", ""))
    passed: list[tuple[str, str]] = []

    def heard(actions: list[Any]) -> None:
        for action in actions:
            assert isinstance(action, Send)
            passed.append(("server", action.body.decode()))

    heard(server.start())
    frames = [frame for frame in session.tape.frames if frame.direction is Direction.TO_SERVER]
    waiting = [frame.body.decode() for frame in frames]
    for body in (waiting.pop(0), waiting.pop(0)):
        passed.append(("client", body))
        heard(server.feed(body.encode()))
    while waiting:
        known = {body for _, body in passed}
        ready = [body for body in waiting if session.needs.get(body) is None or session.needs[body] in known]
        assert ready, "the client waits for what never comes"
        body = choose(ready)
        waiting.remove(body)
        passed.append(("client", body))
        heard(server.feed(body.encode()))
    assert server.report.missed == 0
    return passed


@settings(max_examples=many(300), deadline=None)
@given(sessions(), st.randoms(use_true_random=False))
def test_every_frame_comes_exactly_once_after_all_it_depends_on(session: Session, random: Any) -> None:
    passed = drive(session, random.choice)
    recorded = [frame for frame in session.tape.frames if frame.direction is Direction.TO_CLIENT]
    assert Counter(body for side, body in passed if side == "server") == Counter(
        frame.body.decode() for frame in recorded
    )
    place = {body: at for at, (_, body) in enumerate(passed)}
    for before, after in session.edges:
        assert place[before] < place[after], (json.loads(before), json.loads(after))


@settings(max_examples=many(150), deadline=None)
@given(sessions())
def test_the_same_client_gives_the_same_replay_every_time(session: Session) -> None:
    assert drive(session, min) == drive(session, min)
