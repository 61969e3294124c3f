"""A login at a terminal or through pipes, read and answered by a test."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx
from anyio.from_thread import start_blocking_portal

from tests.cli.command import PATIENCE, PROGRAM
from tests.servers.authorizing import AuthSite, serve_authorizing


@contextmanager
def guarded() -> Iterator[AuthSite]:
    """A server behind authorization, beside the test."""
    with (
        start_blocking_portal("asyncio") as portal,
        portal.wrap_async_context_manager(serve_authorizing()) as site,
    ):
        yield site


def agree(url: str) -> str:
    """Open a URL as a browser does that agrees to everything; returns where it is sent to."""
    return str(httpx.get(url, follow_redirects=False).headers["location"])


class Running:
    """A command on a terminal, or with pipes; ``written`` is every byte it has written so far."""

    def __init__(self, words: list[str], terminal: bool, env: dict[str, str]) -> None:
        self.written = b""
        environment = {**os.environ, "TERM": "xterm-256color", **env}
        if terminal:
            self._end, other = pty.openpty()
            self._in = self._end
            self.process = subprocess.Popen(
                [*PROGRAM, *words],
                stdin=other,
                stdout=other,
                stderr=other,
                env=environment,
                start_new_session=True,
            )
            os.close(other)
        else:
            self._end, out = os.pipe()
            taken, self._in = os.pipe()
            self.process = subprocess.Popen(
                [*PROGRAM, *words], stdin=taken, stdout=out, stderr=out, env=environment
            )
            os.close(out)
            os.close(taken)

    def until(self, pattern: str) -> re.Match[str]:
        """Read until something stands in what was written."""
        deadline = time.monotonic() + PATIENCE
        while (found := re.search(pattern, self.text)) is None:
            assert time.monotonic() < deadline, self.text
            assert self._read(1.0) or self.process.poll() is None, self.text
        return found

    def ends(self) -> int:
        """Read to the end; gives the exit status."""
        deadline = time.monotonic() + PATIENCE
        while self._read(0.2) or self.process.poll() is None:
            assert time.monotonic() < deadline, self.text
        return self.process.wait(PATIENCE)

    def types(self, line: str) -> None:
        os.write(self._in, line.encode() + b"\n")

    def interrupts(self) -> None:
        self.process.send_signal(signal.SIGINT)

    @property
    def text(self) -> str:
        return self.written.decode("utf-8", "replace").replace("\r\n", "\n")

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._end], [], [], seconds)
        piece = b""
        if ready:
            with suppress(OSError):  # how a terminal ends
                piece = os.read(self._end, 65536)
        self.written += piece
        return bool(piece)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for each in {self._end, self._in}:
            os.close(each)


@contextmanager
def running(*words: str, terminal: bool = False, **env: Any) -> Iterator[Running]:
    """Run ``mcp-workbench WORDS``, whose output is to be read and whose input is to be typed."""
    made = Running(list(words), terminal, env)
    try:
        yield made
    finally:
        made.close()


URL = r"(http://127\.0\.0\.1:\d+/authorize\?\S+)"
