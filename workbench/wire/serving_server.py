"""An ASGI application behind a socket: what uvicorn is told, wherever we serve.

What is sent is what the application says, in its order and letter case, and
nothing else: no ``Server``, no ``Date``. The application also gets a request's
headers as they were written, and may say the reason of its answer (``Wire``).
"""

from __future__ import annotations

import logging
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import anyio
import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from workbench.errors import UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

#: The largest head of a request, in bytes; arguments may be repeated in it.
LARGEST_HEAD = 256 * 1024

# What uvicorn has to say about odd requests goes into the log, if there is one, and never to stderr.
logging.getLogger("uvicorn").addHandler(logging.NullHandler())

#: Connections that wait to be taken.
BACKLOG = 128

#: How long answers that are on their way have when we stop serving (seconds).
PARTING = 2

#: How long a client may keep an idle connection. It must close it first: a request that meets a closing
#: connection is lost to clients that never send twice (seconds).
KEPT = 75


@asynccontextmanager
async def running(application: ASGIApp, listening: socket.socket) -> AsyncIterator[anyio.Event]:
    """Serve while the context lasts; the event is set when nothing is served any more. Left, it waits
    for answers that are on their way, for ``PARTING``."""
    async with anyio.create_task_group() as group:
        server = _Server(_configuration(application))
        over = anyio.Event()

        async def run() -> None:
            # It ends in its own order, also where all around it is cancelled.
            with anyio.CancelScope(shield=True):
                await server.serve([listening])
            over.set()

        group.start_soon(run)
        try:
            yield over
        finally:
            with anyio.CancelScope(shield=True):
                server.should_exit = True
                await over.wait()
            group.cancel_scope.cancel()


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises ``UsageError`` for an address that is not to be had."""
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


def address_of(listening: socket.socket) -> str:
    """``http://HOST:PORT`` of a socket that listens."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class Wire(h11.Connection):
    """A client's connection. ``headers`` are those of its current request as they were written;
    ``reason`` is the reason phrase to answer with, if there is to be another than the usual one.
    ``together`` makes the head of the next answer wait for what comes after it, which is then one packet.
    ``cut`` breaks the connection as it stands."""

    def __init__(self, cut: Callable[[], None]) -> None:
        super().__init__(h11.SERVER, LARGEST_HEAD)
        self.cut = cut
        self.headers: list[tuple[bytes, bytes]] = []
        self.reason: bytes | None = None
        self.together = False
        self._held: list[bytes] = []

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.headers = event.headers.raw_items()
            self.reason = None
        return event

    def send_with_data_passthrough(self, event: h11.Event) -> list[bytes] | None:
        if isinstance(event, h11.Response) and self.reason is not None:
            event = h11.Response(
                status_code=event.status_code, headers=event.headers.raw_items(), reason=self.reason
            )
        data = super().send_with_data_passthrough(event)
        if self.together and isinstance(event, h11.Response):
            self.together = False
            self._held = data or []
            return []
        if self._held:
            data, self._held = [*self._held, *(data or ())], []
        return data


class _Protocol(H11Protocol):
    """Hands its ``Wire`` to the application, in ``scope["state"]["wire"]``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = Wire(self._cut)
        self.app_state = {**self.app_state, "wire": self.conn}

    def _cut(self) -> None:
        self.transport.abort()


class _Server(uvicorn.Server):
    """Signals are the matter of whoever runs us."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _configuration(application: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        http=_Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        # What is recorded as the answer's headers is all that is sent.
        server_header=False,
        date_header=False,
        timeout_keep_alive=KEPT,
        timeout_graceful_shutdown=PARTING,
    )
