"""The server of ``official`` over streamable HTTP, on the port in ``PORT``.

With ``json`` its answers are JSON instead of streams, with ``resumable`` its events can be asked for
again. ``polls`` closes its own stream before it answers.
"""

from __future__ import annotations

import os
import sys

from mcp.server.mcpserver import Context

from tests.servers.event_memory import Memory
from tests.servers.official import server


@server.tool()
async def polls(ctx: Context) -> str:
    """Closes the stream of this call, as a server may that lets clients poll."""
    await ctx.close_sse_stream()
    return "polled"


if __name__ == "__main__":
    server.run(
        "streamable-http",
        host="127.0.0.1",
        port=int(os.environ["PORT"]),
        json_response="json" in sys.argv,
        event_store=Memory() if "resumable" in sys.argv else None,
        retry_interval=100 if "resumable" in sys.argv else None,
    )
