"""Code that uses the official SDK's client runs alike on a server and on its recording."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, ClientSession, MCPError, StdioServerParameters, stdio_client

from workbench.core.frame import Channel, Direction
from workbench.store.reader import Reader

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")

WORKBENCH = ["-m", "workbench"]
DEMO = [sys.executable, "-m", "workbench.demo"]

#: What a test does with a client; returns what it saw.
Script = Callable[[ClientSession], Awaitable[Any]]


def python(*words: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=[*WORKBENCH, *words])


def run(server: StdioServerParameters, script: Script) -> Any:
    async def session() -> Any:
        with anyio.fail_after(60):
            async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
                await client.initialize()
                return await script(client)

    return anyio.run(session)


def both(folder: Path, command: list[str], script: Script) -> tuple[Any, Any, dict[str, Any]]:
    """What a script sees of a server and of its replay, and the report of the replay."""
    recording, report = folder / "live.db", folder / "report.json"
    live = run(python("record", "-o", str(recording), "--", *command), script)
    replayed = run(python("replay", "server", str(recording), "--strict", "--report", str(report)), script)
    return live, replayed, json.loads(report.read_text())


async def long_operation(client: ClientSession, steps: int, seen: dict[int, list[float]]) -> Any:
    async def told(progress: float, total: float | None, message: str | None) -> None:
        seen.setdefault(steps, []).append(progress)

    arguments = {"duration": 0.4, "steps": steps}
    result = await client.call_tool("long_operation", arguments, progress_callback=told)
    return result.model_dump(mode="json")


async def two_at_once(client: ClientSession) -> Any:
    seen: dict[int, list[float]] = {}
    results: dict[int, Any] = {}

    async def one(steps: int) -> None:
        results[steps] = await long_operation(client, steps, seen)

    async with anyio.create_task_group() as group:
        group.start_soon(one, 3)
        group.start_soon(one, 4)
    return seen, results


def test_trap_3_two_calls_at_once_get_each_their_own_progress_and_result(tmp_path: Path) -> None:
    live, replayed, report = both(tmp_path, DEMO, two_at_once)
    assert replayed == live
    assert live[0] == {3: [1, 2, 3], 4: [1, 2, 3, 4]}
    assert report["verdict"] == "ok"


def test_trap_3_one_of_two_recorded_calls_gets_exactly_its_own(tmp_path: Path) -> None:
    recording = tmp_path / "live.db"
    _, results = run(python("record", "-o", str(recording), "--", *DEMO), two_at_once)

    async def second_only(client: ClientSession) -> Any:
        seen: dict[int, list[float]] = {}
        return await long_operation(client, 4, seen), seen

    replayed = run(python("replay", "server", str(recording)), second_only)
    assert replayed == (results[4], {4: [1, 2, 3, 4]})


async def gives_up(client: ClientSession) -> Any:
    with pytest.raises(MCPError) as raised:
        await client.call_tool("long_operation", {"duration": 30, "steps": 1}, read_timeout_seconds=0.5)
    after = await client.call_tool("calculator_arithmetic", {"expression": "1 + 1"})
    return raised.value.error.code, after.model_dump(mode="json")


def test_trap_8_a_call_the_client_gives_up_is_given_up_again_and_the_next_one_answered(
    tmp_path: Path,
) -> None:
    live, replayed, report = both(tmp_path, DEMO, gives_up)
    assert replayed == live
    assert report["verdict"] == "ok"


async def is_left_alone(client: ClientSession) -> Any:
    with pytest.raises(MCPError) as raised:
        await client.call_tool("crash", {})
    return raised.value.error.code


def test_trap_9_a_server_that_dies_in_a_call_is_dead_for_the_client_in_the_replay_too(tmp_path: Path) -> None:
    command = [sys.executable, str(Path(__file__).parents[1] / "servers" / "exits_in_a_call.py"), "3"]
    live, replayed, report = both(tmp_path, command, is_left_alone)
    assert replayed == live
    assert report["ended"] == "exited with status 3, as recorded"


def test_trap_13_a_client_that_probes_for_the_newer_era_falls_back_and_goes_on(tmp_path: Path) -> None:
    recording, report = tmp_path / "live.db", tmp_path / "report.json"

    async def sums(client: ClientSession) -> Any:
        return (await client.call_tool("calculator_arithmetic", {"expression": "6 * 7"})).model_dump()

    live = run(python("record", "-o", str(recording), "--", *DEMO), sums)
    server = python("replay", "server", str(recording), "--report", str(report))

    async def session() -> Any:
        with anyio.fail_after(60):
            async with Client(server, mode="auto") as client:
                return (await client.call_tool("calculator_arithmetic", {"expression": "6 * 7"})).model_dump()

    assert anyio.run(session) == live
    told = json.loads(report.read_text())
    assert told["verdict"] == "ok"
    assert any("stateless era" in sentence for sentence in told["notes"])


def test_a_replay_recorded_again_is_the_recording(tmp_path: Path) -> None:
    async def walk(client: ClientSession) -> Any:
        seen: dict[int, list[float]] = {}
        await client.list_tools()
        await client.call_tool("add_a_tool", {"name": "surprise"})
        await client.list_tools()
        return await long_operation(client, 3, seen), seen

    recording, again = tmp_path / "live.db", tmp_path / "again.db"
    live = run(python("record", "-o", str(recording), "--", *DEMO), walk)
    assert run(python("replay", "server", str(recording), "-o", str(again)), walk) == live
    for direction in (Direction.TO_SERVER, Direction.TO_CLIENT):
        assert spoken(again, direction) == spoken(recording, direction)


def spoken(path: Path, direction: Direction) -> list[bytes]:
    with Reader.open(str(path)) as reader:
        frames = [frame for frame in reader.frames() if frame.direction is direction]
    return [frame.body for frame in frames if frame.channel is Channel.STDIO]


def test_a_client_that_asks_for_something_else_is_told_what_is_nearest(tmp_path: Path) -> None:
    recording = tmp_path / "live.db"

    async def weather(client: ClientSession, city: str) -> Any:
        return await client.call_tool("weather_current", {"location": city, "units": "kelvin"})

    run(python("record", "-o", str(recording), "--", *DEMO), lambda client: weather(client, "Oslo"))

    async def refused(client: ClientSession) -> MCPError:
        with pytest.raises(MCPError) as raised:
            await weather(client, "Lima")
        return raised.value

    error = run(python("replay", "server", str(recording)), refused).error
    assert error.code == -32010
    assert error.data["nearest"]["differences"] == [
        {"pointer": "/arguments/location", "recorded": '"Oslo"', "live": '"Lima"'}
    ]
