"""The stream for what a server says on its own, and answers that are asked for again."""

from __future__ import annotations

import anyio
import pytest

from tests.servers.http_script import (
    CHUNKED,
    EVENTS,
    SESSION,
    Answer,
    Asked,
    Wire,
    answer_event,
    as_json,
    chunk,
    event,
    message,
    reply,
    said,
    streams,
    tells,
    write_answer,
)
from tests.wire.http_stage import Stage, case, connected
from tests.wire.stage import call_tool, text_of, until
from workbench.core.frame import Channel
from workbench.core.lifecycle import State

pytestmark = pytest.mark.anyio

CHANGED = event('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}', id="n1")


def stays(*events: bytes) -> Answer:
    """A GET stream that sends these and stays open."""

    async def answer(asked: Asked, wire: Wire) -> None:
        await wire.write(EVENTS, *events)
        await wire.gone()

    return answer


def told(stage: Stage, name: str, verb: str = "GET") -> list[str]:
    return [each["state"] for each in stage.sink.events(name) if each.get("verb", verb) == verb]


# Listening


async def test_the_stream_is_asked_for_once_the_handshake_is_over() -> None:
    async with connected({"GET": stays(CHANGED)}) as stage:
        await until(lambda: stage.events())
        (get,) = stage.site.of("GET")
        assert get.headers["accept"] == "text/event-stream"
        assert get.headers["mcp-session-id"] == SESSION
        assert "last-event-id" not in get.headers
        order = [each.method or each.verb for each in stage.site.asked]
        assert order.index("GET") > order.index("notifications/initialized")
    assert told(stage, "stream") == ["open", "closed"]
    assert stage.streams("GET")[0].closed_how == "closed"


@pytest.mark.parametrize(
    "answer",
    [
        reply(405),
        reply(404),
        reply(400, '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}'),
        reply(409, "there is one already"),
        reply(200, "<html></html>", content_type="text/html"),
        reply(200, "{}", content_type="application/json"),
        reply(401, www_authenticate="Bearer"),
    ],
    ids=case,
)
async def test_a_server_may_have_no_such_stream(answer: bytes) -> None:
    async with connected({"GET": answer, "tools/call": tells("all the same")}) as stage:
        await until(lambda: told(stage, "stream") == ["refused"])
        assert await stage.says() == "all the same"
        assert stage.connection.state is State.READY
        assert stage.sink.events("reconnect") == []
        assert len(stage.site.of("GET")) == 1
        (refused,) = stage.sink.events("stream")
        assert refused["status"] == stage.streams("GET")[0].status
        body = answer.partition(b"\r\n\r\n")[2]
        assert not body or body in stage.sink.bodies(Channel.HTTP)


async def test_a_stream_that_is_lost_is_asked_for_again_where_it_was() -> None:
    async def breaks(asked: Asked, wire: Wire) -> None:
        await wire.write(CHUNKED, chunk(b"retry: 100\nid: n0\ndata: \n\n" + CHANGED))
        wire.reset()

    async with connected({"GET": [breaks, stays()]}) as stage:
        await until(lambda: len(stage.site.of("GET")) == 2)
        assert stage.site.headers("GET", "last-event-id") == [None, "n1"]
        await until(lambda: told(stage, "stream") == ["open", "lost", "open"])
        (again,) = stage.sink.events("reconnect")
        first, second = stage.streams("GET")
        assert (again["stream"], again["next"]) == (first.number, second.number)
        assert (again["seconds"], again["attempt"], again["resumes"]) == (0.1, 1, True)
        assert "broke in the middle" in again["why"]
        assert first.closed_how == "cut"


async def test_a_stream_the_server_closes_is_asked_for_again_after_the_wait_it_asked_for() -> None:
    closes = EVENTS + b"retry: 200\n\n"
    async with connected({"GET": [closes, stays()]}) as stage:
        await until(lambda: len(stage.site.of("GET")) == 2)
        (again,) = stage.sink.events("reconnect")
        assert (again["seconds"], again["resumes"]) == (0.2, False)
        assert stage.site.headers("GET", "last-event-id") == [None, None]


async def test_waits_get_longer_while_nothing_comes_of_it() -> None:
    closes, busy = EVENTS + b"retry: 100\n\n", reply(503)
    async with connected({"GET": [closes, EVENTS, busy, EVENTS, stays()]}) as stage:
        await until(lambda: len(stage.site.of("GET")) == 5, 30)
        assert [each["seconds"] for each in stage.sink.events("reconnect")] == [0.1, 0.2, 0.4, 0.8]
        assert [each["attempt"] for each in stage.sink.events("reconnect")] == [1, 2, 3, 4]


async def test_a_wait_of_nothing_or_of_for_ever_is_neither() -> None:
    from workbench.core.sse import SseParser
    from workbench.wire.http_events import LONGEST_WAIT, SHORTEST_WAIT, Reading

    for text, seconds in ((b"0", SHORTEST_WAIT), (b"999999999999", LONGEST_WAIT)):
        reading = Reading(None, lambda *_: None)  # type: ignore[arg-type]
        (found,) = SseParser().feed(b"retry: " + text + b"\n\n")
        reading.noted(found)
        assert reading.wait == seconds


async def test_an_answer_may_come_on_the_other_stream() -> None:
    asked_for: list[Asked] = []
    came = anyio.Event()

    async def listens(asked: Asked, wire: Wire) -> None:
        await wire.write(EVENTS)
        await came.wait()
        await wire.write(event(message(asked_for[0], said("over there"))))
        await wire.gone()

    async def calls(asked: Asked, wire: Wire) -> None:
        asked_for.append(asked)
        came.set()
        await wire.write(EVENTS)
        await wire.gone()

    async with connected({"GET": listens, "tools/call": calls}) as stage:
        await until(lambda: told(stage, "stream") == ["open"])
        assert await stage.says() == "over there"


async def test_an_answer_on_the_other_stream_counts_also_where_the_request_was_only_taken() -> None:
    asked_for: list[Asked] = []
    came = anyio.Event()

    async def listens(asked: Asked, wire: Wire) -> None:
        await wire.write(EVENTS)
        await came.wait()
        await wire.write(event(message(asked_for[0], said("over there"))))
        await wire.gone()

    def calls(asked: Asked) -> bytes:
        asked_for.append(asked)
        came.set()
        return reply(202)

    async with connected({"GET": listens, "tools/call": calls}) as stage:
        await until(lambda: told(stage, "stream") == ["open"])
        assert await stage.says() == "over there"


async def test_the_same_message_on_two_streams_is_seen_twice_and_hurts_nothing() -> None:
    asked_for: list[Asked] = []
    came = anyio.Event()

    async def listens(asked: Asked, wire: Wire) -> None:
        await wire.write(EVENTS)
        await came.wait()
        await wire.write(event(message(asked_for[0], said("twice"))))
        await wire.gone()

    def calls(asked: Asked) -> bytes:
        asked_for.append(asked)
        came.set()
        return EVENTS + event(message(asked, said("twice")))

    async with connected({"GET": listens, "tools/call": calls}) as stage:
        await until(lambda: told(stage, "stream") == ["open"])
        assert await stage.says() == "twice"
        await until(lambda: len([data for data, _ in stage.events() if b"twice" in data]) == 2)
        assert stage.connection.state is State.READY


async def test_a_request_of_the_server_on_the_stream_is_answered_by_a_post() -> None:
    async with connected({"GET": stays(event('{"jsonrpc":"2.0","id":"p1","method":"ping"}'))}) as stage:
        await until(lambda: [each for each in stage.site.of("POST") if each.message.get("id") == "p1"])


# Resuming


def breaking(*events: bytes) -> Answer:
    """An SSE answer that ends too early, in the middle of the stream."""

    async def answer(asked: Asked, wire: Wire) -> None:
        await wire.write(CHUNKED, *(chunk(each) for each in events))
        wire.reset()

    return answer


class Resumable:
    """A server whose GETs with ``Last-Event-ID`` get the rest of the answer to the last call: the
    given answers, one after the other, and the last one from then on."""

    def __init__(self, first: Answer, *resumed: Answer) -> None:
        self._first = first
        self._resumed = list(resumed)
        self._call: Asked | None = None

    async def calls(self, asked: Asked, wire: Wire) -> None:
        self._call = asked
        await write_answer(self._first, asked, wire)

    async def gets(self, asked: Asked, wire: Wire) -> None:
        if "last-event-id" not in asked.headers:
            await wire.write(reply(405))
            return
        assert self._call is not None
        answer = self._resumed.pop(0) if len(self._resumed) > 1 else self._resumed[0]
        await write_answer(answer, self._call, wire)

    @property
    def table(self) -> dict[str, Answer]:
        return {"tools/call": self.calls, "GET": self.gets}


PRIMED = b"retry: 100\nid: e1\ndata: \n\n"


async def test_an_answer_that_breaks_off_after_an_id_is_asked_for_again() -> None:
    server = Resumable(breaking(PRIMED), streams(answer_event("the rest", id="e2")))
    async with connected(server.table) as stage:
        assert await stage.says() == "the rest"
        get = stage.site.of("GET")[-1]
        assert get.headers["last-event-id"] == "e1"
        assert get.headers["mcp-session-id"] == SESSION
        assert len(stage.site.of("tools/call")) == 1
        (again,) = stage.sink.events("reconnect")
        post = stage.streams("POST")[-1]
        assert (again["stream"], again["resumes"], again["seconds"]) == (post.number, True, 0.1)
        assert again["next"] == stage.streams("GET")[-1].number


async def test_a_server_may_close_the_stream_as_often_as_it_likes_while_it_goes_on() -> None:
    rounds = [streams(b"id: e%d\ndata: \n\n" % at) for at in range(2, 10)]
    server = Resumable(EVENTS + PRIMED, *rounds, streams(answer_event("at last")))
    async with connected(server.table) as stage:
        assert await stage.says() == "at last"
        ids = [each for each in stage.site.headers("GET", "last-event-id") if each]
        assert ids == [f"e{at}" for at in range(1, 10)]
        assert {each["attempt"] for each in stage.sink.events("reconnect")} == {1}


async def test_asking_again_is_given_up_after_a_few_times_that_brought_nothing() -> None:
    server = Resumable(breaking(PRIMED), EVENTS)
    async with connected(server.table, timeouts={"request": 60}) as stage:
        outcome = await call_tool(stage.connection, "x")
        assert outcome.how == "lost"
        assert "closed the stream before it answered" in outcome.why
        assert [each["seconds"] for each in stage.sink.events("reconnect")] == [0.1, 0.2, 0.4, 0.8, 1.6]
        assert stage.connection.state is State.READY


@pytest.mark.parametrize("answer", [reply(405), reply(404), reply(400, "unknown event id")], ids=case)
async def test_a_server_that_refuses_to_go_on_ends_the_call_alone(answer: bytes) -> None:
    def prompts(asked: Asked) -> bytes:
        return as_json(asked, {"prompts": []})

    server = Resumable(breaking(PRIMED), answer)
    async with connected({**server.table, "prompts/list": prompts}) as stage:
        outcome = await call_tool(stage.connection, "x")
        assert outcome.how == "lost"
        assert "Asked for the rest, " in outcome.why
        assert stage.connection.state is State.READY
        assert await stage.connection.list("prompts/list") == []


async def test_a_server_that_is_away_for_a_moment_is_asked_again() -> None:
    server = Resumable(breaking(PRIMED), reply(503), streams(answer_event("back")))
    async with connected(server.table) as stage:
        assert await stage.says() == "back"


async def test_an_answer_that_breaks_off_without_any_id_is_not_asked_for() -> None:
    async with connected({"tools/call": [breaking(b": hello\n\n"), tells("next")]}) as stage:
        outcome = await call_tool(stage.connection, "x")
        assert outcome.how == "lost"
        assert "broke in the middle of the answer" in outcome.why
        assert stage.sink.events("reconnect") == []
        assert await stage.says() == "next"


async def test_half_an_event_is_recorded_and_its_id_is_not_where_reading_goes_on() -> None:
    broken = breaking(PRIMED + b'id: e2\ndata: {"jsonrpc":')
    server = Resumable(broken, streams(answer_event("whole", id="e2")))
    async with connected(server.table) as stage:
        assert await stage.says() == "whole"
        assert stage.site.headers("GET", "last-event-id")[-1] == "e1"
        assert (b'{"jsonrpc":', '{"id":"e2","raw":"id: e2\\ndata: {\\"jsonrpc\\":"}') in stage.events()


async def test_a_call_that_was_cancelled_is_not_asked_for_again() -> None:
    cancelled = anyio.Event()

    async def calls(asked: Asked, wire: Wire) -> None:
        await wire.write(CHUNKED, chunk(PRIMED))
        await cancelled.wait()
        wire.reset()

    async with connected({"tools/call": calls}) as stage:
        call = stage.connection.call("tools/call", '{"name":"echo"}')
        await until(lambda: stage.events())
        call.cancel()
        await until(lambda: stage.site.of("notifications/cancelled"))
        cancelled.set()
        await until(lambda: stage.streams("POST")[-2].closed_how == "cut")
        for _ in range(20):
            await anyio.sleep(0.01)
        assert stage.sink.events("reconnect") == []


async def test_an_answer_after_the_call_was_cancelled_is_still_seen_as_late() -> None:
    cancelled = anyio.Event()

    async def calls(asked: Asked, wire: Wire) -> None:
        await wire.write(EVENTS, PRIMED)
        await cancelled.wait()
        await wire.write(event(message(asked, said("too late"))))

    async with connected({"tools/call": calls}) as stage:
        call = stage.connection.call("tools/call", '{"name":"echo"}')
        await until(lambda: stage.events())
        call.cancel()
        assert (await call.wait()).how == "cancelled"
        cancelled.set()
        await until(lambda: any(b"too late" in data for data, _ in stage.events()))


async def test_the_other_stream_stays_while_an_answer_is_asked_for_again() -> None:
    server = Resumable(breaking(PRIMED), streams(answer_event("both")))

    async def gets(asked: Asked, wire: Wire) -> None:
        if "last-event-id" in asked.headers:
            await server.gets(asked, wire)
        else:
            await write_answer(stays(), asked, wire)

    async with connected({**server.table, "GET": gets}) as stage:
        await until(lambda: told(stage, "stream") == ["open"])
        assert text_of(await call_tool(stage.connection, "x")) == "both"
        assert told(stage, "stream") == ["open"]


async def test_no_request_is_sent_before_the_server_can_ask_on_the_stream() -> None:
    order: list[str] = []

    async def listens(asked: Asked, wire: Wire) -> None:
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        order.append("listening")
        await wire.write(EVENTS)
        await wire.gone()

    def calls(asked: Asked) -> bytes:
        order.append("called")
        return tells("x")(asked)

    async with connected({"GET": listens, "tools/call": calls}) as stage:
        await stage.says()
        assert order == ["listening", "called"]


async def test_a_stream_whose_head_does_not_come_holds_up_no_request() -> None:
    async def silent(asked: Asked, wire: Wire) -> None:
        await wire.gone()

    async with connected({"GET": silent, "tools/call": tells("all the same")}) as stage:
        assert await stage.says() == "all the same"
