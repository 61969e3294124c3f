"""A recording turned into a script: what the server half sent, and what each piece waits for.

The script has no clock. Every frame of the server half hangs on a message of
the client half, its *cue*, and goes out as soon as the cue has come: the
response of a request hangs on it, and so does everything that belongs to it by
progress token, related task, or because it was the only request open. What
belongs to none hangs on the last client message before it. Within a cue the
recorded order holds, and a piece that was recorded after the client had
answered a question of the server's waits for that answer.

Several requests open and nothing that tells which one a frame belongs to: then
it hangs on all of them. It goes out once all have come, before any that is
still unanswered is answered, and not at all if one of them never comes.

Part of the light path: standard library and ``core`` only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from workbench.core.exchanges import Answered, Event, Exchange, GaveUp, Opened, Pairing, Told
from workbench.core.frame import ANSWERS, Channel, Direction, Frame, Kind
from workbench.core.jsonrpc import Message, id_text
from workbench.core.peek import peek
from workbench.replay.carriage import Carriage, Heads
from workbench.replay.cues import (
    ANSWER,
    CANCEL,
    CUT,
    GONE,
    OPENED,
    QUESTION,
    RAW,
    STDERR,
    STOP,
    TOLD,
    Cue,
    Fetch,
    Piece,
    Script,
)
from workbench.replay.ends import Ends
from workbench.replay.hanging import Hanger
from workbench.replay.listeners import ACKNOWLEDGED, LISTEN, Listeners
from workbench.replay.proper import proper
from workbench.replay.reading import params_of, read
from workbench.replay.spans import items

#: Frames that are no message have a meaning only on the transport they were recorded from.
_WITHOUT_PLACE = frozenset((Kind.HTTP, Kind.SSE, Kind.AUTH))

#: The member of ``_meta`` that says which stateless revision a request is of.
_MODERN = "io.modelcontextprotocol/protocolVersion"
_MODERN_BYTES = _MODERN.encode()

#: Requests that have a meaning beyond their answer.
_NEVER_PLAIN = frozenset(("initialize", "server/discover", LISTEN))


def build(
    frames: Iterable[Frame],
    *,
    at_once: bool = True,
    head: Heads = lambda _: None,
    lines: bool = True,
    ending: Callable[[int], Iterable[Frame]] | None = None,
    fetch: Fetch | None = None,
) -> Script:
    """The script of one connection's frames, in order. Never raises on what was recorded.

    With ``at_once`` off it reads only as far as it takes to answer ``initialize`` and to know the era; see
    ``Script.more``. ``head`` gives the heads of the connection's HTTP streams, where there are any. With
    ``lines`` off it is made for HTTP: bodies keep their line ends, and what only HTTP has a place for is
    kept. ``ending`` gives the process frames from a seq on, so that the exit status can be known without
    reading everything; ``fetch`` gives a body again, so that large ones need not be kept.
    """
    builder = _Builder(proper(frames, lines=lines), head, fetch, lines=lines)
    if ending is not None:
        builder.script.look_ahead = partial(builder.look_ahead, ending)
    script = builder.script
    while script.more is not None and (at_once or not builder.era_is_known):
        script.more()
    return script


class _Builder:
    def __init__(self, frames: Iterator[Frame], head: Heads, fetch: Fetch | None, *, lines: bool) -> None:
        self.script = Script()
        self.script.more = self._read_on
        self._frames = frames
        self._lines = lines
        self._pairing = Pairing(keep_related=False)
        self._carriage = Carriage(head, self._pairing)
        self._listeners = Listeners()
        self._hanger = Hanger(self.script, fetch)
        self._cues: dict[tuple[int, int], Cue] = {}
        #: What each question hangs on, and its key.
        self._questions: dict[tuple[int, int], tuple[list[Cue], int]] = {}
        self._last_answered: tuple[int, int] | None = None
        self._ends = Ends(self.script)
        self._held: Frame | None = None
        self._asked_what = False

    @property
    def era_is_known(self) -> bool:
        """Whether a request has been read that tells it."""
        return any(cue.method != "server/discover" for cue in self.script.requests)

    def _read_on(self) -> None:
        """Read to the next client message before which nothing was under way, or to the end."""
        self.script.more = None  # where reading fails, nothing more can be read
        frames = self._frames
        frame, self._held = self._held or next(frames, None), None
        begun = False
        while frame is not None:
            if frame.direction is Direction.TO_SERVER and self._pairing.quiet:
                if begun:
                    self._held = frame
                    self.script.more = self._read_on
                    return
                begun = True
                if self._may_be_plain(frame):
                    answer = next(frames, None)
                    if answer is not None and _answers_plainly(frame, answer):
                        self.script.requests.append(self._hanger.plain(frame, answer))
                        frame = next(frames, None)
                    else:
                        self._take(frame)
                        frame = answer
                    continue
            self._take(frame)
            frame = next(frames, None)
        self._finish()

    def look_ahead(self, ending: Callable[[int], Iterable[Frame]]) -> int:
        """The exit status at the end, from what has been read and the process frames to come."""
        script = Script()
        ends = self._ends.going_on(script)
        if self._held is not None:
            for frame in ending(self._held.seq):
                ends.take(frame)
        return script.code

    def _may_be_plain(self, frame: Frame) -> bool:
        return (
            frame.kind is Kind.REQUEST
            and frame.channel is Channel.STDIO
            and frame.method is not None
            and frame.method not in _NEVER_PLAIN
            and frame.id not in (None, "null")
            and (self.script.modern or _MODERN_BYTES not in frame.body)
        )

    def _take(self, frame: Frame) -> None:
        self._carriage.came(frame)
        self._hanger.now = frame.mono_ns
        if frame.channel is Channel.PROCESS:
            self._process(frame)
        elif frame.channel is Channel.STDERR:
            cues = self._only(self._pairing.candidates(frame))
            self._hanger.hang(cues, self._hanger.piece(frame, STDERR, frame.body))
        elif frame.kind in _WITHOUT_PLACE or self._carriage.is_no_message(frame):
            self._without_message(frame)
        elif frame.direction is Direction.TO_SERVER:
            self._client(frame)
        elif frame.direction is Direction.TO_CLIENT:
            self._server(frame)

    def _without_message(self, frame: Frame) -> None:
        self._carriage.refused(frame, self._pairing.candidates(frame))
        self._pairing.take(frame)
        if frame.kind is Kind.AUTH:
            self._drop("AUTH frames that hold no message have no place in a replay and are left out.")
        elif self._lines:
            self._drop("HTTP frames that hold no message have no place on stdio and are left out.")

    def _drop(self, note: str) -> None:
        if note not in self.script.notes:
            self.script.notes.append(note)

    # The client half: cues

    def _client(self, frame: Frame) -> None:
        for event in self._pairing.take(frame, read(frame.body)):
            if isinstance(event, Opened):
                self._request(event)
            elif isinstance(event, Told):
                self._told(frame, event)
            elif isinstance(event, Answered):
                self._client_answer(event)

    def _cue(self, seq: int, message: Message, *, request: bool) -> Cue:
        cue = self._hanger.cue(seq, message.method or "", request=request)
        cue.params = params_of(message)
        return cue

    def _request(self, event: Opened) -> None:
        exchange = event.exchange
        cue = self._cue(exchange.request, event.message, request=True)
        cue.name = exchange.name
        cue.token = exchange.token
        self._cues[exchange.key] = cue
        self.script.requests.append(cue)
        if cue.method == LISTEN:
            self._listeners.add(exchange.id, cue)
        if peek(event.message, "params", "_meta", _MODERN) is not None:
            # Who asks what a server is may go on with a handshake.
            self._asked_what = self._asked_what or cue.method == "server/discover"
            self.script.modern = self.script.modern or cue.method != "server/discover"

    def _told(self, frame: Frame, event: Told) -> None:
        cue = self._cancelled(frame, event)
        if cue is not None:
            # What follows a cancel hangs on the request that was cancelled, and waits for the cancel.
            self._hanger.came([cue], CANCEL)
        else:
            self.script.notifications.append(self._cue(event.seq, event.message, request=False))

    def _cancelled(self, frame: Frame, event: Told) -> Cue | None:
        """The request that a notification cancels; one that had timed out before, too."""
        if event.message.method != "notifications/cancelled":
            return None
        if event.owner is not None:
            return self._cues.get(event.owner.key)
        open_now = self._pairing.open.get((frame.connection, frame.direction, _named(event.message) or ""))
        return self._cues.get(open_now[0].key) if open_now else None

    def _client_answer(self, event: Answered) -> None:
        where = self._questions.get(event.exchange.key)
        if where is None:
            return
        cues, key = where
        self.script.answers.setdefault(key, event.message)
        self._hanger.came(cues, key)

    # The server half: pieces

    def _server(self, frame: Frame) -> None:
        decoded = read(frame.body)
        candidates = self._pairing.candidates(frame)
        events = self._pairing.take(frame, decoded)
        if decoded.kind is Kind.BATCH and events and len(events) == len(decoded.messages):
            self._batch(frame, events, candidates)
        elif len(events) == 1 and isinstance(events[0], (Answered, Opened, Told)):
            self._message(events[0], self._hanger.piece(frame, RAW, frame.body), candidates)
        else:
            # Junk, and answers to nothing: sent as they were, where they were.
            self._hanger.hang(self._only(candidates), self._hanger.piece(frame, RAW, frame.body))

    def _batch(self, frame: Frame, events: list[Event], candidates: list[Exchange]) -> None:
        """Each message of a batch hangs where it belongs; what goes out together is a batch again."""
        spans = items(frame.body)
        if len(spans) != len(events):
            self._hanger.hang([], self._hanger.piece(frame, RAW, frame.body))
            return
        edges = [0, *(edge for span in spans for edge in span), len(frame.body)]
        between = zip(edges[::2], edges[1::2], strict=True)
        self.script.batches[frame.seq] = tuple(frame.body[start:end] for start, end in between)
        for part, (event, (start, end)) in enumerate(zip(events, spans, strict=True)):
            piece = self._hanger.piece(frame, RAW, frame.body[start:end])._replace(
                part=part, parts=len(spans)
            )
            self._message(event, piece, candidates)

    def _message(self, event: Event, piece: Piece, candidates: list[Exchange]) -> None:
        if isinstance(event, Answered):
            self._answer(event, piece)
        elif isinstance(event, (Opened, Told)):
            self._unasked(event, piece, candidates)
        else:
            self._hanger.hang([], piece)

    def _answer(self, event: Answered, piece: Piece) -> None:
        cue = self._cues[event.exchange.key]
        cue.answer = piece.seq
        if self._last_answered is not None and self._last_answered[0] > cue.seq:
            cue.after = self._last_answered[1]
        self._last_answered = piece.seq, cue.key
        if cue.method == "initialize" and self.script.revision is None:
            version = peek(event.message, "result", "protocolVersion")
            self.script.revision = version if isinstance(version, str) else None
        if event.message.id is None:
            # Over HTTP the stream said which request it answers; on lines only an id does.
            piece = piece._replace(body=b'{"id":null,' + piece.body.lstrip()[1:])
        identity = event.message.id or "null"
        piece = piece._replace(
            what=ANSWER, id=identity, method=cue.method, http=self._carriage.head(piece.seq)
        )
        if cue.method == LISTEN:
            # It ends when the server says so, which may be long after it was asked.
            self._hanger.hang([], piece._replace(on=cue.key))
        else:
            self._hanger.hang([cue], piece)

    def _unasked(self, event: Opened | Told, piece: Piece, candidates: list[Exchange]) -> None:
        message = event.message
        method = message.method or ""
        if isinstance(event, Opened):
            piece = piece._replace(what=QUESTION, id=message.id, method=method)
        else:
            piece = piece._replace(what=TOLD, id=_named(message), method=method)
        listener = self._listeners.of(message, event)
        if listener is not None:
            alone = [listener] if method == ACKNOWLEDGED else []
            self._hanger.hang(alone, piece if alone else piece._replace(on=listener.key))
            return
        if event.how == "ambiguous":
            several = [self._cues[exchange.key] for exchange in candidates]
            cues = [cue for cue in several if cue.method != LISTEN] or several
        elif event.owner is None or (event.how == "only" and event.owner.method == LISTEN):
            cues = []
        elif event.owner.direction is Direction.TO_CLIENT:  # it cancels a question of its own
            cues = self._questions.get(event.owner.key, ([], 0))[0]
        else:
            cues = [self._cues[event.owner.key]]
        cues = self._hanger.hang(cues, piece)
        if isinstance(event, Opened):
            self._questions[event.exchange.key] = cues, piece.key

    def _only(self, exchanges: list[Exchange]) -> list[Cue]:
        several = [each for each in exchanges if each.method != LISTEN]
        return [self._cues[several[0].key]] if len(several) == 1 else []

    # Around it

    def _process(self, frame: Frame) -> None:
        self._streams(frame)
        for event in self._pairing.take(frame):
            if isinstance(event, GaveUp) and b'"unanswered"' in frame.body:
                # The transport could not bring an answer: the mock says so, and nobody waits.
                self._unanswered(frame, event.exchange)
        done = self._ends.take(frame)
        if done is not None:
            what, code = done
            cues = [self._cues[exchange.key] for exchange in self._open()]
            self._hanger.hang(cues, self._hanger.piece(frame, what)._replace(code=code))

    def _streams(self, frame: Frame) -> None:
        """What a process frame tells of the streams that carry the answers."""
        if self._lines:
            return
        for exchange, retry in self._carriage.cut(frame):
            piece = self._hanger.piece(frame, CUT)._replace(code=retry)
            self._hanger.hang([self._cues[exchange.key]], piece)
        if self._carriage.lost_session(frame):
            self._hanger.hang([], self._hanger.piece(frame, GONE))

    def _unanswered(self, frame: Frame, exchange: Exchange) -> None:
        cue = self._cues.get(exchange.key)
        if cue is None:
            return
        if cue.method == LISTEN:
            if not self._lines:
                self._hanger.hang([], self._hanger.piece(frame, CUT)._replace(on=cue.key))
            return
        http, body = self._carriage.reply(exchange)
        piece = self._hanger.piece(frame, STOP, body)._replace(method=cue.method, http=http)
        self._hanger.hang([cue], piece)

    def _open(self) -> list[Exchange]:
        """The client's requests that wait for an answer at this point."""
        waiting = [exchange for several in self._pairing.open.values() for exchange in several]
        return [
            exchange
            for exchange in waiting
            if exchange.direction is Direction.TO_SERVER and exchange.given_up is None
        ]

    def _finish(self) -> None:
        """Where a recording stops short of an answer, with nobody having left, the mock must say so."""
        if self._asked_what and not any(cue.method == "initialize" for cue in self.script.requests):
            self.script.modern = True
        for exchange in () if self._lines else self._open():
            cue = self._cues[exchange.key]
            if not cue.pieces and self._carriage.began(exchange):
                cue.hang(Piece(0, cue.seq, OPENED, method=cue.method))
        if self._ends.told:
            return
        for exchange in self._open():
            cue = self._cues[exchange.key]
            # A subscription is open for as long as somebody listens; a stream that the client closed
            # is a cancelled request.
            if cue.method != LISTEN and not self._carriage.closed_by_client(exchange):
                cue.hang(Piece(0, cue.seq, STOP, method=cue.method))


def _answers_plainly(asked: Frame, answer: Frame) -> bool:
    """Whether the frame after a request is its answer and nothing else: no task, which would go on."""
    return (
        answer.kind in ANSWERS
        and answer.direction is Direction.TO_CLIENT
        and answer.channel is Channel.STDIO
        and answer.id == asked.id
        and b'"task"' not in answer.body
    )


def _named(message: Message) -> str | None:
    """The identity that a notification is about, as JSON text."""
    member = {"notifications/progress": "progressToken", "notifications/cancelled": "requestId"}
    key = member.get(message.method or "")
    value = None if key is None else peek(message, "params", key)
    return None if value is None else id_text(value)
