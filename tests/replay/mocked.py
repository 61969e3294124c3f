"""Mock servers over HTTP for tests: within the test, and as the command that users start."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from tests.replay.serving import SERVE
from tests.servers.served import taps
from tests.servers.targets import ROOT
from tests.wire.stage import MemorySink
from workbench.core.frame import Frame, Stream
from workbench.replay.cast import Cast, Part
from workbench.replay.options import Options
from workbench.replay.script import build
from workbench.wire.serving_http import serve_http
from workbench.wire.serving_mock import Host
from workbench.wire.serving_site import Manner

#: How long a command may take to accept on a loaded machine (seconds).
PATIENCE = 60


def part_of(frames: Sequence[Frame], heads: Sequence[Stream] = (), name: str = "one") -> Part:
    """A recorded connection, for HTTP."""
    by_number = {head.number: head for head in heads}
    return Part(name, "", lambda: build(frames, head=by_number.get, lines=False))


@asynccontextmanager
async def mocked(
    *parts: Part, path: str = "/mcp", checks: bool = True, **options: Any
) -> AsyncIterator[tuple[str, Cast]]:
    """Serve connections on a free port of this machine: the URL, and who is served."""
    cast = Cast("tape.db", parts, Options(**options))
    manner = Manner(eras=cast.eras, checks=checks)
    async with serve_http("127.0.0.1:0", Host(cast).serve, taps(MemorySink()), manner, path=path) as serving:
        yield serving.address, cast


class Listening:
    """A mock that runs as a command. ``code`` is its exit status once it has ended."""

    def __init__(self, process: subprocess.Popen[bytes], url: str, report: Path) -> None:
        self.process = process
        self.url = url
        self._report = report
        self.stderr = b""

    @property
    def code(self) -> int | None:
        return self.process.returncode

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it with a signal; returns its exit status."""
        self.process.send_signal(number)
        self.stderr = self.process.communicate(timeout=PATIENCE)[1]
        return self.process.returncode

    def report(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self._report.read_text())
        return told


@contextmanager
def listening(recording: Path | str, folder: Path, *words: str) -> Iterator[Listening]:
    """Run ``replay server --listen`` on a recording; what it leaves goes into a folder."""
    ready, report = folder / "ready", folder / "report.json"
    ready.unlink(missing_ok=True)
    where = ["--listen", "127.0.0.1:0", "--ready-file", str(ready), "--report", str(report)]
    with started([*SERVE, str(recording), *where, *words], ready) as process:
        yield Listening(process, ready.read_text().strip(), report)


@contextmanager
def started(
    command: list[str], ready: Path, cwd: str = str(ROOT), env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command that tells in a file that it accepts."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=cwd, env=env
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while not ready.exists():
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
