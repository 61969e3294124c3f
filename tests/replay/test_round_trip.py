"""Recording a replay gives the recording back: any session, driven by its own client half."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import many
from tests.replay.build import Tape, call, note, progress, request, result, text
from workbench.core.frame import Direction, Frame
from workbench.replay.actions import Send
from workbench.replay.report import Report
from workbench.replay.script import build
from workbench.replay.selfcheck import selfcheck
from workbench.replay.server import MockServer


@st.composite
def sessions(draw: st.DrawFn) -> Tape:
    """A session with overlapping calls, progress, questions, logs, cancellations and errors."""
    tape = Tape().hello()
    for _ in range(draw(st.integers(0, 3))):
        tape.s(note("notifications/tools/list_changed"))
    waiting: list[int] = []
    asked: dict[int, list[str]] = {}
    next_id = 2
    for step in range(draw(st.integers(1, 14))):
        what = draw(
            st.sampled_from(("call", "call", "answer", "answer", "progress", "ask", "log", "cancel", "list"))
        )
        if what == "call" and len(waiting) < 4:
            tape.c(call(next_id, f"tool-{draw(st.integers(0, 2))}", token=next_id, n=draw(st.integers(0, 2))))
            waiting.append(next_id)
            next_id += 1
        elif what == "list":
            tape.c(request(next_id, "tools/list")).s(result(next_id, tools=[{"name": f"t{step}"}]))
            next_id += 1
        elif what == "log":
            tape.s(note("notifications/message", level="info", data=f"log {step}"))
        elif waiting:
            chosen = draw(st.sampled_from(waiting))
            if what == "progress":
                tape.s(progress(chosen, step))
            elif what == "ask" and len(waiting) == 1:
                tape.s(request(f"q{step}", "roots/list"))
                asked.setdefault(chosen, []).append(f"q{step}")
                tape.c(result(f"q{step}", roots=[{"uri": f"file:///root-{step}"}]))
            elif what == "cancel":
                tape.c(note("notifications/cancelled", requestId=chosen))
                waiting.remove(chosen)
            elif what == "answer":
                tape.s(text(chosen, f"result {step}"))
                waiting.remove(chosen)
    return tape.event(event="stdin_closed")


def sent(frames: list[Frame]) -> list[bytes]:
    return [frame.body for frame in frames if frame.direction is Direction.TO_CLIENT]


@settings(max_examples=many(300), deadline=None)
@given(sessions())
def test_a_recording_replayed_against_itself_gives_every_frame_back(tape: Tape) -> None:
    verdict = selfcheck(tape.frames)
    assert verdict.whole, verdict.problems


@settings(max_examples=many(150), deadline=None)
@given(sessions(), st.integers(100, 10**20) | st.text(min_size=1, max_size=5))
def test_with_other_ids_and_tokens_only_identity_changes(tape: Tape, seed: Any) -> None:
    server = MockServer(build(tape.frames), Report("", ""))
    names: dict[str, str] = {}

    def live(value: Any) -> Any:
        key = json.dumps(value)
        fresh = f"{seed}-{len(names)}" if isinstance(seed, str) else seed + len(names)
        return json.loads(names.setdefault(key, json.dumps(fresh)))

    given_back: list[bytes] = []
    actions = server.start()
    for frame in tape.frames:
        if frame.direction is not Direction.TO_SERVER:
            continue
        body = json.loads(frame.body)
        if "method" in body and "id" in body:
            body["id"] = live(body["id"])
            token = body.get("params", {}).get("_meta", {}).get("progressToken")
            if token is not None:
                body["params"]["_meta"]["progressToken"] = live(token)
        elif body.get("method") == "notifications/cancelled":
            body["params"]["requestId"] = live(body["params"]["requestId"])
        actions += server.feed(json.dumps(body).encode())
    back = {
        json.loads(value) if not isinstance(json.loads(value), float) else value: key
        for key, value in names.items()
    }
    for action in actions:
        assert isinstance(action, Send)
        body = json.loads(action.body)
        if "method" not in body:
            body["id"] = json.loads(back[body["id"]])
        elif body["method"] == "notifications/progress":
            body["params"]["progressToken"] = json.loads(back[body["params"]["progressToken"]])
        given_back.append(json.dumps(body, separators=(",", ":")).encode())
    assert sorted(given_back) == sorted(sent(tape.frames))
