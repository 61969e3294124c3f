"""``--mcp-record``: a live server behind the stand-in, whose recording becomes the test's."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from workbench.errors import ConnectionFailed, RecordingError
from workbench.keep import check
from workbench.pytest_plugin.marked import Marked
from workbench.pytest_plugin.replaying import PROGRAM
from workbench.store.copying import copy
from workbench.store.reader import Reader

if TYPE_CHECKING:
    from workbench.pytest_plugin.acting import StandIn

#: How long the recorder has to write what it still holds once the client has gone (seconds).
PATIENCE = 10.0

#: How often to look whether it has (seconds).
_LOOK = 0.02


def taking(kind: str, how: Marked, server: Any, folder: str) -> StandIn:
    """What stands before the live server. Raises ``pytest.UsageError`` where none is named."""
    kinds: dict[str, Callable[[Marked, Any, str], StandIn]] = {
        "command": _Command,
        "url": _Site,
        "streams": _Streams,
    }
    return kinds[kind](how, server_of(how, server), folder)


def target_words(how: Marked, server: Any) -> list[str]:
    """A live server as a target on a command line."""
    if isinstance(server, str):
        return [f"--{how.transport}", server]
    return ["--", *map(str, server)]


def put_in_place(source: str, path: str) -> None:
    """Put a copy of a recording in the place of another, or where none was. The folders may be on different
    disks, and nobody may find half a recording."""
    beside = os.path.join(os.path.dirname(path), f".{os.path.basename(source)}.{os.getpid()}")
    with open(source, "rb") as data, open(beside, "wb") as target:
        target.write(data.read())
    os.replace(beside, path)


@asynccontextmanager
async def streams_of(command: list[str]) -> AsyncIterator[Any]:
    """The streams of the official SDK to a command over stdio."""
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client

    program, *words = command
    parameters = StdioServerParameters(command=program, args=words, env=dict(os.environ))
    async with stdio_client(parameters) as pair:
        yield pair


def server_of(how: Marked, server: Any) -> Any:
    """The live server: the words of a command, or a URL. Raises ``pytest.UsageError`` where none is named."""
    server = how.server if how.server is not None else server
    if not server:
        raise pytest.UsageError(
            f'{how.name} is to be recorded, and no server is named; add server=["CMD", "ARG"] or '
            "server=URL to the marker, or override the fixture mcp_server."
        )
    return shlex.split(server) if isinstance(server, str) and "://" not in server else server


class _Taking:
    """A recording that is being made."""

    def __init__(self, how: Marked, server: Any, folder: str) -> None:
        self._how = how
        self._path = os.path.join(folder, "recorded.db")
        self._server = server
        self.value: Any = None

    def report(self) -> None:
        """There is nothing yet to hold it against."""

    def recordings(self) -> list[str]:
        return [self._path] if os.path.exists(self._path) else []

    def close(self, *, kept: bool) -> str:
        return self._keep() if kept else ""

    def _record(self, front: str, *more: str) -> list[str]:
        """The command of the stand-in, with ``front`` towards the client."""
        words = [
            *PROGRAM,
            "record",
            "--front",
            front,
            "--output",
            self._path,
            "--name",
            self._how.name,
            *more,
        ]
        return [*words, *target_words(self._how, self._server)]

    def _keep(self) -> str:
        if not self.recordings():
            return f"{self._how.name}: nothing was recorded, because the test did not use its server"
        self._wait()
        os.makedirs(os.path.dirname(self._how.path), exist_ok=True)
        whole = f"{self._path}{os.path.splitext(self._how.path)[1]}"
        copy(self._path, whole)
        checked = "; ".join(str(each.verdict) for each in check(whole))
        put_in_place(whole, self._how.path)
        return f"recorded {os.path.relpath(self._how.path)}: {checked}"

    def _wait(self) -> None:
        """Until the recorder has written everything. Raises ``RecordingError``."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with Reader.open(self._path) as reader:
                if all(row.ended_how for row in reader.sessions()):
                    return
            time.sleep(_LOOK)
        raise RecordingError(
            f"The recording of {self._how.name} has not ended: end the client before the test ends."
        )


class _Command(_Taking):
    def __init__(self, how: Marked, server: Any, folder: str) -> None:
        super().__init__(how, server, folder)
        self.value = self._record("stdio")


class _Site(_Taking):
    """The stand-in is a process; it says on stdout where clients come."""

    def __init__(self, how: Marked, server: Any, folder: str) -> None:
        super().__init__(how, server, folder)
        complaints = os.path.join(folder, "stderr.txt")
        with open(complaints, "wb") as stderr:
            self._process = subprocess.Popen(
                self._record("http"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        assert self._process.stdout is not None
        self.value = self._process.stdout.readline().strip()
        if not self.value:
            self._process.wait()
            with open(complaints, encoding="utf-8", errors="replace") as file:
                raise ConnectionFailed(f"The stand-in did not start: {file.read().strip()}")
        if how.transport == "sse" and not isinstance(server, str):
            self.value = self.value.removesuffix("/mcp") + "/sse"

    def close(self, *, kept: bool) -> str:
        self._process.terminate()
        self._process.communicate()
        return super().close(kept=kept)


class _Streams(_Taking):
    def __init__(self, how: Marked, server: Any, folder: str) -> None:
        super().__init__(how, server, folder)
        self.value = self._streams

    def _streams(self) -> AbstractAsyncContextManager[Any]:
        return streams_of(self._record("stdio"))
