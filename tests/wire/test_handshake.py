"""From the start of a server to the end of its handshake."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from tests.servers.targets import server
from tests.wire.stage import MemorySink, call_tool, running, text_of, until
from workbench.config import Target
from workbench.core.frame import Channel
from workbench.core.lifecycle import State
from workbench.errors import ConnectionFailed

pytestmark = pytest.mark.anyio


async def refused(target: Target, sink: MemorySink | None = None) -> tuple[State, str]:
    """Connect to what cannot be connected to; the state and the sentence."""
    async with running(target, sink) as (connection, _):
        with pytest.raises(ConnectionFailed) as failure:
            await connection.ready()
        await connection.close()
        view = connection.view
        assert view.state is connection.state
        assert view.why in str(failure.value)
        assert view.next_step in str(failure.value)
        assert view.next_step
    return connection.state, str(failure.value)


async def test_the_official_sdks_server_is_ready_and_everything_of_it_is_listed() -> None:
    async with running(server("official"), listing=True) as (connection, _):
        await connection.ready()
        await connection.refresh()
        view = connection.view
        assert view.state is State.READY
        assert view.revision == "2025-11-25"
        assert view.instructions == "Only for tests."
        assert [tool.name for tool in view.tools] == ["add", "fail", "count"]
        assert [item.name for item in view.resources] == ["memo://one"]
        assert [item.name for item in view.prompts] == ["greet"]
        assert view.list_errors == {}


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_every_revision_of_the_handshake_can_be_offered_to_the_official_server(revision: str) -> None:
    async with running(server("official", offer=revision)) as (connection, _):
        await connection.ready()
        assert connection.view.revision == revision
        outcome = await connection.request("tools/call", '{"name":"add","arguments":{"a":2,"b":3}}')
        assert text_of(outcome) == "5"


async def test_the_sink_has_each_frame_before_it_is_acted_on_in_the_order_of_the_wire() -> None:
    async with running(server("minimal")) as (connection, sink):
        await connection.ready()
        outcome = await call_tool(connection, "hello")
        assert text_of(outcome) == "hello"
    methods = [message.get("method") for message in sink.sent()]
    assert methods == ["initialize", "notifications/initialized", "tools/call"]
    assert outcome.seq is not None
    answer = sink.units[outcome.seq - 1]
    assert b'"hello"' in answer.data
    # Of two frames the earlier has the smaller seq and never the later time.
    times = [unit.mono_ns for unit in sink.units]
    assert times == sorted(times)


async def test_a_revision_nobody_accepts_is_a_state_with_the_way_out() -> None:
    state, sentence = await refused(server("wants_another_revision", "1999-01-01"))
    assert state is State.VERSION_MISMATCH
    assert "1999-01-01" in sentence
    assert "--protocol-version" in sentence


async def test_a_revision_the_user_offers_is_accepted_whatever_it_is() -> None:
    target = server("wants_another_revision", "1999-01-01", offer="1999-01-01")
    async with running(target) as (connection, _):
        await connection.ready()
        assert connection.view.revision == "1999-01-01"


async def test_a_refused_handshake_names_the_revisions_the_server_lists() -> None:
    state, sentence = await refused(server("wants_another_revision"))
    assert state is State.REFUSED
    assert "2024-11-05" in sentence


async def test_a_required_capability_that_is_not_offered_is_a_state() -> None:
    state, sentence = await refused(server("minimal", require=("tools", "resources.subscribe")))
    assert state is State.CAPABILITY_MISSING
    assert "resources.subscribe" in sentence


async def test_a_server_that_never_answers_initialize_is_a_start_timeout_and_nothing_is_cancelled() -> None:
    sink = MemorySink()
    state, sentence = await refused(server("never_answers", timeouts={"start": 0.5}), sink)
    assert state is State.START_TIMEOUT
    assert "initialize within 0.5" in sentence
    assert [message["method"] for message in sink.sent()] == ["initialize"]
    assert sink.events("failed")[0]["state"] == "start_timeout"


async def test_stderr_is_seen_live_while_a_server_starts_and_waiting_can_be_given_up() -> None:
    async with running(server("never_answers")) as (connection, _):
        await until(lambda: len(connection.view.stderr) == 2)
        assert connection.view.state is State.INITIALIZING
        assert connection.view.stderr[0][1] == "downloading 1 of 3"
        await connection.close()
        assert connection.state is State.CLOSED
        with pytest.raises(ConnectionFailed):
            await connection.ready()


async def test_a_slow_server_is_waited_for(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with running(server("starts_slowly", str(gate))) as (connection, _):
        await until(lambda: connection.view.stderr)
        assert connection.view.state is State.INITIALIZING
        await anyio.to_thread.run_sync(gate.write_text, "go")
        await connection.ready()
        assert connection.state is State.READY


async def test_a_server_that_exits_at_once_is_told_with_its_status_and_last_words() -> None:
    state, sentence = await refused(server("exits_at_once"))
    assert state is State.EXITED
    assert "exited with code 2" in sentence
    assert "usage: server --config FILE" in sentence


async def test_what_is_no_message_on_stdout_is_recorded_and_the_connection_stays_open() -> None:
    async with running(server("chatty")) as (connection, sink):
        await connection.ready()
        assert text_of(await call_tool(connection, "x")) == "survived"
    from tests.servers.chatty import NOISE

    seen = sink.bodies(Channel.STDIO)
    for line in NOISE:
        assert seen.count(line[:-1]) == 2


async def test_capabilities_that_are_not_kept_break_no_other_list() -> None:
    async with running(server("tells_wrong_capabilities"), listing=True) as (connection, _):
        await connection.ready()
        await connection.refresh()
        view = connection.view
        assert [tool.name for tool in view.tools] == ["echo"]
        assert {"resources/list", "resources/templates/list", "prompts/list"} == set(view.list_errors)
        assert "Method not found" in connection.listings.failures["prompts/list"]


async def test_a_list_the_server_does_not_declare_is_read_only_when_asked_for() -> None:
    async with running(server("tells_wrong_capabilities", "silent"), listing=True) as (connection, sink):
        await connection.ready()
        await connection.refresh()
        assert not [message for message in sink.sent() if message["method"].endswith("/list")]
        await connection.refresh(force=True)
        assert [tool.name for tool in connection.view.tools] == ["echo"]


async def test_the_log_level_of_a_target_is_asked_for_only_when_the_server_has_logging() -> None:
    async with running(server("minimal", log_level="debug")) as (connection, sink):
        await connection.ready()
        await call_tool(connection, "x")
    assert "logging/setLevel" not in [message.get("method") for message in sink.sent()]
