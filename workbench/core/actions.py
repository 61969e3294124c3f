"""What a conversation tells its caller: things to send, and things that happened.

A conversation does no I/O. Every call of it returns a list of these, in order;
the caller performs the sends and passes the rest on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message, dumps
from workbench.core.jsontext import lookup
from workbench.core.lifecycle import State


@dataclass(frozen=True)
class Outcome:
    """How a request of ours ended.

    ``how`` is ``result``, ``error``, ``timeout``, ``cancelled`` or ``lost``. ``message`` is the
    answer (``result`` and ``error`` only) and ``seq`` its frame; ``seconds`` is the time from
    sending to the end. ``why`` is a sentence for the ends that no answer explains.

    A large answer is not parsed until ``result`` is asked for: ask where nobody waits.
    """

    how: str
    seconds: float
    message: Message | None = None
    seq: int | None = None
    why: str = ""

    @property
    def large(self) -> bool:
        """Whether the answer is kept as text, so that reading ``result`` takes noticeable time."""
        return self.message is not None and bool(self.message.raw)

    @cached_property
    def result(self) -> Any:
        """The parsed result (any JSON value), ``None`` when there is none."""
        if self.how != "result" or self.message is None:
            return None
        return self.message.value("result")

    @cached_property
    def text(self) -> str:
        """The JSON text of the result as it stood, empty when there is none."""
        if self.how != "result" or self.message is None:
            return ""
        raw = self.message.raw.get("result")
        if raw is not None:
            return raw.decode("utf-8", "surrogateescape")
        written = lookup(self.message.text, "/result")
        return dumps(self.result) if written is None else written

    @cached_property
    def error(self) -> Any:
        """The parsed error member (an object, if the peer keeps to the protocol), else ``None``."""
        if self.how != "error" or self.message is None:
            return None
        return self.message.value("error")

    @property
    def is_tool_error(self) -> bool:
        """Whether this is a result with ``isError: true``."""
        return isinstance(self.result, dict) and self.result.get("isError") is True

    @property
    def sentence(self) -> str:
        """The end in words, empty for a result."""
        if self.how == "result":
            return ""
        if self.how != "error":
            return self.why
        return error_sentence(self.error)


def error_sentence(error: Any) -> str:
    """A JSON-RPC error in one line: its message and code, whatever shape it has."""
    if not isinstance(error, dict):
        return f"the error is {dumps(error)[:200]}"
    message = error.get("message")
    text = message if isinstance(message, str) and message else "no message"
    code = error.get("code")
    return f"{text} ({dumps(code)[:40]})" if code is not None else text


class Send(NamedTuple):
    """Write this body. ``about`` says what it is for: a method, ``cancel``, ``raw``, ``user``, and
    for a request that was answered without asking anybody ``policy …`` or ``rule …``; ``id`` is the
    JSON text of the id it carries (or answers), if any. ``headers`` are for a transport that has headers."""

    body: bytes
    about: str
    id: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


class Abandon(NamedTuple):
    """Close the stream on which the answer to the request with this id (JSON text) is awaited,
    which is how the stateless era cancels over HTTP ("Cancellation", 2026-07-28)."""

    id: str


class Remarked(NamedTuple):
    """A sentence about the request ``id`` of ours, or about the connection where that is ``None``."""

    id: int | None
    text: str


class Completed(NamedTuple):
    """A request of ours has ended."""

    id: int
    outcome: Outcome


class Progressed(NamedTuple):
    """A request of ours has come on. Values are as sent; ``total`` and ``message`` may be absent."""

    id: int
    progress: float
    total: float | None
    message: str | None
    seq: int


class PeerRequest(NamedTuple):
    """The peer asks something. ``held`` tells that an answer from outside is waited for.

    ``params`` is the parsed value, ``None`` where it is too large to be parsed on the way;
    ``message.value("params")`` then parses it where nobody waits.
    """

    id: str
    method: str
    params: Any
    seq: int
    held: bool
    message: Message


class PeerCancelled(NamedTuple):
    """The peer takes a request back that has not been answered yet."""

    id: str
    reason: str | None
    seq: int


class Notified(NamedTuple):
    """A notification of the peer; ``params`` as in ``PeerRequest``. Progress is told as
    ``Progressed``, and a cancelled request as ``PeerCancelled``."""

    method: str
    params: Any
    seq: int
    message: Message


class StateChanged(NamedTuple):
    """The connection's state; ``why`` and ``next`` are sentences for the failed ones."""

    state: State
    why: str
    next: str


class Late(NamedTuple):
    """An answer to a request that had been cancelled or had timed out. It is shown, never used."""

    id: int
    seq: int
    kind: Kind


class Odd(NamedTuple):
    """Something the protocol does not have. ``defect`` is a short word, see ``DEFECTS`` of
    ``jsonrpc`` and ``ODDITIES``."""

    defect: str
    seq: int


Action = (
    Send
    | Abandon
    | Completed
    | Progressed
    | PeerRequest
    | PeerCancelled
    | Notified
    | StateChanged
    | Late
    | Odd
    | Remarked
)

#: The oddities a conversation finds beyond the defects of a body.
ODDITIES = {
    "unknown-id": "the answer names no request of ours (ids of another type do not count)",
    "duplicate-answer": "the request has been answered before",
    "unknown-token": "the progress names no call that runs",
    "progress-shape": "the progress is no number",
    "progress-not-growing": "the progress has not grown",
    "early-request": "a request other than ping came before the handshake was over",
    "reused-id": "the peer uses an id again while its earlier request is open",
    "unknown-cancel": "the peer cancels a request that is not open",
    "batch": "a batch, which the agreed revision does not have",
    "cursor-null": "nextCursor is null, where it should be absent",
    "cursor-type": "nextCursor is not a string",
    "cursor-loop": "nextCursor names a page that was read before",
    "too-many-pages": "the listing has more pages than are read",
    "items-shape": "the listing holds no array of items, or items that are no objects",
}
