"""The server of ``official`` over streamable HTTP, on the port in ``PORT``.

With ``json`` its answers are JSON instead of streams, with ``resumable`` its events can be asked for
again. ``polls`` closes its own stream before it answers, ``holds`` answers when a file is there.
"""

from __future__ import annotations

import os
import sys

import anyio
from mcp.server.mcpserver import Context
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore

from tests.servers.official import server


class Memory(EventStore):
    """Keeps every event."""

    def __init__(self) -> None:
        self._events: list[tuple[str, object]] = []

    async def store_event(self, stream_id, message):  # type: ignore[no-untyped-def]
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id, send_callback: EventCallback):  # type: ignore[no-untyped-def]
        stream, _ = self._events[int(last_event_id) - 1]
        for at in range(int(last_event_id), len(self._events)):
            owner, message = self._events[at]
            if owner == stream and message is not None:
                await send_callback(EventMessage(message, str(at + 1)))  # type: ignore[arg-type]
        return stream


@server.tool()
async def polls(ctx: Context) -> str:
    """Closes the stream of this call, as a server may that lets clients poll."""
    await ctx.close_sse_stream()
    return "polled"


@server.tool()
async def holds(path: str, ctx: Context) -> str:
    """Reports progress once, then waits until there is a file."""
    await ctx.report_progress(1, 2)
    while not os.path.exists(path):
        await anyio.sleep(0.02)
    return "held"


if __name__ == "__main__":
    server.run(
        "streamable-http",
        host="127.0.0.1",
        port=int(os.environ["PORT"]),
        json_response="json" in sys.argv,
        event_store=Memory() if "resumable" in sys.argv else None,
        retry_interval=100 if "resumable" in sys.argv else None,
    )
