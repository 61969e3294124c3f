"""Long lines, floods, and sinks and peers that do not keep up."""

from __future__ import annotations

import anyio
import pytest

from tests.servers import floods_stderr
from tests.servers.targets import server
from tests.wire.stage import MemorySink, arguments, call_tool, running, text_of, until
from workbench.core.frame import Channel, Ending
from workbench.wire.pipes import CHUNK
from workbench.wire.stdio import MAX_PROMPTED

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("size", [64 * 1024 + 1, 1024 * 1024, 20 * 1024 * 1024])
async def test_a_long_line_is_one_frame_and_one_result(size: int) -> None:
    async with running(server("sends_a_long_line")) as (connection, sink):
        await connection.ready()
        outcome = await call_tool(connection, str(size))
        assert len(text_of(outcome)) == size
        assert outcome.seq is not None
        assert len(sink.units[outcome.seq - 1].data) > size


async def test_a_large_result_is_not_parsed_before_somebody_asks_for_it() -> None:
    async with running(server("sends_a_long_line")) as (connection, _):
        await connection.ready()
        outcome = await call_tool(connection, "2000000")
        assert outcome.large
        assert "result" not in vars(outcome)


async def test_a_flood_on_stderr_is_drained_line_by_line_and_holds_nothing_up() -> None:
    async with running(server("floods_stderr")) as (connection, sink):
        await connection.ready()
        assert text_of(await call_tool(connection, "x")) == "done"
    lines = [unit for unit in sink.units if unit.channel is Channel.STDERR]
    assert len(lines) == floods_stderr.LINES + 1
    assert (lines[-1].data, lines[-1].ending) == (b"no end", Ending.NONE)


async def test_a_connection_that_floods_does_not_hold_up_another_one() -> None:
    async with (
        running(server("floods_stdout", timeouts={"shutdown": 0.2})) as (flood, sink),
        running(server("minimal")) as (quiet, _),
    ):
        await flood.ready()
        await quiet.ready()
        flood.call("tools/call", arguments("x"))
        await until(lambda: len(sink.units) > 5_000)
        before = len(sink.units)
        for number in range(20):
            assert text_of(await call_tool(quiet, str(number))) == str(number)
        assert len(sink.units) > before  # the flood went on all the while


async def test_reading_pauses_only_while_the_sink_has_no_room_and_loses_nothing() -> None:
    sink = MemorySink()
    async with running(server("floods_stderr"), sink) as (connection, _):
        await connection.ready()
        sink.room = False
        call = connection.call("tools/call", arguments("x"))
        assert call.request_seq  # handing over never waits
        before = len(sink.units)
        await anyio.sleep(0.3)
        # A read of each pipe may have been under way; nothing is read after it.
        taken = sum(len(unit.data) + 1 for unit in sink.units[before:])
        assert taken <= 2 * CHUNK
        sink.room = True
        assert text_of(await call.wait()) == "done"
    assert len(sink.bodies(Channel.STDERR)) == floods_stderr.LINES + 1


async def test_the_view_is_published_merged_and_is_complete_in_the_end() -> None:
    async with running(server("floods_stdout", timeouts={"shutdown": 0.2})) as (connection, sink):
        await connection.ready()
        connection.call("tools/call", arguments("x"))
        await until(lambda: len(sink.units) > 20_000)
        view = await anyio.to_thread.run_sync(lambda: connection.view)
        assert 0 < view.frames <= len(sink.units)
    assert connection.view.frames == len(sink.units)
    assert len(connection.view.logs) <= 2_000
    told = connection._owner.changes  # type: ignore[attr-defined]
    assert len(told) < len(sink.units) / 20


async def test_more_calls_than_a_server_reads_while_it_answers_all_get_through() -> None:
    async with running(server("minimal")) as (connection, _):
        await connection.ready()
        calls = [connection.call("tools/call", arguments(str(number) * 100)) for number in range(12_000)]
        with anyio.fail_after(30):
            for call in calls:
                assert (await call.wait()).how == "result"


async def test_a_server_that_asks_without_end_and_reads_nothing_is_not_listened_to_without_end() -> None:
    async with running(server("pings_without_reading", timeouts={"shutdown": 0.2})) as (connection, sink):
        await connection.ready()
        await until(lambda: len(sink.units) > 2 * MAX_PROMPTED)
        height = -1
        while height != len(sink.units):  # it comes to rest
            height = len(sink.units)
            await anyio.sleep(0.1)
        # Beside the answers that wait: those in the full pipe, and those to what one read took.
        shortest = len(b'{"jsonrpc":"2.0","id":1,"result":{}}')
        assert height < 2 * (MAX_PROMPTED + 2 * CHUNK // shortest)
