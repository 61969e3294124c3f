"""What HTTP told beside the messages of a recording: statuses, streams that broke, a forgotten session.

Only a replay over HTTP has a place for it. Part of the light path: standard
library and ``core`` only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from workbench.core.exchanges import Exchange, Pairing
from workbench.core.frame import Channel, Direction, Frame, Kind, Stream
from workbench.core.jsonrpc import loads

#: What a request gets that had no answer because its connection broke.
BROKEN = (0, "")


#: Gives the head of a stream by its number, ``None`` where there is none.
Heads = Callable[[int], Stream | None]


class Carriage:
    """Fed with the frames of a connection in order, before anything else takes them.

    ``head`` gives the head of a stream by its number; ``pairing`` is told the heads of streams before
    their first frames.
    """

    def __init__(self, head: Heads, pairing: Pairing) -> None:
        self._head = head
        self._pairing = pairing
        self._known: set[int] = set()
        self._last: Frame | None = None
        self._retries: dict[int, int] = {}
        self._refusals: dict[tuple[int, int], Frame] = {}

    def came(self, frame: Frame) -> None:
        """Take a frame."""
        self._last = frame
        if frame.stream and frame.stream not in self._known:
            self._known.add(frame.stream)
            head = self._head(frame.stream)
            if head is not None:
                self._pairing.head(head)
        if frame.channel is Channel.SSE and frame.event is not None and '"retry"' in frame.event:
            retry = _object(frame.event).get("retry")
            if isinstance(retry, int):
                self._retries[frame.stream] = retry

    def is_no_message(self, frame: Frame) -> bool:
        """Whether it is the body of an HTTP answer that is no message; lines take any."""
        return (
            frame.channel is Channel.HTTP
            and frame.kind is Kind.INVALID
            and frame.direction is Direction.TO_CLIENT
        )

    def refused(self, frame: Frame, asked: list[Exchange]) -> None:
        """A frame that is no message is all that a request got on its stream."""
        if frame.channel is Channel.HTTP and frame.direction is Direction.TO_CLIENT and len(asked) == 1:
            self._refusals[asked[0].key] = frame

    def head(self, seq: int) -> tuple[int, str] | None:
        """Status and content type of the answer that the frame taken last came with."""
        frame = self._last
        if frame is None or frame.seq != seq or frame.channel is not Channel.HTTP:
            return None
        return self._told(frame.stream)

    def reply(self, exchange: Exchange) -> tuple[tuple[int, str] | None, bytes]:
        """What HTTP answered to a request that got no message, and the body."""
        frame = self._refusals.pop(exchange.key, None)
        if not exchange.stream:
            return None, b""
        if frame is not None:
            return self._told(frame.stream) or BROKEN, frame.body
        head = self._told(exchange.stream)
        refused = head is not None and head[0] >= 400
        return (head if refused else BROKEN), b""

    def cut(self, frame: Frame) -> Iterator[tuple[Exchange, int]]:
        """The requests whose stream a process frame says was closed and is taken up again, with how
        long the server told the client to wait (milliseconds, 0 if it did not)."""
        if b'"reconnect"' not in frame.body:
            return
        event = _object(frame.body)
        stream = event.get("stream")
        if event.get("event") != "reconnect" or not event.get("resumes") or not isinstance(stream, int):
            return
        came = frame._replace(
            stream=stream, channel=Channel.SSE, kind=Kind.SSE, direction=Direction.TO_CLIENT
        )
        for exchange in self._pairing.candidates(came):
            yield exchange, self._retries.get(stream, 0)

    def lost_session(self, frame: Frame) -> bool:
        """Whether a process frame says that the server knows the session no more."""
        if b'"session"' not in frame.body:
            return False
        event = _object(frame.body)
        return event.get("event") == "session" and event.get("state") == "lost"

    def closed_by_client(self, exchange: Exchange) -> bool:
        """Whether the client left a stream that had no answer: closed by it, or, seen from the server, cut.
        What a network cut is told to have got no answer (``unanswered``)."""
        head = self._head(exchange.stream)
        return head is not None and head.closed_how in ("closed", "cut")

    def began(self, exchange: Exchange) -> bool:
        """Whether the server began an event stream to answer on, which the client left."""
        told = self._told(exchange.stream)
        events = told is not None and told[0] == 200 and told[1].startswith("text/event-stream")
        return events and self.closed_by_client(exchange)

    def _told(self, stream: int) -> tuple[int, str] | None:
        head = self._head(stream)
        if head is None or head.status is None:
            return None
        media = [value for name, value in head.response_headers if name.lower() == "content-type"]
        return head.status, media[-1] if media else ""


def _object(text: bytes | str) -> dict[str, Any]:
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
