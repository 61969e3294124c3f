"""The same test against the same mock, again and again, under load: the same bodies in the same causal order.

Four clients at a time, over HTTP and in process, each with overlapping calls, progress, and a question that
is answered late. What arrives on each stream must be the same bytes in the same order in every run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.replay.build import Tape, call, note, progress, request, result, text
from tests.replay.mocked import mocked, part_of
from tests.replay.serving import INITIALIZE, saved
from tests.wire.raw import Raw, raw
from workbench.mock import Mock

pytestmark = pytest.mark.anyio

#: Runs of each kind: few in every run of the tests, all with ``make test-long``.
RUNS = [15, pytest.param(500, marks=[pytest.mark.long, pytest.mark.timeout(600)])]

#: Clients at once.
AT_ONCE = 4


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def recorded() -> Tape:
    tape = Tape().hello().s(note("notifications/tools/list_changed"))
    tape.c(call(2, "left", token="l")).c(call(3, "right", token="r"))
    tape.s(progress("l", 1)).s(progress("r", 1)).s(note("notifications/message", data="between"))
    tape.s(request("q", "roots/list")).s(progress("r", 2)).s(text(3, "right")).c(result("q", roots=[]))
    tape.s(progress("l", 2)).s(text(2, "left"))
    return tape.c(call(4, "after")).s(text(4, "after"))


async def over_http(url: str) -> list[Any]:
    """One run: what came on each stream, by what was asked on it."""
    came: dict[str, list[bytes]] = {}
    async with raw(url) as client:
        await client.handshake()

        async def ask(name: str, token: int) -> None:
            came[name] = []
            async with client.listening(call(token, name, token=token)) as events:
                while (event := await events.next()) is not None:
                    if event.data:
                        came[name].append(event.data)
                    if b"roots/list" in event.data:
                        await answer(client, json.loads(event.data)["id"])

        async with anyio.create_task_group() as group:
            group.start_soon(ask, "left", 11)
            group.start_soon(ask, "right", 12)
        came["after"] = [(await client.post(call(13, "after"))).content]
    return sorted(came.items())


async def answer(client: Raw, id: Any) -> None:
    assert (await client.post(result(id, roots=[]))).status_code == 202


async def in_process(mock: Mock) -> list[Any]:
    """One run: everything that came, in its order."""
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    came: list[Any] = []
    async with mock.streams() as (read, write):

        async def say(*bodies: Any) -> None:
            for body in bodies:
                await write.send(SessionMessage(jsonrpc_message_adapter.validate_python(body)))

        await say(INITIALIZE, note("notifications/initialized"))
        await say(call(11, "left", token=11), call(12, "right", token=12))
        answered = 0
        while answered < 4:
            message = (await read.receive()).message.model_dump(by_alias=True, exclude_unset=True)
            came.append(message)
            answered += "method" not in message
            if message.get("method") == "roots/list":
                await say(result(message["id"], roots=[]))
            if message.get("id") == 11:
                await say(call(13, "after"))
    return came


@pytest.mark.parametrize("runs", RUNS)
async def test_over_http(runs: int) -> None:
    seen: list[list[Any]] = []
    async with mocked(part_of(recorded().frames)) as (url, cast):

        async def several() -> None:
            seen.extend([await over_http(url) for _ in range(-(-runs // AT_ONCE))])

        async with anyio.create_task_group() as group:
            for _ in range(AT_ONCE):
                group.start_soon(several)
        assert cast.agrees()
    assert len(seen) >= runs
    assert all(each == seen[0] for each in seen)
    names = {name: [json.loads(body).get("id") for body in bodies] for name, bodies in seen[0]}
    assert [names[name][-1] for name in ("left", "right", "after")] == [11, 12, 13]


@pytest.mark.parametrize("runs", RUNS)
async def test_in_process(runs: int, tmp_path: Path) -> None:
    mock = Mock(str(saved(recorded(), tmp_path / "a.db")))
    seen: list[list[Any]] = []

    async def several() -> None:
        seen.extend([await in_process(mock) for _ in range(-(-runs // AT_ONCE))])

    async with anyio.create_task_group() as group:
        for _ in range(AT_ONCE):
            group.start_soon(several)
    assert len(seen) >= runs
    assert all(each == seen[0] for each in seen)
    told = [each.get("method", each.get("id")) for each in seen[0]]
    assert "roots/list" in told
    assert told[0] == 1
    assert told[-1] == 13
    assert told.count("notifications/progress") == 4
