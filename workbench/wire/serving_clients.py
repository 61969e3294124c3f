"""The clients of a serving half over HTTP, and what each of them can be sent on.

Three kinds: a session of the handshake era (``Mcp-Session-Id``), a place of the
stateless era, which is shared by whoever uses its path, and a client of the
older HTTP with SSE. They differ in what a client's own stream is, and in
whether a stream that breaks off can be taken up again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import anyio

from workbench.core.frame import MESSAGES, Kind
from workbench.core.jsonrpc import Decoded
from workbench.wire.serving import Inbox
from workbench.wire.serving_exchange import Exchange, Refused
from workbench.wire.serving_outgoing import Item, Outgoing, Plain
from workbench.wire.tap import Tap
from workbench.wire.transport import Headers, Received

#: Requests of a client that wait for their answers; one more is refused with 503.
MOST_OPEN = 10_000

#: Finished streams of a session that can be taken up again; the last ones.
KEPT_STREAMS = 100


class HttpClient:
    """A client over HTTP. ``own`` is its own stream, ``None`` where it has none.

    ``session`` is the id it is known by, empty for a place. ``resumes`` says whether streams have
    event ids, ``streams`` whether each request has one of its own. ``ended`` is set when it has been
    served to the end.
    """

    def __init__(
        self,
        name: str,
        tap: Tap,
        *,
        session: str = "",
        resumes: bool = False,
        own: bool = False,
        streams: bool = True,
    ) -> None:
        self.name = name
        self.streams = streams
        self.tap = tap
        self.session = session
        self.revision = ""
        self.inbox = Inbox()
        self.ended = anyio.Event()
        self.on_left: Callable[[int], None] = lambda _: None
        self.own = self._outgoing("0" if resumes else None) if own else None
        self._resumes = resumes
        self._open: dict[int, Outgoing] = {}
        self._kept: OrderedDict[str, Outgoing] = OrderedDict()
        if self.own is not None and self.own.key is not None:
            self._kept[self.own.key] = self.own

    @property
    def is_idle(self) -> bool:
        """Whether nothing is asked and nothing listens."""
        return not self._open and (self.own is None or self.own.carrier is None)

    async def receive(self) -> Received | None:
        return await self.inbox.take()

    def send(self, body: bytes, stream: int = 0, *, apart: bool = False) -> None:
        """Put a message on the stream of a request, or on the client's own."""
        outgoing = self._find(stream)
        if outgoing is None:
            why = "its stream has ended" if stream else "this client has no stream of its own"
            self._dropped(len(body), why)
        else:
            outgoing.put(Item(body, apart=apart and not self.streams))
            self._over(stream, outgoing)

    def open(self, stream: int) -> None:
        outgoing = self._open.get(stream)
        if outgoing is not None:
            outgoing.open()

    def answer(self, stream: int, status: int, body: bytes = b"", headers: Headers = ()) -> None:
        outgoing = self._open.get(stream)
        if outgoing is None:
            self._dropped(len(body), "its stream has ended")
        else:
            outgoing.answer(Plain(status, body, headers))
            self._over(stream, outgoing)

    def hang_up(self, stream: int = 0, retry: int | None = None, *, last: bool = False) -> None:
        """End what carries a stream; without event ids that is the end of the stream."""
        outgoing = self._find(stream)
        if outgoing is None or (not stream and outgoing.carrier is None):
            return
        if last:
            outgoing.break_off()
        elif outgoing.key is None and stream:
            outgoing.finish()
        else:
            if stream and not outgoing.begun:
                outgoing.put(Item(b""))  # without an event it could not be taken up again
            outgoing.put(Item(b"", retry, cut=True))
        if stream:
            self._over(stream, outgoing)

    # What exchanges do

    async def take(self, exchange: Exchange, body: bytes, *, opens: bool = True) -> Outgoing | None:
        """Take the body of an exchange that has begun: queue it for whoever serves. Returns what
        the answer goes out on, ``None`` if the body asks for none. Raises ``Refused`` when the
        client is not served any more.

        ``opens`` is false where answers go to the client's own stream.
        """
        await self.inbox.room()
        seq, decoded = exchange.take(body)
        if self.inbox.over:
            raise Refused(404, "Session not found")
        if len(self._open) >= MOST_OPEN:
            raise Refused(503, f"{MOST_OPEN} requests wait for their answers already.")
        asked = requests_of(decoded)
        outgoing = None
        if asked and opens:
            outgoing = self._outgoing(str(exchange.number) if self._resumes else None, asked)
            self._open[exchange.number] = outgoing
            self._keep(outgoing)
        stream = exchange.number if outgoing is not None else 0
        self.inbox.put(Received(seq, body, decoded, stream, exchange.headers))
        return outgoing

    def left(self, stream: int) -> None:
        """The client has closed what carried a stream. Without event ids it cannot come back."""
        outgoing = self._open.get(stream)
        if outgoing is None:
            return
        if outgoing.key is None:
            del self._open[stream]
        self.on_left(stream)

    def resume(self, event_id: str) -> Outgoing | None:
        """The stream an event was on, to go on after it; ``None`` when it is none of ours."""
        key, _, index = event_id.rpartition("-")
        outgoing = self._kept.get(key)
        if outgoing is None or not index.isdecimal() or len(index) > 15:
            return None
        return outgoing if outgoing.since(int(index) + 1) else None

    def close(self) -> None:
        """Nothing more comes and nothing more goes out."""
        self.inbox.close()
        for outgoing in (*self._open.values(), *self._kept.values(), *([self.own] if self.own else ())):
            outgoing.finish()

    def _find(self, stream: int) -> Outgoing | None:
        return self._open.get(stream) if stream else self.own

    def _over(self, stream: int, outgoing: Outgoing) -> None:
        if outgoing.finished:
            self._open.pop(stream, None)

    def _outgoing(self, key: str | None, awaited: tuple[str, ...] = ()) -> Outgoing:
        return Outgoing(key, awaited, self._dropped)

    def _keep(self, outgoing: Outgoing) -> None:
        if outgoing.key is None:
            return
        self._kept[outgoing.key] = outgoing
        for key, kept in list(self._kept.items()):
            if len(self._kept) <= KEPT_STREAMS:
                break
            if kept.finished:
                del self._kept[key]

    def _dropped(self, size: int, why: str) -> None:
        self.tap.process("undelivered", bytes=size, why=why)


def requests_of(decoded: Decoded) -> tuple[str, ...]:
    """The ids (JSON text) of the requests in a body."""
    return tuple(
        message.id for message in decoded.messages if message.kind is Kind.REQUEST and message.id is not None
    )


def is_taken(decoded: Decoded) -> bool:
    """Whether a body is something that can be handed to whoever serves."""
    return decoded.kind in MESSAGES or (decoded.kind is Kind.BATCH and bool(decoded.messages))
