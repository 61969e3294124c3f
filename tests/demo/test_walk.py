"""One walk along the protocol, frame by frame, as the recording has it."""

from __future__ import annotations

import sys
from typing import Any

import anyio
import pytest

from workbench.config import Target
from workbench.core.frame import Channel, Direction, Frame
from workbench.core.jsonrpc import loads
from workbench.session import Session

pytestmark = pytest.mark.anyio

OUT, IN = Direction.TO_SERVER, Direction.TO_CLIENT


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def walk() -> list[Frame]:
    """Connect, list, call the tool that adds a tool, list again; then the frames of the wire."""
    target = Target(command=sys.executable, args=("-m", "workbench.demo"), capabilities={}, era="legacy")
    with anyio.fail_after(30):
        async with Session.open(record=False) as session:
            connection = session.connect(target, listing=False)
            await connection.ready()
            await connection.request("logging/setLevel", '{"level":"emergency"}')
            before = await connection.list("tools/list")
            call = '{"name":"add_a_tool","arguments":{"name":"one_more"}}'
            await connection.request("tools/call", call, progress=False)
            after = await connection.list("tools/list")
            await connection.close()
            session.recorder.flush()
            frames = list(session.reader.frames())
    assert {tool["name"] for tool in after} - {tool["name"] for tool in before} == {"one_more"}
    return [frame for frame in frames if frame.channel is Channel.STDIO]


async def test_a_walk_from_initialize_over_a_changed_list_is_recorded_frame_by_frame() -> None:
    frames = await walk()
    log = "notifications/message"
    told = [frame for frame in frames if frame.method != log]
    assert [(frame.direction, frame.kind.name, frame.method, frame.id) for frame in told] == [
        (OUT, "REQUEST", "initialize", "1"),
        (IN, "RESULT", "initialize", "1"),
        (OUT, "NOTIFICATION", "notifications/initialized", None),
        (OUT, "REQUEST", "logging/setLevel", "2"),
        (IN, "RESULT", "logging/setLevel", "2"),
        (OUT, "REQUEST", "tools/list", "3"),
        (IN, "RESULT", "tools/list", "3"),
        (OUT, "REQUEST", "tools/call", "4"),
        (IN, "NOTIFICATION", "notifications/tools/list_changed", None),
        (IN, "RESULT", "tools/call", "4"),
        (OUT, "REQUEST", "tools/list", "5"),
        (IN, "RESULT", "tools/list", "5"),
    ]
    bodies: list[Any] = [loads(frame.body) for frame in told]
    assert bodies[0]["params"]["protocolVersion"] == bodies[1]["result"]["protocolVersion"] == "2025-11-25"
    assert bodies[7]["params"] == {"name": "add_a_tool", "arguments": {"name": "one_more"}}
    assert told[7].name == told[9].name == "add_a_tool"
    assert bodies[11]["result"]["tools"][:-1] == bodies[6]["result"]["tools"]
    assert [frame.seq for frame in told] == sorted(frame.seq for frame in told)
