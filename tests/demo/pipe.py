"""The demo server as a child process, spoken to line by line."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

DEMO = [sys.executable, "-m", "workbench.demo"]

#: Longest wait for a line, in seconds; a loaded machine starts an interpreter in a few.
PATIENCE = 20


class Pipe:
    """Writes lines to the server and hands out what it answers, in order."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def write(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        self.write(json.dumps(message).encode())

    def request(self, identity: Any, method: str, params: Any = None) -> None:
        message = {"jsonrpc": "2.0", "id": identity, "method": method}
        self.send(message if params is None else {**message, "params": params})

    def notify(self, method: str, params: Any = None) -> None:
        message = {"jsonrpc": "2.0", "method": method}
        self.send(message if params is None else {**message, "params": params})

    def next(self) -> Any:
        """The next message of the server; an assertion fails when it stays silent or is gone."""
        line = self._lines.get(timeout=PATIENCE)
        assert line, "the server is gone"
        return json.loads(line)

    def ask(self, identity: Any, method: str, params: Any = None) -> Any:
        """Send a request; what comes next must be its answer."""
        self.request(identity, method, params)
        answer = self.next()
        assert answer.get("id") == identity, answer
        return answer

    def end(self) -> int:
        """Close the server's stdin and give its exit status; nothing more may have been said."""
        assert self.process.stdin
        self.process.stdin.close()
        status = self.process.wait(PATIENCE)
        assert self._lines.get(timeout=PATIENCE) == b""
        return status


@contextmanager
def pipe(revision: str | None = "2025-11-25", capabilities: Any = None) -> Iterator[Pipe]:
    """A running demo server; initialized unless ``revision`` is ``None``."""
    with subprocess.Popen(
        DEMO, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        server = Pipe(process)
        try:
            if revision is not None:
                server.ask(0, "initialize", offer(revision, capabilities))
            yield server
        finally:
            process.kill()


def offer(revision: str, capabilities: Any = None) -> dict[str, Any]:
    return {
        "protocolVersion": revision,
        "capabilities": capabilities or {},
        "clientInfo": {"name": "tests", "version": "1"},
    }
