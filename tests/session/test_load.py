"""Much at once, and much in one line, through a whole session and the replay of it."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from tests.servers.targets import server
from tests.wire.stage import call_tool, text_of
from workbench.config import Target, parse_targets
from workbench.core.frame import Direction, Kind
from workbench.session import Session
from workbench.store.reader import Reader

pytestmark = pytest.mark.anyio

MIB = 1 << 20


async def called(target: Target, text: str, path: str) -> str:
    """The text of one call in a session of its own."""
    with anyio.fail_after(60):
        async with Session.open(path=path) as session:
            connection = session.connect(target)
            await connection.ready()
            return text_of(await call_tool(connection, text))


@pytest.mark.parametrize("size", [64 * 1024 + 1, MIB, 16 * MIB])
async def test_a_result_in_one_long_line_is_recorded_and_replayed_whole(tmp_path: Path, size: int) -> None:
    path = str(tmp_path / "long.db")
    live = await called(server("sends_a_long_line"), str(size), path)
    assert len(live) == size
    [target] = parse_targets(["--replay", path])
    target = target.model_copy(update={"era": "legacy"})  # no probe, so that ids are the same
    assert await called(target, str(size), str(tmp_path / "again.db")) == live
    with Reader.open(path) as first, Reader.open(str(tmp_path / "again.db")) as second:
        assert longest(first) == longest(second)
        assert len(longest(first)) > size


def longest(reader: Reader) -> bytes:
    """The body of the longest frame, read in the way the screen does."""
    rows = reader.window(1, reader.height())
    return reader.body(max(rows, key=lambda row: row.size).seq)


async def test_a_burst_of_notifications_is_recorded_whole_and_in_order(tmp_path: Path) -> None:
    path = str(tmp_path / "burst.db")
    assert await called(server("bursts"), "10000", path) == "done"
    with Reader.open(path) as reader:
        told = [frame for frame in reader.frames() if frame.kind is Kind.NOTIFICATION]
        assert reader.height() > 20_000
    server_told = [frame for frame in told if frame.direction is Direction.TO_CLIENT]
    assert [frame.method for frame in server_told] == [
        method for method in ("notifications/message", "notifications/progress") for _ in range(10_000)
    ]
    assert b'"data":9999}' in server_told[9_999].body
    assert b'"progress":10000}' in server_told[-1].body
