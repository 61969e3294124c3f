"""A recording turned into a script: what the server half sent, and what each piece waits for.

The script has no clock. Every frame of the server half hangs on a message of
the client half, its *cue*, and goes out as soon as the cue has come: the
responses of a request hang on it, and so does everything that belongs to it by
progress token, related task, or because it was the only request open. What
belongs to none hangs on the last client message before it. Within a cue the
recorded order holds, and a piece that was recorded after the client had
answered a question of the server's waits for that answer.

Several requests open and nothing that tells which one a frame belongs to: then
it is *shared*; it goes out once all of them have come, before any of them still
unanswered is answered, and not at all if one of them never comes.

Part of the light path: standard library and ``core`` only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from workbench.core.exchanges import Answered, Exchange, Opened, Pairing, Told
from workbench.core.frame import Channel, Direction, Ending, Frame, Kind
from workbench.core.jsonrpc import Message, decode, loads
from workbench.replay.identity import Cut, cut_answer, cut_notification, cut_request

#: What a piece is.
ANSWER, QUESTION, TOLD, RAW, STDERR, END = "answer", "question", "told", "raw", "stderr", "end"


class Piece(NamedTuple):
    """Something the server half sent. ``waits`` are the seqs of questions whose answers, and of
    client notifications which, must have come before it. ``cut`` is its body with the places of
    identity open. ``code`` is the exit status of an ``end`` (128 + n for a signal)."""

    seq: int
    what: str
    cut: Cut
    waits: frozenset[int] = frozenset()
    ending: Ending = Ending.LF
    method: str = ""
    code: int = 0


class Cue:
    """A message of the client half, and what hangs on it.

    For a request ``params`` is its parsed params, ``token`` the JSON text of its progress token,
    ``answered`` whether an answer was recorded.
    """

    __slots__ = ("answered", "id", "method", "name", "params", "pieces", "request", "seq", "shared", "token")

    def __init__(self, seq: int, method: str, *, request: bool) -> None:
        self.seq = seq
        self.method = method
        self.request = request
        self.name: str | None = None
        self.params: Any = None
        self.id = ""
        self.token: str | None = None
        self.answered = False
        self.pieces: list[Piece] = []
        self.shared: list[Shared] = []

    def __repr__(self) -> str:
        return f"<Cue #{self.seq} {self.method}>"


class Shared(NamedTuple):
    """A piece that belongs to one of several requests, nobody knows which."""

    piece: Piece
    cues: tuple[int, ...]


class Script:
    """The server half of one recorded connection.

    ``start`` is what was sent before any client message, ``requests`` and ``notifications`` are
    the cues in recorded order, ``answers`` the recorded answers of the client to each question
    (by the question's seq), ``revision`` what the recorded handshake agreed on. ``code`` is the
    exit status after the client has gone.
    """

    def __init__(self) -> None:
        self.start = Cue(0, "", request=False)
        self.requests: list[Cue] = []
        self.notifications: list[Cue] = []
        self.answers: dict[int, Message] = {}
        self.revision: str | None = None
        self.offered: str | None = None
        self.code = 0
        self.notes: list[str] = []

    def said_before(self, seq: int, texts: tuple[bytes, ...]) -> bool:
        """Whether one of these stands in anything the server half sent up to a frame."""
        cues = (self.start, *self.requests, *self.notifications)
        return any(
            text in part
            for cue in cues
            for piece in cue.pieces
            if piece.seq <= seq
            for part in piece.cut.parts
            for text in texts
        )


def build(frames: Iterable[Frame]) -> Script:
    """The script of one connection's frames, in order. Never raises on what was recorded."""
    builder = _Builder()
    for frame in frames:
        builder.take(frame)
    return builder.script


class _Builder:
    def __init__(self) -> None:
        self.script = Script()
        self._pairing = Pairing(keep_related=False)
        self._cues: dict[int, Cue] = {}
        self._home: dict[int, Cue] = {}
        self._came: dict[int, set[int]] = {}
        self._last = self.script.start
        self._last_wait: int | None = None
        self._client_left = False
        self._ended = False

    def take(self, frame: Frame) -> None:
        if frame.channel is Channel.PROCESS:
            self._process(frame)
        elif frame.channel is Channel.STDERR:
            self._place(self._only(frame), Piece(frame.seq, STDERR, Cut((frame.body,)), ending=frame.ending))
        elif frame.direction is Direction.TO_SERVER:
            self._client(frame)
        elif frame.direction is Direction.TO_CLIENT:
            self._server(frame)

    # The client half: cues

    def _client(self, frame: Frame) -> None:
        for event in self._pairing.take(frame, decode(frame.body)):
            if isinstance(event, Opened):
                self._request(event)
            elif isinstance(event, Told):
                self._told(event)
            elif isinstance(event, Answered):
                self._client_answer(event)

    def _request(self, event: Opened) -> None:
        exchange, message = event.exchange, event.message
        cue = Cue(exchange.request, exchange.method, request=True)
        cue.name = exchange.name
        cue.params = message.value("params")
        cue.id = exchange.id
        cue.token = exchange.token
        self._cues[id(exchange)] = cue
        self._home[exchange.request] = cue
        self.script.requests.append(cue)
        self._last, self._last_wait = cue, None
        if exchange.method == "initialize" and self.script.offered is None and isinstance(cue.params, dict):
            offered = cue.params.get("protocolVersion")
            self.script.offered = offered if isinstance(offered, str) else None

    def _told(self, event: Told) -> None:
        method = event.message.method or ""
        if method == "notifications/cancelled" and event.owner is not None:
            # What follows a cancel hangs on the request that was cancelled, and waits for the cancel.
            cue = self._cues[id(event.owner)]
            self._came.setdefault(cue.seq, set()).add(-cue.seq)
            self._last, self._last_wait = cue, -cue.seq
            return
        cue = Cue(event.seq, method, request=False)
        cue.params = event.message.value("params")
        self.script.notifications.append(cue)
        self._last, self._last_wait = cue, None

    def _client_answer(self, event: Answered) -> None:
        question = event.exchange.request
        cue = self._home.get(question, self.script.start)
        self.script.answers.setdefault(question, event.message)
        self._came.setdefault(cue.seq, set()).add(question)
        self._last, self._last_wait = cue, question

    # The server half: pieces

    def _server(self, frame: Frame) -> None:
        decoded = decode(frame.body)
        shared = self._pairing.candidates(frame)
        events = self._pairing.take(frame, decoded)
        if len(events) != 1 or decoded.kind is Kind.BATCH:
            # Junk, and batches: sent as they were, where they were.
            self._place(self._only_of(shared), Piece(frame.seq, RAW, Cut((frame.body,)), ending=frame.ending))
            return
        event = events[0]
        if isinstance(event, Answered):
            self._answer(frame, event)
        elif isinstance(event, (Opened, Told)):
            self._unasked(frame, event, shared)
        else:
            self._place(None, Piece(frame.seq, RAW, Cut((frame.body,)), ending=frame.ending))

    def _answer(self, frame: Frame, event: Answered) -> None:
        cue = self._cues[id(event.exchange)]
        cue.answered = True
        if cue.method == "initialize" and self.script.revision is None:
            result = event.message.value("result")
            version = result.get("protocolVersion") if isinstance(result, dict) else None
            self.script.revision = version if isinstance(version, str) else None
        piece = Piece(frame.seq, ANSWER, cut_answer(frame.body), ending=frame.ending, method=cue.method)
        self._place(cue, piece)

    def _unasked(self, frame: Frame, event: Opened | Told, shared: list[Exchange]) -> None:
        method = event.message.method or ""
        if isinstance(event, Opened):
            piece = Piece(frame.seq, QUESTION, cut_request(frame.body), ending=frame.ending, method=method)
        else:
            piece = Piece(
                frame.seq, TOLD, cut_notification(frame.body, method), ending=frame.ending, method=method
            )
        if event.how == "ambiguous":
            cues = [self._cues[id(exchange)] for exchange in shared]
            common = Shared(piece, tuple(cue.seq for cue in cues))
            for cue in cues:
                cue.shared.append(common)
            self._home[frame.seq] = cues[-1]
            return
        owner = None
        if isinstance(event, Told) and event.how == "cancel" and event.owner is not None:
            owner = self._home.get(event.owner.request)
        elif event.owner is not None:
            owner = self._cues.get(id(event.owner))
        self._place(owner, piece)

    def _only(self, frame: Frame) -> Cue | None:
        return self._only_of(self._pairing.candidates(frame))

    def _only_of(self, open_now: list[Exchange]) -> Cue | None:
        return self._cues.get(id(open_now[0])) if len(open_now) == 1 else None

    def _place(self, owner: Cue | None, piece: Piece) -> None:
        """Hang a piece on its owner, else on the last client message before it."""
        cue = owner or self._last
        waits = set(self._came.get(cue.seq, ()))
        if owner is None and self._last_wait is not None:
            waits.add(self._last_wait)
        cue.pieces.append(piece._replace(waits=frozenset(waits)))
        if piece.what == QUESTION:
            self._home[piece.seq] = cue

    def _process(self, frame: Frame) -> None:
        self._pairing.take(frame)
        try:
            event = loads(frame.body)
        except (ValueError, RecursionError):
            return
        what = event.get("event") if isinstance(event, dict) else None
        if what in ("stdin_closed", "signal"):
            self._client_left = True
        elif what == "exited":
            self._exited(frame, event)

    def _exited(self, frame: Frame, event: dict[str, Any]) -> None:
        code = event.get("code")
        if not isinstance(code, int):
            code = 128 + _SIGNALS.get(str(event.get("signal")), 15)
        self.script.code = code
        if not self._client_left and not self._ended:
            # It ended by itself: that is part of what it did, and hangs where it happened.
            self._ended = True
            open_now = [exchange for waiting in self._pairing.open.values() for exchange in waiting]
            ours = [exchange for exchange in open_now if exchange.direction is Direction.TO_SERVER]
            self._place(self._only_of(ours), Piece(frame.seq, END, Cut((b"",)), code=code))


_SIGNALS = {"HUP": 1, "INT": 2, "QUIT": 3, "ABRT": 6, "KILL": 9, "SEGV": 11, "PIPE": 13, "TERM": 15}
