"""Asks the person at a terminal to log in: the URL on a line of its own, and several ways back.

The browser is sent back to a port of this machine, or the person pastes where it was sent to.
"""

from __future__ import annotations

import os
import stat
import sys
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import urlsplit

import anyio

from workbench.cli import output
from workbench.cli.questions import EndOfInput, Typed
from workbench.core.printable import printable
from workbench.wire.oauth_callback import Callback, listening
from workbench.wire.oauth_exchange import AuthorizationFailed

#: How often it is said how much time is left (seconds).
_TOLD = 60.0

_NOT_OURS = "That is not where this login was sent back to: paste all of the URL, with its state."


class TerminalBrowser:
    """``wait`` is how long somebody has to log in (seconds), ``port`` the one to be sent back to (0: any),
    ``opens`` whether a browser of this machine is opened. ``asked`` tells whether anybody was asked."""

    def __init__(self, wait: float, port: int = 0, opens: bool = False) -> None:
        self.asked = False
        self._wait = wait
        self._port = port
        self._opens = opens

    @asynccontextmanager
    async def begin(self, wanted: Sequence[str]) -> AsyncIterator[_Visit]:
        async with listening(wanted, self._port) as callback:
            self.asked = True
            yield _Visit(callback, self._wait, self._opens)


class _Visit:
    def __init__(self, callback: Callback, wait: float, opens: bool) -> None:
        self.redirect = callback.redirect
        self._callback = callback
        self._wait = wait
        self._opens = opens

    async def visit(self, url: str) -> str:
        self._callback.expect(url)
        self._tell(url)
        if self._opens:
            import webbrowser

            await anyio.to_thread.run_sync(webbrowser.open, url)
        with anyio.move_on_after(self._wait) as limit:
            async with anyio.create_task_group() as group:
                group.start_soon(self._pasted)
                group.start_soon(self._tell_time)
                await self._callback.came.wait()
                group.cancel_scope.cancel()
        if limit.cancelled_caught:
            why = f"Nobody logged in within {self._wait:g} s."
            raise AuthorizationFailed(why, "Log in again; --wait S gives more time.")
        return self._callback.url

    def _tell(self, url: str) -> None:
        port = urlsplit(self.redirect).port
        output.note("Open this URL in a browser, on whichever machine:\n")
        output.note(url)
        if _is_terminal(sys.stderr):
            # The terminal's clipboard, also over ssh (OSC 52); one that does not know it ignores it.
            sys.stderr.write(f"\x1b]52;c;{b64encode(printable(url).encode()).decode()}\x07")
            sys.stderr.flush()
        output.note(
            f"\nIt sends the browser back to {self.redirect}. If the browser is on another machine,\n"
            "either run this there before:\n"
            f"  ssh -N -L {port}:127.0.0.1:{port} USER@THIS-MACHINE\n"
            "or paste the URL here that the browser was sent to, although it shows an error.\n"
            f"{self._wait:g} s left; ctrl-C cancels."
        )

    async def _tell_time(self) -> None:
        left = self._wait
        while left > _TOLD:
            await anyio.sleep(_TOLD)
            left -= _TOLD
            output.note(f"{left:g} s left to log in.")

    async def _pasted(self) -> None:
        """Take a pasted URL; what is none of this login is said to be so."""
        if not _can_be_read():
            return
        typed = Typed(sys.stdin.fileno())
        try:
            with _unseen(sys.stdin.fileno()):
                while not self._callback.came.is_set():
                    line = (await typed.line("")).strip().strip("'\"")
                    if line and not self._callback.take(line):
                        output.note(_NOT_OURS)
        except EndOfInput:
            return


@contextmanager
def _unseen(descriptor: int) -> Iterator[None]:
    """What is pasted holds a code, so a terminal does not show it; nor does it cut it at its longest line."""
    if not os.isatty(descriptor):
        yield
        return
    import termios

    before = termios.tcgetattr(descriptor)
    quiet = termios.tcgetattr(descriptor)
    quiet[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(descriptor, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)


def _is_terminal(stream: object) -> bool:
    try:
        return bool(stream.isatty())  # type: ignore[attr-defined]
    except (AttributeError, ValueError):
        return False


def _can_be_read() -> bool:
    """Whether lines may come on the standard input: from a terminal or a pipe."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or _is_terminal(sys.stdin)
