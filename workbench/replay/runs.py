"""One playing of a cue, and what it asks the client meanwhile."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from workbench.replay.cues import Cue, Piece


class Run:
    """One playing of a cue. ``id`` and ``token`` are the live request's (JSON text) and ``stream`` what
    brought it, ``came`` is what has come of what its pieces wait for, ``gone`` tells that the client
    does not wait for it any more, ``told`` that it was sent progress. ``later`` is what must not overtake
    the pieces ``lacking``, which wait for another request; its answer does not wait for that."""

    __slots__ = (
        "answered",
        "came",
        "cue",
        "due",
        "gone",
        "id",
        "lacking",
        "later",
        "pieces",
        "since",
        "stream",
        "token",
        "told",
    )

    def __init__(self, cue: Cue, id: str = "", token: str | None = None, stream: int = 0) -> None:
        self.cue = cue
        self.id = id
        self.token = token
        self.stream = stream
        self.gone = self.told = False
        self.pieces = deque(cue.pieces)
        self.later: list[Piece] = []
        self.lacking: set[int] = set()
        self.came: set[int] = set()
        self.answered = False
        #: When the last thing of it happened, and when its next piece goes out if that waits for its
        #: time (seconds).
        self.since = 0.0
        self.due: float | None = None

    @property
    def open(self) -> bool:
        return bool(self.pieces or self.later) or (self.cue.request and not self.answered)


class Asked(NamedTuple):
    """A question of the server's that the live client has not answered yet."""

    piece: Piece
    run: Run
