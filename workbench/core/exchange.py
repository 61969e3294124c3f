"""A request with what came of it, and the words in which a pairing tells of frames.

Part of the light path: standard library only, and no ``dataclasses``.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.core.frame import Direction, Frame, Kind
from workbench.core.jsonrpc import Message


class Exchange:
    """A request, and what came of it.

    ``request`` is the seq of its frame and ``index`` its place in it (0 but for batches).
    ``direction`` is the request's. ``token`` is the JSON text of its progress token. ``answer``,
    ``kind`` and ``ended_ns`` are those of the answer, ``None`` while there is none. ``given_up``
    is the seq of the frame that cancelled it or told its timeout; an answer after that is
    ``late``. ``related`` are the seqs of the frames that belong to it, in order. ``stream`` is the
    number of the HTTP stream its request went on, 0 for none.
    """

    __slots__ = (
        "answer",
        "connection",
        "direction",
        "ended_ns",
        "given_up",
        "id",
        "index",
        "kind",
        "late",
        "method",
        "name",
        "related",
        "request",
        "started_ns",
        "stream",
        "token",
    )

    def __init__(self, frame: Frame, index: int, message: Message, name: str | None) -> None:
        self.connection = frame.connection
        self.direction = frame.direction
        self.request = frame.seq
        self.index = index
        self.stream = frame.stream
        self.id = message.id or "null"
        self.method = message.method or ""
        self.name = name
        self.started_ns = frame.mono_ns
        self.token: str | None = None
        self.answer: int | None = None
        self.kind: Kind | None = None
        self.ended_ns: int | None = None
        self.given_up: int | None = None
        self.late = False
        self.related: list[int] = []

    @property
    def key(self) -> tuple[int, int]:
        """What tells this exchange from any other of the session."""
        return self.request, self.index

    @property
    def duration_ns(self) -> int | None:
        return None if self.ended_ns is None else self.ended_ns - self.started_ns

    def __repr__(self) -> str:
        return f"<Exchange #{self.request} {self.method} id {self.id} answer {self.answer}>"


class Opened(NamedTuple):
    """A request; ``owner`` is the exchange of the other direction it belongs to, ``how`` says why
    (``task``, ``stream``, ``only``, ``ambiguous`` or ``none``)."""

    exchange: Exchange
    message: Message
    owner: Exchange | None
    how: str


class Answered(NamedTuple):
    """An answer with its request; ``exchange.late`` tells that nobody waited for it any more."""

    exchange: Exchange
    message: Message


class Orphaned(NamedTuple):
    """An answer to no open request; ``why`` is ``unknown-id``, ``duplicate-answer`` or ``no-id``."""

    seq: int
    direction: Direction
    message: Message
    why: str


class Told(NamedTuple):
    """A notification; ``how`` is ``token``, ``cancel``, ``task``, ``stream``, ``only``, ``ambiguous`` or
    ``none``."""

    seq: int
    direction: Direction
    message: Message
    owner: Exchange | None
    how: str


class GaveUp(NamedTuple):
    """A request whose time is over (told by a process frame, not by the peer)."""

    exchange: Exchange


Event = Opened | Answered | Orphaned | Told | GaveUp
