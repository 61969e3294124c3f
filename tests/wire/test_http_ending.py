"""Leaving a connection over HTTP: at once, whatever the server does, and with nothing left behind."""

from __future__ import annotations

import anyio
import pytest

from tests.servers.http_script import EVENTS, Answer, Asked, Table, Wire, event, head, plain, reply
from tests.wire.http_stage import connected
from tests.wire.stage import until
from workbench.core.lifecycle import State
from workbench.wire import http

pytestmark = pytest.mark.anyio


async def hangs(asked: Asked, wire: Wire) -> None:
    """Never answers."""
    await wire.gone()


async def hangs_in_a_stream(asked: Asked, wire: Wire) -> None:
    """Answers a little and stops."""
    await wire.write(EVENTS, b": wait\n\n")
    await wire.gone()


async def trickles(asked: Asked, wire: Wire) -> None:
    """Never stops to send."""
    await wire.write(head(200, {"content-type": "application/json", "content-length": "100000000"}))
    while True:
        await wire.write(b" ")
        await anyio.sleep(0.001)


async def floods(asked: Asked, wire: Wire) -> None:
    """Sends as fast as it can."""
    line = event('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}')
    await wire.write(EVENTS)
    while True:
        await wire.write(line * 100)


@pytest.mark.parametrize("answer", [hangs, hangs_in_a_stream, trickles, floods])
async def test_leaving_ends_everything_at_once(answer: Answer) -> None:
    table: Table = {"tools/call": answer, "GET": answer, "prompts/get": hangs}
    async with connected(table) as stage:
        calls = [stage.connection.call("tools/call", '{"name":"echo"}') for _ in range(5)]
        calls.append(stage.connection.call("prompts/get", '{"name":"p"}'))
        await until(lambda: len(stage.site.of("tools/call")) == 5 and stage.site.of("GET"), 30)
        with anyio.fail_after(30):
            await stage.connection.close()
        assert stage.connection.state is State.CLOSED
        assert {(await call.wait()).how for call in calls} == {"lost"}
        await until(lambda: all(stream.closed_how for stream in stage.sink.streams.values()))
        assert {stream.closed_how for stream in stage.streams("POST")} <= {"end", "closed"}


async def test_no_socket_is_left_open() -> None:
    open_now = 0

    async def counted(asked: Asked, wire: Wire) -> None:
        nonlocal open_now
        open_now += 1
        await wire.write(EVENTS)
        await wire.gone()
        open_now -= 1

    async with connected({"tools/call": counted, "GET": counted}) as stage:
        for _ in range(3):
            stage.connection.call("tools/call", '{"name":"echo"}')
        await until(lambda: open_now == 4)
        await stage.connection.close()
        await until(lambda: open_now == 0)


async def test_a_server_that_asks_without_taking_answers_is_not_read_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http, "MAX_PROMPTED", 20)
    asked_by_server = 0

    async def asks(asked: Asked, wire: Wire) -> None:
        nonlocal asked_by_server
        await wire.write(EVENTS)
        while True:
            asked_by_server += 1
            await wire.write(
                event(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % asked_by_server + b" " * 65536)
            )

    async def posts(asked: Asked, wire: Wire) -> None:
        if asked.method:
            await wire.write(reply(202))
        else:
            await wire.gone()

    async with connected({"GET": asks, "POST": posts, "initialize": plain}) as stage:
        await until(lambda: len(stage.events()) >= 20, 30)
        before = -1
        while before != asked_by_server:
            before = asked_by_server
            for _ in range(30):
                await anyio.sleep(0.01)
        assert 20 <= len(stage.events()) < 60
        answers = [each for each in stage.site.of("POST") if not each.method]
        assert len(answers) == http.PROMPTED_AT_ONCE


async def test_answers_that_are_taken_with_a_word_make_room_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_PROMPTED", 3)

    async def asks(asked: Asked, wire: Wire) -> None:
        await wire.write(EVENTS)
        for number in range(200):
            await wire.write(event(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % number))
        await wire.gone()

    def posts(asked: Asked) -> bytes:
        return reply(200, "Accepted", content_type="text/plain")

    async with connected({"GET": asks, "POST": posts, "initialize": plain}) as stage:
        await until(lambda: len([each for each in stage.site.of("POST") if not each.method]) == 200, 60)
