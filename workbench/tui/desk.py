"""What the screen stands on: connections to show, frames to read, and what can be done with them.

A desk is a live session or an opened recording; panes cannot tell them apart but
by ``live``. Its methods are called in the screen's thread and never wait.
"""

# ruff: noqa: ARG002 - what the base does not do, the desks do

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.message import Message

from workbench.tui.messages import Changed, Said
from workbench.tui.palette import Role
from workbench.tui.runs import Run, Runs

if TYPE_CHECKING:
    from workbench.check.rule import Finding
    from workbench.config import Target
    from workbench.config.inputs import Input
    from workbench.config.looking import Look
    from workbench.config.servers import FileServers
    from workbench.core.view import ConnectionView
    from workbench.store.reader import Reader

Post = Callable[[Message], object]


class Sign(NamedTuple):
    """The word at the right of the strip that tells what becomes of the frames."""

    word: str
    role: Role = "quiet"
    number: int | None = None


class Prepared(NamedTuple):
    """What a typed target comes to: ``wrong`` is a sentence when it cannot be; ``inputs`` are to be
    asked for first; of the ``targets`` somebody has to agree to those that are ``unagreed``."""

    wrong: str = ""
    inputs: Sequence[Input] = ()
    targets: Sequence[Target] = ()
    unagreed: Sequence[Target] = ()


class Inquiry(NamedTuple):
    """A request of a server that waits for the user."""

    connection: int
    id: str
    seq: int
    method: str
    params: object
    since_ns: int


class Desk:
    """Base of both desks. ``post`` may be called from any thread and merges ``Changed``."""

    live = False
    #: What the recording is called, for headings.
    title = ""

    def __init__(self) -> None:
        self.runs = Runs()
        self.reader: Reader | None = None
        self._post: Post | None = None
        self._lock = threading.Lock()
        self._told = False

    def start(self, post: Post) -> None:
        """Begin; from now on changes are told with ``post``, which any thread may call."""
        self._post = post

    def close(self, how: str = "closed") -> None:
        """End everything that was begun, and wait for that."""

    def changed(self) -> None:
        """Tell the screen, once until it has looked."""
        with self._lock:
            if self._told:
                return
            self._told = True
        self._send(Changed())

    def looked(self) -> None:
        """The screen is about to look at everything."""
        with self._lock:
            self._told = False

    def say(self, text: str, *, bad: bool = False) -> None:
        self._send(Said(text, bad))

    def _send(self, message: Message) -> None:
        if self._post is not None:
            self._post(message)

    # What there is.

    @property
    def opening(self) -> str:
        """What is waited for while there is nothing to show yet; empty otherwise."""
        return ""

    @property
    def views(self) -> Sequence[ConnectionView]:
        """The connections, as they are now."""
        return ()

    @property
    def height(self) -> int:
        """The number of the last frame that can be read."""
        return 0

    @property
    def sign(self) -> Sign:
        return Sign("")

    def findings(self, seq: int) -> Sequence[Finding]:
        """What the checks have found on a frame, as far as it is at hand."""
        return ()

    @property
    def inbox(self) -> Sequence[Inquiry]:
        """The servers' requests that wait, oldest first."""
        return ()

    @property
    def source(self) -> tuple[str, int | None] | None:
        """File and session to keep from, ``None`` when there is no file."""
        return None

    # What can be done; an opened recording does nothing.

    def found(self) -> Sequence[tuple[FileServers, Sequence[Look]]]:
        """The servers of the config files here, file by file. Takes a while: for a thread."""
        return ()

    def places(self) -> Sequence[tuple[str, str]]:
        """The config files that are looked for, and whose they are."""
        return ()

    def prepare(self, line: str, inputs: Mapping[str, str] | None = None) -> Prepared:
        """Read the target a user typed, with answers to what it asks for."""
        return Prepared("A recording is read-only; open the screen on a target to connect.")

    def open(self, targets: Sequence[Target], *, remember: bool = False) -> str:
        """Connect to targets; ``remember`` that somebody agreed to them. Returns a sentence when that
        cannot be."""
        return self.prepare("").wrong

    def connect(self, line: str) -> str:
        """Connect to the target a user typed; returns a sentence when that cannot be, also when
        somebody has to be asked first."""
        prepared = self.prepare(line)
        if prepared.inputs or prepared.unagreed:
            return "The target has open questions; connect to it with n."
        return prepared.wrong or self.open(prepared.targets)

    def reconnect(self, number: int) -> None: ...

    def disconnect(self, number: int) -> None: ...

    def call(self, number: int, item: str, method: str, params: str) -> Run | None:
        """Send a request; ``None`` when nothing can be sent."""
        return None

    def cancel(self, run: Run) -> None: ...

    def answer(self, inquiry: Inquiry, result: str | None, error: tuple[int, str] | None = None) -> None: ...

    def refresh(self, number: int) -> None: ...
