"""``record`` with HTTP on one of its sides, as a process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.standin.running import PROGRAM, ROOT, read_exactly, until
from tests.wire.raw import ACCEPT


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def server() -> Iterator[str]:
    """The served server, over HTTP in a process of its own: its URL."""
    port = free_port()
    command = [sys.executable, "-m", "tests.servers.served_http", str(port)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert read_exactly(process.stdout, 6) == b"ready\n"
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.stdin.close()


class StandIn:
    """``record -o file`` with these words, from the moment it says where clients come."""

    def __init__(self, file: Path, words: Sequence[str]) -> None:
        self.file = file
        self.process = subprocess.Popen(
            [*PROGRAM, "-o", str(file), *words],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "NO_PROXY": "127.0.0.1"},
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().decode().strip()

    def __enter__(self) -> StandIn:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self, number: int) -> tuple[int, str]:
        """Send a signal; the exit status, and what was said on stderr."""
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=30)
        return self.process.returncode, err.decode()


def post(url: str, body: dict[str, Any], **headers: str) -> httpx.Response:
    given = {"accept": ACCEPT, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return httpx.post(url, json=body, headers=given, trust_env=False, timeout=30)


__all__ = ["StandIn", "free_port", "post", "server", "until"]
