"""What is told of a live connection over HTTP is told of its recording too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.servers.http_script import reply
from tests.wire.http_peers import official, served
from tests.wire.http_stage import connected, target_of
from tests.wire.stage import call_tool
from workbench.core.fold import ConnectionFold, ConnectionView
from workbench.core.frame import Channel
from workbench.core.http_story import stream_words
from workbench.core.lifecycle import State
from workbench.session import Session
from workbench.store.reader import Reader

pytestmark = pytest.mark.anyio


def folded(path: Path) -> ConnectionView:
    """What an opened recording shows at its end."""
    with Reader.open(str(path)) as reader:
        [row] = reader.connections()
        fold = ConnectionFold(row.number, row.name, row.transport, row.target)
        for stream in reader.streams():
            fold.stream(stream)
        for frame in reader.frames():
            fold.advance(frame)
    return fold.snapshot()


async def test_a_recording_tells_the_streams_steps_and_end_of_its_connection(tmp_path: Path) -> None:
    path = tmp_path / "told.db"
    async with served(official("resumable")) as port, Session.open(path=str(path)) as session:
        target = target_of(f"http://127.0.0.1:{port}/mcp", {"start": 90, "request": 90})
        connection = session.connect(target)
        await connection.ready()
        await connection.refresh()
        outcome = await connection.request("tools/call", '{"name":"polls","arguments":{}}')
        assert outcome.how == "result"
        before = connection.view
        assert before.reconnects == 1
        assert before.session == "granted"
        await connection.close()
        live = connection.view
    told = folded(path)
    assert (live.state, live.session) == (State.CLOSED, "ended")
    assert [stream_words(each) for each in live.streams] == ["listening closed"]
    same = {"version": 0, "findings": live.findings, "session_id": "", "steps": ()}
    assert replace(told, **same) == replace(live, **same)  # type: ignore[arg-type]
    assert [step.label for step in told.steps] == [step.label for step in live.steps]
    session_id = before.session_id
    assert session_id.encode() not in path.read_bytes()
    assert any(step.detail == "granted, id not recorded" for step in told.steps)


async def test_a_call_that_can_get_no_answer_is_told_and_open_no_more() -> None:
    async with connected({"tools/call": reply(500, "broken")}) as stage:
        outcome = await call_tool(stage.connection, "x")
        assert outcome.how == "lost"
        view = stage.connection.view
        assert view.open_calls == ()
        assert view.state is State.READY
        [step] = [step for step in view.steps if step.label == "no answer"]
        assert "500" in step.detail
        told = [unit.data for unit in stage.sink.units if unit.channel is Channel.PROCESS]
        assert any(b'"unanswered"' in body for body in told)
        await stage.connection.close()
        assert stage.connection.view.state is State.CLOSED
