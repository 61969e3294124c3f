"""A server's process: the leader of a process group of its own.

Servers are started through ``npx``, ``uvx`` and shells, so what must be ended is
the group and not one process. The end of the leader is waited for *without*
collecting it: until it is collected its number cannot be given to another
process, so the group can be signalled without hitting a stranger.

A thread waits, because asyncio's own child watcher ties the news of an exit to
the pipes in some versions, and a grandchild can hold a pipe for ever.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO

import anyio

from workbench.wire.group import signal_group

#: How often is looked whether what a leader left behind is gone (seconds).
_LOOK = 0.01


class Child:
    """A process group. Everything but ``spawn`` belongs to the event loop it was made in.

    ``stdin``, ``stdout`` and ``stderr`` are file descriptors of our ends, not blocking; closing
    them is the caller's. ``exited`` is set when the leader has exited; ``returncode`` is then its
    exit code, negative for a signal.
    """

    def __init__(
        self, command: Sequence[str], program: str, environment: dict[str, str], cwd: str | None
    ) -> None:
        """Start it. Raises ``OSError`` when ``exec`` refuses."""
        self._process = subprocess.Popen(
            list(command),
            executable=program,
            env=environment,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self.pid = self._process.pid
        self.returncode: int | None = None
        self.exited = anyio.Event()
        # Whatever becomes of the loop, the group does not outlive this object or the interpreter.
        self._last_resort = weakref.finalize(self, _kill_group, self.pid, os.getpid())
        self.stdin, self.stdout, self.stderr = (
            _own(pipe) for pipe in (self._process.stdin, self._process.stdout, self._process.stderr)
        )
        threading.Thread(
            target=_watch,
            args=(self._process, asyncio.get_running_loop(), self.exited.set),
            name=f"exit of {self.pid}",
            daemon=True,
        ).start()

    def signal_group(self, number: int) -> bool:
        """Send a signal to everything in the group; false when nothing is there any more."""
        return signal_group(self.pid, number)

    def collect(self) -> int:
        """Take the exit status, after ``exited``; the process is then gone from the system."""
        self.returncode = self._process.wait()
        return self.returncode

    async def gone(self, seconds: float) -> bool:
        """Wait until nothing is left of the group, after ``collect``; false when time runs out."""
        with anyio.move_on_after(seconds):
            while self.signal_group(0):
                await anyio.sleep(_LOOK)
        if self.signal_group(0):
            return False
        self._last_resort.detach()
        return True


def _own(pipe: IO[bytes] | None) -> int:
    """Our end of a pipe as a bare descriptor that does not block."""
    assert pipe is not None
    descriptor = os.dup(pipe.fileno())
    pipe.close()
    os.set_blocking(descriptor, False)
    return descriptor


def _watch(
    process: subprocess.Popen[bytes], loop: asyncio.AbstractEventLoop, tell: Callable[[], None]
) -> None:
    if hasattr(os, "waitid"):
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    else:
        process.wait()
    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(tell)


def _kill_group(pid: int, owner: int) -> None:
    if os.getpid() == owner:
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
