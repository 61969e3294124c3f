"""What the screen stands on: connections to show, frames to read, and what can be done with them.

A desk is a live session or an opened recording; panes cannot tell them apart but
by ``live``. Its methods are called in the screen's thread and never wait.
"""

# ruff: noqa: ARG002 - what the base does not do, the desks do

from __future__ import annotations

import threading
from collections import deque
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
    from workbench.core.links import Link
    from workbench.core.rules import Rule
    from workbench.core.view import ConnectionView
    from workbench.store.reader import Reader
    from workbench.tui.raw import RawFrame
    from workbench.wire.diagnose import Step

#: Frames written by hand that are kept; the last ones. All are in the recording.
RAW_KEPT = 200

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
    """A request of a server that waits for the user. ``id`` is the JSON text of its id, ``since`` when
    it came (``time.monotonic``), ``during`` the calls it belongs to: the tool's name and the frame.
    ``roots`` is what we would answer to ``roots/list`` (JSON text of the result). In an ``era`` that
    has no errors for it, a request that is refused ends its call."""

    connection: int
    id: str
    seq: int
    method: str
    params: object
    since: float
    during: tuple[tuple[str, int], ...] = ()
    roots: str = '{"roots":[]}'
    era: str = "legacy"

    @property
    def key(self) -> str:
        return f"{self.connection}:{self.seq}:{self.id}"


class Opening(NamedTuple):
    """A URL that a server wants a person to open; ``done`` when it has said that this is done."""

    connection: int
    link: Link
    done: bool


class Diagnosis(NamedTuple):
    """The steps of connecting once more by themselves, as far as they are known."""

    steps: tuple[Step, ...] = ()
    over: bool = False


class Desk:
    """Base of both desks. ``post`` may be called from any thread and merges ``Changed``."""

    live = False
    #: What the recording is called, for headings.
    title = ""

    def __init__(self) -> None:
        self.runs = Runs()
        #: The frames that were written by hand, oldest first.
        self.raw: deque[RawFrame] = deque(maxlen=RAW_KEPT)
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

    def gone(self, inquiry: Inquiry) -> str:
        """Why a request does not wait any more, as a sentence."""
        return "Nobody waits for an answer any more."

    @property
    def rules(self) -> Sequence[tuple[int, Rule]]:
        """The rules that answer, each with its connection, in the order they are asked."""
        return ()

    @property
    def openings(self) -> Sequence[Opening]:
        """The URLs that servers want opened."""
        return ()

    def roots(self, number: int) -> Sequence[str]:
        """The URIs of a connection's roots."""
        return ()

    @property
    def holds_roots(self) -> bool:
        """Whether ``roots/list`` waits for the user too."""
        return False

    def diagnosis(self, number: int) -> Diagnosis | None:
        """What came of ``diagnose``, ``None`` if it was not asked for."""
        return None

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

    def send_raw(self, number: int, body: bytes) -> RawFrame | None:
        """Send bytes as they are; ``None`` when nothing can be sent."""
        return None

    def cancel(self, run: Run) -> None: ...

    def answer(self, inquiry: Inquiry, result: str | None, error: tuple[int, str] | None = None) -> None: ...

    def refresh(self, number: int) -> None: ...

    def add_rule(self, inquiry: Inquiry, rule: Rule) -> None:
        """Let a rule answer on the inquiry's connection from now on, the inquiry first if it fits."""

    def remove_rule(self, number: int, rule: Rule) -> None: ...

    def set_roots(self, number: int, texts: Sequence[str]) -> str:
        """Change the roots of a connection: folders or URIs. Returns a sentence when that cannot be."""
        return ""

    def hold_roots(self, on: bool) -> None: ...

    def command_line(self, number: int, method: str, params: str) -> str:
        """The command line that sends the same request to a connection's target; empty without one."""
        return ""

    def diagnose(self, number: int) -> None:
        """Walk the steps of connecting to a connection's target, and find the one that fails."""
