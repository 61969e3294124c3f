"""Any session of either era verifies the server it was recorded from, under all names it makes up anew.

The live server is the mock server of the same recording, with each value that a server made up
(cursors, tasks, states, URIs) renamed on its way: so it is told apart whether the client uses
what it was given or what it remembers.
"""

from __future__ import annotations

import json
import re
from collections import deque
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.replay.build import Tape, note, progress, request, result
from workbench.replay.actions import Connect, Exit, Leave, Send, Write
from workbench.replay.client import MockClient
from workbench.replay.client_script import build
from workbench.replay.report import STOPS, Report
from workbench.replay.script import build as build_server
from workbench.replay.selfcheck import selfcheck
from workbench.replay.server import MockServer
from workbench.replay.verification import Verification

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}

#: Every value a server makes up in these sessions.
MADE = re.compile(rb"(cursor|task|state|note://made)-(\d{4})-recorded")


class Writing:
    """Writes a session down as it happens, with several calls open at once."""

    def __init__(self, modern: bool) -> None:
        self.tape = Tape()
        self.modern = modern
        self.open: dict[int, str] = {}
        self._next = 1
        self._made = 0
        if modern:
            self.ask("server/discover")
            self.answer(1, supportedVersions=["2026-07-28"], capabilities={"tools": {}})
        else:
            self.tape.hello()
            self._next = 2

    def made(self, kind: str) -> str:
        self._made += 1
        return f"{kind}-{self._made:04}-recorded"

    def ask(self, method: str, **params: Any) -> int:
        number, self._next = self._next, self._next + 1
        meta = {**(MODERN if self.modern else {}), **params.pop("_meta", {})}
        self.tape.c(request(number, method, **params, **({"_meta": meta} if meta else {})))
        self.open[number] = method
        return number

    def call(self, tool: str, **params: Any) -> int:
        token = {"progressToken": f"t{self._next}"}
        return self.ask("tools/call", name=tool, arguments={"n": self._next}, _meta=token, **params)

    def answer(self, number: int, **members: Any) -> None:
        del self.open[number]
        self.tape.s(result(number, **({"resultType": "complete"} if self.modern else {}), **members))

    def say(self, number: int, words: str) -> None:
        self.answer(number, content=[{"type": "text", "text": words}])


#: What may happen next, in a word each; some twice, because more comes of them.
STEPS = (
    "call",
    "call",
    "answer",
    "answer",
    "progress",
    "log",
    "cancel",
    "pages",
    "made",
    "question",
    "changed",
)
OF_ERA = {False: ("task", "roots"), True: ("rounds",)}


@st.composite
def sessions(draw: st.DrawFn) -> Tape:
    """A session with overlapping calls in which everything happens at any time."""
    told = Writing(draw(st.booleans()))
    for step in range(draw(st.integers(1, 16))):
        _take(draw, told, draw(st.sampled_from((*STEPS, *OF_ERA[told.modern]))), step)
    for number in list(told.open):
        if draw(st.booleans()):
            told.say(number, "late")
    return told.tape.event(event="stdin_closed")


def _take(draw: st.DrawFn, told: Writing, what: str, step: int) -> None:
    some = draw(st.sampled_from(sorted(told.open))) if told.open else None
    if what == "call" and len(told.open) < 5:
        told.call(f"tool-{draw(st.integers(0, 2))}")
    elif what == "log":
        told.tape.s(note("notifications/message", level="info", data=f"log {step}"))
    elif what == "changed":
        told.tape.s(note("notifications/tools/list_changed"))
    elif what == "pages":
        _pages(told, draw(st.integers(1, 3)), step)
    elif what == "made":
        uri = told.made("note://made")
        told.answer(told.call("create"), structuredContent={"uri": uri, "step": step})
        read = told.ask("resources/read", uri=uri)
        told.answer(read, contents=[{"uri": uri, "text": f"made in {step}"}])
    elif what == "task":
        _task(told, draw(st.integers(1, 3)))
    elif what == "rounds":
        _rounds(told, draw(st.integers(1, 2)), step)
    elif some is None:
        return
    elif what == "answer":
        told.say(some, f"result {step}")
    elif what == "progress":
        told.tape.s(progress(f"t{some}", step))
    elif what == "cancel":
        told.tape.c(note("notifications/cancelled", requestId=some))
        del told.open[some]
    elif what in ("question", "roots") and not told.modern and len(told.open) == 1:
        method = "roots/list" if what == "roots" else "elicitation/create"
        told.tape.s(request(f"q{step}", method, message=f"{step}?"))
        told.tape.c(result(f"q{step}", action="accept", content={"n": step}))


def _pages(told: Writing, pages: int, step: int) -> None:
    cursor: dict[str, str] = {}
    for page in range(pages):
        number = told.ask("tools/list", **cursor)
        last = page == pages - 1
        cursor = {} if last else {"cursor": told.made("cursor")}
        more = {} if last else {"nextCursor": cursor["cursor"]}
        told.answer(number, tools=[{"name": f"t{step}-{page}"}], **more)


def _task(told: Writing, polls: int) -> None:
    name = told.made("task")
    told.answer(told.call("long", task={}), task={"taskId": name, "status": "working"})
    for poll in range(polls):
        status = "completed" if poll == polls - 1 else "working"
        told.answer(told.ask("tasks/get", taskId=name), taskId=name, status=status)
    told.say(told.ask("tasks/result", taskId=name), "done")


def _rounds(told: Writing, rounds: int, step: int) -> None:
    more: dict[str, Any] = {}
    for _ in range(rounds):
        number = told.ask("tools/call", name="asks", arguments={"step": step}, **more)
        state = told.made("state")
        inputs = {"who": {"method": "elicitation/create", "params": {"message": f"{step}?"}}}
        del told.open[number]
        told.tape.s(result(number, resultType="input_required", inputRequests=inputs, requestState=state))
        more = {"inputResponses": {"who": {"action": "accept"}}, "requestState": state}
    told.say(told.ask("tools/call", name="asks", arguments={"step": step}, **more), "asked")


def anew(body: bytes) -> bytes:
    return MADE.sub(rb"\1-\2-anew", body)


def verified(tape: Tape) -> tuple[Verification, Report, list[bytes]]:
    """The client half of a session against its server half under other names, and what was sent."""
    report = Report("", "")
    server, client = MockServer(build_server(tape.frames), report), MockClient(build(tape.frames))
    to_client, to_server, sent = deque(server.start()), deque(client.next()), []
    now = 1e6
    while True:
        if to_client:
            action = to_client.popleft()
            if isinstance(action, Send):
                to_server += client.feed(anew(action.body))
            elif isinstance(action, Exit):
                to_server += client.ended(1, "The server ended.", code=action.code)
        elif to_server:
            wanted = to_server.popleft()
            if isinstance(wanted, Connect):
                to_server += client.opened(wanted.connection)
            elif isinstance(wanted, Write) and not server.over:
                sent.append(wanted.body)
                to_client += server.feed(re.sub(rb"-(\d{4})-anew", rb"-\1-recorded", wanted.body))
            elif isinstance(wanted, Leave):
                server.read_all()
        elif server.stuck:
            to_client += server.release()
        elif client.deadline() is not None:
            to_server += client.tick(now)
            now += 1e6
        else:
            return client.verification(), report, sent


def holds(tape: Tape) -> None:
    told, report, sent = verified(tape)
    assert told.agrees, [
        (each.request, each.verdict, each.why, each.differences) for each in told.disagreeing
    ]
    assert [miss for miss in report.misses if miss["why"] != STOPS] == []
    assert [body for body in sent if b"-recorded" in body] == []
    # Each frame of the client half went out once, whatever else came meanwhile.
    expected = [frame.body for frame in tape.frames if frame.direction.name == "TO_SERVER"]
    assert sorted(sent) == sorted(map(anew, expected))
    verdict = selfcheck(tape.frames)
    assert verdict.whole, verdict.problems


@settings(max_examples=100)
@given(sessions())
def test_any_session_verifies_its_server_under_other_names(tape: Tape) -> None:
    holds(tape)


@pytest.mark.long
@pytest.mark.timeout(1800)
@settings(max_examples=10_000)
@given(sessions())
def test_so_does_any_of_ten_thousand(tape: Tape) -> None:
    holds(tape)


def test_a_client_that_remembers_what_it_was_given_then_is_seen_to() -> None:
    told = Writing(modern=False)
    _pages(told, 2, 1)
    body = json.loads(told.tape.frames[5].body)
    assert body["params"]["cursor"] == "cursor-0001-recorded"
    _, _, sent = verified(told.tape)
    assert b"cursor-0001-anew" in b"".join(sent)
