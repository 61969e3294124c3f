"""Reading one SSE stream after the other as if they were one: each event becomes a frame.

A stream that is resumed goes on where it was: what is remembered of it (the
last id, the wait the server asked for) belongs to the reading, not to the
connection it came over.

Source: "Resumability and Redelivery", 2025-03-26 to 2025-11-25.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.core.frame import Channel, Direction, Ending, Kind
from workbench.core.jsonrpc import Decoded
from workbench.core.sse import ServerEvent, SseParser
from workbench.wire.http_exchange import Answer
from workbench.wire.tap import Tap
from workbench.wire.turns import take_all

#: How long is waited before a stream is asked for again, if the server does not say (seconds).
WAIT = 1.0

#: The shortest and the longest wait a server can ask for (seconds).
SHORTEST_WAIT = 0.1
LONGEST_WAIT = 300.0

#: The longest id that is sent back in a header (characters); servers take no more.
LONGEST_ID = 8000

#: Takes a frame of the server and what it holds.
Take = Callable[[int, Decoded], None]


class Reading:
    """What has been read of a stream, over all its connections. ``events`` counts what carried
    something; ``last_id`` is empty while nothing can be resumed."""

    def __init__(self, tap: Tap, take: Take) -> None:
        self.last_id = ""
        self.events = 0
        self._retry: float | None = None
        self._tap = tap
        self._take = take

    @property
    def wait(self) -> float:
        """How long to wait before the stream is asked for again (seconds)."""
        if self._retry is None:
            return WAIT
        return min(max(self._retry, SHORTEST_WAIT), LONGEST_WAIT)

    async def read(self, answer: Answer) -> None:
        """Read to the end. Raises ``HttpFailed`` when it breaks off; what was there is taken."""
        parser = SseParser()

        def take(event: ServerEvent) -> None:
            self._on_event(event, answer.stream)

        try:
            async for chunk in answer.chunks():
                await take_all(parser.feed(chunk), take, self._tap.turn)
        finally:
            for event in parser.end():
                self._on_event(event, answer.stream)

    def noted(self, event: ServerEvent) -> None:
        """Remember what an event says of the stream. Of half an event nothing is gone on from."""
        if event.id is not None and event.finished and len(event.id) <= LONGEST_ID:
            self.last_id = event.id
        if event.retry is not None:
            self._retry = event.retry / 1000
        if event.finished and (event.data or event.id is not None) and not event.comment:
            self.events += 1

    def _on_event(self, event: ServerEvent, stream: int) -> None:
        self.noted(event)
        seq, decoded = self._tap.message(
            Direction.TO_CLIENT, event.data, Ending.NONE, Channel.SSE, stream, event.described
        )
        if decoded.kind is not Kind.SSE:
            self._take(seq, decoded)
