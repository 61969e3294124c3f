"""What was recorded over HTTP replays over lines, and the official client cannot tell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.core.http_tape import HttpTape, call, note, result
from tests.replay.build import Tape
from tests.replay.serving import hello_lines, lines
from tests.replay.serving import served as served_lines
from tests.servers.served import over_http
from tests.servers.targets import ROOT
from tests.wire.http_peers import official, served
from workbench.config import Target, Timeouts
from workbench.core.frame import Frame
from workbench.replay.cues import ANSWER, QUESTION, STOP, TOLD
from workbench.replay.script import build
from workbench.replay.selfcheck import selfcheck
from workbench.session import Session
from workbench.store.reader import Reader

RECORDINGS = ROOT / "tests" / "recordings"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def frames_of(name: str) -> list[Frame]:
    with Reader.open(str(RECORDINGS / name)) as reader:
        return list(reader.frames(connection=1))


def methods(frames: list[Frame]) -> list[str]:
    return [cue.method for cue in build(frames).requests]


def test_what_came_on_the_streams_of_calls_hangs_on_them_also_after_resuming() -> None:
    script = build(frames_of("http.jsonl"))
    hanging = [(cue.name or cue.method, [piece.what for piece in cue.pieces]) for cue in script.requests]
    assert hanging == [
        ("initialize", [ANSWER]),
        ("tools/list", [ANSWER]),
        # The stream broke after two of them, and the rest came on a GET.
        ("slow_report", [TOLD, TOLD, TOLD, ANSWER]),
        # The last one came on the GET of the server's own, after everything the client sent.
        ("ask_name", [QUESTION, ANSWER, TOLD]),
        ("slow_report", [STOP]),
    ]
    assert script.notes == ["HTTP frames that hold no message have no place on stdio and are left out."]


def test_a_request_that_got_no_answer_over_http_is_answered_with_an_explanation() -> None:
    last = build(frames_of("http.jsonl")).requests[-1]
    assert [piece.what for piece in last.pieces] == [STOP]


def test_a_probe_in_vain_is_left_out_and_one_that_found_the_era_stays() -> None:
    assert methods(frames_of("http.jsonl"))[0] == "initialize"
    assert methods(frames_of("stateless.jsonl"))[0] == "server/discover"
    assert build(frames_of("stateless.jsonl")).modern


def test_a_late_answer_to_the_probe_is_left_out_too() -> None:
    tape = HttpTape()
    tape.note("probe", id="0")
    tape.post(1, call(0, "server/discover"))
    tape.post(2, call(1, "initialize", protocolVersion="2025-11-25"))
    tape.body(2, result(1, protocolVersion="2025-11-25"))
    tape.post(3, note("notifications/initialized"))
    tape.body(1, {"jsonrpc": "2.0", "id": 0, "error": {"code": -32601, "message": "?"}})
    script = build(tape.frames)
    assert [cue.method for cue in script.requests] == ["initialize"]
    assert [piece.seq for piece in script.pieces()] == [4]
    assert selfcheck(tape.frames).whole


def test_a_process_that_was_started_only_to_find_the_era_is_left_out() -> None:
    tape = Tape().event(event="started", pid=1, command=["x"]).event(event="probe")
    tape.c({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}).err(b"what is that?")
    tape.event(event="restart", why="It does not know it.").event(event="stdin_closed").err(b"bye")
    tape.event(event="exited", code=7).event(event="started", pid=2, command=["x"]).err(b"hello").hello()
    script = build(tape.frames)
    assert [cue.method for cue in script.requests] == ["initialize"]
    assert [piece.body for piece in script.start.pieces] == [b"hello"]
    assert script.code == 0
    quick = build(iter(tape.frames), at_once=False)
    assert quick.revision == "2025-11-25"


def test_what_was_tried_over_the_newer_transport_before_the_older_is_left_out() -> None:
    tape = HttpTape()
    tape.post(1, call(1, "initialize", protocolVersion="2025-11-25"))
    tape.body(1, b"Method Not Allowed")
    tape.process("fallback", to="sse", why="405")
    tape.event(2, b"/messages?session_id=1", name="endpoint")
    tape.post(3, call(1, "initialize", protocolVersion="2025-11-25"))
    tape.event(2, result(1, protocolVersion="2024-11-05"), name="message")
    tape.post(4, note("notifications/initialized"))
    tape.post(5, call(2))
    tape.event(2, note(), name="message")
    tape.event(2, result(2), name="message")
    script = build(tape.frames)
    assert [[piece.seq for piece in cue.pieces] for cue in script.requests] == [[6], [9, 10]]
    assert selfcheck(tape.frames).whole


def test_bodies_of_several_lines_are_sent_on_one() -> None:
    tape = HttpTape()
    tape.post(1, b'{"jsonrpc":"2.0",\n "id":1, "method":"x"}')
    tape.body(1, b'{\r\n  "jsonrpc": "2.0",\n  "id": 1,\n  "result": {"a": "b\\nc"}\n}\n')
    [piece] = build(tape.frames).pieces()
    assert b"\n" not in piece.body
    assert json.loads(piece.body) == {"jsonrpc": "2.0", "id": 1, "result": {"a": "b\nc"}}
    assert piece.ending == 1


def test_an_answer_without_id_gets_the_place_for_one() -> None:
    tape = HttpTape()
    tape.post(1, call(1))
    tape.body(1, {"jsonrpc": "2.0", "error": {"code": -32600, "message": "no"}})
    [piece] = build(tape.frames).pieces()
    assert (piece.what, json.loads(piece.body)["id"], piece.id) == (ANSWER, None, "null")


def http(port: int, path: str = "/mcp", **options: Any) -> Target:
    return Target(
        name="official",
        transport="http",
        url=f"http://127.0.0.1:{port}{path}",
        timeouts=Timeouts(start=90, request=90, shutdown=5),
        **options,
    )


async def record(path: Path, target: Target) -> None:
    calls = [
        ("tools/list", "{}"),
        ("tools/call", '{"name":"add","arguments":{"a":9007199254740993,"b":1}}'),
        ("tools/call", '{"name":"count","arguments":{"steps":3}}'),
        ("tools/call", '{"name":"fail","arguments":{}}'),
        ("tools/call", '{"name":"polls","arguments":{}}'),
        ("resources/list", "{}"),
        ("prompts/list", "{}"),
    ]
    async with Session.open(path=str(path), name="http") as session:
        connection = session.connect(target, listing=False)
        await connection.ready()
        for method, params in calls:
            outcome = await connection.request(method, params)
            assert outcome.how in ("result", "error"), outcome


def replayed(recording: Path, report: Path) -> tuple[list[Any], dict[str, Any]]:
    words = [sys.executable, "-m", "workbench", "replay", "server", str(recording), "--strict"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.replay.http_client", *words, "--report", str(report)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), json.loads(report.read_text())


@pytest.mark.anyio
async def test_the_official_client_gets_over_stdio_what_was_recorded_over_http(tmp_path: Path) -> None:
    recording = tmp_path / "http.db"
    async with served(official("resumable")) as port:
        await record(recording, http(port, era="legacy"))
    with Reader.open(str(recording)) as reader:
        frames = list(reader.frames(connection=1))
        assert any(b'"reconnect"' in frame.body and b'"resumes":true' in frame.body for frame in frames)
        assert {stream.verb for stream in reader.streams()} >= {"POST", "GET"}
    verdict = selfcheck(frames)
    assert verdict.whole, verdict.problems
    seen, report = replayed(recording, tmp_path / "report.json")
    assert report["verdict"] == "ok", report
    assert [each[1] for each in seen if isinstance(each, list)] == [1, 2, 3]
    assert "9007199254740994" in json.dumps(seen[2])
    assert "polled" in json.dumps(seen)


@pytest.mark.anyio
async def test_the_older_transport_replays_too_after_a_probe_and_a_fallback(tmp_path: Path) -> None:
    recording = tmp_path / "sse.db"
    async with over_http(path="/sse") as (url, _), Session.open(path=str(recording)) as session:
        target = Target(name="old", transport="http", url=url, timeouts=Timeouts(start=90, request=90))
        connection = session.connect(target)
        await connection.ready()
        arguments = '{"name":"echo","arguments":{"text":"hi","progress":2}}'
        outcome = await connection.request("tools/call", arguments)
        assert outcome.how == "result"
    with Reader.open(str(recording)) as reader:
        frames = list(reader.frames(connection=1))
    assert sum(b'"fallback"' in frame.body for frame in frames) == 1
    script = build(frames)
    assert [cue.method for cue in script.requests] == ["initialize", "tools/list", "tools/call"]
    assert [piece.what for piece in script.requests[2].pieces] == [TOLD, TOLD, ANSWER]
    verdict = selfcheck(frames)
    assert verdict.whole, verdict.problems


def test_the_text_form_of_an_http_recording_is_served_line_by_line() -> None:
    asked = {"jsonrpc": "2.0", "id": 9, "method": "tools/call"}
    params = {"name": "slow_report", "arguments": {"pages": 2}, "_meta": {"progressToken": "p"}}
    said = hello_lines() + lines({**asked, "params": params})
    done = served_lines(str(RECORDINGS / "http.jsonl"), said=said)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each.get("method", each.get("id")) for each in told] == [
        1,
        "notifications/progress",
        "notifications/message",
        "notifications/message",
        9,
    ]
