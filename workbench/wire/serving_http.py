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

import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio
import uvicorn

from workbench.errors import UsageError
from workbench.wire.serving_gate import place
from workbench.wire.serving_routes import application
from workbench.wire.serving_site import PLAIN, Manner, Site
from workbench.wire.transport import Serve, Serving, Taps

__all__ = ["PLAIN", "Manner", "serve_http"]

#: The largest head of a request, in bytes; arguments may be repeated in it.
LARGEST_HEAD = 256 * 1024

# What uvicorn has to say about odd requests goes into the log, if there is one, and never to stderr.
logging.getLogger("uvicorn").addHandler(logging.NullHandler())

#: Connections that wait to be taken.
BACKLOG = 128

#: How long answers that are on their way have when we stop serving (seconds).
PARTING = 2


@asynccontextmanager
async def serve_http(
    address: str, serve: Serve, taps: Taps, manner: Manner = PLAIN, *, path: str = "/mcp"
) -> AsyncIterator[Serving]:
    """Serve at ``HOST:PORT``; the address of the result is the URL of ``path`` (``/mcp`` or ``/sse``).

    Raises ``UsageError`` for an address that is not to be had.
    """
    listening = _listen(*place(address, manner.anywhere))
    host, port = listening.getsockname()[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}{path}"
    async with anyio.create_task_group() as group:
        site = Site(serve, taps, manner, group)
        server = _Server(_configuration(site))
        over = anyio.Event()

        async def run() -> None:
            await server.serve([listening])
            over.set()

        group.start_soon(run)
        try:
            yield Serving(url, over)
        finally:
            with anyio.CancelScope(shield=True):
                await site.close()
                server.should_exit = True
                await over.wait()
            group.cancel_scope.cancel()


class _Server(uvicorn.Server):
    """Signals are the matter of whoever runs us."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _configuration(site: Site) -> uvicorn.Config:
    return uvicorn.Config(
        application(site),
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        # What is recorded as the answer's headers is all that is sent.
        server_header=False,
        date_header=False,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        timeout_graceful_shutdown=PARTING,
    )


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, _, _, name = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        # The loop switches Nagle's delay off only for sockets that say they are of TCP, and an answer
        # that is written in two pieces would wait 40 ms for it.
        listening = socket.socket(family, kind, socket.IPPROTO_TCP)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(name)
            listening.listen(BACKLOG)
        except OSError:
            listening.close()
            raise
        return listening
    except OSError as error:
        raise UsageError(
            f"nothing can be served at {host}:{port} ({error.strerror or error}); choose another port,"
            " 0 for any that is free"
        ) from None
