"""Real servers over HTTP as processes of their own, and a way to cut the connections to them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.abc import SocketStream

from tests.servers.targets import ROOT

#: Longest a server may take to listen, in seconds.
PATIENCE = 90


async def free_port() -> int:
    """A port of 127.0.0.1 that nobody has at this moment."""
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port: int = listener.extra(anyio.abc.SocketAttribute.local_port)
        return port


@asynccontextmanager
async def served(command: list[str], **variables: str) -> AsyncIterator[int]:
    """Run a server that listens on the port it finds in ``PORT``; gives that port."""
    port = await free_port()
    environment = {**os.environ, **variables, "PORT": str(port)}
    async with await anyio.open_process(
        command,
        env=environment,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            with anyio.fail_after(PATIENCE):
                while not await _listens(port):
                    assert process.returncode is None, "the server has ended"
                    await anyio.sleep(0.05)
            yield port
        finally:
            with suppress(ProcessLookupError):
                process.kill()


async def _listens(port: int) -> bool:
    try:
        await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
    except OSError:
        return False
    return True


def official(*words: str) -> list[str]:
    """The command of ``tests.servers.official_http``."""
    return [sys.executable, "-m", "tests.servers.official_http", *words]


class Cutter:
    """Stands between a client and a server and can cut every connection that runs through it."""

    def __init__(self, server: int) -> None:
        self.port = 0
        #: While it is set, whoever comes is sent away.
        self.shut = False
        self._server = server
        self._open: set[SocketStream] = set()

    async def cut(self) -> None:
        """End all connections now."""
        for each in list(self._open):
            with suppress(anyio.BrokenResourceError):
                await each.aclose()

    async def carry(self, client: SocketStream) -> None:
        if self.shut:
            await client.aclose()
            return
        server = await anyio.connect_tcp("127.0.0.1", self._server)
        self._open |= {client, server}
        try:
            async with client, server, anyio.create_task_group() as group:
                group.start_soon(_pump, client, server, group.cancel_scope)
                group.start_soon(_pump, server, client, group.cancel_scope)
        finally:
            self._open -= {client, server}


async def _pump(source: SocketStream, sink: SocketStream, scope: anyio.CancelScope) -> None:
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            await sink.send(await source.receive())
    scope.cancel()


@asynccontextmanager
async def cutter(server: int) -> AsyncIterator[Cutter]:
    """A ``Cutter`` before the server on this port."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    between = Cutter(server)
    between.port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, between.carry)
        try:
            yield between
        finally:
            group.cancel_scope.cancel()
