"""Where a server of the official SDK keeps its events, so that clients can ask for them again."""

from __future__ import annotations

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore


class Memory(EventStore):
    """Keeps every event."""

    def __init__(self) -> None:
        self._events: list[tuple[str, object]] = []

    async def store_event(self, stream_id, message):  # type: ignore[no-untyped-def]
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id, send_callback: EventCallback):  # type: ignore[no-untyped-def]
        stream, _ = self._events[int(last_event_id) - 1]
        for at in range(int(last_event_id), len(self._events)):
            owner, message = self._events[at]
            if owner == stream and message is not None:
                await send_callback(EventMessage(message, str(at + 1)))  # type: ignore[arg-type]
        return stream
