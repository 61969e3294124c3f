"""How servers end: when asked, by force, by themselves, and what they leave behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

import anyio
import pytest

from tests.servers.targets import server
from tests.wire.stage import arguments, call_tool, gone, is_alive, running, text_of, until
from workbench.core.lifecycle import State

pytestmark = pytest.mark.anyio

SHORT: dict[str, Any] = {"timeouts": {"shutdown": 0.2}}


async def test_a_server_that_ends_when_its_stdin_is_closed_is_not_signalled() -> None:
    async with running(server("minimal")) as (connection, sink):
        await connection.ready()
        pid = connection.view.pid
        await connection.close()
        assert connection.view.state is State.CLOSED
    told = [event["event"] for event in sink.events()]
    assert told == ["started", "stdin_closed", "waiting", "stdout_closed", "exited"]
    assert sink.events("exited") == [{"event": "exited", "code": 0}]
    assert pid is not None
    assert gone(pid)


async def test_a_server_that_ignores_its_closed_stdin_is_ended_with_term_and_that_is_a_state() -> None:
    async with running(server("stays", **SHORT)) as (connection, sink):
        await connection.ready()
        await connection.close()
        view = connection.view
        assert view.state is connection.state is State.SHUTDOWN_TIMEOUT
        assert "TERM" in view.why
        assert view.next_step
    assert [event["name"] for event in sink.events("signal")] == ["TERM"]
    assert sink.events("exited") == [{"event": "exited", "signal": "TERM"}]
    waits = sink.events("waiting")
    assert waits == [{"event": "waiting", "for": "exit", "seconds": 0.2}] * 2


async def test_a_server_that_ignores_term_too_is_killed() -> None:
    async with running(server("stays", "term", **SHORT)) as (connection, sink):
        await connection.ready()
        await connection.close()
        assert connection.view.state is State.SHUTDOWN_TIMEOUT
        assert "KILL" in connection.view.why
    assert [event["name"] for event in sink.events("signal")] == ["TERM", "KILL"]
    assert sink.events("exited") == [{"event": "exited", "signal": "KILL"}]


async def test_a_grandchild_that_holds_the_pipes_neither_hangs_us_nor_survives() -> None:
    async with running(server("leaves_a_grandchild")) as (connection, sink):
        await connection.ready()
        grandchild = int(text_of(await call_tool(connection, "who")))
        assert is_alive(grandchild)
        with anyio.fail_after(30):
            await connection.close()
        assert connection.view.state is State.CLOSED
    assert gone(grandchild)
    assert [event["name"] for event in sink.events("signal")] == ["TERM", "KILL"]


async def test_a_grandchild_does_not_survive_a_server_that_exits_by_itself() -> None:
    async with running(server("leaves_a_grandchild")) as (connection, _):
        await connection.ready()
        grandchild = int(text_of(await call_tool(connection, "who")))
        outcome = await call_tool(connection, "exit")
        assert outcome.how == "lost"
        assert "exited with code 5" in outcome.why
        await connection.close()
    assert gone(grandchild)


async def test_an_exit_in_a_call_ends_it_at_once_with_status_and_last_words() -> None:
    async with running(server("exits_in_a_call", "3")) as (connection, _):
        await connection.ready()
        with anyio.fail_after(20):
            outcome = await call_tool(connection, "x")
        assert outcome.how == "lost"
        assert "exited with code 3" in outcome.why
        assert "KeyError: 'TOKEN'" in outcome.why
        assert connection.view.state is State.EXITED
        assert connection.view.exit_code == 3
        assert connection.view.next_step
        assert connection.calls == {}


async def test_a_killed_server_is_told_with_the_signal() -> None:
    async with running(server("minimal")) as (connection, _):
        await connection.ready()
        pid = connection.view.pid
        assert pid is not None
        signal_process(pid, signal.SIGKILL)
        await until(lambda: connection.view.state is State.EXITED)
        assert connection.view.signal == "KILL"
        assert "KILL" in connection.view.why


async def test_calls_on_a_connection_that_is_over_end_at_once() -> None:
    async with running(server("exits_in_a_call", "0")) as (connection, _):
        await connection.ready()
        await call_tool(connection, "x")
        await connection.close()
        outcome = await call_tool(connection, "again")
        assert outcome.how == "lost"
        assert "connect again" in outcome.why


async def test_a_server_that_closes_its_stdout_and_runs_on_is_ended() -> None:
    async with running(server("closes_its_stdout")) as (connection, sink):
        await connection.ready()
        outcome = await call_tool(connection, "x")
        assert outcome.how == "lost"
        assert "closed its stdout" in outcome.why
        await connection.close()
        assert connection.view.state is connection.state is State.EXITED
    assert sink.events("failed")[0]["state"] == "exited"
    assert sink.events("exited")


async def test_what_a_server_never_read_is_told_as_undelivered() -> None:
    async with running(server("stops_reading", **SHORT)) as (connection, sink):
        await connection.ready()
        size = 1_000_000
        call = connection.call("tools/call", arguments("x" * size))
        assert call.request_seq == len(sink.units)  # recorded at once, though it cannot be written
        await connection.close()
        assert call.outcome is not None
        assert call.outcome.how == "lost"
    [undelivered] = sink.events("undelivered")
    assert 0 < undelivered["bytes"] < size + 1000
    assert sink.events().index(undelivered) < sink.events().index({"event": "stdin_closed"})


async def test_a_blocked_write_does_not_stop_reading() -> None:
    async with running(server("floods_stdout", **SHORT)) as (connection, sink):
        await connection.ready()
        connection.call("tools/call", arguments("x"))
        await until(lambda: len(sink.units) > 1000)
        connection.call("tools/call", arguments("x" * 1_000_000))  # nobody reads it
        height = len(sink.units)
        await until(lambda: len(sink.units) > height + 10_000)


async def test_a_cancelled_connection_leaves_no_process() -> None:
    pid = 0
    with anyio.CancelScope() as scope:
        async with running(server("stays", "term", **SHORT)) as (connection, _):
            await connection.ready()
            pid = connection.view.pid or 0
            scope.cancel()
            await anyio.sleep_forever()
    assert pid
    assert gone(pid)


async def test_a_server_can_be_closed_before_its_handshake_is_over() -> None:
    async with running(server("minimal")) as (connection, _):
        await connection.close()
        assert connection.state is State.CLOSED


async def test_closing_twice_is_no_harm() -> None:
    async with running(server("minimal")) as (connection, sink):
        await connection.ready()
        async with anyio.create_task_group() as group:
            group.start_soon(connection.close)
            group.start_soon(connection.close)
        await connection.close()
    assert len(sink.events("exited")) == 1


ABANDONED = """
import asyncio, sys
from workbench.wire.child import Child

async def main():
    command = [sys.executable, "-c", "import signal; signal.signal(15, 1); signal.pause()"]
    return Child(command, sys.executable, {}, None)

child = asyncio.run(main())
print(child.pid, flush=True)
"""


def test_a_child_does_not_outlive_an_interpreter_that_forgot_it() -> None:
    done = subprocess.run([sys.executable, "-c", ABANDONED], capture_output=True, text=True, timeout=20)
    assert done.stderr == ""
    assert gone(int(done.stdout))


def signal_process(pid: int, number: int) -> None:
    os.kill(pid, number)
