"""Which era a server over stdio speaks, with servers of every manner, and what a recording tells of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.servers.targets import server
from tests.wire.stage import MemorySink, running, text_of, until
from workbench.config import Target
from workbench.core.fold import ConnectionFold
from workbench.core.frame import Frame
from workbench.core.jsonrpc import decode
from workbench.core.lifecycle import State
from workbench.errors import ConnectionFailed
from workbench.wire.connection import Connection
from workbench.wire.eras import place_of

pytestmark = pytest.mark.anyio

ECHO = '{"name":"echo","arguments":{"text":"hello"}}'


def started(sink: MemorySink) -> int:
    return len(sink.events("started"))


def methods(sink: MemorySink) -> list[str]:
    return [message["method"] for message in sink.sent() if "method" in message]


def verdicts(sink: MemorySink) -> list[str]:
    return [event["era"] for event in sink.events("era")]


def folded(sink: MemorySink) -> Any:
    """What an opened recording of it would show."""
    fold = ConnectionFold(1)
    for seq, unit in enumerate(sink.units, 1):
        decoded = decode(unit.data)
        message = decoded.messages[0] if len(decoded.messages) == 1 else None
        fold.advance(
            Frame(
                seq,
                1,
                unit.wall_ns,
                unit.mono_ns,
                unit.direction,
                unit.channel,
                decoded.kind,
                unit.data,
                len(unit.data),
                method=message.method if message else None,
                id=message.id if message else None,
            )
        )
    return fold.view


def peer(command: list[str], era: Any) -> Target:
    return Target(name="peer", command=command[0], args=tuple(command[1:]), era=era)


async def works(connection: Connection) -> None:
    await connection.ready()
    assert text_of(await connection.request("tools/call", ECHO)) == "hello"


@pytest.mark.parametrize(
    ("module", "words", "era"),
    [
        ("minimal", (), "legacy"),
        ("official", (), "modern"),
        ("stateless", (), "modern"),
        ("stateless", ("handshake",), "modern"),
        ("stateless", ("legacy-only",), "legacy"),
        ("stateless", ("draft",), "modern"),
        ("stateless", ("no-type", "no-hints", "no-info"), "modern"),
    ],
)
async def test_a_server_is_spoken_to_in_the_era_it_knows(module: str, words: Any, era: str) -> None:
    async with running(server(module, *words, era="auto"), listing=True) as (connection, sink):
        await connection.ready()
        assert [item["name"] for item in await connection.list("tools/list")]
        assert (connection.conversation.era, verdicts(sink), started(sink)) == (era, [era], 1)
        assert ("initialize" in methods(sink)) is (era == "legacy")
        assert sink.notes()[0] == {"event": "probe", "id": "1"}
        await connection.listings.settled()
        view = folded(sink)
        assert (view.era, view.state, view.revision) == (era, State.READY, connection.conversation.revision)
        assert view.server_info == (connection.conversation.server_info or {})
        assert [tool.name for tool in view.tools]
        assert (connection.view.era, connection.view.state) == (era, State.READY)


async def test_a_chosen_handshake_is_begun_without_a_probe() -> None:
    async with running(server("stateless", "handshake", era="legacy")) as (connection, sink):
        await works(connection)
        assert methods(sink)[0] == "initialize"
        assert not sink.notes()
        assert not verdicts(sink)


async def test_a_chosen_stateless_era_is_begun_without_a_handshake() -> None:
    async with running(server("stateless", "undiscoverable", era="modern")) as (connection, sink):
        await works(connection)
        assert "initialize" not in methods(sink)
        assert not sink.notes()
        assert any("Method not found" in remark for remark in connection.dealings.remarks)
        view = folded(sink)
        assert (view.era, view.state) == ("modern", State.READY)


async def test_a_server_without_the_chosen_era_is_told_with_the_way_out() -> None:
    for words, era, step in ((("legacy-only",), "modern", "--era legacy"), ((), "legacy", "--era modern")):
        async with running(server("stateless", *words, era=era)) as (connection, _):
            with pytest.raises(ConnectionFailed, match=step):
                await connection.ready()


async def test_versions_that_nobody_released_are_told_with_a_way_to_name_one() -> None:
    async with running(server("stateless", "never-released", era="auto")) as (connection, _):
        with pytest.raises(ConnectionFailed, match="--protocol-version DRAFT-2026-v9"):
            await connection.ready()
        assert connection.state is State.VERSION_MISMATCH
        assert connection.view.state is State.VERSION_MISMATCH


async def test_a_server_that_is_silent_to_the_probe_is_offered_a_handshake_on_the_same_pipe() -> None:
    async with running(server("stateless", "silent", era="auto")) as (connection, sink):
        await works(connection)
        assert methods(sink)[:2] == ["server/discover", "initialize"]
        assert started(sink) == 1
        (era,) = sink.events("era")
        assert era["era"] == "legacy"
        assert "sign of life" in era["found"]
        assert folded(sink).era == "legacy"


async def test_a_server_that_ends_on_the_probe_is_started_anew_without_it() -> None:
    async with running(server("stateless", "ends", era="auto")) as (connection, sink):
        await works(connection)
        assert started(sink) == 2
        assert [
            event["event"] for event in sink.events() if event["event"] in ("exited", "era", "restart")
        ] == [
            "exited",
            "era",
            "restart",
        ]
        view = folded(sink)
        assert (view.era, view.state, view.exit_code) == ("legacy", State.READY, None)
        assert connection.view.state is State.READY


async def test_an_answer_to_the_probe_before_the_one_to_initialize_decides() -> None:
    async with running(server("stateless", "late", era="auto")) as (connection, sink):
        await works(connection)
        assert started(sink) == 1
        assert verdicts(sink) == ["legacy", "modern"]
        assert connection.conversation.era == "modern"
        view = folded(sink)
        assert (view.era, view.state) == ("modern", State.READY)


async def test_a_server_that_is_locked_to_the_stateless_era_is_started_anew(tmp_path: Path) -> None:
    async with running(server("stateless", f"once={tmp_path / 'slow'}", era="auto")) as (connection, sink):
        await works(connection)
        assert started(sink) == 2
        assert verdicts(sink) == ["legacy", "modern"]
        assert len(sink.events("restart")) == 1
        view = folded(sink)
        assert (view.era, view.state, connection.view.state) == ("modern", State.READY, State.READY)


async def test_connecting_again_does_not_probe_a_server_that_is_known() -> None:
    known: dict[Any, str] = {}
    for words, expected in ((("silent",), ["server/discover", "initialize"]), (("silent",), ["initialize"])):
        async with running(server("stateless", *words, era="auto"), verdicts=known) as (connection, sink):
            await works(connection)
            assert methods(sink)[: len(expected)] == expected


async def test_a_known_era_that_is_contradicted_is_looked_for_again() -> None:
    target = server("stateless", era="auto")
    known = {place_of(target): "legacy"}
    async with running(target, verdicts=known) as (connection, sink):
        await works(connection)
        assert methods(sink)[:2] == ["initialize", "server/discover"]
        assert started(sink) == 2
        assert verdicts(sink) == ["legacy", "modern"]
        assert folded(sink).era == connection.view.era == "modern"
        assert connection.conversation.era == "modern"
        assert known[place_of(target)] == "modern"


async def test_a_server_that_fails_in_either_era_says_why() -> None:
    async with running(server("exits_at_once", era="auto")) as (connection, sink):
        with pytest.raises(ConnectionFailed):
            await connection.ready()
        await connection.close()
        assert started(sink) == 2
        assert connection.state is State.EXITED
        assert connection.view.state is State.EXITED


async def test_closing_while_the_era_is_looked_for_ends_the_server() -> None:
    async with running(server("never_answers", era="auto")) as (connection, sink):
        await until(lambda: methods(sink))
        await connection.close()
        assert connection.state in (State.CLOSED, State.SHUTDOWN_TIMEOUT)


# The stateless era at work


async def test_a_call_goes_through_its_rounds_and_stays_one_call() -> None:
    held = ("elicitation/create",)
    async with running(server("stateless", era="modern"), held=held) as (connection, sink):
        await connection.ready()
        calls = [
            connection.call("tools/call", f'{{"name":"ask","arguments":{{"who":"{who}"}}}}')
            for who in ("Ann", "Bo")
        ]
        await until(lambda: len(connection.inbox) == 2)
        for call, (id_text, asked) in zip(calls, list(connection.inbox.items()), strict=True):
            assert asked.params["message"] == f"{call.name and ('Ann?' if call is calls[0] else 'Bo?')}"
            assert connection.answer(id_text, '{"action":"accept","content":{"n":"x"}}')
        with anyio.fail_after(20):
            outcomes = [await call.wait() for call in calls]
        assert [text_of(outcome).split(":")[0] for outcome in outcomes] == ["two of Ann", "two of Bo"]
        for call in calls:
            assert [[method for _, method in each.asked] for each in call.rounds] == [
                ["elicitation/create", "roots/list"],
                [],
            ]
            assert len({call.number, *(each.number for each in call.rounds)}) == 3
            assert 0 not in [call.request_seq, *(each.request_seq for each in call.rounds)]
            assert call.remarks == ["answered roots/list with the configured roots"]
        assert not connection.inbox
        assert {note["event"] for note in sink.notes()} == {"answered"}


async def test_refusing_what_is_asked_ends_the_call_and_nothing_else() -> None:
    held = ("elicitation/create",)
    async with running(server("stateless", era="modern"), held=held) as (connection, sink):
        await connection.ready()
        call = connection.call("tools/call", '{"name":"ask","arguments":{"who":"Ann"}}')
        await until(lambda: connection.inbox)
        assert connection.answer(next(iter(connection.inbox)), error=(-1, "no", None))
        outcome = await call.wait()
        assert outcome.how == "refused"
        assert "elicitation/create" in outcome.sentence
        assert not connection.inbox
        assert not connection.view.peer_requests
        assert [each["id"] for each in sink.events("abandoned")] == [str(call.number)]
        assert text_of(await connection.request("tools/call", ECHO)) == "hello"


async def test_lists_stay_fresh_because_changes_are_listened_to() -> None:
    async with running(server("stateless", era="auto"), listing=True) as (connection, sink):
        await connection.ready()
        await until(lambda: len([each for each in methods(sink) if each == "tools/list"]) == 1)
        await until(lambda: "subscriptions/listen" in methods(sink))
        await connection.request("tools/call", '{"name":"poke"}')
        await until(lambda: len([each for each in methods(sink) if each == "tools/list"]) == 2)


async def test_subscribing_to_a_resource_is_listening_to_it() -> None:
    async with running(server("stateless", era="modern")) as (connection, sink):
        await connection.ready()
        assert connection.conversation.offers("resources/subscribe")
        outcome = await connection.request("resources/subscribe", '{"uri":"a:1"}')
        assert outcome.how == "result"
        assert "resources/subscribe" not in methods(sink)
        assert (await connection.request("resources/unsubscribe", '{"uri":"a:1"}')).how == "result"
        assert sink.sent()[-1]["method"] == "notifications/cancelled"


async def test_a_cancelled_call_is_told_to_the_server() -> None:
    async with running(server("stateless", era="modern")) as (connection, sink):
        await connection.ready()
        call = connection.call("tools/call", '{"name":"wait"}')
        call.cancel("enough")
        assert (await call.wait()).how == "cancelled"
        await until(lambda: any(b"cancelled" in unit.data for unit in sink.units if unit.channel == 2))


# Real servers


async def test_the_python_sdks_servers_are_locked_to_the_era_they_are_spoken_to_in(
    time_command: list[str], git_command: list[str]
) -> None:
    for command in (time_command, git_command):
        for era, revision in (("auto", "2026-07-28"), ("modern", "2026-07-28"), ("legacy", "2025-11-25")):
            target = peer(command, era)
            async with running(target) as (connection, _):
                await connection.ready()
                assert connection.view.revision == revision
                assert await connection.list("tools/list")
                if revision == "2026-07-28":
                    params = '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}'
                    error = (await connection.request("initialize", params)).error
                    assert error["code"] == -32022
                    assert revision in error["message"]
                else:
                    assert (await connection.request("server/discover", "{}")).how == "error"


async def test_the_typescript_sdks_server_speaks_both_eras(typescript_command: list[str]) -> None:
    for era, revision in (("auto", "2026-07-28"), ("modern", "2026-07-28"), ("legacy", "2025-11-25")):
        target = peer(typescript_command, era)
        async with running(target) as (connection, _):
            await connection.ready()
            assert connection.view.revision == revision
            outcome = await connection.request("tools/call", '{"name":"add","arguments":{"a":2,"b":3}}')
            assert text_of(outcome) == "5"
