"""Failures that a user injects into a replay: what the client sees, and that nobody takes them for the server's."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import ClientSession, MCPError

from tests.replay.build import Live, Tape, call, progress, request, result, text
from tests.replay.mocked import listening
from tests.replay.serving import SERVE, lines, saved, served
from tests.replay.test_mock_http_command import Talk
from workbench.core.frame import Channel
from workbench.errors import UsageError
from workbench.mock import Mock
from workbench.replay.actions import Exit, Forward, HangUp, Injected, Reply
from workbench.replay.faults import RUBBISH, parse_fault
from workbench.replay.options import Options
from workbench.replay.report import Report
from workbench.replay.script import build
from workbench.replay.server import MockServer
from workbench.store.reader import Reader


def two_calls() -> Tape:
    tape = Tape().hello().c(call(2, "slow", token="p")).s(progress("p", 1)).s(text(2, "one"))
    return tape.c(call(3, "quick")).s(text(3, "two"))


@pytest.mark.parametrize(
    ("text_of", "expected"),
    [
        ("delay=2s", ("delay", "", "", 0, 2.0)),
        ("tools/call:slow_tool=delay=150ms", ("delay", "tools/call", "slow_tool", 0, 0.15)),
        ("resources/read:note://a=b@c=drop@3", ("drop", "resources/read", "note://a=b@c", 3, 0.0)),
        ("tools/call=disconnect", ("disconnect", "tools/call", "", 0, 0.0)),
        ("garbage", ("garbage", "", "", 0, 0.0)),
    ],
)
def test_a_fault_is_read_as_it_is_written(text_of: str, expected: tuple[Any, ...]) -> None:
    fault = parse_fault(text_of)
    assert (fault.kind, fault.method, fault.name, fault.nth, fault.seconds) == expected


def test_an_error_has_the_code_that_is_given_or_the_usual_one() -> None:
    assert parse_fault("error=-32000").code == -32000
    assert parse_fault("tools/call=error").code == -32603


@pytest.mark.parametrize(
    "wrong", ["", "drop@0", "delay", "delay=2", "error=x", "slow", "tools/call=", "drop=1"]
)
def test_what_is_no_fault_is_told_with_what_there_is(wrong: str) -> None:
    with pytest.raises(UsageError, match="delay=2s, error=-32603, drop, disconnect or garbage"):
        parse_fault(wrong)


def playing(*faults: str, streams: bool = False, **options: Any) -> tuple[MockServer, list[float]]:
    now = [0.0]
    server = MockServer(
        build(two_calls().frames, lines=not streams),
        Report("", ""),
        Options(faults=tuple(map(parse_fault, faults)), **options),
        streams=streams,
        clock=lambda: now[0],
    )
    server.feed(two_calls().frames[0].body)
    return server, now


def body(message: Any) -> bytes:
    return json.dumps(message).encode()


def test_a_delayed_request_gets_all_of_its_answer_later_and_others_do_not_wait() -> None:
    server, now = playing("tools/call:slow=delay=2s")
    assert server.feed(body(call(5, "slow", token="live"))) == [
        Injected("tools/call:slow=delay=2s", "tools/call", "5")
    ]
    assert len(server.feed(body(call(6, "quick")))) == 1
    assert server.due == 2.0
    now[0] = 1.5
    assert server.tick() == []
    now[0] = 2.0
    assert [json.loads(each.body).get("id") for each in server.tick()] == [None, 5]  # type: ignore[union-attr]
    assert server.due is None
    assert server.agrees()


def test_a_delayed_request_that_is_cancelled_gets_nothing() -> None:
    server, now = playing("tools/call=delay=2s")
    server.feed(body(call(5, "slow")))
    server.feed(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}')
    now[0] = 3.0
    assert (server.due, server.tick()) == (None, [])


def test_a_dropped_request_counts_as_asked_for() -> None:
    server, _ = playing("tools/call=drop", strict=True)
    for number, tool in ((5, "slow"), (6, "quick")):
        assert [type(each) for each in server.feed(body(call(number, tool)))] == [Injected]
    assert server.agrees()
    told = server.report_value()
    assert [fault["name"] for fault in told["faults"]] == ["slow", "quick"]
    assert (told["requests"], told["answered"], told["unused_count"]) == (3, 1, 0)


def test_a_fault_for_the_second_request_leaves_the_first_alone() -> None:
    server, _ = playing("tools/call=error=-32001@2")
    assert len(server.feed(body(call(5, "slow", token="x")))) == 2
    _, error = server.feed(body(call(6, "quick")))
    assert json.loads(error.body)["error"]["code"] == -32001  # type: ignore[union-attr]


def test_a_fault_hides_no_miss_and_is_there_for_what_is_answered_without_a_recording() -> None:
    server, now = playing("drop", "ping=delay=1s")
    (missed,) = server.feed(body(call(5, "never")))
    assert b"-32010" in missed.body  # type: ignore[union-attr]
    assert [type(each) for each in server.feed(body(request(6, "ping")))] == [Injected]
    other, now = playing("ping=delay=1s")
    other.feed(body(request(6, "ping")))
    now[0] = 1.0
    assert other.tick()[0].body == b'{"jsonrpc":"2.0","id":6,"result":{}}'  # type: ignore[union-attr]


def test_what_goes_live_meets_faults_as_anything_else_does() -> None:
    server, now = playing("tools/call:never=error@1", "tools/call:never=delay=1s@2", on_miss="live")
    told, error = server.feed(body(call(5, "never")))
    assert isinstance(told, Injected)
    assert b"-32603" in error.body  # type: ignore[union-attr]
    assert [type(each) for each in server.feed(body(call(6, "never")))] == [Injected]
    now[0] = 1.0
    (forward,) = server.tick()
    assert isinstance(forward, Forward)
    assert json.loads(server.came(forward, b'{"jsonrpc":"2.0","id":0,"result":{}}')[0].body)["id"] == 6  # type: ignore[union-attr]
    assert server.report.answered == 2
    # One that is given up while it is held back is asked of nobody.
    late, now = playing("tools/call:never=delay=1s", on_miss="live")
    late.feed(body(call(6, "never")))
    late.feed(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}')
    now[0] = 2.0
    assert late.tick() == []


def test_a_fault_that_no_request_met_is_told() -> None:
    server, _ = playing("tools/call:never=drop", "tools/call:slow=drop", "tools/call:slow=drop@2")
    # A report that was written before says nothing that is not true any more.
    assert len(server.report_value()["notes"]) == 3
    server.feed(body(call(5, "slow")))
    told = "--fault tools/call:never=drop: no such request came."
    assert server.report_value()["notes"] == [told, "--fault tools/call:slow=drop@2: no such request came."]


def test_over_http_a_disconnect_ends_the_request_s_stream_and_garbage_is_its_answer() -> None:
    server, _ = playing("tools/call:slow=disconnect", "tools/call:quick=garbage", streams=True)
    assert server.feed(body(call(5, "slow")), stream=3)[1] == HangUp(3, 0, 0, last=True)
    assert server.feed(body(call(6, "quick")), stream=4)[1] == Reply(4, 200, RUBBISH, "application/json", 0)
    assert not server.over


def test_over_lines_a_disconnect_ends_the_server() -> None:
    server, _ = playing("tools/call:slow=disconnect")
    assert server.feed(body(call(5, "slow")))[1] == Exit(1)
    assert server.over
    assert server.feed(body(call(6, "quick"))) == []


def test_without_faults_nothing_is_told_of_any() -> None:
    assert Live(two_calls()).server.report_value()["faults"] == []


def test_on_stdio_each_fault_reaches_the_client_and_the_recording_says_whose_it_is(tmp_path: Path) -> None:
    recording, again, report = (
        saved(two_calls(), tmp_path / "a.db"),
        tmp_path / "again.db",
        tmp_path / "r.json",
    )
    said = lines(two_calls_hello(), call(5, "slow"), call(6, "quick"), request(7, "ping"))
    words = [
        "--fault",
        "tools/call:slow=garbage",
        "--fault",
        "tools/call:quick=drop",
        "--fault=ping=disconnect",
    ]
    done = served(str(recording), *words, "-o", str(again), "--report", str(report), said=said)
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[1:] == [RUBBISH]
    told = json.loads(report.read_text())
    assert (told["verdict"], told["ended"]) == ("ok", "disconnected, as --fault says")
    assert [each["fault"] for each in told["faults"]] == [words[1], words[3], "ping=disconnect"]
    with Reader.open(str(again)) as reader:
        notes = [json.loads(frame.body) for frame in reader.frames() if frame.channel is Channel.NOTE]
    assert [(note["event"], note["id"]) for note in notes] == [("fault", "5"), ("fault", "6"), ("fault", "7")]


def two_calls_hello() -> Any:
    return json.loads(two_calls().frames[0].body)


def test_a_delay_on_stdio_is_waited_for(tmp_path: Path) -> None:
    recording = saved(two_calls(), tmp_path / "a.db")
    command = [*SERVE, str(recording), "--fault", "tools/call:slow=delay=300ms"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines(two_calls_hello(), call(5, "slow"), call(6, "quick")))
        process.stdin.flush()
        # The quick one overtakes it.
        ids = [json.loads(process.stdout.readline()).get("id") for _ in range(3)]
    assert ids == [1, 6, 5]


def test_over_http_each_fault_reaches_the_client(tmp_path: Path) -> None:
    tape = Tape().hello()
    for number, tool in enumerate(("broken", "wrong", "rubbish"), 2):
        tape.c(call(number, tool)).s(text(number, tool))
    words = ["--fault", "tools/call:broken=disconnect", "--fault", "tools/call:wrong=error=-32055"]
    words += ["--fault", "tools/call:rubbish=garbage", "--strict"]
    with listening(saved(tape, tmp_path / "a.db"), tmp_path, *words) as mock:
        talk = Talk(mock.url)
        with pytest.raises(httpx.RemoteProtocolError):
            talk.client.post(mock.url, json=call(5, "broken")).read()
        answer = talk.say(call(6, "wrong"))
        assert isinstance(answer, dict)
        assert answer["error"]["code"] == -32055
        assert talk.client.post(mock.url, json=call(7, "rubbish")).content == RUBBISH
        assert mock.end() == 0
        assert len(mock.report()["faults"]) == 3


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_in_process_the_official_client_meets_them_too(tmp_path: Path) -> None:
    tape = Tape().hello()
    for number in (2, 3):
        tape.c(call(number, "t", n=number)).s(text(number, "fine"))
    tape.c(request(4, "tools/list")).s(result(4, tools=[{"name": "t", "inputSchema": {"type": "object"}}]))
    mock = Mock(
        str(saved(tape, tmp_path / "a.db")), fault=["tools/call=error=-32042@1", "tools/list=delay=50ms"]
    )
    async with mock.streams() as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        with pytest.raises(MCPError) as raised:
            await session.call_tool("t", {"n": 2})
        assert raised.value.error.code == -32042
        with anyio.fail_after(30):
            assert (await session.call_tool("t", {"n": 3})).content[0].model_dump()["text"] == "fine"
    assert mock.agrees()
    assert {each["fault"] for each in mock.report()["faults"]} >= {"tools/call=error=-32042@1"}
