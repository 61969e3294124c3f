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
from workbench.core.links import required_sentence


@dataclass(frozen=True)
class Outcome:
    """How a request of ours ended.

    ``how`` is ``result``, ``error``, ``timeout``, ``cancelled``, ``lost``, or ``refused`` where the
    server asked for something that we did not give it. ``message`` is the
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
    told = f"{text} ({dumps(code)[:40]})" if code is not None else text
    wanted = required_sentence(error)
    return f"{told}. {wanted}" if wanted else told


def sentence(text: str) -> str:
    """The text as a sentence: a capital first and one full stop at its end, also where a peer's words
    have ended it with one already."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


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


class EraFound(NamedTuple):
    """Which era the server speaks is known, and another conversation goes on from here.

    ``era`` is ``legacy`` or ``modern``, ``found`` a sentence that says how. ``restart`` is a sentence
    where a process must be started anew, because it is locked to the other era. ``discovered`` is the
    answer to ``server/discover`` that decided, and ``seq`` its frame.
    """

    era: str
    found: str
    restart: str = ""
    discovered: Message | None = None
    seq: int = 0


class Continued(NamedTuple):
    """A request of ours goes on in another round ("Multi round-trip requests", 2026-07-28, or the
    same request once more after an error that names its own cure).

    ``id`` is the request as its caller knows it, ``round`` the id under which it is now sent,
    ``seq`` the frame that asked for more, ``asked`` what it asked: pairs of key and method.
    """

    id: int
    round: int
    seq: int
    asked: tuple[tuple[str, str], ...] = ()


class Remarked(NamedTuple):
    """A sentence about the request ``id`` of ours, or about the connection where that is ``None``."""

    id: int | None
    text: str


class PolicyAnswered(NamedTuple):
    """A request of the peer that came within an answer to ``call`` got its own answer from the
    policy, for the reason ``by``; nothing is sent for it alone."""

    id: str
    method: str
    by: str
    call: int


class Settled(NamedTuple):
    """A request of the peer that came within an answer needs nobody any more; it goes back with
    the next round."""

    id: str


class Abandoned(NamedTuple):
    """A call ends although its server waits for what it asked in the answer to the request ``id``."""

    id: int


class Relisten(NamedTuple):
    """A subscription's stream is gone, and is opened again in ``seconds``; ``attempt`` counts from 1."""

    id: int
    seconds: float
    attempt: int
    why: str


class Relistened(NamedTuple):
    """A subscription is asked for again: the request ``next`` takes the place of ``id``."""

    id: int
    next: int


class Unlistened(NamedTuple):
    """The server has ended a subscription to a resource."""

    uri: str


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


Action = (
    Send
    | Abandon
    | Completed
    | Unlistened
    | Abandoned
    | Progressed
    | PeerRequest
    | PeerCancelled
    | Notified
    | StateChanged
    | Late
    | EraFound
    | Continued
    | Remarked
    | PolicyAnswered
    | Settled
    | Relisten
    | Relistened
)
