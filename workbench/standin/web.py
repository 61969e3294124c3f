"""Stand-ins that clients reach over HTTP: before an HTTP server, and before a command.

    client ── HTTP ──▶ proxy ── HTTP ──▶ server
    client ── HTTP ──▶ serving half ── a process for each client ──▶ stdin, stdout

The recording holds what passed between us and the server, on the server's own transport.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import anyio

from workbench.config import Target, display, secrets_of
from workbench.errors import EXIT_OK
from workbench.standin.recording import Recording
from workbench.standin.running import record, write_ready
from workbench.standin.scribe import complain
from workbench.standin.sink import RingSink
from workbench.wire.proxy import open_proxy, origin_for
from workbench.wire.proxy_clients import Client
from workbench.wire.serving_gate import place
from workbench.wire.serving_server import listen
from workbench.wire.tap import Tap


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


def _clients_of(sink: RingSink, name: str, target: Target) -> Callable[[], Client]:
    """Makes the recording's connections: a client is one."""
    shown, secrets = display(target), secrets_of(target)
    count = 0

    def new() -> Client:
        nonlocal count
        count += 1
        number = sink.connect(name if count == 1 else f"{name}-{count}", target.transport, shown, secrets)
        return Client(Tap(sink, number), lambda **facts: sink.describe(number, facts))

    return new


def _tell(url: str, instead: str, front: Front) -> None:
    """Say where clients come, now that they can."""
    complain(f"clients use {url} {instead}; ctrl-C, or TERM, ends it")
    if front.ready is not None:
        write_ready(front.ready, url)
    sys.stdout.write(url + "\n")
    sys.stdout.flush()
