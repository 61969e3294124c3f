"""What a script is made of: messages of the client half, and what of the server half hangs on them.

``Cue``s and ``Piece``s have keys of their own, because a frame may hold several
messages and so a seq may not tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from workbench.core.frame import Ending
from workbench.core.jsonrpc import Message

#: What a piece is.
ANSWER, QUESTION, TOLD, RAW, STDERR = "answer", "question", "told", "raw", "stderr"
#: The server closed its stdout; it ended; the recording ends here, with the request unanswered.
EOF, END, STOP = "eof", "end", "stop"

#: The wait for a cancel of the request a piece hangs on; all other waits are keys of questions.
CANCEL = 0


class Piece(NamedTuple):
    """Something the server half sent, and what must have come before it beside its cue.

    ``waits`` holds the keys of questions whose answers must have come, and ``CANCEL``. ``id`` is
    the JSON text of the identity in it: its own id, the progress token, or the id that a cancel
    names. ``code`` is the exit status of an ``END`` (128 + n for a signal). ``cues`` are the keys
    of all the requests it may belong to, where nobody knows to which. ``part`` and ``parts`` tell
    its place in a batch.
    """

    key: int
    seq: int
    what: str
    body: bytes = b""
    id: str | None = None
    method: str = ""
    ending: Ending = Ending.LF
    waits: frozenset[int] = frozenset()
    code: int = 0
    cues: tuple[int, ...] = ()
    part: int = 0
    parts: int = 1


class Cue:
    """A message of the client half, and the pieces that hang on it in recorded order.

    Of a request: ``params`` are its parsed params, ``token`` the JSON text of its progress token,
    ``answer`` the seq of the recorded answer, ``after`` the key of the overlapping request that
    was answered just before it.
    """

    __slots__ = (
        "after",
        "answer",
        "key",
        "method",
        "name",
        "params",
        "pieces",
        "request",
        "seq",
        "token",
    )

    def __init__(self, key: int, seq: int, method: str, *, request: bool) -> None:
        self.key = key
        self.seq = seq
        self.method = method
        self.request = request
        self.name: str | None = None
        self.params: Any = None
        self.token: str | None = None
        self.answer: int | None = None
        self.after: int | None = None
        self.pieces: list[Piece] = []

    def __repr__(self) -> str:
        return f"<Cue #{self.seq} {self.method}>"


class Script:
    """The server half of one recorded connection.

    ``start`` holds what was sent before any client message, ``requests`` and ``notifications``
    are the cues in recorded order, ``answers`` the recorded answers of the client to questions
    (by the question's key), ``revision`` is what the handshake agreed on, ``batches`` the bytes
    around and between the messages of each batch (by seq), ``code`` the exit status after the
    client has gone.

    A script may be read in two steps, so that a client need not wait for a long recording: what
    is there when ``more`` is set suffices to answer ``initialize``, and ``complete`` reads the rest.
    """

    def __init__(self) -> None:
        self.start = Cue(0, 0, "", request=False)
        self.requests: list[Cue] = []
        self.notifications: list[Cue] = []
        self.answers: dict[int, Message] = {}
        self.revision: str | None = None
        self.modern = False
        self.batches: dict[int, tuple[bytes, ...]] = {}
        self.code = 0
        self.notes: list[str] = []
        self.more: Callable[[], None] | None = None

    def complete(self) -> None:
        """Read what has been left for later. Raises ``RecordingError`` if that cannot be read."""
        if self.more is not None:
            more, self.more = self.more, None
            more()

    def pieces(self) -> list[Piece]:
        """Every piece, cue by cue."""
        cues = (self.start, *self.requests, *self.notifications)
        return [piece for cue in cues for piece in cue.pieces]
