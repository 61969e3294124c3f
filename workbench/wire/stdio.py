"""The stdio transport, client half: one server as a child process.

What the transport promises:

* Every line, every piece of stderr and everything that happens to the process
  becomes a frame, and the sink has it before anybody else.
* Nothing waits for a slow sink, a slow child or a blocked pipe but the one task
  that reads or writes that pipe. ``send`` never blocks.
* When the context is left, however it is left, nothing of the server's process
  group runs any more. How it was ended is told in frames, step by step.

Source: "Transports: stdio" and "Lifecycle: shutdown", 2024-11-05 to 2025-11-25.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import anyio
from anyio.abc import TaskGroup

from workbench.config import Target, shown_command
from workbench.core.actions import Send
from workbench.core.frame import Direction, Ending
from workbench.wire.child import Child
from workbench.wire.command import NotStarted, environment_of, explain, find_program
from workbench.wire.outbox import Outbox
from workbench.wire.pipes import read_lines
from workbench.wire.tap import Tap
from workbench.wire.transport import Peer, Serve, Serving, Taps

#: A line longer than this is handed over in pieces: no row of a recording can hold more than 1 GB.
LONGEST_LINE = 512 * 1024 * 1024

#: The same for stderr, where nothing is lost by a cut.
LONGEST_STDERR = 1024 * 1024

#: Answers that wait for a child that asks and does not read. Beyond it we stop reading from that child.
#: What a user sends is not counted: a child may well write before it reads on, and both would wait.
MAX_PROMPTED = 10_000

#: How long is read on after the exit, in case something still holds the pipes (seconds).
DRAIN = 0.5

#: How often that is done over while it is our own sink that has no room.
MOST_DRAINS = 20

#: How long what a server left behind has to go by itself, and then after TERM (seconds).
LEFT_BEHIND = 0.2

#: How long the kernel has to carry out a KILL (seconds).
KILLED = 5.0


class StdioTransport:
    """A running server; made by ``open_stdio``.

    ``over`` is set when nothing more can come: the process has exited and its pipes are read to
    their end, or it has closed its stdout. ``forced`` is the name of the last signal that was
    needed to end it, empty when it went by itself.
    """

    def __init__(self, target: Target, tap: Tap, peer: Peer) -> None:
        self.over = anyio.Event()
        self.forced = ""
        self._target = target
        self._tap = tap
        self._peer = peer
        self._read = {"stdout": anyio.Event(), "stderr": anyio.Event()}
        self._told = anyio.Event()
        self._alive = False
        self._scopes: list[anyio.CancelScope] = []
        self._child = self._start()
        self._outbox = Outbox(self._child.stdin, self._undelivered)

    def send(self, send: Send) -> int:
        """Hand a body over and write it when the child reads. Returns its frame's ``seq`` (the
        first one's, when the body holds line ends and so becomes several lines)."""
        # Nobody but the server is the reason for what the policy answers.
        prompted = send.about.startswith("policy ")
        first = 0
        for line in send.body.split(b"\n"):
            seq, _ = self._tap.message(Direction.TO_SERVER, line)
            first = first or seq
            self._outbox.add(line + b"\n", prompted)
        return first

    def abandon(self, id_text: str) -> None:
        """Nothing: a process has one stream for all."""

    # Beginning

    def _start(self) -> Child:
        target, tap = self._target, self._tap
        command = shown_command(target)
        environment = environment_of(target)
        program = ""
        try:
            program = find_program(target, environment)
            cwd = os.path.abspath(os.path.expanduser(target.cwd or os.curdir))
            child = Child([target.command, *target.args], program, environment, cwd)
        except OSError as error:
            failure = explain(target, program, error)
        except NotStarted as error:
            failure = error
        except ValueError as error:
            failure = NotStarted(
                f"{target.command!r} cannot be started: its arguments or variables cannot be given to a"
                f" program ({error}).",
                "Look for NUL characters and for '=' in names of variables.",
            )
        else:
            tap.process("started", pid=child.pid, command=command, cwd=cwd)
            return child
        tap.process("start_failed", why=failure.why, command=command)
        raise failure

    def attend(self, group: TaskGroup) -> None:
        """Begin to read, write and watch."""
        for work in (self._read_stdout, self._read_stderr, self._watch_stdout, self._watch_exit):
            group.start_soon(self._shielded, work)
        group.start_soon(self._outbox.run)

    async def _shielded(self, work: Callable[[], Awaitable[None]]) -> None:
        # A cancelled connection still reads what its server says while it is being ended, so the
        # tasks end when they are told to and not when their group is cancelled.
        with anyio.CancelScope(shield=True) as scope:
            self._scopes.append(scope)
            await work()

    # Reading

    async def _read_stdout(self) -> None:
        def take(line: bytes, ending: Ending) -> None:
            self._peer.received(*self._tap.message(Direction.TO_CLIENT, line, ending))

        await read_lines(self._child.stdout, take, self._has_room, LONGEST_LINE, self._tap.turn, self._heard)
        self._tap.process("stdout_closed")
        self._read["stdout"].set()

    async def _read_stderr(self) -> None:
        def take(line: bytes, ending: Ending) -> None:
            self._tap.stderr(line, ending)

        room, turn = self._tap.sink.has_room, self._tap.turn
        await read_lines(self._child.stderr, take, room, LONGEST_STDERR, turn, self._heard)
        self._read["stderr"].set()

    def _heard(self) -> None:
        if not self._alive:
            self._alive = True
            self._peer.heard()

    def _has_room(self) -> bool:
        return self._outbox.prompted < MAX_PROMPTED and self._tap.sink.has_room()

    def _undelivered(self, count: int, why: str) -> None:
        self._tap.process("undelivered", bytes=count, why=why)

    # The end, by itself

    async def _watch_stdout(self) -> None:
        await self._read["stdout"].wait()
        with anyio.move_on_after(DRAIN):
            await self._child.exited.wait()
        if not self._child.exited.is_set():
            self.over.set()

    async def _watch_exit(self) -> None:
        child = self._child
        await child.exited.wait()
        await self._drained()
        code = child.collect()
        if code < 0:
            self._tap.process("exited", signal=_signal_name(-code))
        else:
            self._tap.process("exited", code=code)
        self.over.set()
        await self._sweep()
        await self._drained()
        self._told.set()

    async def _drained(self) -> None:
        for _ in range(MOST_DRAINS):
            with anyio.move_on_after(DRAIN):
                for done in self._read.values():
                    await done.wait()
                return
            if self._tap.sink.has_room():
                return

    async def _sweep(self) -> None:
        """End what the leader of the group left behind."""
        child = self._child
        if await child.gone(0 if self.forced else LEFT_BEHIND):
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            self._signal(number, left_behind=True)
            if await child.gone(LEFT_BEHIND if number is signal.SIGTERM else KILLED):
                return

    def _signal(self, number: signal.Signals, **more: bool) -> None:
        self._tap.process("signal", name=number.name.removeprefix("SIG"), **more)
        self._child.signal_group(number)

    # The end, by us

    async def shut_down(self) -> None:
        """End the server and wait until it is gone: close its stdin, wait, TERM, wait, KILL."""
        if not self._child.exited.is_set():
            await self._outbox.close(self._target.timeouts.shutdown)
            self._tap.process("stdin_closed")
            await self._end()
        with anyio.move_on_after(2 * DRAIN + 2 * LEFT_BEHIND + KILLED):
            await self._told.wait()
        await self._outbox.abandon("the server is gone")
        for scope in self._scopes:
            scope.cancel()

    def close_pipes(self) -> None:
        """Close our ends, after the tasks that read them have ended."""
        for descriptor in (self._child.stdout, self._child.stderr):
            with suppress(OSError):
                os.close(descriptor)

    async def _end(self) -> None:
        seconds = self._target.timeouts.shutdown
        if await self._exits_within(seconds):
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            self.forced = number.name.removeprefix("SIG")
            self._signal(number)
            if await self._exits_within(seconds if number is signal.SIGTERM else KILLED):
                return

    async def _exits_within(self, seconds: float) -> bool:
        self._tap.process("waiting", **{"for": "exit", "seconds": seconds})
        with anyio.move_on_after(seconds):
            await self._child.exited.wait()
        return self._child.exited.is_set()


@asynccontextmanager
async def open_stdio(target: Target, tap: Tap, peer: Peer) -> AsyncIterator[StdioTransport]:
    """Start a target's server; ``peer`` gets its messages in order, after the sink.

    Raises ``NotStarted``. Leaving the context ends the server, also when it is left by an error
    or a cancellation; that takes at most a few times the target's shutdown timeout.
    """
    transport = StdioTransport(target, tap, peer)
    try:
        async with anyio.create_task_group() as group:
            transport.attend(group)
            try:
                yield transport
            finally:
                with anyio.CancelScope(shield=True):
                    await transport.shut_down()
    finally:
        transport.close_pipes()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name.removeprefix("SIG")
    except ValueError:
        return str(number)


class _Stdio:
    """The kind: ``connect`` starts a process; ``serve`` is this process's own pipes."""

    def connect(self, target: Target, tap: Tap, peer: Peer) -> AbstractAsyncContextManager[StdioTransport]:
        return open_stdio(target, tap, peer)

    def serve(self, address: str, serve: Serve, taps: Taps) -> AbstractAsyncContextManager[Serving]:
        from workbench.wire.serving_stdio import serve_stdio

        return serve_stdio(address, serve, taps)


TRANSPORT = _Stdio()
