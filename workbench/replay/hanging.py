"""Where a piece hangs, and what it waits for there.

Keeps what the client half has sent so far: its last message, and for each cue
the answers and the cancel that have come by now.
"""

from __future__ import annotations

from workbench.core.frame import Frame
from workbench.replay.cues import OWN, Cue, Fetch, Piece, Plain, Reply, Script

#: Larger answers are left in the recording until they are needed (bytes), where that is possible.
KEPT_BYTES = 512


class Hanger:
    """Makes the cues and pieces of a script and hangs one on the other. See ``Plain`` for ``fetch``."""

    def __init__(self, script: Script, fetch: Fetch | None = None) -> None:
        self._fetch = fetch
        #: When the frame came that is looked at now (monotonic nanoseconds).
        self.now = 0
        self._key = 0
        #: When the last thing of each cue happened.
        self._at: dict[int, int] = {}
        #: What has come of the client by now that a later piece of a cue waits for.
        self._came: dict[int, set[int]] = {}
        self._last = script.start
        self._last_wait: int | None = None

    def cue(self, seq: int, method: str, *, request: bool) -> Cue:
        """A message of the client, now the last one."""
        self._key += 1
        cue = Cue(self._key, seq, method, request=request)
        self._last, self._last_wait = cue, None
        self._at[cue.key] = self.now
        return cue

    def plain(self, asked: Frame, answer: Frame) -> Plain:
        """A request that was alone until it was answered, with its answer hanging on it."""
        if isinstance(self._last, Plain):
            # Nothing can hang on it any more, and there are many of them.
            self._at.pop(self._last.key, None)
        key = self._key + 1
        self._key += 2
        gap = max(0, answer.mono_ns - asked.mono_ns)
        body = answer.body if self._fetch is None or len(answer.body) <= KEPT_BYTES else None
        reply = Reply(answer.seq, body, answer.id or "null", answer.ending, gap)
        cue = Plain(key, asked.seq, asked.method or "", asked.name, asked.body, reply, self._fetch)
        self._last, self._last_wait = cue, None
        self._at[key] = answer.mono_ns
        return cue

    def came(self, cues: list[Cue], wait: int) -> None:
        """The client has sent what later pieces of these cues wait for; it is now its last message."""
        for cue in cues:
            self._came.setdefault(cue.key, set()).add(wait)
            self._at[cue.key] = self.now
        self._last, self._last_wait = cues[-1], wait

    def piece(self, frame: Frame, what: str, body: bytes = b"") -> Piece:
        """A piece that hangs nowhere yet."""
        self._key += 1
        return Piece(self._key, frame.seq, what, body, ending=frame.ending)

    def hang(self, cues: list[Cue], piece: Piece) -> list[Cue]:
        """Hang a piece on one cue, on several, or on the last client message; returns on which."""
        if len(cues) < 2:
            return [self._place(cues[0] if cues else None, piece)]
        piece = piece._replace(cues=tuple(cue.key for cue in cues))
        return [self._place(cue, piece) for cue in cues]

    def _place(self, owner: Cue | None, piece: Piece) -> Cue:
        cue = owner or self._last
        waits = set(self._came.get(cue.key, ()))
        if owner is None:
            piece = piece._replace(on=OWN) if piece.on is None else piece
            if self._last_wait is not None:
                waits.add(self._last_wait)
        piece = piece._replace(gap=max(0, self.now - self._at.get(cue.key, self.now)))
        self._at[cue.key] = self.now
        cue.hang(piece._replace(waits=frozenset(waits)) if waits else piece)
        return cue
