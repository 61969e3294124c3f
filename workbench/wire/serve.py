"""Gives a mock server real pipes: stdin and stdout of this process.

Single-threaded on purpose: a replay answers what it has read, in order, and
starts as fast as the interpreter does. It waits in one place only, where it
reads on while its client does not read: two sides that both write first would
wait for each other for ever. Bytes are handed to ``tap`` before anything parses
them, and before they are written.
"""

from __future__ import annotations

import os
import select
import stat
import time
from collections import deque
from collections.abc import Callable

from workbench.core.frame import Channel, Direction, Ending
from workbench.core.jsonrpc import dumps
from workbench.core.lines import LineSplitter
from workbench.replay.actions import (
    Action,
    Eof,
    Exit,
    Forward,
    Gone,
    HangUp,
    Injected,
    Open,
    Reply,
    Stderr,
    Withdraw,
)
from workbench.replay.server import MockServer

#: How much is read at once, in bytes.
READ_BYTES = 64 * 1024

#: How much is written at once: what a pipe that is ready takes without blocking (PIPE_BUF, in bytes).
WRITE_BYTES = 4096

#: How much is read ahead while the client does not read, in bytes; beyond it the client waits.
AHEAD_BYTES = 64 * 1024 * 1024

#: How long a client must be silent before what is held back for its next request is let go (seconds).
SILENCE = 0.5

#: How long stderr may take before it is given up until it is read again (seconds).
PATIENCE = 1.0

#: How long the client may take to read what must reach it apart, and how often it is looked (seconds).
SETTLING = 1.0
SHORTEST, LONGEST = 0.0001, 0.005

#: Told every frame: direction, channel, body, ending.
Tap = Callable[[Direction, Channel, bytes, Ending], object]


class ClientGone(Exception):
    """The client does not read any more."""


class Stopped(Exception):
    """``Pipes.stop`` was called; ``number`` is the signal."""

    def __init__(self, number: int) -> None:
        self.number = number


class Pipes:
    """Reads and writes without either waiting for the other."""

    def __init__(self, stdin: int = 0, stdout: int = 1, stderr: int = 2) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._stderr = stderr
        self._ahead: deque[bytes] = deque()
        self._ahead_bytes = 0
        self._ended = False
        self._waits = False
        self._signal = 0
        self._patience = PATIENCE

    def stop(self, number: int) -> None:
        """For a signal handler: ends the wait with ``Stopped``, and nothing that must be done whole."""
        self._signal = number
        if self._waits:
            raise Stopped(number)

    def read(self, timeout: float | None = None) -> bytes | None:
        """The next bytes; empty at the end of the stream, ``None`` when none came in time (seconds)."""
        while True:
            if self._ahead:
                chunk = self._ahead.popleft()
                self._ahead_bytes -= len(chunk)
                return chunk
            if self._ended:
                return b""
            if not self._wait(writing=False, timeout=timeout):
                return None
            self._take()

    def write(self, data: bytes) -> None:
        """Write all of it, reading ahead meanwhile. Raises ``ClientGone``."""
        view = memoryview(data)
        while view:
            if self._wait(writing=True):
                try:
                    view = view[os.write(self._stdout, view[:WRITE_BYTES]) :]
                except BlockingIOError:
                    continue
                except OSError:
                    raise ClientGone from None
            else:
                self._take()

    def complain(self, data: bytes) -> None:
        """Write to stderr as far as somebody reads there; that is no reason to stop answering."""
        view = memoryview(data)
        try:
            while view and select.select([], [self._stderr], [], self._patience)[1]:
                view = view[os.write(self._stderr, view[:WRITE_BYTES]) :]
        except OSError:
            return
        self._patience = 0.0 if view else PATIENCE

    def settle(self) -> None:
        """Wait until the client has taken what was written, as far as that can be known, and not long."""
        pause = SHORTEST
        until = time.monotonic() + SETTLING
        while _untaken(self._stdout) and time.monotonic() < until:
            time.sleep(pause)
            pause = min(2 * pause, LONGEST)

    def close_stdout(self) -> None:
        """Let the client see the end of the stream; the descriptor stays taken."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stdout)
        os.close(nowhere)

    def _wait(self, *, writing: bool, timeout: float | None = None) -> bool:
        """Wait until there is something to do. Writing: True if the client takes something, False if
        there is something to read. Reading: False if nothing came in time."""
        reading = not self._ended and self._ahead_bytes < AHEAD_BYTES
        self._waits = True
        try:
            if self._signal:
                raise Stopped(self._signal)
            readable, writable, _ = select.select(
                [self._stdin] if reading else [], [self._stdout] if writing else [], [], timeout
            )
        finally:
            self._waits = False
        return bool(writable) if writing else bool(readable)

    def _take(self) -> None:
        try:
            chunk = os.read(self._stdin, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if chunk:
            self._ahead.append(chunk)
            self._ahead_bytes += len(chunk)
        else:
            self._ended = True


def serve(
    server: MockServer,
    pipes: Pipes,
    *,
    tap: Tap | None = None,
    checkpoint: Callable[[], None] | None = None,
) -> int | None:
    """Serve one client until it leaves or the recorded server ends.

    Returns the exit status of a server that ended by itself, ``None`` when the client has gone.
    ``checkpoint`` is called before anything is answered, so that a report is complete even if the
    client kills us on the answer. Raises ``Stopped``.
    """
    line = _Line(server, pipes, tap, checkpoint)
    splitter = LineSplitter()
    try:
        line.perform(server.start())
        while line.code is None:
            chunk = pipes.read(patience(server))
            if chunk is None:
                line.perform(server.release() if server.due is None else server.tick())
            elif chunk:
                line.take(splitter.feed(chunk))
            else:
                rest = splitter.end()
                if rest is not None:
                    line.take([rest], Ending.NONE)
                break
    except ClientGone:
        server.report.note("The client stopped reading.")
    return line.code


def _untaken(descriptor: int) -> bool:
    """Whether the other end of a pipe or of a local socket has not read everything yet."""
    # Loaded where they are first needed: a client waits for its first answer meanwhile.
    import fcntl
    import termios

    how = termios.FIONREAD if stat.S_ISFIFO(os.fstat(descriptor).st_mode) else termios.TIOCOUTQ
    try:
        return any(fcntl.ioctl(descriptor, how, b"\0" * 4))
    except OSError:  # something that nobody can tell it of, as a file
        return False


def patience(server: MockServer) -> float | None:
    """How long to wait for the client (seconds): as long as it takes, unless something of the mock's own
    is due or held back for what may never come."""
    due = server.due
    if due is not None:
        return due
    return SILENCE if server.stuck else None


class _Line:
    """Performs what the mock decides. ``code`` is the status to exit with, once it is time to."""

    def __init__(
        self, server: MockServer, pipes: Pipes, tap: Tap | None, checkpoint: Callable[[], None] | None
    ) -> None:
        self._server = server
        self._pipes = pipes
        self._tap = tap
        self._checkpoint = checkpoint
        self._open = True
        self.code: int | None = None

    def take(self, bodies: list[bytes], ending: Ending = Ending.LF) -> None:
        """Some lines of the client."""
        actions: list[Action] = []
        for body in bodies:
            self._told(Direction.TO_SERVER, Channel.STDIO, body, ending)
            actions += self._server.feed(body)
        self.perform(actions)

    def perform(self, actions: list[Action]) -> None:
        if self._checkpoint is not None:
            self._checkpoint()
        out: list[bytes] = []
        for action in actions:
            if isinstance(action, Exit):
                self.code = action.code
                break
            if isinstance(action, Eof):
                self._flush(out)
                self._told(Direction.NONE, Channel.PROCESS, b'{"event":"stdout_closed"}', Ending.NONE)
                self._pipes.close_stdout()
                self._open = False
                continue
            if isinstance(action, Injected):
                told = dumps({"event": "fault", **action._asdict()}).encode("utf-8", "surrogateescape")
                self._told(Direction.NONE, Channel.NOTE, told, Ending.NONE)
                continue
            if isinstance(action, (Reply, Open, HangUp, Gone)):
                continue  # only HTTP has a place for them
            assert not isinstance(action, (Forward, Withdraw)), "nothing goes live here"
            line = action.body + (b"\n" if action.ending is Ending.LF else b"")
            if isinstance(action, Stderr):
                self._told(Direction.TO_CLIENT, Channel.STDERR, action.body, action.ending)
                self._pipes.complain(line)
            elif self._open:
                if action.apart:
                    self._flush(out)
                    self._pipes.settle()
                self._told(Direction.TO_CLIENT, Channel.STDIO, action.body, action.ending)
                out.append(line)
        self._flush(out)

    def _told(self, direction: Direction, channel: Channel, body: bytes, ending: Ending) -> None:
        if self._tap is not None:
            self._tap(direction, channel, body, ending)

    def _flush(self, out: list[bytes]) -> None:
        if out and self._open:
            self._pipes.write(b"".join(out))
            out.clear()
