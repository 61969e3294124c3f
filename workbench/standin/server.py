"""The server behind a stand-in: the leader of a process group of its own.

Started with ``posix_spawn``: it costs a fraction of ``subprocess``, and it does
not run our code between fork and exec. The end of the leader is noticed without
collecting it, so that its number stays taken while its group is signalled.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from workbench.standin.recording import Command
from workbench.wire.command import NotStarted, environment_of, explain, find_program
from workbench.wire.group import signal_group

#: How long what the server leaves behind has to go after TERM (seconds).
LEFT_BEHIND = 0.2

#: How often is looked whether it is gone (seconds).
_LOOK = 0.01

#: Python ignores these; a server must not inherit that. What else is ignored we have inherited
#: ourselves, and what we handle is the default again after ``exec``.
_RESTORED = (signal.SIGPIPE, signal.SIGXFSZ)


class Server:
    """A running server; ``stdin``, ``stdout`` and ``stderr`` are our ends of its pipes,
    ``folder`` is where it was started.

    ``status`` is its exit code, negative for a signal, and ``None`` as long as it runs.
    """

    def __init__(self, command: Command) -> None:
        """Start it. Raises ``NotStarted``."""
        environment = environment_of(command)
        program = find_program(command, environment)
        theirs_in, self.stdin = os.pipe()
        self.stdout, theirs_out = os.pipe()
        self.stderr, theirs_err = os.pipe()
        theirs = (theirs_in, theirs_out, theirs_err)
        self.folder = _enter(command.cwd)
        try:
            self.pid = _spawn(program, command.words, environment, theirs)
        except OSError as error:
            raise explain(command, program, error) from None
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        self.status: int | None = None

    def exited(self) -> bool:
        """Whether the leader has exited; what it left running does not count."""
        if self.status is not None:
            return True
        if not hasattr(os, "waitid"):
            return self._collect(os.WNOHANG)
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def signal_group(self, number: int) -> bool:
        """Send a signal to everything in the group; false when nothing is there any more."""
        return signal_group(self.pid, number)

    def collect(self) -> int:
        """End what the leader has left behind, and take its exit status."""
        self._collect(0)
        if self.signal_group(signal.SIGTERM):
            until = time.monotonic() + LEFT_BEHIND
            while self.signal_group(0) and time.monotonic() < until:
                time.sleep(_LOOK)
            self.signal_group(signal.SIGKILL)
        assert self.status is not None
        return self.status

    def _collect(self, options: int) -> bool:
        if self.status is None:
            with suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, options)
                if pid == 0:
                    return False
                self.status = os.waitstatus_to_exitcode(status)
        return True


def _enter(folder: str | None) -> str:
    """Change to the folder the server is started in (``posix_spawn`` cannot), and say which it is."""
    if folder is not None:
        os.chdir(os.path.expanduser(folder))
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def exit_status(status: int) -> int:
    """What we exit with: the server's exit code, or 128 and the number of the signal that ended it."""
    return status if status >= 0 else 128 - status


def signal_name(number: int) -> str:
    """``TERM`` for 15."""
    try:
        return signal.Signals(number).name.removeprefix("SIG")
    except ValueError:
        return str(number)


def _spawn(program: str, words: list[str], environment: Mapping[str, str], theirs: Sequence[int]) -> int:
    actions = [(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in enumerate(theirs)]
    return os.posix_spawn(
        program, words, environment, file_actions=actions, setpgroup=0, setsigdef=_RESTORED, setsigmask=()
    )


__all__ = ["NotStarted", "Server", "exit_status", "signal_name"]
