"""Sends what was recorded, as soon as what it waits for has come.

A *run* is one playing of a cue's pieces for one live message. It stops at a
piece that waits for the client (its answer to a question, its cancel) and goes
on when that has come; several runs go on side by side. Live ids, tokens and
values are put in on the way out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from workbench.core import jsonrpc
from workbench.replay import identity
from workbench.replay.actions import Action, Eof, Exit, Gone, HangUp, Open, Reply, Send, Stderr
from workbench.replay.correlate import Correlations
from workbench.replay.cues import (
    ANSWER,
    CANCEL,
    CUT,
    END,
    EOF,
    GONE,
    OPENED,
    OWN,
    QUESTION,
    STDERR,
    STOP,
    TOLD,
    Cue,
    Piece,
    Plain,
)
from workbench.replay.listeners import LISTEN
from workbench.replay.report import Report, sentence
from workbench.replay.runs import Asked, Run

#: What goes on no stream.
_WITHOUT_STREAM = frozenset((STDERR, EOF, END, GONE, CUT))

#: What a server says of one request.
_OF_A_REQUEST = frozenset(("notifications/progress", "notifications/cancelled"))

#: Errors of the stateless era that come with an HTTP status of their own.
_STATUSES = {-32601: 404, -32020: 400, -32021: 400, -32022: 400}

#: The error code of a miss. Not -32601: clients take that for "not supported" and change what they do.
MISS = -32010


#: Gives the time in seconds, from any beginning.
Clock = Callable[[], float]


class Player:
    """Plays runs. ``in_order`` keeps the order in which overlapping requests were answered. ``streams``:
    each live request has a stream of its own; ``own`` is off where the client has none beside them.
    ``pace`` times the recorded waits are kept, by ``clock`` (seconds)."""

    def __init__(
        self,
        report: Report,
        correlations: Correlations,
        *,
        in_order: bool = False,
        streams: bool = False,
        own: bool = True,
        pace: float = 0.0,
        clock: Clock = lambda: 0.0,
    ) -> None:
        self._report = report
        self._correlations = correlations
        self._in_order = in_order
        self._streams = streams
        self._own = own
        self._pace = pace
        self._clock = clock
        self._runs: list[Run] = []
        #: The newest run of each request.
        self._bound: dict[int, Run] = {}
        self._asked: dict[str, Asked] = {}
        #: Recorded ids of questions, and the live ones they went out under.
        self._renamed: dict[str, str] = {}
        self._shared: set[int] = set()
        self._answered: set[int] = set()
        self._freed: set[int] = set()
        self._unshared_end: Piece | None = None
        self._fresh = 0
        #: The recorded server has ended.
        self.over = False

    # What comes

    def plain(self, cue: Plain, id: str, stream: int) -> list[Action] | None:
        """Play what nothing else has to do with: an answer that goes out at once; ``None`` if it must be
        played as anything else is. ``id`` and ``stream`` as in ``Run``."""
        if cue.rest or self._in_order or self._pace or self._asked or not (self._own or stream):
            return None
        reply = cue.reply
        body = self._correlations.applied(identity.put_id(cue.answer_body(), reply.id, id))
        cue.let_go()
        status = 200 if self._own else self.status(body)
        return [Send(body, reply.ending, reply.seq, 0, 1, stream, status)]

    def status(self, body: bytes) -> int:
        """The HTTP status of an answer that has none of its own."""
        return _status(body, ANSWER, own=self._own)

    def stop(self, code: int) -> list[Action]:
        """End here and now with an exit status."""
        self.over = True
        return [Exit(code)]

    def begin(self, run: Run) -> list[Action]:
        if run.cue.key in self._bound and run.cue.request:
            # Asked again: what only happened meanwhile does not happen a second time.
            run.pieces = deque(piece for piece in run.pieces if piece.on in (None, run.cue.key))
        run.since = self._clock()
        self._runs.append(run)
        self._bound[run.cue.key] = run
        return self._go_on()

    def answer(self, id: str) -> Asked | None:
        """The question that a live answer is to, once."""
        return self._asked.pop(id, None)

    def answered(self, asked: Asked) -> list[Action]:
        """A question has been answered: go on with what waited for it."""
        asked.run.came.add(asked.piece.key)
        asked.run.since = self._clock()
        for key in asked.piece.cues:
            if key in self._bound:
                self._bound[key].came.add(asked.piece.key)
                self._bound[key].since = self._clock()
        return self._go_on()

    def cancel(self, id: str) -> list[Action]:
        """The live client gives a request up."""
        for run in reversed(self._runs):
            if run.cue.request and run.id == id:
                return self._give_up(run)
        return []

    def left(self, stream: int) -> list[Action]:
        """The live client has closed a stream, and gives up what it had asked on it."""
        actions: list[Action] = []
        for run in [run for run in self._runs if run.cue.request and run.stream == stream]:
            run.stream = OWN
            actions += self._give_up(run)
        return actions

    def _give_up(self, run: Run) -> list[Action]:
        run.gone = True
        if run.cue.answer is None or any(CANCEL in piece.waits for piece in run.pieces):
            run.came.add(CANCEL)
            run.since = self._clock()
            run.answered = run.cue.answer is None
            return self._go_on()
        # Cancelled where the recorded client did not: nothing more is sent for it.
        run.pieces.clear()
        run.later.clear()
        self._runs.remove(run)
        self._answered.add(run.cue.key)
        return self._go_on()

    @property
    def stuck(self) -> bool:
        """Whether something is held back for a request that may never come."""
        return not self.over and (
            self._unshared_end is not None or any(run.later or self._is_held(run) for run in self._runs)
        )

    def release(self) -> list[Action]:
        """The client sends nothing: give up waiting for what may never come."""
        for run in self._runs:
            if run.later:
                run.lacking.clear()
                return self._go_on()
            if self._is_held(run):
                self._report.note(
                    f"#{run.cue.seq} {run.cue.method} was not answered in recorded order: "
                    "the client waits for it before it sends the next request."
                )
                self._freed.add(run.cue.key)
                return self._go_on()
        if self._unshared_end is not None and not self.over:
            actions: list[Action] = []
            self._end(self._unshared_end, actions)
            return actions
        return []

    @property
    def due(self) -> float | None:
        """How long until something goes out that only waits for its time (seconds)."""
        waiting = [run.due for run in self._runs if run.due is not None]
        return None if self.over or not waiting else max(0.0, min(waiting) - self._clock())

    def go_on(self) -> list[Action]:
        """Send what has become due."""
        return self._go_on()

    def close(self) -> None:
        """Note what was not sent."""
        if self.over:
            return
        for run in self._runs:
            if run.cue.answer is not None and not run.answered and run.pieces:
                self._report.note(f"#{run.cue.seq} {run.cue.method} was not answered: the client left first.")
        for key in self._bound:
            for piece in self._bound[key].cue.pieces:
                if piece.cues and piece.key not in self._shared:
                    self._report.note(f"#{piece.seq} was not sent: one of its requests never came.")

    # What goes

    def _go_on(self) -> list[Action]:
        """Send everything that has nothing left to wait for."""
        actions: list[Action] = []
        moved = True
        while moved and not self.over:
            moved = False
            for run in list(self._runs):
                moved = self._advance(run, actions) or moved
        self._runs = [run for run in self._runs if run.open]
        return actions

    def _advance(self, run: Run, actions: list[Action]) -> bool:
        moved = False
        if run.later and run.lacking <= self._shared:
            later, run.later = run.later, []
            for piece in later:
                if self._has_place(piece, run):
                    self._perform(piece, run, actions)
            moved = True
        while run.pieces and not self.over:
            piece = run.pieces[0]
            if piece.cues and not self._is_due(piece):
                run.pieces.popleft()
                if piece.key not in self._shared:
                    run.lacking.add(piece.key)
                continue
            if run.lacking and not self._streams and _may_be_late(piece) and not run.lacking <= self._shared:
                run.later.append(run.pieces.popleft())
                continue
            if not self._has_place(piece, run):
                run.pieces.popleft()
                moved = True
                continue
            if not self._is_free(piece, run) or self._is_held(run) or self._is_early(piece, run):
                break
            run.pieces.popleft()
            self._perform(piece, run, actions)
            moved = True
        return moved

    def _is_due(self, piece: Piece) -> bool:
        """Whether a piece of several requests goes out now; else it is left to those still to come."""
        if piece.key in self._shared:
            return False
        if all(key in self._bound for key in piece.cues):
            return True
        if piece.what == END:
            self._unshared_end = piece
        return False

    def _has_place(self, piece: Piece, run: Run) -> bool:
        """Whether there is something for a piece to go on; what has no place is dropped with a note."""
        if self._owner(piece, run) is None:
            self._report.note(f"#{piece.seq} was not sent: nobody listens for it.")
            return False
        if self._own or piece.what in _WITHOUT_STREAM or self._stream(piece, run) != OWN:
            return True
        self._report.note(f"#{piece.seq} was not sent: it belongs to no request that is open.")
        return False

    def _owner(self, piece: Piece, run: Run) -> Run | None:
        """The run whose identity and stream a piece has, ``None`` if it is not there any more."""
        if piece.on in (None, OWN):
            return run
        owner = self._bound.get(piece.on or OWN)
        return None if owner is None or owner.gone else owner

    def _stream(self, piece: Piece, run: Run) -> int:
        """The live stream for a piece. A request that has its answer has none any more."""
        owner = self._owner(piece, run)
        return OWN if owner is None or owner.answered or piece.on == OWN else owner.stream

    def _is_free(self, piece: Piece, run: Run) -> bool:
        """Whether all has come that a piece waits for. A question of several requests that was not
        asked is waited for by none."""
        return not any(
            wait not in run.came and (wait == CANCEL or self._is_asked(wait, run)) for wait in piece.waits
        )

    def _is_early(self, piece: Piece, run: Run) -> bool:
        """Whether a piece that could go out waits for its time."""
        if not self._pace:
            return False
        now = self._clock()
        due = run.since + piece.gap * 1e-9 * self._pace
        if now < due:
            run.due = due
            return True
        run.since, run.due = due, None
        return False

    def _is_asked(self, key: int, run: Run) -> bool:
        shared = any(piece.key == key and piece.cues for piece in run.cue.pieces)
        return not shared or key in self._shared

    def _is_held(self, run: Run) -> bool:
        """Whether the next piece is an answer that was recorded after one that is still to come."""
        before = run.cue.after
        return (
            self._in_order
            and before is not None
            and bool(run.pieces)
            and run.pieces[0].what == ANSWER
            and before not in self._answered
            and run.cue.key not in self._freed
        )

    def _perform(self, piece: Piece, run: Run, actions: list[Action]) -> None:
        if piece.cues:
            self._shared.add(piece.key)
        if piece.what == STDERR:
            actions.append(Stderr(piece.body, piece.ending, piece.seq))
        elif piece.what == EOF:
            actions.append(Eof(piece.seq))
        elif piece.what == END:
            self._end(piece, actions)
        elif piece.what == STOP:
            self._stop(piece, run, actions)
        elif piece.what == OPENED:
            if run.stream:
                actions.append(Open(run.stream, piece.seq))
        elif piece.what in (CUT, GONE):
            self._break(piece, run, actions)
        elif _is_progress(piece, run.cue) and run.token is None:
            self._report.note(f"#{piece.seq} was not sent: the live {run.cue.method} asks for no progress.")
        else:
            stream = self._stream(piece, run)
            owner = self._owner(piece, run) or run
            body = self._correlations.applied(self._identified(piece, owner))
            status = piece.http[0] if piece.http is not None else _status(body, piece.what, own=self._own)
            apart = piece.what == ANSWER and owner.told
            owner.told = owner.told or piece.method == "notifications/progress"
            where = (piece.ending, piece.seq, piece.part, piece.parts, stream)
            actions.append(Send(body, *where, status, apart))

    def _stop(self, piece: Piece, run: Run, actions: list[Action]) -> None:
        """A request that was not answered: over HTTP as it was, else with an explanation."""
        if run.stream and piece.http is not None:
            self._is_answered(run)
            status, media = piece.http
            reply = HangUp(run.stream, 0, piece.seq, last=True)
            actions.append(Reply(run.stream, status, piece.body, media, piece.seq) if status else reply)
            return
        told = self._report.stopped(run.cue)
        self._is_answered(run)
        body = jsonrpc.error(run.id, MISS, sentence(told), jsonrpc.dumps(told))
        actions.append(Send(body, stream=run.stream))

    def _break(self, piece: Piece, run: Run, actions: list[Action]) -> None:
        """Break a stream or a session as it broke, where there are such things."""
        if not self._streams:
            return
        if piece.what == GONE:
            self._report.ended = "forgot the session, as recorded"
            actions.append(Gone(piece.seq))
            return
        owner = self._owner(piece, run)
        if owner is None or owner.answered:
            return
        if owner.cue.method == LISTEN:
            owner.gone = owner.answered = True
            actions.append(HangUp(owner.stream, 0, piece.seq))
        else:
            actions.append(HangUp(owner.stream, piece.code, piece.seq))

    def _is_answered(self, run: Run) -> None:
        run.answered = True
        self._answered.add(run.cue.key)

    def _end(self, piece: Piece, actions: list[Action]) -> None:
        self.over = True
        open_streams = {run.stream for run in self._runs if run.stream and not run.answered}
        actions += [HangUp(stream, 0, piece.seq, last=True) for stream in sorted(open_streams)]
        self._report.ended = f"exited with status {piece.code}, as recorded"
        actions.append(Exit(piece.code, piece.seq))

    def _identified(self, piece: Piece, run: Run) -> bytes:
        """The body under the identity of the live request it belongs to."""
        place: tuple[str, ...] = identity.ID
        live = piece.id
        if run.cue.method == LISTEN:
            return self._subscribed(piece, run)
        if piece.what == ANSWER:
            self._is_answered(run)
            live = run.id
        elif piece.what == QUESTION:
            live = self._ask(piece, run)
        elif _is_progress(piece, run.cue):
            place, live = identity.TOKEN, run.token
        elif piece.method == "notifications/cancelled":
            place, live = identity.CANCELLED, self._renamed.get(piece.id or "", piece.id)
        if live is None or live == piece.id:
            return piece.body
        return identity.put(piece.body, place, live)

    def _subscribed(self, piece: Piece, run: Run) -> bytes:
        """What a listener is told names its live request."""
        if piece.what == ANSWER:
            self._is_answered(run)
            body = identity.put(piece.body, identity.ID, run.id)
            return identity.put(body, identity.SUBSCRIPTION_RESULT, run.id)
        if piece.method == "notifications/cancelled":
            return identity.put(piece.body, identity.CANCELLED, run.id)
        return identity.put(piece.body, identity.SUBSCRIPTION, run.id)

    def _ask(self, piece: Piece, run: Run) -> str:
        """A question goes out under its recorded id, or a fresh one while that is taken."""
        recorded = piece.id or "null"
        id = recorded
        while id in self._asked:
            self._fresh += 1
            id = f'"replay-{self._fresh}"'
        self._asked[id] = Asked(piece, run)
        self._renamed[recorded] = id
        return id


def _status(body: bytes, what: str, *, own: bool) -> int:
    """The HTTP status of an answer that was not recorded over HTTP: in the stateless era some errors
    have one of their own ("Streamable HTTP", 2026-07-28)."""
    if own or what != ANSWER or b'"error"' not in body:
        return 200
    messages = jsonrpc.decode(body).messages
    error = messages[0].value("error") if messages else None
    code = error.get("code") if isinstance(error, dict) else None
    return _STATUSES.get(code, 200) if isinstance(code, int) else 200


def _may_be_late(piece: Piece) -> bool:
    """Whether it says nothing of its request: it belongs to that only because no other was open."""
    return piece.what == TOLD and not piece.cues and piece.method not in _OF_A_REQUEST


def _is_progress(piece: Piece, cue: Cue) -> bool:
    return piece.method == "notifications/progress" and cue.token is not None and piece.id == cue.token
