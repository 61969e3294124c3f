"""A mock client made of a session verifies the same server, run anew, and tells what another one does."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.replay.verifying import QUICK, call, in_memory, over_http, read, record, target, verdicts, verify
from tests.servers.makes_things_up import TOKEN
from tests.servers.targets import ROOT
from workbench.config import Target
from workbench.core.frame import Channel, Direction, Kind
from workbench.replay.manner import Manner
from workbench.replay.verification import CHANGED, ERROR_NOW, EXTRA, MISSING, SLOWER, Verification
from workbench.session import Session

pytestmark = pytest.mark.anyio

Where = Callable[..., AbstractAsyncContextManager[Target]]
ERAS = ("legacy", "modern")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def against(tmp_path: Path, *faults: str, era: str = "legacy", manner: Manner = QUICK) -> Verification:
    """A session of the whole server, verified against one with faults."""
    path = tmp_path / "whole.db"
    async with in_memory(era=era) as server:
        await record(path, server)
    async with in_memory(*faults, era=era) as server:
        told = await verify(read(path), server, manner)
    assert TOKEN not in json.dumps(told.value())
    return told


def places(told: Verification) -> list[tuple[str, str, str]]:
    """Every difference: method, pointer, and why in words."""
    return [(each.request.method, one.pointer, one.why) for each in told.compared for one in each.differences]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("where", [in_memory, over_http])
async def test_the_same_server_run_anew_is_equal(tmp_path: Path, where: Where, era: str) -> None:
    path, again = tmp_path / "one.db", tmp_path / "two.db"
    async with where(era=era) as server:
        await record(path, server)
    async with where(era=era) as server:
        told = await verify(read(path), server, record=str(again))
    assert told.agrees, (told.sentence, places(told), [each.sentence for each in told.questions])
    assert set(told.counts) == {"equal"}
    assert told.notes == []
    # What the server made up went back to it, and nothing of the other run did.
    made, given_back = told_by(again), told_by(path)
    for name, values in made.items():
        assert values, name
        assert not values & given_back[name], name
        assert all(value in sent_in(again) for value in values), name
        assert not any(value in sent_in(again) for value in given_back[name]), name


def told_by(path: Path) -> dict[str, set[str]]:
    """What a server made up that the client has to use."""
    made: dict[str, set[str]] = {}
    for body in bodies(path, Direction.TO_CLIENT):
        result = json.loads(body).get("result") or {}
        for name in ("nextCursor", "requestState"):
            if name in result:
                made.setdefault(name, set()).add(result[name])
        if "task" in result:
            made.setdefault("taskId", set()).add(result["task"]["taskId"])
        if "structuredContent" in result:
            made.setdefault("uri", set()).add(result["structuredContent"]["uri"])
    return made


def bodies(path: Path, direction: Direction) -> list[bytes]:
    carried = (Channel.STDIO, Channel.HTTP, Channel.SSE)
    return [
        frame.body
        for frame in read(path).frames
        if frame.direction is direction and frame.channel in carried and frame.body[:1] == b"{"
    ]


def requests_in(path: Path) -> list[tuple[int, str]]:
    """The requests of the clients in order: connection and method; how often a task is polled is chance."""
    return [
        (frame.connection, frame.method or "")
        for frame in read(path).frames
        if frame.direction is Direction.TO_SERVER
        and frame.kind is Kind.REQUEST
        and frame.method != "tasks/get"
    ]


def sent_in(path: Path) -> str:
    return b"\n".join(bodies(path, Direction.TO_SERVER)).decode()


@pytest.mark.parametrize("era", ERAS)
async def test_one_changed_field_is_told_and_nothing_else(tmp_path: Path, era: str) -> None:
    told = await against(tmp_path, "changed", era=era)
    assert verdicts(told) == [("tools/call", "create", CHANGED)]
    assert places(told) == [("tools/call", "/structuredContent/kind", "")]
    assert told.questions == []


@pytest.mark.parametrize("era", ERAS)
async def test_one_missing_tool_is_told_however_the_pages_are_cut(tmp_path: Path, era: str) -> None:
    told = await against(tmp_path, "missing", era=era)
    [listing, call, read_] = told.disagreeing
    assert places(told) == [("tools/list", "/tools/2", "")]
    assert listing.differences[0].recorded["name"] == "create"
    assert listing.why == "in all pages as one list"
    assert (call.request.name, call.verdict) == ("create", ERROR_NOW)
    assert "Unknown tool: create (-32602)" in call.why
    # What the tool would have made is not there either.
    assert (read_.request.method, read_.verdict) == ("resources/read", ERROR_NOW)
    assert told.notes == ["tools/list came on 2 pages, and on 3 when it was recorded."]


async def test_one_tool_more_is_told_though_it_takes_a_page_more(tmp_path: Path) -> None:
    path = tmp_path / "less.db"
    async with in_memory("missing") as server:
        await record(path, server)
    async with in_memory() as server:
        told = await verify(read(path), server)
    listing, _call = told.disagreeing
    [new] = listing.differences
    assert (new.pointer, new.live["name"]) == ("/tools/2", "create")


@pytest.mark.parametrize("era", ERAS)
async def test_one_list_in_another_order_is_told_so(tmp_path: Path, era: str) -> None:
    told = await against(tmp_path, "reordered", era=era)
    assert verdicts(told) == [("tools/list", None, CHANGED)]
    assert places(told) == [
        ("tools/list", "/tools", "the same items in another order: 'ask' was item 0 and is item 1")
    ]


async def test_one_slower_call_is_told_and_decides_where_times_count(tmp_path: Path) -> None:
    told = await against(tmp_path, "slow")
    assert told.agrees
    assert [each.request.name for each in told.compared if each.slow()] == ["create"]
    (tmp_path / "whole.db").unlink()
    told = await against(tmp_path, "slow", manner=Manner(timeout=5, silence=0.2, slower=3))
    assert verdicts(told) == [("tools/call", "create", SLOWER)]


async def test_an_error_is_told_without_the_secret_in_it(tmp_path: Path) -> None:
    told = await against(tmp_path, "refuses")
    first = told.disagreeing[0]
    assert (first.request.name, first.verdict) == ("create", ERROR_NOW)
    assert "no more notes for <redacted:1 github token> (-32603)" in first.why


async def test_a_value_that_is_a_secret_now_is_told_without_it(tmp_path: Path) -> None:
    told = await against(tmp_path, "leaks")
    [different] = told.disagreeing[0].differences
    assert (different.recorded, different.live) == ("note", "<redacted:1 github token>")


async def test_a_question_that_does_not_come_holds_nothing_up(tmp_path: Path) -> None:
    told = await against(tmp_path, "silent")
    assert verdicts(told) == [("tools/call", "book", CHANGED)]
    assert [(each.verdict, each.method) for each in told.questions] == [(MISSING, "elicitation/create")] * 2
    assert told.compared[-1].request.method == "tasks/result"
    assert told.compared[-1].seconds is not None


async def test_a_question_in_other_words_gets_the_recorded_answer_and_is_told(tmp_path: Path) -> None:
    told = await against(tmp_path, "asks-more")
    otherwise, extra = told.questions
    assert otherwise.verdict == CHANGED
    assert 'otherwise: /message: "Where?" is now "Really?".' in otherwise.sentence
    assert (extra.verdict, extra.answered) == (EXTRA, "declined")


@pytest.mark.parametrize("era", ERAS)
async def test_a_session_of_stdio_verifies_a_server_over_any_transport(tmp_path: Path, era: str) -> None:
    path = tmp_path / "lines.db"
    command = (sys.executable, "-m", "tests.servers.makes_things_up")
    stdio = target("stdio", command=command[0], args=command[1:], cwd=str(ROOT), era=era)
    await record(path, stdio)
    kinds: list[dict[str, Any]] = [{"kind": "http"}, *([{"kind": "sse"}] if era == "legacy" else [])]
    for kind in kinds:
        async with over_http(era=era, **kind) as server:
            told = await verify(read(path), server)
        assert told.agrees, (kind, told.sentence, places(told))
    assert (await verify(read(path), stdio)).agrees


async def test_connections_of_a_session_go_side_by_side_each_with_what_it_was_given(tmp_path: Path) -> None:
    path, again = tmp_path / "two.db", tmp_path / "again.db"
    async with in_memory() as server:
        await record(path, server, times=2)
        whole = read(path)
        told = await verify(whole, server, record=str(again))
    assert told.agrees, (told.sentence, places(told))
    assert len(whole.names) == 2
    # Requests went out in the order they had been sent in, whichever connection they are of.
    assert requests_in(again) == requests_in(path)
    uris = told_by(again)["uri"]
    assert len(uris) == 2
    assert all(uri in sent_in(again) for uri in uris)


async def test_a_server_that_cannot_be_started_is_no_verdict_on_its_answers(tmp_path: Path) -> None:
    path = tmp_path / "one.db"
    async with in_memory() as server:
        await record(path, server)
    told = await verify(read(path), target("stdio", command="/nowhere/at-all"))
    assert {each.verdict for each in told.compared} == {MISSING}
    assert all("/nowhere/at-all" in each.why for each in told.compared)


async def record_a_cancel(path: Path, server: Target) -> None:
    """Listen, give up a call, and have a change told."""
    async with Session.open(path=str(path), origin="command") as session:
        connection = session.connect(server, listing=True)
        await connection.ready()
        await connection.refresh()
        slow = connection.call("tools/call", json.dumps({"name": "slow", "arguments": {"seconds": 30}}))
        await anyio.sleep(0.05)
        slow.cancel()
        await call(connection, "poke")
        with anyio.fail_after(30):
            while sum(b'"tools/list"' in each for each in requests_of(session)) < 6:
                await anyio.sleep(0.05)
        await connection.refresh()


def requests_of(session: Session) -> list[bytes]:
    frames = session.reader.frames()
    return [frame.body for frame in frames if frame.direction is Direction.TO_SERVER]


@pytest.mark.parametrize("made", [in_memory, over_http])
async def test_a_cancelled_call_is_cancelled_in_the_way_of_each_transport(
    tmp_path: Path, made: Where
) -> None:
    path = tmp_path / "cancel.db"
    async with made(era="modern") as server:
        await record_a_cancel(path, server)
    for place, where in enumerate((in_memory, over_http)):
        again = tmp_path / f"again-{place}.db"
        async with where(era="modern") as server:
            told = await verify(read(path), server, record=str(again))
        assert told.agrees, (told.sentence, places(told))
        [cancelled] = [each for each in told.compared if each.request.name == "slow"]
        assert cancelled.why == "cancelled"
        run = read(again)
        [slow] = [frame for frame in run.frames if b'"slow"' in frame.body and frame.kind is Kind.REQUEST]
        cancels = [
            json.loads(frame.body) for frame in run.frames if frame.method == "notifications/cancelled"
        ]
        named = [each["params"]["requestId"] for each in cancels]
        if where is in_memory:
            assert json.loads(slow.id or "") in named
        else:
            # The stream says it, and nothing else may ("Cancellation", 2026-07-28).
            [stream] = [each for each in run.streams if each.number == slow.stream]
            assert (stream.status, stream.closed_how) == (None, "closed")
            assert named == []
        # The second listing came when the change had been told, as it had then.
        told_at = next(
            frame.seq for frame in run.frames if frame.method == "notifications/tools/list_changed"
        )
        asked = [
            frame.seq for frame in run.frames if frame.method == "tools/list" and frame.kind is Kind.REQUEST
        ]
        assert asked[2] < told_at < asked[3]
