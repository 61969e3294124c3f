"""The client half of a recorded session as a script: what was sent, and what each piece waits for.

The script has no clock. *Turns* are the frames of the client half in recorded
order, those of all connections of the session on one line: requests,
notifications, and where a connection was opened and closed. A turn goes out when
the one before it has, and

* every request of ours that had been answered before it has its answer again;
* every question of the server's that had been asked before it is asked again, or
  the request that it belonged to has ended;
* what the server had told before it (a list has changed, a resource, a task) is
  told again; before a cancel, as much progress as there had been.

An answer to a question is no turn. It hangs on its question and goes out when that
is asked, whatever the turns do, but after what had been recorded between the two.

The first of these is a law. The others hold as long as they can: a server that
asks or tells less than it did must not hold up the rest (``MockClient``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from workbench.core.exchanges import Exchange
from workbench.core.jsonrpc import Message, dumps
from workbench.core.methods import CHANGED_LISTS, LIST_METHODS
from workbench.replay.correlate import long_strings
from workbench.replay.reading import params_of

#: What a turn is.
OPEN, SEND, CANCEL, CLOSE = "open", "send", "cancel", "close"

#: How a recorded request ended: with an answer, cancelled, without an answer because the server or the
#: way to it was gone, or because the client did not wait for one.
ANSWERED, CANCELLED, LOST, LEFT = "answered", "cancelled", "lost", "left"

#: Notifications of a server that a client acts on.
TELLING = frozenset(
    (
        *CHANGED_LISTS,
        "notifications/resources/updated",
        "notifications/tasks/status",
        "notifications/tasks",
        "notifications/elicitation/complete",
        "notifications/subscriptions/acknowledged",
    )
)

#: What has been told: connection, method, and the key of the request for progress (else 0).
Telling = tuple[int, str, int]


class Request:
    """A request of the recorded client. ``params`` and ``answer`` are what was recorded, ``ends`` is how
    it ended; ``took_ns`` is the time to the answer and ``stream`` the HTTP stream it went on.
    ``round_of`` is the key of the request whose result asked for what this one brings ("Multi
    round-trip requests", 2026-07-28). ``polls`` is the key of a later ``tasks/get`` for the same
    task, ``None`` for the last one. ``page_of`` is the key of the request for the page before."""

    __slots__ = (
        *("answer", "answer_seq", "connection", "ends", "id", "key", "method", "name"),
        *("page_of", "params", "polls", "round_of", "seq", "stream", "took_ns", "token", "why"),
    )

    def __init__(self, key: int, exchange: Exchange, message: Message) -> None:
        self.key = key
        self.seq = exchange.request
        self.connection = exchange.connection
        self.method = exchange.method
        self.name = exchange.name
        self.id = exchange.id
        self.token = exchange.token
        self.stream = exchange.stream
        self.params = params_of(message)
        self.answer: Message | None = None
        self.answer_seq: int | None = None
        self.took_ns: int | None = None
        self.ends = LEFT
        self.why = ""
        self.round_of: int | None = None
        self.polls: int | None = None
        self.page_of: int | None = None

    def __repr__(self) -> str:
        return f"<Request #{self.seq} {self.method} {self.ends}>"


class Query:
    """A request of the recorded server. ``owner`` is the key of the request of ours it belongs to.
    ``notes`` are the frames of progress that the client reported for it and ``answer`` its answer,
    each as (body, seq); the body is empty where a batch holds it. ``needs``, ``heard`` and ``turns``
    are what the answer waits for: requests answered and things told after it was asked, and how
    many turns have gone out by then. ``asked`` is how many had when it came."""

    __slots__ = (
        *("answer", "asked", "connection", "heard", "id", "key", "method", "name", "needs", "notes"),
        *("owner", "params", "seq", "token", "turns"),
    )

    def __init__(self, key: int, exchange: Exchange, message: Message) -> None:
        self.key = key
        self.seq = exchange.request
        self.connection = exchange.connection
        self.id = exchange.id
        self.method = exchange.method
        self.name = exchange.name
        self.token = exchange.token
        self.params = params_of(message)
        self.owner: int | None = None
        self.notes: list[tuple[bytes, int]] = []
        self.answer: tuple[bytes, int] | None = None
        self.asked = 0
        self.needs: tuple[int, ...] = ()
        self.heard: tuple[tuple[Telling, int], ...] = ()
        self.turns = 0

    def __repr__(self) -> str:
        return f"<Query #{self.seq} {self.method}>"


class Turn:
    """A frame of the client half. ``requests`` are the keys of the requests in it, ``cancels`` the one
    that it cancels, ``answers`` the keys of the questions that a batch answers, each with the place
    of its message. ``needs``, ``queries`` and ``heard`` are what came after the turn before it, and
    ``pause_ns`` is how long after the last message of all it went out."""

    __slots__ = (
        *("answers", "body", "cancels", "connection", "heard", "messages", "needs", "pause_ns", "queries"),
        *("requests", "seq", "what"),
    )

    def __init__(self, what: str, connection: int, seq: int, body: bytes = b"") -> None:
        self.what = what
        self.connection = connection
        self.seq = seq
        self.body = body
        self.messages: tuple[Message, ...] = ()
        self.requests: list[int] = []
        self.answers: list[tuple[int, int]] = []
        self.cancels: int | None = None
        self.pause_ns = 0
        self.needs: tuple[int, ...] = ()
        self.queries: tuple[int, ...] = ()
        self.heard: tuple[tuple[Telling, int], ...] = ()

    def __repr__(self) -> str:
        return f"<Turn #{self.seq} {self.what}>"


class ClientScript:
    """The client half of a recorded session. ``requests`` and ``queries`` are by key, in recorded order.
    ``offered`` are the capabilities of the client and ``codes`` the exit statuses of servers that
    ended by themselves, by connection. ``tools`` are the tools that the server listed, by name."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.requests: dict[int, Request] = {}
        self.queries: dict[int, Query] = {}
        self.offered: dict[int, Any] = {}
        self.codes: dict[int, int] = {}
        self.tools: dict[str, Any] = {}
        self.notes: list[str] = []
        self._said: dict[bytes, int] | None = None

    @property
    def connections(self) -> list[int]:
        return [turn.connection for turn in self.turns if turn.what == OPEN]

    def said(self) -> Iterator[tuple[int, bytes]]:
        """Everything the client half sent, as (seq, body) in recorded order."""
        bodies = [(turn.seq, turn.body) for turn in self.turns if turn.body]
        for query in self.queries.values():
            bodies += [(seq, body) for body, seq in (*query.notes, *([query.answer] if query.answer else ()))]
        return iter(sorted(bodies))

    def first(self, forms: Iterable[bytes]) -> int | None:
        """The seq of the first frame of the client half that holds one of these texts."""
        if self._said is None:
            self._said = {}
            for seq, body in self.said():
                for text in long_strings(body):
                    self._said.setdefault(text, seq)
        seqs = [self._said[form] for form in forms if form in self._said]
        return min(seqs, default=None)

    def listings(self) -> Iterator[tuple[str, bytes]]:
        """The recorded results of listings: method and JSON text."""
        for request in self.requests.values():
            if request.method in LIST_METHODS and request.answer is not None:
                text = request.answer.raw.get("result")
                yield (
                    request.method,
                    text or dumps(request.answer.value("result")).encode("utf-8", "surrogateescape"),
                )
