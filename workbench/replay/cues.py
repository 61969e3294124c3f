"""What a script is made of: messages of the client half, and what of the server half hangs on them.

``Cue``s and ``Piece``s have keys of their own, because a frame may hold several
messages and so a seq may not tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from workbench.core.frame import Ending
from workbench.core.jsonrpc import Message, id_text, loads
from workbench.core.methods import LIST_METHODS
from workbench.core.peek import peek
from workbench.replay.reading import params_of, read
from workbench.replay.spans import member

#: What a piece is.
ANSWER, QUESTION, TOLD, RAW, STDERR = "answer", "question", "told", "raw", "stderr"
#: The server closed its stdout; it ended; the recording ends here, with the request unanswered.
EOF, END, STOP = "eof", "end", "stop"
#: Over HTTP: it began the stream of an answer that its client did not wait for, it ended a stream before
#: the answer, and it forgot the client's session.
OPENED, CUT, GONE = "opened", "cut", "gone"

#: The stream of a piece that belongs to no request: the client's own.
OWN = 0

#: The wait for a cancel of the request a piece hangs on; all other waits are keys of questions.
CANCEL = 0


#: Gives the body of a frame by its seq. Raises ``RecordingError`` if it cannot.
Fetch = Callable[[int], bytes]


class Piece(NamedTuple):
    """Something the server half sent, and what must have come before it beside its cue.

    ``waits`` holds the keys of questions whose answers must have come, and ``CANCEL``. ``id`` is
    the JSON text of the identity in it: its own id, the progress token, or the id that a cancel
    names. ``code`` is the exit status of an ``END`` (128 + n for a signal). ``cues`` are the keys
    of all the requests it may belong to, where nobody knows to which. ``part`` and ``parts`` tell
    its place in a batch. ``on`` says on whose stream it goes where requests have streams of their
    own: ``None`` for its cue's, ``OWN``, else the key of a request. ``http`` is what was recorded of the
    HTTP answer: status and content type, (0, "") where the connection broke.
    ``gap`` is how long after what it waited for it was sent (nanoseconds).
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
    on: int | None = None
    http: tuple[int, str] | None = None
    gap: int = 0


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

    def hang(self, piece: Piece) -> None:
        """Hang one more on it."""
        self.pieces.append(piece)

    def __repr__(self) -> str:
        return f"<Cue #{self.seq} {self.method}>"


class Reply(NamedTuple):
    """The answer to a ``Plain`` request. ``body`` is ``None`` where it is left in the recording, because it
    is large; the rest is as in ``Piece``."""

    seq: int
    body: bytes | None
    id: str
    ending: Ending
    gap: int


class Plain(Cue):
    """A request that was alone on the wire until it was answered.

    A long recording is made of these, so they are kept small: what a request held is read from its ``body``
    when it is asked for, and its one piece is made then. ``rest`` is what came later and hangs on it all
    the same. ``fetch`` gives the body of a frame by its seq.
    """

    __slots__ = ("body", "fetch", "reply", "rest")

    def __init__(
        self,
        key: int,
        seq: int,
        method: str,
        name: str | None,
        body: bytes,
        reply: Reply,
        fetch: Fetch | None,
    ) -> None:
        self.key = key
        self.seq = seq
        self.method = method
        self.request = True
        self.name = name
        self.answer = reply.seq
        self.after = None
        self.body = body
        self.reply = reply
        self.rest: tuple[Piece, ...] = ()
        self.fetch = fetch

    @property
    def params(self) -> Any:
        try:
            return loads(self.body)["params"]
        except (ValueError, RecursionError, TypeError, LookupError):
            message = self._message()
            return None if message is None else params_of(message)

    @property
    def token(self) -> str | None:  # type: ignore[override]
        message = self._message()
        found = None if message is None else peek(message, "params", "_meta", "progressToken")
        return None if found is None else id_text(found)

    @property
    def pieces(self) -> list[Piece]:  # type: ignore[override]
        seq, _, id, ending, gap = self.reply
        answer = Piece(self.key + 1, seq, ANSWER, self.answer_body(), id, self.method, ending, gap=gap)
        return [answer, *self.rest]

    def hang(self, piece: Piece) -> None:
        self.rest = (*self.rest, piece)

    def answer_body(self) -> bytes:
        """The body of the answer. Raises ``RecordingError`` if it cannot be read any more."""
        body = self.reply.body
        if body is None:
            assert self.fetch is not None
            body = self.fetch(self.reply.seq)
        return body

    def let_go(self) -> None:
        """Keep its answer no more: it has been sent, and can be read again."""
        if self.fetch is not None:
            self.reply = self.reply._replace(body=None)

    def _message(self) -> Message | None:
        messages = read(self.body).messages
        return messages[0] if messages else None


class Script:
    """The server half of one recorded connection.

    ``start`` holds what was sent before any client message, ``requests`` and ``notifications``
    are the cues in recorded order, ``answers`` the recorded answers of the client to questions
    (by the question's key), ``revision`` is what the handshake agreed on, ``batches`` the bytes
    around and between the messages of each batch (by seq), ``code`` the exit status after the
    client has gone.

    A script may be read as it is needed, so that a client need not wait for a long recording: as long
    as ``more`` is set, it reads on to the next point of the recording at which nothing was under way.
    Until there every request has all that hangs on it. ``complete`` reads the rest.
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
        #: Gives ``code`` without reading the rest, where there is a way.
        self.look_ahead: Callable[[], int] | None = None

    def complete(self) -> None:
        """Read what has been left for later. Raises ``RecordingError`` if that cannot be read."""
        while self.more is not None:
            self.more()

    def status(self) -> int:
        """The exit status after the client has gone."""
        if self.more is not None and self.look_ahead is not None:
            return self.look_ahead()
        self.complete()
        return self.code

    def pieces(self) -> list[Piece]:
        """Every piece, cue by cue."""
        cues = (self.start, *self.requests, *self.notifications)
        return [piece for cue in cues for piece in cue.pieces]

    def first(self, forms: Iterable[bytes]) -> int | None:
        """The seq of the first frame of the server half that holds one of these texts."""
        several = tuple(forms)
        found = (piece.seq for piece in self.pieces() if any(form in piece.body for form in several))
        return min(found, default=None)

    def listings(self) -> Iterator[tuple[str, bytes]]:
        """The recorded results of listings, of the whole recording: method and JSON text."""
        self.complete()
        for piece in self.pieces():
            if piece.what == ANSWER and piece.method in LIST_METHODS:
                span = member(piece.body, "result")
                if span is not None:
                    yield piece.method, piece.body[span[0] : span[1]]
