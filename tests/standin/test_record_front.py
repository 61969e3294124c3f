"""``record --front``: HTTP before a command, and standard input and output before a URL."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters, stdio_client
from mcp.client.client import Client as Official

from tests.standin.over_http import StandIn, post, server
from tests.standin.running import BARE, PROGRAM, ROOT, ended_how, frames_of
from tests.wire.raw import call, initialize, modern, modern_headers, raw
from tests.wire.stage import until
from tests.wire.test_serving_official import use
from workbench.core.frame import Channel, Direction, Frame, Kind
from workbench.core.jsonrpc import loads
from workbench.store.reader import Reader

pytestmark = pytest.mark.anyio

SERVED = [sys.executable, "-m", "tests.servers.served"]

#: A server that answers nothing and says on stderr what it got.
MUTE = [sys.executable, "-c", "import sys\nfor line in sys.stdin: sys.stderr.write(line); sys.stderr.flush()"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def sent(frames: list[Frame], channel: Channel) -> list[tuple[int, Any]]:
    """What went to the server: connection and method."""
    return [
        (frame.connection, loads(frame.body).get("method"))
        for frame in frames
        if frame.direction is Direction.TO_SERVER and frame.channel is channel
    ]


def test_each_client_over_http_has_a_process_of_its_own(tmp_path: Path) -> None:
    with StandIn(tmp_path / "a.db", ["--front", "http", "--", *BARE]) as front:
        sessions = [post(front.url, initialize()).headers["mcp-session-id"] for _ in range(2)]
        for session in (*sessions, sessions[0]):
            got = post(front.url, call("hi"), mcp_session_id=session)
            assert got.json()["result"]["content"] == [{"type": "text", "text": "hi"}]
        status, _ = front.end(signal.SIGTERM)
    assert status == 143
    assert ended_how(front.file) == "signal:TERM"
    frames = frames_of(front.file)
    methods = sent(frames, Channel.STDIO)
    assert [method for number, method in methods if number == 1] == ["initialize", "tools/call", "tools/call"]
    assert [method for number, method in methods if number == 2] == ["initialize", "tools/call"]
    started = [loads(frame.body) for frame in frames if frame.kind is Kind.PROCESS]
    assert len({event["pid"] for event in started if event["event"] == "started"}) == 2
    with Reader.open(str(front.file)) as reader:
        assert [(each.transport, each.era) for each in reader.connections()] == [("stdio", "legacy")] * 2


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_official_client_talks_over_http_to_a_server_over_stdio(tmp_path: Path, mode: str) -> None:
    with StandIn(tmp_path / "a.db", ["--front", "http", "--", *SERVED]) as front:
        async with Official(front.url, mode=mode) as client:
            assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
            assert await use(client) == [1, 2, 3]
        front.end(signal.SIGTERM)
    told = [
        frame.method for frame in frames_of(front.file) if frame.channel is Channel.STDIO and frame.method
    ]
    assert told.count("notifications/progress") == 3


async def test_a_stream_that_a_client_of_the_stateless_era_leaves_cancels_over_stdio(tmp_path: Path) -> None:
    with StandIn(tmp_path / "a.db", ["--front", "http", "--", *MUTE]) as front:
        async with raw(front.url) as client:
            with anyio.move_on_after(1) as limit:
                await client.post(modern("tools/list", "q"), **modern_headers("tools/list"))
            assert limit.cancelled_caught
        await until(lambda: b"notifications/cancelled" in _heard(front), 20)
        front.end(signal.SIGTERM)


def _heard(front: StandIn) -> bytes:
    with Reader.open(str(front.file)) as reader:
        return b"\n".join(frame.body for frame in reader.frames() if frame.channel is Channel.STDERR)


def test_a_command_that_cannot_be_started_is_an_error_for_the_client(tmp_path: Path) -> None:
    with StandIn(tmp_path / "a.db", ["--front", "http", "--", "no-such-program-here"]) as front:
        got = post(front.url, initialize())
        assert "no-such-program-here" in got.json()["error"]["message"]
        front.end(signal.SIGTERM)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_official_client_talks_over_stdio_to_a_server_over_http(tmp_path: Path, mode: str) -> None:
    file = tmp_path / "a.db"
    with server() as there:
        words = [*PROGRAM[1:], "-o", str(file), "--front", "stdio", "--http", there]
        program = StdioServerParameters(command=PROGRAM[0], args=words, cwd=str(ROOT))
        async with Official(stdio_client(program), mode=mode) as client:
            version = client.protocol_version
            assert version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
            assert await use(client) == [1, 2, 3]
    assert ended_how(file) in ("closed", "signal:TERM")
    frames = frames_of(file)
    assert [method for _, method in sent(frames, Channel.HTTP)][-2:] == ["tools/list", "tools/call"]
    with Reader.open(str(file)) as reader:
        heads = [dict(each.request_headers) for each in reader.streams() if each.verb == "POST"]
        (connection,) = reader.connections()
    lowered = [{name.lower(): value for name, value in head.items()} for head in heads]
    assert lowered[-1]["mcp-protocol-version"] == version
    assert (lowered[-1].get("mcp-method") == "tools/call") is (mode == "auto")
    assert (connection.transport, connection.target) == ("http", there)


def test_a_server_that_cannot_be_reached_is_an_error_for_the_request(tmp_path: Path) -> None:
    words = ["-o", str(tmp_path / "a.db"), "--front", "stdio", "--http", "http://127.0.0.1:9/mcp"]
    with subprocess.Popen(
        [*PROGRAM, *words], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(initialize()).encode() + b"\n")
        process.stdin.flush()
        told = json.loads(process.stdout.readline())
        assert told["id"] == 1
        assert "Nothing listens on 127.0.0.1:9" in told["error"]["message"]
        process.stdin.close()
        assert process.wait(20) == 0
