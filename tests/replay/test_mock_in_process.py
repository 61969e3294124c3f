"""``workbench.mock``: a recording behind the streams of the official SDK, and nothing goes live."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, ClientSession, MCPError
from mcp.types import ListRootsResult

from tests.replay.build import Tape, call, progress, request, result, text
from tests.replay.serving import hello_lines, lines, saved
from tests.servers.targets import ROOT
from workbench.errors import RecordingError, UsageError
from workbench.mock import Mock

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")]

WEATHER = str(ROOT / "sessions" / "weather.jsonl")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def hello() -> Tape:
    """A handshake, and the list of tools, which this client asks for by itself."""
    return Tape().hello().c(request(90, "tools/list")).s(result(90, tools=[]))


async def text_from(session: Any, tool: str, arguments: dict[str, Any]) -> str:
    told = await session.call_tool(tool, arguments)
    return str(told.content[0].text)


async def sum_of(client: Any) -> Any:
    told = await client.call_tool("calculator_arithmetic", {"expression": "2 * (3 + 4)"})
    return told.content[0].text


async def test_both_clients_of_the_official_sdk_are_served_each_from_the_start() -> None:
    mock = Mock(WEATHER)
    async with mock.streams() as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        first = await sum_of(session)
        with pytest.raises(MCPError) as raised:
            await session.call_tool("calculator_arithmetic", {"expression": "7"})
        assert raised.value.error.data["nearest"]["differences"][0]["pointer"] == "/arguments/expression"
    async with Client(mock.streams()) as client:
        assert await sum_of(client) == first
    told = mock.report()
    assert not mock.agrees()
    assert [each["missed"] for each in told["clients"]] == [1, 0]


async def test_two_clients_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    tape = hello().c(call(2, "slow", token="p")).s(progress("p", 1)).s(text(2, "x"))
    mock = Mock(str(saved(tape, tmp_path / "a.db")), strict=True)
    heard: list[float] = []

    async def one() -> None:
        async def told(progress: float, total: float | None, message: str | None) -> None:
            heard.append(progress)

        async with mock.streams() as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            await session.call_tool("slow", {}, progress_callback=told)

    async with anyio.create_task_group() as group:
        group.start_soon(one)
        group.start_soon(one)
    assert heard == [1, 1]
    assert mock.agrees()


async def test_a_server_that_ended_ends_and_a_line_that_is_no_message_is_an_exception(tmp_path: Path) -> None:
    tape = hello().c(call(2, "t")).s(b"{not json").s(text(2, "x"))
    tape.c(call(3, "die")).event(event="exited", code=3)
    mock = Mock(str(saved(tape, tmp_path / "a.db")))
    seen: list[Any] = []

    async def take(message: Any) -> None:
        seen.append(message)

    async with mock.streams() as (read, write), ClientSession(read, write, message_handler=take) as session:
        await session.initialize()
        assert await text_from(session, "t", {}) == "x"
        with pytest.raises(MCPError):
            await session.call_tool("die", {})
    assert [isinstance(each, ValueError) for each in seen] == [True]
    assert mock.report()["clients"][0]["ended"] == "exited with status 3, as recorded"


async def test_a_question_is_asked_and_its_answer_held_against_the_recorded_one(tmp_path: Path) -> None:
    tape = hello().c(call(2, "ask")).s(request("q", "roots/list"))
    tape.c(result("q", roots=[{"uri": "file:///recorded/place-1"}])).s(text(2, "file:///recorded/place-1"))
    mock = Mock(str(saved(tape, tmp_path / "a.db")), on_answer="fail")

    async def roots(context: Any) -> ListRootsResult:
        return ListRootsResult.model_validate({"roots": [{"uri": "file:///live/place-2"}]})

    async with (
        mock.streams() as (read, write),
        ClientSession(read, write, list_roots_callback=roots) as session,
    ):
        await session.initialize()
        assert await text_from(session, "ask", {}) == "file:///live/place-2"
    assert mock.report()["differing_answers"] == 1
    assert not mock.agrees()


async def test_rules_kept_with_a_recording_are_followed(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    from workbench.store.copying import copy

    copy(str(saved(hello().c(call(2, "t", n=1)).s(text(2, "x")), tmp_path / "a.db")), str(path))
    kept = path.read_text().splitlines()
    rule = {"rule": 1, "what": "match-ignore", "value": "tools/call:t=/arguments/n"}
    path.write_text("\n".join([*kept[:2], json.dumps(rule, separators=(",", ":")), *kept[2:]]) + "\n")
    mock = Mock(str(path))
    async with mock.streams() as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        assert await text_from(session, "t", {"n": 2}) == "x"
    assert mock.agrees()


def test_what_cannot_be_meant_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(RecordingError):
        Mock(str(tmp_path / "nothing.db"))
    with pytest.raises(UsageError, match="no connection nobody"):
        Mock(WEATHER, connection="nobody")


def test_the_module_loads_no_client_and_nothing_heavy() -> None:
    script = "import workbench.mock, sys; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"mcp", "fastmcp", "httpx", "starlette", "pydantic", "textual", "click", "anyio"}


#: Notes whatever would reach out, and does what is asked.
WATCHED = """
import sys
out = {"socket.connect", "socket.sendto", "subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec", "os.system"}
seen = []
sys.addaudithook(lambda event, _: seen.append(event) if event in out else None)
"""
IN_PROCESS = """
import anyio
from mcp import ClientSession
from workbench.mock import Mock
async def main():
    async with Mock(sys.argv[1]).streams() as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        for name in ("calculator_arithmetic", "no_such_tool"):
            try:
                await session.call_tool(name, {"expression": "1 / 0"})
            except Exception:
                pass
anyio.run(main)
"""
COMMAND = """
from workbench.cli import main
main(["replay", "server", *sys.argv[1:]])
"""
SEEN = "\nsys.stderr.write(f'seen {seen}')\n"


def test_nothing_goes_live_in_process() -> None:
    words = [sys.executable, "-c", WATCHED + IN_PROCESS + SEEN, WEATHER]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr.endswith("seen []")


def test_nothing_goes_live_over_stdio() -> None:
    words = [sys.executable, "-c", WATCHED + COMMAND + SEEN, WEATHER]
    said = hello_lines() + lines(call(7, "calculator_arithmetic", expression="1 / 0"), call(8, "missed"))
    done = subprocess.run(words, capture_output=True, input=said, check=True, timeout=60)
    assert b"Cannot calculate" in done.stdout
    assert done.stderr.endswith(b"seen []")


def test_nothing_goes_live_over_http(tmp_path: Path) -> None:
    import time

    import httpx

    ready = tmp_path / "ready"
    words = [sys.executable, "-c", WATCHED + COMMAND + SEEN, WEATHER]
    words += ["--listen", "127.0.0.1:0", "--ready-file", str(ready)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not ready.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        headers = {"accept": "application/json, text/event-stream"}
        hello = json.loads(hello_lines().splitlines()[0])
        answer = httpx.post(ready.read_text().strip(), json=hello, headers=headers, trust_env=False)
        session = {**headers, "mcp-session-id": answer.headers["mcp-session-id"]}
        missed = httpx.post(
            ready.read_text().strip(), json=call(8, "missed"), headers=session, trust_env=False
        )
        assert missed.json()["error"]["code"] == -32010
        process.terminate()
        assert process.communicate(timeout=60)[1].endswith(b"seen []")
