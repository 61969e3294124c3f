"""The frames of an answer that is passed on, from a readable copy of its body.

They are those that the client half tells of the same answer: a message is a
frame when it comes as an event, or when the body that holds it is whole. What
is neither (a page, a document of authorization) is told too, as what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

from workbench.core.frame import Channel, Direction, Ending
from workbench.core.jsonrpc import Decoded, decode
from workbench.core.sse import ServerEvent, SseParser
from workbench.wire.decoding import Decoder
from workbench.wire.http_exchange import NO_EVENTS, begins_events
from workbench.wire.http_refusals import LONGEST_REFUSAL
from workbench.wire.sse_client import LONGEST_ACKNOWLEDGEMENT
from workbench.wire.stdio import LONGEST_LINE
from workbench.wire.tap import Tap


class Frames:
    """Feed it what is passed on, before it is. ``take`` gets every message of the server, ``before``
    every event before its frame is told. ``events`` tells whether the body is an event stream,
    ``resumable`` whether its events have ids; ``body`` is what it was if it is none, at the end.

    ``of_protocol`` is false for what belongs to authorization. ``bare`` tells that an empty body is a
    frame as well: the request waits for an answer, or was refused. ``acknowledges`` is true where the
    body is no more than a word (the older HTTP with SSE).
    """

    def __init__(
        self,
        tap: Tap,
        number: int,
        status: int,
        media: str,
        encoding: str,
        take: Callable[[Decoded], None],
        before: Callable[[ServerEvent], None],
        *,
        of_protocol: bool,
        bare: bool,
        acknowledges: bool,
    ) -> None:
        self.tap = tap
        self.body = b""
        self.media = media
        self.resumable = False
        self._number = number
        self._succeeded = 200 <= status < 300
        self._decoder = Decoder(encoding)
        self._take = take
        self._before = before
        self._of_protocol = of_protocol
        self._bare = bare
        self._acknowledges = acknowledges
        self._whole = BytesIO()
        self._parser: SseParser | None = None
        self._unsure = self._succeeded and media not in NO_EVENTS
        if self._succeeded and media == "text/event-stream":
            self._begin_events()
        self._over = False

    @property
    def events(self) -> bool:
        return self._parser is not None

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Take a piece of the body as it is on the wire; returns the events that end in it."""
        ended: list[ServerEvent] = []
        for piece in self._decoder.feed(chunk):
            if self._unsure:
                self._unsure = False
                if begins_events(piece):
                    self._begin_events()
            if self._parser is not None:
                ended += self._told(self._parser.feed(piece))
            else:
                longest = LONGEST_LINE if self._succeeded else LONGEST_REFUSAL
                self._whole.write(piece[: max(0, longest - self._whole.tell())])
        return ended

    def end(self) -> None:
        """All of the body has come, or no more will. Later calls do nothing."""
        if self._over:
            return
        self._over = True
        if self._parser is not None:
            self._told(self._parser.end())
            return
        self.body = self._whole.getvalue()
        self._whole = BytesIO()
        if self.body or self._bare:
            self._message(self.body)

    def _begin_events(self) -> None:
        self._unsure = False
        self._parser = SseParser()

    def _told(self, events: list[ServerEvent]) -> list[ServerEvent]:
        for event in events:
            self._before(event)
            self.resumable = self.resumable or bool(event.id)
            _, decoded = self.tap.message(
                Direction.TO_CLIENT, event.data, Ending.NONE, Channel.SSE, self._number, event.described
            )
            self._take(decoded)
        return events

    def _message(self, body: bytes) -> None:
        decoded = decode(body)
        if not self._of_protocol and not decoded.messages:
            self.tap.aside(Direction.TO_CLIENT, body, self._number)
            return
        bare = self._acknowledges and len(body) <= LONGEST_ACKNOWLEDGEMENT and not decoded.messages
        event = '{"ack":true}' if bare and self._succeeded and body else None
        self.tap.message(Direction.TO_CLIENT, body, Ending.NONE, Channel.HTTP, self._number, event)
        self._take(decoded)
