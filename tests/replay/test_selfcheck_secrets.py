"""A recording out of which secrets were taken is checked with made-up ones in their places."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.replay.build import Tape, call, note, request, result, text
from workbench.core.frame import Direction, Unit
from workbench.keep import check
from workbench.replay.selfcheck import selfcheck
from workbench.store.recorder import Recorder

ONE, TWO = "<redacted:1 token>", "<redacted:2 member password>"

TAPES = {
    "sent by the client": Tape().hello().c(call(2, "t", key=ONE)).s(text(2, "fine")),
    "echoed by the server": Tape().hello().c(call(2, "t", key=ONE)).s(text(2, f"you sent {ONE}")),
    "within a text, and two at once": Tape()
    .hello()
    .c(call(2, "t", header=f"Bearer {ONE}", password=TWO))
    .s(text(2, f"{TWO} and {ONE}"))
    .c(call(3, "u", key=ONE))
    .s(text(3, "again")),
    "given by the server and sent back": Tape()
    .hello()
    .c(call(2, "login"))
    .s(result(2, structuredContent={"token": TWO}))
    .c(call(3, "use", token=TWO))
    .s(text(3, "in")),
    "asked for by the server": Tape()
    .hello()
    .c(call(2, "t"))
    .s(request("q", "elicitation/create", message=f"is it {ONE}?"))
    .c(result("q", action="accept", content={"password": TWO}))
    .s(note("notifications/message", level="info", data=f"got {TWO}"))
    .s(text(2, "thanks")),
}


@pytest.mark.parametrize("name", TAPES)
def test_a_recording_without_its_secrets_replays_whole(name: str) -> None:
    verdict = selfcheck(TAPES[name].frames)
    assert verdict.whole, verdict.problems


def test_two_secrets_that_are_mixed_up_do_not_pass_for_each_other() -> None:
    tape = (
        Tape().hello().c(call(2, "t", key=ONE)).s(text(2, "one")).c(call(3, "t", key=TWO)).s(text(3, "two"))
    )
    assert selfcheck(tape.frames).whole
    sent = [frame.body for frame in tape.frames if frame.direction is Direction.TO_SERVER]
    assert sent[2] != sent[3]


def test_so_does_one_that_the_recorder_took_them_out_of(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "a1B2c3D4e5" * 8
    plain = Tape().hello().c(call(2, "t", key=key)).s(text(2, f"you sent {key}"))
    path = tmp_path / "redacted.db"
    recorder = Recorder(str(path), name="tape")
    recorder.connect("server", "stdio", "server")
    for frame in plain.frames:
        recorder.put(Unit(1, frame.direction, frame.channel, frame.body, frame.wall_ns, frame.mono_ns))
    recorder.close()
    assert key.encode() not in path.read_bytes()
    (checked,) = check(str(path))
    assert checked.verdict.whole, checked.verdict.problems
