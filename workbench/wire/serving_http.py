"""The HTTP transports, serving half: streamable HTTP of both eras at ``/mcp``, the older one at ``/sse``.

    async with serve_http("127.0.0.1:0", serve, taps) as serving:
        ...  # serving.address is the URL of /mcp

* Handshake era: a session for each ``initialize``, which is one client.
* Stateless era: a place for each path (``/mcp``, ``/mcp/NAME``), which is one client shared by
  whoever uses it. Which era a request is of, its ``MCP-Protocol-Version`` says.
* The older HTTP with SSE: a client for each stream.

Source: "Streamable HTTP" (2025-03-26 to 2026-07-28), "HTTP with SSE" (2024-11-05).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from workbench.wire.serving_gate import place
from workbench.wire.serving_routes import application
from workbench.wire.serving_server import address_of, listen, running
from workbench.wire.serving_site import PLAIN, Manner, Site
from workbench.wire.transport import Serve, Serving, Taps

__all__ = ["PLAIN", "Manner", "serve_http"]


@asynccontextmanager
async def serve_http(
    address: str, serve: Serve, taps: Taps, manner: Manner = PLAIN, *, path: str = "/mcp"
) -> AsyncIterator[Serving]:
    """Serve at ``HOST:PORT``; the address of the result is the URL of ``path`` (``/mcp`` or ``/sse``).

    Raises ``UsageError`` for an address that is not to be had.
    """
    listening = listen(*place(address, manner.anywhere))
    async with anyio.create_task_group() as group:
        site = Site(serve, taps, manner, group)
        async with running(application(site), listening) as over:
            try:
                yield Serving(address_of(listening) + path, over)
            finally:
                with anyio.CancelScope(shield=True):
                    await site.close()
        group.cancel_scope.cancel()
