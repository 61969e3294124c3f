"""The states of a stream that stays open, as a table, one row a step.

Such a stream is the GET on which a server speaks on its own, the one stream of
the older HTTP+SSE, a subscription (2026-07-28), or what takes up the broken
answer of a call. ``docs/lifecycle.md`` is drawn from ``STREAMS``; a test holds
the two together.

Source: "Listening for Messages from the Server" and "Resumability and
Redelivery", 2025-03-26 to 2025-11-25.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class StreamState(StrEnum):
    """Where a stream stands. The value is the word that is shown."""

    CONNECTING = "connecting"
    OPEN = "open"
    REFUSED = "refused"
    LOST = "lost"
    WAITING = "waiting"
    CLOSED = "closed"


class StreamEvent(StrEnum):
    """What moves a stream on."""

    ASKED = "asked for"
    OPENED = "answered as a stream"
    REFUSED = "answered otherwise"
    LOST = "broken off"
    PAUSED = "to be asked for again"
    CLOSED = "closed by us, or answered to its end"


_BROKEN = (StreamState.LOST, StreamState.REFUSED, StreamState.OPEN, StreamState.CONNECTING)

STREAMS: Mapping[tuple[StreamState, StreamEvent], StreamState] = {
    (StreamState.CONNECTING, StreamEvent.OPENED): StreamState.OPEN,
    (StreamState.CONNECTING, StreamEvent.REFUSED): StreamState.REFUSED,
    (StreamState.CONNECTING, StreamEvent.LOST): StreamState.LOST,
    (StreamState.CONNECTING, StreamEvent.CLOSED): StreamState.CLOSED,
    (StreamState.OPEN, StreamEvent.LOST): StreamState.LOST,
    (StreamState.OPEN, StreamEvent.CLOSED): StreamState.CLOSED,
    **{(state, StreamEvent.PAUSED): StreamState.WAITING for state in _BROKEN},
    (StreamState.WAITING, StreamEvent.ASKED): StreamState.CONNECTING,
    (StreamState.WAITING, StreamEvent.OPENED): StreamState.OPEN,
    (StreamState.WAITING, StreamEvent.REFUSED): StreamState.REFUSED,
    (StreamState.WAITING, StreamEvent.LOST): StreamState.LOST,
    (StreamState.WAITING, StreamEvent.CLOSED): StreamState.CLOSED,
    (StreamState.LOST, StreamEvent.CLOSED): StreamState.CLOSED,
}


def advance(state: StreamState, event: StreamEvent) -> StreamState:
    """The state after an event; an event that means nothing in a state leaves it as it is."""
    return STREAMS.get((state, event), state)


def diagram() -> str:
    """The table as a Mermaid state diagram, which ``docs/lifecycle.md`` holds."""
    lines = ["stateDiagram-v2", "    [*] --> connecting"]
    lines += [f"    {state} --> {after}: {event}" for (state, event), after in STREAMS.items()]
    return "\n".join(lines)
