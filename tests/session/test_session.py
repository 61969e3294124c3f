"""Connections, recording and announcements together."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from tests.servers.targets import ROOT, server
from tests.wire.stage import arguments, call_tool, gone, text_of, until
from workbench.config import Target, parse_targets
from workbench.core.frame import Kind
from workbench.core.lifecycle import State
from workbench.errors import ConnectionFailed, RecordingError
from workbench.session import Change, Session
from workbench.store.reader import Reader

pytestmark = pytest.mark.anyio


async def test_a_session_is_recorded_to_a_file_that_can_be_opened_afterwards(tmp_path: Path) -> None:
    path = str(tmp_path / "one.db")
    async with Session.open(path=path, name="one") as session:
        assert session.path == path
        connection = session.connect(server("official"))
        await connection.ready()
        await connection.refresh()
        await connection.request("tools/call", '{"name":"add","arguments":{"a":1,"b":1}}')
        height = connection.view.frames
    with Reader.open(path) as reader:
        [row] = reader.connections()
        assert (row.name, row.revision, row.era, row.closed_how) == (
            "official",
            "2025-11-25",
            "legacy",
            "closed",
        )
        assert row.exit_code == 0
        assert row.server_info is not None
        assert '"official"' in row.server_info
        assert reader.sessions()[0].ended_how == "closed"
        assert reader.height() > height
        frames = list(reader.frames())
        assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))


async def test_the_fold_of_a_live_connection_and_of_its_recording_show_the_same(tmp_path: Path) -> None:
    from workbench.core.fold import ConnectionFold

    path = str(tmp_path / "fold.db")
    async with Session.open(path=path) as session:
        connection = session.connect(server("exits_in_a_call", "3"))
        await connection.ready()
        await connection.refresh()
        await call_tool(connection, "x")
        await connection.close()
        live = connection.view
    with Reader.open(path) as reader:
        fold = ConnectionFold(live.number, live.name, live.transport, live.target)
        for frame in reader.frames():
            fold.advance(frame)
    assert fold.snapshot() == live


async def test_without_a_path_the_recording_goes_to_the_users_store() -> None:
    async with Session.open(name="mine") as session:
        assert session.path is not None
        assert Path(session.path).parent == Path(os.environ["MCP_WORKBENCH_STORE"])
    assert Path(session.path).exists()


async def test_an_unrecorded_session_leaves_no_file_and_can_still_be_read(tmp_path: Path) -> None:
    async with Session.open(record=False) as session:
        assert session.path is None
        connection = session.connect(server("minimal"))
        await connection.ready()
        call = connection.call("tools/call", arguments("x"))
        outcome = await call.wait()
        session.recorder.flush()
        assert session.reader.frame(call.request_seq).kind is Kind.REQUEST
        assert session.reader.pair(call.request_seq) == outcome.seq
    assert not list(tmp_path.rglob("*.db*"))


async def test_a_recording_that_cannot_be_made_is_told_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(RecordingError):
        async with Session.open(path=str(tmp_path / "no" / "such" / "folder.db")):
            pytest.fail("it was opened")


async def test_the_same_target_twice_gets_two_names() -> None:
    async with Session.open(record=False) as session:
        target = server("minimal", name="git")
        names = [session.connect(target).name for _ in range(3)]
        assert names == ["git", "git-2", "git-3"]


async def test_a_dead_connection_stays_with_its_history_and_is_connected_again_as_a_new_one() -> None:
    async with Session.open(record=False) as session:
        first = session.connect(server("exits_in_a_call", "3", name="git"))
        await first.ready()
        await call_tool(first, "x")
        second = await first.reconnect()
        await second.ready()
        assert (first.number, second.number) == (1, 2)
        assert (first.name, second.name) == ("git", "git")
        assert first.view.state is State.EXITED
        assert first.view.steps
        assert session.current == [second]
        assert first.successor is second
        session.recorder.flush()
        assert [row.parent for row in session.reader.connections()] == [None, 1]
        assert await first.reconnect() is second, "it is connected again once"


async def test_a_running_connection_is_closed_before_it_is_connected_again() -> None:
    async with Session.open(record=False) as session:
        first = session.connect(server("minimal"))
        await first.ready()
        second = await first.reconnect()
        await second.ready()
        assert first.view.state is State.CLOSED


async def test_what_is_told_can_be_read_back_and_bursts_are_merged() -> None:
    changes: list[Change] = []
    async with Session.open(record=False) as session:

        def listener(change: Change) -> None:
            changes.append(change)
            assert change.seq <= session.reader.height()

        session.listen(listener)
        connection = session.connect(server("minimal"))
        await connection.ready()
        calls = [connection.call("tools/call", arguments(str(number))) for number in range(1_000)]
        for call in calls:
            await call.wait()
        last = calls[-1].outcome
        assert last is not None
        await until(
            lambda: any(change.what == "call" and change.seq >= (last.seq or 0) for change in changes)
        )
    assert {"frames", "connection", "call"} <= {change.what for change in changes}
    assert len(changes) < 500
    heights = [change.seq for change in changes if change.what == "frames"]
    assert heights == sorted(set(heights))


async def test_a_listener_that_fails_hurts_nobody_and_one_that_has_left_is_not_called() -> None:
    told: list[Change] = []
    async with Session.open(record=False) as session:

        def broken(_: Change) -> None:
            raise ValueError("a fault of the listener")

        session.listen(broken)
        leave = session.listen(told.append)
        connection = session.connect(server("minimal"))
        await until(lambda: told)
        leave()
        leave()
        count = len(told)
        await connection.ready()
        await connection.close()
        session.recorder.flush()
        assert len(told) == count


async def test_trouble_of_the_recorder_is_told() -> None:
    told: list[Change] = []
    async with Session.open(record=False) as session:
        session.listen(told.append)
        session._on_trouble("The disk is full; make room.")
        await until(lambda: any(change.what == "trouble" for change in told))
        assert session.troubles == ["The disk is full; make room."]


async def test_connections_are_closed_at_the_same_time() -> None:
    slow = server("stays", timeouts={"shutdown": 2})
    async with Session.open(record=False) as session:
        connections = [session.connect(slow) for _ in range(6)]
        for connection in connections:
            await connection.ready()
        with anyio.fail_after(10):
            await session.close_connections()
    assert {connection.view.state for connection in connections} == {State.SHUTDOWN_TIMEOUT}


async def test_an_error_ends_servers_and_recording_and_comes_out_as_it_is(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "failed.db")
    pids: list[int | None] = []

    async def work() -> None:
        async with Session.open(path=path) as session:
            good = session.connect(server("minimal"))
            await good.ready()
            pids.append(good.view.pid)
            await session.connect(server("exits_at_once")).ready()

    with pytest.raises(ConnectionFailed):
        await work()
    [pid] = pids
    assert pid is not None
    assert gone(pid)
    with Reader.open(path) as reader:
        assert not reader.live
        assert reader.sessions()[0].ended_how == "closed"


async def test_a_cancelled_session_says_that_it_was_interrupted(tmp_path: Path) -> None:
    path = str(tmp_path / "cancelled.db")
    with anyio.CancelScope() as scope:
        async with Session.open(path=path) as session:
            await session.connect(server("minimal")).ready()
            scope.cancel()
            await anyio.sleep_forever()
    with Reader.open(path) as reader:
        assert reader.sessions()[0].ended_how == "interrupted"


async def test_secret_variables_and_arguments_reach_the_server_and_no_recording(
    tmp_path: Path,
) -> None:
    path = tmp_path / "secret.db"
    secret, key = "t0ken-value-0815-secret", "sk-argument-4711-secret"
    target = server("tells_its_environment", "--api-key", key, env={"TOKEN": secret})
    async with Session.open(path=str(path)) as session:
        connection = session.connect(target)
        await connection.ready()
        assert secret in text_of(await call_tool(connection, "TOKEN"))
    raw = path.read_bytes()
    assert secret.encode() not in raw
    assert key.encode() not in raw


PROGRAM = """
import sys, anyio
from tests.servers.targets import server
from workbench.session import Session

async def main():
    async with Session.open(path=sys.argv[1]) as session:
        connection = session.connect(server("stays", "term", timeouts={"shutdown": 0.2}))
        await connection.ready()
        print(connection.view.pid, flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
async def test_a_signal_ends_servers_and_recording_in_good_order(
    tmp_path: Path, number: signal.Signals
) -> None:
    path = str(tmp_path / "signal.db")
    async with await anyio.open_process(
        [sys.executable, "-c", PROGRAM, path], cwd=str(ROOT), stderr=None
    ) as process:
        assert process.stdout is not None
        pid = int(await process.stdout.receive())
        process.send_signal(number)
        with anyio.fail_after(30):
            status = await process.wait()
    assert status == {signal.SIGINT: -signal.SIGINT}.get(number, 128 + number)
    assert gone(pid)
    with Reader.open(path) as reader:
        assert not reader.live
        how = {signal.SIGINT: "interrupted"}.get(number, number.name)
        assert reader.sessions()[0].ended_how == how


async def test_a_recording_stands_in_for_its_server(tmp_path: Path) -> None:
    path = str(tmp_path / "talk.db")
    params = '{"name":"echo","arguments":{"text":"as recorded"}}'
    async with Session.open(path=path) as session:
        connection = session.connect(server("minimal"))
        await connection.ready()
        await connection.refresh()
        await connection.request("tools/call", params)
    [replay] = parse_targets(["--replay", path, "--name", "again"])
    async with Session.open(record=False) as session:
        connection = session.connect(replay)
        await connection.ready()
        await connection.refresh()
        assert [tool.name for tool in connection.view.tools] == ["echo"]
        assert text_of(await connection.request("tools/call", params)) == "as recorded"
        assert (await connection.request("tools/call", '{"name":"other"}')).how == "error"
        await connection.close()
        assert connection.view.state is State.CLOSED


async def test_a_connection_is_never_named_after_a_credential_in_its_command() -> None:
    async with Session.open(record=False) as session:
        target = Target(command=sys.executable, args=("--token", "hush-hush-1234567"))
        connection = session.connect(target, listing=False)
        assert "hush" not in connection.name
