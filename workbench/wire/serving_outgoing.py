"""What goes to a client on one stream: kept until it is delivered, and in a session for a while after.

A stream outlives the HTTP request that carries it. When that breaks off, the
client takes the stream up again with a GET that names the last event it has.

Source: "Streamable HTTP: resumability and redelivery", 2025-03-26 to 2025-11-25.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

import anyio

from workbench.core.frame import ANSWERS
from workbench.core.jsonrpc import decode
from workbench.wire.serving_exchange import Exchange
from workbench.wire.transport import Headers

#: Delivered events of a stream that can be asked for again, in number and in bytes.
KEPT_EVENTS = 1_000
KEPT_BYTES = 16 * 1024 * 1024

#: What waits for a client that does not read, in number and in bytes. Beyond it the oldest is dropped.
WAITING_EVENTS = 10_000
WAITING_BYTES = 256 * 1024 * 1024


#: How long before an answer that must be read apart from what went before it (seconds). Whether a client
#: has read what it has received, nothing tells over TCP.
APART = 0.02


class Item(NamedTuple):
    """Something that goes out: a message, a priming event (no body), the end for now (``cut``), or its
    breaking for good (``last``). ``apart``: it goes out a moment after what went before it."""

    body: bytes
    retry: int | None = None
    cut: bool = False
    last: bool = False
    apart: bool = False


class Plain(NamedTuple):
    """An HTTP answer that is no message."""

    status: int
    body: bytes
    headers: Headers


class Outgoing:
    """The messages to a client on one stream.

    ``key`` makes event ids, which are ``KEY-INDEX``; without one the events have none, and what is
    delivered is forgotten. ``awaited`` are the ids (JSON text) of the requests that are answered
    on it: with the last answer it is finished. ``dropped`` is told how many bytes are given up.
    """

    def __init__(
        self,
        key: str | None,
        awaited: Iterable[str] = (),
        dropped: Callable[[int, str], None] = lambda *_: None,
    ) -> None:
        self.key = key
        self.finished = False
        self.plain: Plain | None = None
        self.next = 0  # the index of the first item that has not been delivered
        self.carrier: anyio.CancelScope | None = None
        self._awaited = set(awaited)
        self._dropped = dropped
        self._items: deque[Item] = deque()
        self._first = 0  # the index of the first item that is kept
        self._bytes = 0
        self._opened = False
        self._changed = anyio.Event()

    def put(self, item: Item) -> None:
        """Take a message; never blocks."""
        self._items.append(item)
        self._bytes += len(item.body)
        if self._awaited:
            self._awaited -= _answered(item.body, self._awaited)
            self.finished = self.finished or not self._awaited
        self._shed()
        self._change()

    def open(self) -> None:
        """It begins, with nothing in it yet."""
        self._opened = True
        self._change()

    def answer(self, plain: Plain) -> None:
        """Answer with a status instead; what was put in before goes out first, if there is anything."""
        self.plain = plain
        if plain.body and self._items:
            self.put(Item(plain.body))
        self.finish()

    def finish(self) -> None:
        """Nothing more goes out on it."""
        self.finished = True
        self._change()

    def since(self, index: int) -> bool:
        """Go on from an item again, or from the first that is kept; false when it never was."""
        if not 0 <= index <= self._first + len(self._items):
            return False
        self.next = max(index, self._first)
        return True

    async def take(self) -> Item | None:
        """The next item that goes out, at ``next``; ``None`` at the end. See ``delivered``."""
        while self.next >= self._first + len(self._items):
            if self.finished:
                return None
            await self._changed.wait()
        return self._items[self.next - self._first]

    def delivered(self, index: int) -> None:
        """The item of this index has been written."""
        if index < self._first:  # dropped meanwhile
            return
        if self._items[index - self._first].cut:  # it ends one request only: whoever comes again goes on
            self._items[index - self._first] = Item(b"")
        self.next = index + 1
        self._shed()

    def event_id(self) -> str | None:
        """The id of the item that is next."""
        return None if self.key is None else f"{self.key}-{self.next}"

    @property
    def begun(self) -> bool:
        """Whether anything was ever put in."""
        return bool(self._items) or self._first > 0

    @property
    def broken(self) -> bool:
        """Whether it breaks before anything else."""
        at = self.next - self._first
        return at < len(self._items) and self._items[at].last

    async def first(self) -> None:
        """Wait for the beginning, the first item, or the end."""
        while not (self.finished or self.begun or self._opened):
            await self._changed.wait()

    async def ended(self) -> None:
        """Wait until nothing more will be put in."""
        while not self.finished:
            await self._changed.wait()

    def break_off(self) -> None:
        """It ends here, without an end that could be taken for one."""
        self.put(Item(b"", last=True))
        self.finish()

    def alone(self) -> bytes:
        """The answer of a finished stream that holds nothing else, empty if it is not so."""
        one = self.finished and self._first == self.next == 0 and len(self._items) == 1
        return self._items[0].body if one else b""

    def only_last(self) -> None:
        """Drop everything before the last item, for a way that has no place for it."""
        lost = 0
        while len(self._items) > 1:
            lost += len(self._items[0].body)
            self._forget()
        self._first = self.next = 0
        if lost:
            self._dropped(lost, "the answer is plain JSON, which has no place for what came before it")

    def _shed(self) -> None:
        """Forget what needs not be kept."""
        while self._first < self.next and (self.key is None or self._full(KEPT_EVENTS, KEPT_BYTES)):
            self._forget()
        lost = 0
        while len(self._items) > 1 and self._full(WAITING_EVENTS, WAITING_BYTES):
            lost += len(self._items[0].body)
            self._forget()
        self.next = max(self.next, self._first)
        if lost:
            self._dropped(lost, "the client did not read it, and too much waits")

    def _full(self, events: int, size: int) -> bool:
        return len(self._items) > events or self._bytes > size

    def _forget(self) -> None:
        self._bytes -= len(self._items.popleft().body)
        self._first += 1

    def _change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


def _answered(body: bytes, awaited: set[str]) -> set[str]:
    """Which of the awaited requests a body answers. An error without an id answers the only one."""
    found: set[str] = set()
    for message in decode(body).messages:
        if message.kind in ANSWERS:
            nameless = message.id in (None, "null") and len(awaited) == 1
            found |= awaited if nameless else {message.id or ""} & awaited
    return found


async def carry(outgoing: Outgoing, exchange: Exchange, *, name: str | None = None) -> None:
    """Write what goes out as the events of an exchange, until the stream ends or is cut.

    One exchange at a time carries a stream: an earlier one is closed. Being cancelled leaves what
    has not been written for the next one.
    """
    if outgoing.carrier is not None:
        outgoing.carrier.cancel()
    with anyio.CancelScope() as scope:
        outgoing.carrier = scope
        try:
            if not exchange.begun and not outgoing.broken:
                await exchange.open_events()
            how = await _write(outgoing, exchange, name)
            if how == "cut":
                exchange.abort()
            else:
                await exchange.finish(how)
        finally:
            if outgoing.carrier is scope:
                outgoing.carrier = None
    if scope.cancelled_caught:
        await exchange.finish("closed")


async def _write(outgoing: Outgoing, exchange: Exchange, name: str | None) -> str:
    while True:
        item = await outgoing.take()
        index = outgoing.next
        if item is None:
            return "end"
        if item.last:
            return "cut"
        if item.cut:
            if item.retry is not None:
                await exchange.event(b"", None, None, item.retry)
            outgoing.delivered(index)
            return "closed"
        identity = outgoing.event_id()
        if item.apart:
            await anyio.sleep(APART)
        if item.body or identity is not None:
            await exchange.event(item.body, name if item.body else None, identity, item.retry)
        outgoing.delivered(index)
