"""What a mock decides is to be done; whoever gives it pipes does it."""

from __future__ import annotations

from typing import NamedTuple

from workbench.core.frame import Ending


class Send(NamedTuple):
    """Write a body to the client. ``seq`` is the recorded frame it is made from, 0 if it is ours;
    ``part`` of ``parts`` is its place in the batch it was recorded in. ``stream`` is the stream of the
    live request it belongs to, 0 for the client's own, and ``status`` the HTTP status of an answer.
    ``apart``: the client must have taken what went before it, because progress that it reads together
    with the answer some clients drop (the TypeScript SDK, over stdio and HTTP with SSE)."""

    body: bytes
    ending: Ending = Ending.LF
    seq: int = 0
    part: int = 0
    parts: int = 1
    stream: int = 0
    status: int = 200
    apart: bool = False


class Reply(NamedTuple):
    """Answer what brought a stream with an HTTP status and a body that is no message, as recorded.
    ``media`` is its content type."""

    stream: int
    status: int
    body: bytes
    media: str
    seq: int


class HangUp(NamedTuple):
    """End a stream as it stands. ``retry`` is how long the client is told to wait before it takes the
    stream up again (milliseconds), 0 if it is not told; ``last`` tells that it broke and was not
    taken up again."""

    stream: int
    retry: int
    seq: int
    last: bool = False


class Open(NamedTuple):
    """Begin the event stream that answers what brought a stream, with nothing to send on it yet."""

    stream: int
    seq: int


class Gone(NamedTuple):
    """Know the client's session no more, as the recorded server did."""

    seq: int


class Stderr(NamedTuple):
    """Write a line to stderr."""

    body: bytes
    ending: Ending = Ending.LF
    seq: int = 0


class Eof(NamedTuple):
    """Close stdout, as the recorded server did."""

    seq: int


class Exit(NamedTuple):
    """End with this status, as the recorded server did."""

    code: int
    seq: int = 0


class Injected(NamedTuple):
    """Write down that what follows, or does not follow, is a fault that was asked for, and no server's.
    ``id`` is that of the request (JSON text)."""

    fault: str
    method: str
    id: str


class Forward(NamedTuple):
    """Ask a live server what the recording has no answer for, and tell the mock what came
    (``MockServer.came``, ``did_not_come``). ``id`` and ``params`` are JSON text."""

    id: str
    method: str
    params: str | None
    stream: int


class Withdraw(NamedTuple):
    """The client waits no more for what a live server was asked under this id (JSON text)."""

    id: str


Action = Send | Stderr | Eof | Exit | Reply | Open | HangUp | Gone | Injected | Forward | Withdraw


class Connect(NamedTuple):
    """Reach a server for a recorded connection."""

    connection: int


class Write(NamedTuple):
    """Write a body to the server of a connection. ``seq`` is the recorded frame it is made from, 0 if
    it is ours. ``cancels`` is the id (JSON text) of the request it gives up."""

    connection: int
    body: bytes
    seq: int = 0
    cancels: str | None = None


class Leave(NamedTuple):
    """End a connection, as the recorded client did."""

    connection: int


ClientAction = Connect | Write | Leave
