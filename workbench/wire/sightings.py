"""What a connection has to know of its frames beside what they say: which stream they came on."""

from __future__ import annotations

from workbench.core.frame import Direction, Frame, Stream
from workbench.core.methods import LISTEN

#: Streams whose status is remembered, and listen requests whose streams are.
MAX_REMEMBERED = 1_000


class Sightings:
    """Takes frames and HTTP streams as they are seen. ``status`` is the HTTP status of the stream on
    which the last frame came from the server, ``None`` where there is none."""

    def __init__(self) -> None:
        self.status: int | None = None
        self._statuses: dict[int, int] = {}
        self._listened: dict[str, int] = {}

    def frame(self, frame: Frame) -> None:
        if frame.direction is Direction.TO_CLIENT:
            self.status = self._statuses.get(frame.stream)
        elif frame.stream and frame.method == LISTEN and frame.id is not None:
            self._listened[frame.id] = frame.stream
            if len(self._listened) > MAX_REMEMBERED:
                del self._listened[next(iter(self._listened))]

    def stream(self, stream: Stream) -> None:
        if stream.status is not None:
            self._statuses[stream.number] = stream.status
            if len(self._statuses) > MAX_REMEMBERED:
                del self._statuses[next(iter(self._statuses))]

    def stream_of(self, id: int) -> int:
        """The stream on which a listen request is answered, 0 where there is none."""
        return self._listened.get(str(id), 0)
