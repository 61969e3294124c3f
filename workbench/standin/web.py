"""Stand-ins with HTTP on one of their sides: before an HTTP server, before a command, and before a URL for
a client that speaks over pipes.

    client ── HTTP ──▶ proxy ── HTTP ──▶ server
    client ── HTTP ──▶ serving half ── bridge ── a process for each client
    client ── pipes ─▶ serving half ── bridge ── HTTP ──▶ server

The recording holds what passed between us and the server, on the server's own transport.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

import anyio

from workbench.config import Target, display, secrets_of
from workbench.errors import EXIT_OK
from workbench.standin import hold_standard_streams
from workbench.standin.recording import Recording
from workbench.standin.running import record
from workbench.standin.scribe import complain
from workbench.standin.sink import RingSink, Unrecorded
from workbench.wire import ready
from workbench.wire.bridge import bridge
from workbench.wire.proxy import open_proxy, origin_for
from workbench.wire.proxy_clients import Client
from workbench.wire.serving_gate import place
from workbench.wire.serving_routes import application
from workbench.wire.serving_server import address_of, listen, running
from workbench.wire.serving_site import Manner, Site
from workbench.wire.serving_stdio import serve_stdio
from workbench.wire.tap import Observer, Tap
from workbench.wire.transport import Client as Live
from workbench.wire.transport import Serve


class Front(NamedTuple):
    """Where clients come: ``address`` is ``HOST:PORT``; ``hosts`` are names by which they may, beside this
    machine's; ``anywhere`` lets other machines come. ``ready`` is a file to write the URL to."""

    address: str = "127.0.0.1:0"
    hosts: tuple[str, ...] = ()
    anywhere: bool = False
    ready: str | None = None


def stand_before(recording: Recording, target: Target, front: Front, *, tell: bool = False) -> int:
    """Stand before an HTTP server until a signal comes; returns the exit status.

    Raises ``UsageError`` for an address that is not to be had, ``NotStarted`` for a URL that is none.
    """
    origin = origin_for(target, front.hosts, front.anywhere)
    listening = listen(*place(front.address, front.anywhere))

    async def work(sink: RingSink) -> int:
        new = _clients_of(sink, recording.name, target)
        async with open_proxy(listening, origin, new) as proxy:
            _tell(proxy.address, f"in place of {display(target)}", front)
            await anyio.sleep_forever()
        return EXIT_OK

    return record(recording, work, ours=(listening.fileno(),), tell=tell)


def serve_command(recording: Recording, target: Target, front: Front, *, tell: bool = False) -> int:
    """Serve a command over HTTP, each client a process of its own, until a signal comes; returns the exit
    status. Raises ``UsageError`` for an address that is not to be had."""
    listening = listen(*place(front.address, front.anywhere))
    manner = Manner(anywhere=front.anywhere, hosts=front.hosts, checks=False)

    @asynccontextmanager
    async def serving(serve: Serve) -> AsyncIterator[str]:
        async with anyio.create_task_group() as group:
            unrecorded = Unrecorded()
            site = Site(serve, lambda _: Tap(unrecorded, 1), manner, group)
            async with running(application(site), listening):
                try:
                    yield address_of(listening) + "/mcp"
                finally:
                    with anyio.CancelScope(shield=True):
                        await site.close()
            group.cancel_scope.cancel()

    async def work(sink: RingSink) -> int:
        async with serving(_bridging(sink, recording.name, target)) as url:
            _tell(url, f"to talk to {display(target)}", front)
            await anyio.sleep_forever()
        return EXIT_OK

    return record(recording, work, ours=(listening.fileno(),), tell=tell)


def speak_lines(recording: Recording, target: Target, *, tell: bool = False) -> int:
    """Be a server over standard input and output in place of one at a URL, until the client has gone or a
    signal comes; returns the exit status."""
    hold_standard_streams()

    async def work(sink: RingSink) -> int:
        unrecorded = Unrecorded()
        serve = _bridging(sink, recording.name, target)
        async with serve_stdio("", serve, lambda _: Tap(unrecorded, 1)) as serving:
            await serving.over.wait()
        return EXIT_OK

    return record(recording, work, tell=tell)


def _clients_of(sink: RingSink, name: str, target: Target) -> Callable[..., Client]:
    """Makes the recording's connections: a client is one."""
    shown, secrets = display(target), secrets_of(target)
    count = 0

    def new(observe: Observer | None = None) -> Client:
        nonlocal count
        count += 1
        number = sink.connect(name if count == 1 else f"{name}-{count}", target.transport, shown, secrets)
        return Client(Tap(sink, number, observe), lambda **facts: sink.describe(number, facts))

    return new


def _bridging(sink: RingSink, name: str, target: Target) -> Serve:
    come = _clients_of(sink, name, target)

    async def serve(client: Live) -> None:
        await bridge(client, target, come, _to_stderr)

    return serve


def _to_stderr(line: bytes) -> None:
    """What a server writes to stderr goes to ours, as from the stand-in before a command."""
    with suppress(OSError):
        os.write(2, line)


def _tell(url: str, instead: str, front: Front) -> None:
    """Say where clients come, now that they can."""
    complain(f"clients use {url} {instead}; ctrl-C, or TERM, ends it")
    ready.tell(front.ready, url)
    sys.stdout.write(url + "\n")
    sys.stdout.flush()
