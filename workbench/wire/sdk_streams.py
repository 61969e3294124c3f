"""The streams of a client of the official SDK (``mcp`` 1.x and 2.x), with whoever serves at their other end.

The wire carries lines, as stdio does, and what goes over it is what goes over
stdio: a line that is no message comes out as the exception of reading it.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream

from workbench.wire.serving import LineClient, attend, let_go
from workbench.wire.serving_mock import NoSink
from workbench.wire.tap import Tap
from workbench.wire.transport import Serve


@asynccontextmanager
async def sdk_streams(serve: Serve, tap: Tap | None = None) -> AsyncIterator[tuple[Any, Any]]:
    """What a ``ClientSession`` reads from and writes to, while ``serve`` serves it."""
    read, write = _formats()
    to_client, from_server = anyio.create_memory_object_stream[Any](math.inf)
    to_server, from_client = anyio.create_memory_object_stream[Any](math.inf)

    def deliver(line: bytes) -> None:
        try:
            to_client.send_nowait(read(line))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            client.tap.process("undelivered", bytes=len(line), why="the client is gone")

    client = LineClient("", tap or Tap(NoSink(), 1), deliver, to_client.close)
    ended = anyio.Event()

    async def served() -> None:
        await attend(serve, client)
        client.inbox.close()
        client.hang_up()
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(served)
        group.start_soon(_take, from_client, client, write)
        try:
            async with from_server, to_server:
                yield from_server, to_server
        finally:
            with anyio.CancelScope(shield=True):
                await let_go(client.inbox, ended)
            group.cancel_scope.cancel()


async def _take(
    messages: MemoryObjectReceiveStream[Any], client: LineClient, write: Callable[[Any], str]
) -> None:
    """Hand over what the client sends, until it sends no more."""
    async with messages:
        async for message in messages:
            client.arrived(write(message).encode())
    client.inbox.close()


def _formats() -> tuple[Callable[[bytes], Any], Callable[[Any], str]]:
    """How the installed SDK reads a line and writes a message."""
    from mcp import types as installed
    from mcp.shared.message import SessionMessage

    types: Any = installed
    adapter = getattr(types, "jsonrpc_message_adapter", None)
    if adapter is None:  # 1.x
        parse, how = types.JSONRPCMessage.model_validate_json, {"exclude_none": True}
    else:
        parse, how = adapter.validate_json, {"exclude_unset": True}

    def read(line: bytes) -> Any:
        try:
            return SessionMessage(parse(line))
        except ValueError as error:
            return error

    def write(message: Any) -> str:
        text: str = message.message.model_dump_json(by_alias=True, **how)
        return text

    return read, write
