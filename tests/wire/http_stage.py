"""A connection to a scripted HTTP server, ready to be asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio

from tests.servers.http_script import Site, Table, serve_http
from tests.wire.stage import MemorySink, call_tool, running, text_of
from workbench.config import Target, Timeouts
from workbench.core.frame import Channel, Stream
from workbench.core.lifecycle import State
from workbench.errors import ConnectionFailed
from workbench.wire.connection import Connection


def target_of(url: str, timeouts: Mapping[str, float] | None = None, **options: Any) -> Target:
    """An HTTP target in the handshake era, unless it says otherwise."""
    return Target(
        name=options.pop("name", "scripted"),
        transport="http",
        url=url,
        era=options.pop("era", "legacy"),
        timeouts=Timeouts(**{"start": 30, "request": 30, "shutdown": 5} | dict(timeouts or {})),
        **options,
    )


class Stage(NamedTuple):
    """A connection, what it recorded, and the server."""

    connection: Connection
    sink: MemorySink
    site: Site

    async def says(self, text: str = "x") -> str:
        """What the tool says; fails if it says nothing."""
        return text_of(await call_tool(self.connection, text))

    def streams(self, verb: str) -> list[Stream]:
        return [stream for stream in self.sink.streams.values() if stream.verb == verb]

    def events(self, channel: Channel = Channel.SSE) -> list[tuple[bytes, str | None]]:
        """What came on SSE streams: data and description."""
        return [(unit.data, unit.event) for unit in self.sink.units if unit.channel is channel]


@asynccontextmanager
async def connected(
    table: Table | None = None, *, ready: bool = True, **options: Any
) -> AsyncIterator[Stage]:
    """A scripted server and a connection to it."""
    async with serve_http(table) as site, running(target_of(site.url, **options)) as (connection, sink):
        if ready:
            await connection.ready()
        yield Stage(connection, sink, site)


async def fails(url: str, sink: MemorySink | None = None, **options: Any) -> tuple[State, str]:
    """How connecting to a URL fails: the state, and what is said."""
    async with running(target_of(url, **options), sink) as (connection, _):
        try:
            await connection.ready()
        except ConnectionFailed as failure:
            with anyio.fail_after(20):
                await connection.close()
            return connection.state, f"{failure} | {connection.view.why} {connection.view.next_step}"
    raise AssertionError("the connection came about")


def case(value: object) -> str:
    """The name of a case: of an answer its status and body, of a sentence its beginning."""
    if isinstance(value, bytes):
        head, _, body = value.partition(b"\r\n\r\n")
        return f"{head[9:12].decode()} {body[:24].decode('ascii', 'replace')}".strip()
    return str(value)[:30]
