"""One body that is POSTed, and what of it still waits for an answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from workbench.core.actions import Send
from workbench.core.frame import ANSWERS, Kind
from workbench.core.jsonrpc import Decoded, id_text
from workbench.core.peek import peek
from workbench.wire.http_exchange import Outgoing

#: How long a stream is read on after the answer it was for (seconds). A server should close it then.
LINGER = 2.0

#: What opens a connection: nothing has been agreed on before it is answered.
OPENING = frozenset(("initialize", "server/discover"))


class Post:
    """A body on its way. ``ids`` holds the ids (JSON text) of the requests in it, ``waits`` those that
    have no answer; it empties wherever the answers come, on this or on another stream."""

    def __init__(self, send: Send, decoded: Decoded, outgoing: Outgoing, opening: bool) -> None:
        messages = decoded.messages
        self.send = send
        self.outgoing = outgoing
        self.ids = frozenset(
            each.id for each in messages if each.kind is Kind.REQUEST and each.id is not None
        )
        self.waits = set(self.ids)
        self.method = (messages[0].method or "") if len(messages) == 1 else ""
        self.opening = opening and self.method in OPENING
        self.prompted = send.about.startswith("policy ")
        #: Cancelled or timed out: late answers are read, but nothing more is done to get one.
        self.given_up = False
        #: The server has taken it, and listening has begun for what follows.
        self.accepted = False
        #: Set when nothing waits any more.
        self.done = anyio.Event()
        self.scope = anyio.CancelScope()
        self._only = next(iter(self.waits)) if len(self.waits) == 1 else None
        self._lingering: anyio.CancelScope | None = None
        if not self.waits:
            self.done.set()

    @property
    def only(self) -> str | None:
        """The id that an answer without one is for: that of the one request that waits."""
        return self._only if self.waits else None

    def settle(self, decoded: Decoded, own: bool) -> None:
        """Take note of answers; ``own`` tells that they came on this post's own stream."""
        for message in decoded.messages:
            if message.kind not in ANSWERS:
                continue
            self.waits.discard(message.id or "")
            if own and message.kind is Kind.ERROR and message.id in (None, "null") and self._only:
                self.waits.discard(self._only)
        if not self.waits:
            self.end()

    def end(self) -> None:
        """Nothing is waited for any more."""
        self.waits.clear()
        self.done.set()
        self._limit()

    @contextmanager
    def lingering(self) -> Iterator[None]:
        """Read on inside; it is left some time after the last answer has come."""
        with anyio.CancelScope() as self._lingering:
            if not self.waits:
                self._limit()
            yield

    def _limit(self) -> None:
        if self._lingering is not None:
            self._lingering.deadline = anyio.current_time() + LINGER


def given_up(decoded: Decoded) -> str | None:
    """The id (JSON text) of the request that a body of ours gives up, if it is for that."""
    if decoded.kind is not Kind.NOTIFICATION or decoded.messages[0].method != "notifications/cancelled":
        return None
    identity = peek(decoded.messages[0], "params", "requestId")
    return None if identity is None else id_text(identity)
