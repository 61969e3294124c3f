"""Gives a mock server real pipes: stdin and stdout of this process.

Blocking and single-threaded on purpose: a replay answers what it has read, in
order, and starts as fast as the interpreter does. Bytes are handed to ``tap``
before anything parses them, and before they are written.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from workbench.core.frame import Channel, Direction, Ending
from workbench.core.lines import LineSplitter
from workbench.replay.server import Action, Exit, MockServer, Stderr

#: How much is read at once, in bytes.
READ_BYTES = 64 * 1024

#: Told every frame: direction, channel, body, ending.
Tap = Callable[[Direction, Channel, bytes, Ending], object]


class ClientGone(Exception):
    """The client does not read any more."""


def serve(
    server: MockServer,
    *,
    tap: Tap | None = None,
    checkpoint: Callable[[], None] | None = None,
    stdin: int = 0,
    stdout: int = 1,
    stderr: int = 2,
) -> int:
    """Serve one client until it leaves; returns the exit status of the recorded server.

    ``checkpoint`` is called before anything is answered, so that a report is complete even if
    the client kills us on the answer.
    """
    line = _Line(server, tap, checkpoint, stdout, stderr)
    splitter = LineSplitter()
    try:
        code = line.perform(server.start())
        while code is None:
            chunk = os.read(stdin, READ_BYTES)
            if not chunk:
                break
            for body in splitter.feed(chunk):
                code = line.take(body, Ending.LF)
                if code is not None:
                    break
        if code is None:
            rest = splitter.end()
            if rest is not None:
                code = line.take(rest, Ending.NONE)
    except ClientGone:
        server.report.note("The client stopped reading.")
        code = None
    ended = server.closed()
    return ended if code is None else code


class _Line:
    def __init__(
        self,
        server: MockServer,
        tap: Tap | None,
        checkpoint: Callable[[], None] | None,
        stdout: int,
        stderr: int,
    ) -> None:
        self._server = server
        self._tap = tap
        self._checkpoint = checkpoint
        self._stdout = stdout
        self._stderr = stderr

    def take(self, body: bytes, ending: Ending) -> int | None:
        """One line of the client; returns a status when it is time to exit."""
        if self._tap is not None:
            self._tap(Direction.TO_SERVER, Channel.STDIO, body, ending)
        actions = self._server.feed(body)
        if self._checkpoint is not None:
            self._checkpoint()
        return self.perform(actions)

    def perform(self, actions: list[Action]) -> int | None:
        out: list[bytes] = []
        for action in actions:
            if isinstance(action, Exit):
                self._flush(out)
                return action.code
            end = b"\n" if action.ending is Ending.LF else b""
            if isinstance(action, Stderr):
                if self._tap is not None:
                    self._tap(Direction.TO_CLIENT, Channel.STDERR, action.body, action.ending)
                _write(self._stderr, action.body + end)
                continue
            if self._tap is not None:
                self._tap(Direction.TO_CLIENT, Channel.STDIO, action.body, action.ending)
            out += (action.body, end)
        self._flush(out)
        return None

    def _flush(self, out: list[bytes]) -> None:
        if out:
            _write(self._stdout, b"".join(out))


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except BrokenPipeError:
        raise ClientGone from None
