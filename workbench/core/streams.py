"""What of a connection is open: the pipes of a process, or the streams of HTTP.

Which HTTP streams stay open, and what becomes of them, is told by process events;
heads only say how many ordinary POSTs wait for their answers. So a recording
that has all its heads from the start shows the same as the live connection did.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.core.carried import event_id
from workbench.core.frame import Direction, Frame, Stream
from workbench.core.jsonrpc import loads
from workbench.core.signature import cut
from workbench.core.stream_states import StreamEvent, StreamState, advance
from workbench.core.view import OpenStream

#: Streams that are remembered; a server that breaks calls all the time makes many.
MAX_STREAMS = 20

#: Requests whose answers are awaited that are counted.
MAX_POSTS = 10_000

#: Characters of a reason or an event's id.
MAX_TEXT = 300

#: What an event of a stream in the recording means.
_EVENTS = {
    "open": StreamEvent.OPENED,
    "refused": StreamEvent.REFUSED,
    "lost": StreamEvent.LOST,
    "closed": StreamEvent.CLOSED,
}


class Streams:
    """``told`` is what there is to show; ``reconnects`` counts how often one was asked for again."""

    def __init__(self) -> None:
        self.reconnects = 0
        self._pipes: tuple[OpenStream, ...] = ()
        self._streams: dict[int, OpenStream] = {}
        self._posts: dict[int, None] = {}
        #: Streams that go on with an earlier one: which one that was first.
        self._origins: dict[int, int] = {}
        self._endpoint = False
        self._told: tuple[OpenStream, ...] | None = ()

    @property
    def told(self) -> tuple[OpenStream, ...]:
        if self._told is None:
            posts = (OpenStream("calls", "open", "POST", posts=len(self._posts)),) if self._posts else ()
            self._told = (*self._pipes, *self._streams.values(), *posts)
        return self._told

    # Pipes

    def started(self) -> None:
        """A process was started."""
        self._pipes = tuple(OpenStream(name, "open") for name in ("stdin", "stdout", "stderr"))
        self._told = None

    def closed(self, name: str = "") -> None:
        """A pipe was closed, or all of them."""
        self._pipes = tuple(
            pipe if name and pipe.name != name else OpenStream(pipe.name, "closed") for pipe in self._pipes
        )
        self._told = None

    # HTTP

    def head(self, stream: Stream) -> None:
        """Take what is known of a stream now."""
        if stream.closed_ns is not None:
            self._posts.pop(stream.number, None)
        elif stream.number in self._streams:
            if stream.status is None:
                self._become(stream.number, StreamEvent.ASKED)
        elif stream.verb == "POST" and len(self._posts) < MAX_POSTS:
            self._posts[stream.number] = None
        self._told = None

    def came(self, frame: Frame) -> None:
        """Take a frame of a stream: its event's id, and how long to wait when it breaks."""
        if frame.event is not None and '"name":"endpoint"' in frame.event:
            self._endpoint = True
        stream = self._streams.get(frame.stream)
        if stream is None or frame.direction is not Direction.TO_CLIENT:
            return
        if stream.state != StreamState.OPEN:
            self._become(frame.stream, StreamEvent.OPENED, frame)
            stream = self._streams[frame.stream]
        if frame.event is not None:
            identity = event_id(frame.event)
            self._set(
                frame.stream,
                stream._replace(
                    event_id=stream.event_id if identity is None else cut(identity, MAX_TEXT),
                    retry_ms=_retry(frame.event) or stream.retry_ms,
                ),
            )

    def happened(self, frame: Frame, event: Mapping[str, Any]) -> OpenStream | None:
        """Take a ``stream`` event; returns the stream as it stands then."""
        number, what = event.get("stream"), _EVENTS.get(str(event.get("state")))
        if not isinstance(number, int) or what is None:
            return None
        if number not in self._streams:
            verb = cut(str(event.get("verb", "")), MAX_TEXT)
            name = "subscription" if verb == "POST" else "events" if self._endpoint else "listening"
            self._set(number, OpenStream(name, StreamState.CONNECTING, verb, number, frame.mono_ns))
            self._posts.pop(number, None)
        self._become(number, what, frame, event)
        return self._streams.get(number)

    def paused(self, frame: Frame, event: Mapping[str, Any]) -> OpenStream | None:
        """Take a ``reconnect`` event: it is asked for again in a while, as another stream of HTTP."""
        number, following = event.get("stream"), event.get("next")
        if not isinstance(number, int):
            return None
        if not event.get("seconds") and number not in self._streams:
            # Sent again at once, over a new connection: the old one was closed before it was read.
            self.redirected(event)
            return None
        self.reconnects += 1
        origin = self._origins.pop(number, number)
        stream = self._streams.pop(number, None) or OpenStream(
            "resumed call" if event.get("resumes") is True else "listening",
            StreamState.LOST,
            "GET",
            number,
            frame.mono_ns,
        )
        number = following if isinstance(following, int) else number
        if stream.name == "resumed call":
            self._origins[number] = origin
        self._set(number, stream._replace(number=number))
        self._become(number, StreamEvent.PAUSED, frame, event)
        return self._streams.get(number)

    def redirected(self, event: Mapping[str, Any]) -> None:
        """Take a ``redirect`` event: what was asked for is asked for elsewhere."""
        number, following = event.get("stream"), event.get("next")
        if isinstance(number, int) and isinstance(following, int):
            self._origins[following] = self._origins.pop(number, number)
            stream = self._streams.pop(number, None)
            if stream is not None:
                self._set(following, stream._replace(number=following))

    def settled(self, number: int) -> None:
        """The request of this stream is not waited for any more, and so is nothing resumed for it."""
        if number and self._origins:
            for following in [key for key, origin in self._origins.items() if origin == number]:
                del self._origins[following]
                if following in self._streams and self._streams[following].name == "resumed call":
                    del self._streams[following]
                    self._told = None

    def over(self) -> None:
        """The connection is over: nothing is open."""
        for number in self._streams:
            self._become(number, StreamEvent.CLOSED)
        self._posts.clear()
        self._told = None

    def _become(
        self,
        number: int,
        what: StreamEvent,
        frame: Frame | None = None,
        event: Mapping[str, Any] | None = None,
    ) -> None:
        stream = self._streams[number]
        state = advance(StreamState(stream.state), what)
        if state is stream.state:
            return
        event = event or {}
        status, attempt, seconds = event.get("status"), event.get("attempt"), event.get("seconds")
        self._set(
            number,
            stream._replace(
                state=state,
                since_ns=stream.since_ns if frame is None else frame.mono_ns,
                why=cut(event["why"], MAX_TEXT) if isinstance(event.get("why"), str) else "",
                status=status if isinstance(status, int) else None,
                attempt=attempt if isinstance(attempt, int) else stream.attempt,
                seconds=seconds if isinstance(seconds, (int, float)) else None,
            ),
        )

    def _set(self, number: int, stream: OpenStream) -> None:
        self._streams[number] = stream
        self._told = None
        if len(self._streams) > MAX_STREAMS:
            over = (StreamState.CLOSED, StreamState.LOST, StreamState.REFUSED)
            gone = next((key for key, each in self._streams.items() if each.state in over), None)
            del self._streams[next(iter(self._streams)) if gone is None else gone]


def _retry(event: str) -> int | None:
    if '"retry"' not in event:
        return None
    try:
        told = loads(event)
    except (ValueError, RecursionError):
        return None
    retry = told.get("retry") if isinstance(told, dict) else None
    return retry if isinstance(retry, int) else None
