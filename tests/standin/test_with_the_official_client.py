"""The official SDK's client and server, with the stand-in between them."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client, types

from tests.standin.running import PROGRAM, ROOT, at_rest, ended_how, frames_of
from workbench.core.frame import Direction, Kind

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_session_of_the_official_client_passes_whole_and_is_recorded(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    steps: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    parameters = StdioServerParameters(
        command=PROGRAM[0],
        args=[*PROGRAM[1:], "-o", str(file), "--", sys.executable, "-m", "tests.servers.official"],
        cwd=str(ROOT),
    )
    with anyio.fail_after(60):
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as client:
            await client.initialize()
            assert "add" in [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool("add", {"a": 2, "b": 3})
            assert isinstance(result.content[0], types.TextContent)
            assert result.content[0].text == "5"
            await client.call_tool("count", {"steps": 3}, progress_callback=on_progress)
            failed = await client.call_tool("fail", {})
            assert failed.is_error
    assert steps == [1, 2, 3]
    assert at_rest(file)
    assert ended_how(file) in ("closed", "signal:TERM")
    frames = frames_of(file)
    requests = [frame for frame in frames if frame.kind is Kind.REQUEST]
    assert [frame.method for frame in requests] == [
        "initialize",
        "tools/list",
        "tools/call",
        "tools/call",
        "tools/call",
    ]
    answers = [
        frame for frame in frames if frame.kind is Kind.RESULT and frame.direction is Direction.TO_CLIENT
    ]
    assert {frame.id for frame in answers} == {frame.id for frame in requests}
