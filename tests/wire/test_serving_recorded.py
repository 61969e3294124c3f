"""What a serving half sees, in a recording."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.servers.served import echo
from tests.wire.raw import call, modern, modern_headers, raw
from tests.wire.stage import call_tool, running, text_of
from workbench.config import Target
from workbench.core.frame import Channel, Direction, Kind
from workbench.store.reader import Reader
from workbench.store.recorder import Recorder
from workbench.wire.serving_http import serve_http
from workbench.wire.tap import Tap

pytestmark = pytest.mark.anyio


async def test_each_client_is_a_recorded_connection_with_its_streams(tmp_path: Path) -> None:
    path = str(tmp_path / "served.mcprec")
    recorder = Recorder(path, name="served")

    def tap(name: str) -> Tap:
        return Tap(recorder, recorder.connect(name or "client", "http", "served"))

    async with serve_http("127.0.0.1:0", echo, tap) as serving:
        url = serving.address
        async with raw(url) as old, raw(f"{url}/shared") as new:
            await old.handshake()
            async with old.listening(call("secret to nobody", progress=1)) as events:
                await events.rest()
            await new.post(modern("tools/list"), **modern_headers("tools/list"))
        sse = Target(name="x", transport="sse", url=url.replace("/mcp", "/sse"), era="legacy")
        async with running(sse) as (connection, _):
            await connection.ready()
            assert text_of(await call_tool(connection, "hi")) == "hi"
    recorder.close()

    with Reader.open(path) as reader:
        assert [row.name for row in reader.connections()][:2] == ["client", "shared"]
        streams = {stream.number: stream for stream in reader.streams()}
        frames = list(reader.frames())
        [called] = [
            frame
            for frame in frames
            if frame.method == "tools/call" and frame.kind is Kind.REQUEST and b"nobody" in frame.body
        ]
        assert (streams[called.stream].verb, streams[called.stream].status) == ("POST", 200)
        answer = reader.frame(reader.pair(called.seq) or 0)
        assert (answer.channel, answer.direction) == (Channel.SSE, Direction.TO_CLIENT)
        assert answer.stream == called.stream
        assert {stream.closed_how for stream in streams.values()} <= {"end", "cut"}
        session = dict(streams[1].response_headers)["mcp-session-id"]
        assert session.startswith("<redacted")
        assert not [frame for frame in frames if frame.kind is Kind.INVALID]
