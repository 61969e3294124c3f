"""The mock client: what a recorded client would send, and how the answers compare, without any I/O.

``next`` says what is to be done first, ``feed`` takes each body of a live server, and
every call returns what is to be done then. Turns of the script go out in recorded
order, each as soon as what it waits for has come; the server's questions are
answered while others wait, with the answer recorded for the same question. A
question that was not recorded is answered like nobody were there, and told.

Time is passed in, in seconds of any clock: ``deadline`` says when ``tick`` is due. It is
needed for a server that does not answer, for tasks that are polled, and where a
server asks or tells less than it did.

Nothing here raises for what a server does.
"""

from __future__ import annotations

from typing import Any

from workbench.core import jsonrpc
from workbench.core.frame import ANSWERS, Kind, Span
from workbench.core.jsonrpc import Decoded, Message
from workbench.core.mrtr import INPUT_REQUIRED, MAX_ROUNDS, result_type
from workbench.core.peek import peek
from workbench.core.policy import Policy
from workbench.core.redact import Redactor
from workbench.replay import identity
from workbench.replay.actions import ClientAction, Connect, Leave, Write
from workbench.replay.correlate import Correlations
from workbench.replay.hoping import HOPE, OWNED, Hoping
from workbench.replay.judging import Judge
from workbench.replay.lines import Answering, Line, Run
from workbench.replay.manner import Manner
from workbench.replay.pages import ends_before, further_page, settle
from workbench.replay.questions import Questions
from workbench.replay.reading import read
from workbench.replay.rounds import Round, further, next_round
from workbench.replay.turns import (
    CANCEL,
    CANCELLED,
    CLOSE,
    LEFT,
    OPEN,
    TELLING,
    ClientScript,
    Request,
    Telling,
    Turn,
)
from workbench.replay.veil import Veil
from workbench.replay.verification import MISSING, Compared, Questioned, Verification

#: How long between two polls of a task where the server does not say, and at most (seconds).
POLL, LONGEST_POLL = 0.5, 10.0

#: Statuses after which a task stays as it is ("Tasks", 2025-11-25).
_FINAL = frozenset(("completed", "failed", "cancelled"))


class MockClient:
    """Replays the client half of a script to live servers, one for each recorded connection."""

    def __init__(
        self,
        script: ClientScript,
        manner: Manner | None = None,
        *,
        redactor: Redactor | None = None,
        recording: str = "",
    ) -> None:
        self._script = script
        self._manner = manner = manner or Manner()
        self._told = Verification(recording, script)
        self.correlations = Correlations(script, unused=False, rules=manner.correlations)
        self.veil = Veil(redactor or Redactor(), manner.secrets)
        self._judge = Judge(script, manner.levels, self.correlations, self.veil, manner.slower)
        self._lines = {connection: Line(connection) for connection in script.connections}
        self._runs = {key: Run(request) for key, request in script.requests.items()}
        self._turns = script.turns
        self._next = 0
        self._questions = Questions(
            script,
            self._runs,
            self._judge,
            self.correlations,
            self.veil,
            manner.policy or Policy(),
            self._told,
        )
        self._hoping = Hoping(script, self._runs, self._lines, self._questions.asked)
        self._last = 0.0
        #: When the turn that is next had nothing left to wait for but its pause.
        self._ready: float | None = None
        numbers = [int(each.id) for each in script.requests.values() if each.id.isdecimal()]
        self._fresh = max((number for number in numbers if number < 1 << 50), default=0) + 1000

    @property
    def over(self) -> bool:
        """Whether everything has been sent, and every answer has come that was waited for."""
        return self._next == len(self._turns)

    @property
    def unreached(self) -> str:
        """Why no server could be talked to at all, empty if one could."""
        answered = any(run.live is not None for run in self._runs.values())
        whys = [line.why for line in self._lines.values() if line.why]
        return "" if answered or not whys else whys[0]

    @property
    def connections(self) -> list[int]:
        """The recorded connections, in the order they are opened in."""
        return list(self._lines)

    # What comes

    def next(self, now: float = 0.0) -> list[ClientAction]:
        """What is to be done at the beginning."""
        return self._go_on(now)

    def opened(self, connection: int, now: float = 0.0) -> list[ClientAction]:
        """The server of a connection has been reached."""
        self._lines[connection].opened = True
        return self._go_on(now)

    def feed(
        self,
        body: bytes,
        now: float = 0.0,
        *,
        connection: int | None = None,
        decoded: Decoded | None = None,
        seq: int = 0,
        answers: str | None = None,
    ) -> list[ClientAction]:
        """Take a body of a server; without a connection it is the only one. ``seq`` is its live frame, and
        ``answers`` the id (JSON text) of the request on whose own stream it came. Never raises."""
        line = self._lines[connection if connection is not None else next(iter(self._lines))]
        if line.over:
            return []
        self._last = now
        decoded = decoded or read(body)
        actions: list[ClientAction] = []
        if not decoded.messages and body.strip():
            self._told.note("The server sent a line that is no message; it was passed over.")
        for message in decoded.messages:
            if message.kind is Kind.REQUEST:
                actions += self._questions.take(line, message, seq)
            elif message.kind in ANSWERS:
                single = body if len(decoded.messages) == 1 else b""
                actions += self._on_answer(line, message, single, seq, answers, now)
            elif message.kind is Kind.NOTIFICATION:
                self._on_notification(line, message, now)
        return actions + self._go_on(now)

    def unanswered(self, connection: int, id: str, why: str, now: float = 0.0) -> list[ClientAction]:
        """The request with this id (JSON text) can get no answer any more; ``why`` is a sentence."""
        line = self._lines[connection]
        run = line.answered(id)
        if run is not None:
            self._end(run, now, why)
            self._give_up(line, run, now)
        return self._go_on(now)

    def ended(
        self, connection: int, why: str, now: float = 0.0, code: int | None = None
    ) -> list[ClientAction]:
        """The server of a connection has gone, or was not to be reached; ``why`` is a sentence and ``code``
        its exit status (128 + n for a signal)."""
        line = self._lines[connection]
        line.gone = True
        if not line.over:
            line.why, line.code, line.over = why, code, True
            for run in line.waiting():
                run.gone = True
                self._end(run, now, why)
            self._questions.left(connection)
        return self._go_on(now)

    # Time

    def deadline(self) -> float | None:
        """When ``tick`` is due, ``None`` if nothing waits for a time."""
        times = [self._expiry(run) if run.poll_at is None else run.poll_at for run in self._expected()]
        held = self._held()
        if held is not None:
            times.append(self._last + held)
        if self._ready is not None and not self.over:
            times.append(self._ready + self._pause(self._turns[self._next]))
        return min(times, default=None)

    def tick(self, now: float) -> list[ClientAction]:
        """Time has passed."""
        actions: list[ClientAction] = []
        for run in self._expected():
            if run.poll_at is not None and run.poll_at <= now:
                actions += self._again(self._lines[run.request.connection], run, run.sent)
            elif run.poll_at is None and self._expiry(run) <= now:
                actions += self._expire(run, now)
        held = self._held()
        if held is not None and self._last + held <= now:
            actions += self._release()
            self._last = now
        return actions + self._go_on(now)

    def _expected(self) -> list[Run]:
        """The requests that wait for an answer, or for their next poll."""
        waiting = [run for line in self._lines.values() if not line.over for run in line.waiting()]
        return [run for run in waiting if run.request.ends != LEFT]

    def _expiry(self, run: Run) -> float:
        if run.request.method in ("initialize", "server/discover"):
            return run.began + self._manner.start
        return min(run.heard + self._manner.timeout, run.began + self._manner.maximum)

    def _expire(self, run: Run, now: float) -> list[ClientAction]:
        waited = now - run.began
        self._end(run, now, f"No answer came within {waited:.0f} s.")
        line = self._lines[run.request.connection]
        line.answered(run.id)
        self._give_up(line, run, now)
        if run.request.ends == CANCELLED or run.request.method == "initialize":
            return []
        body = jsonrpc.notification("notifications/cancelled", f'{{"requestId":{run.id}}}')
        return [Write(line.connection, body, cancels=run.id)]

    def _held(self) -> float | None:
        """How long it must be silent (seconds) before something is let go that waits in hope."""
        waits = [self._waits(self._turns[self._next])] if not self.over else []
        waits += [self._answer_waits(each) for each in self._questions.answering]
        if HOPE in waits:
            return self._manner.silence
        return self._manner.timeout if OWNED in waits else None

    def _release(self) -> list[ClientAction]:
        """The server is silent: wait no longer for what it may never ask or tell."""
        actions: list[ClientAction] = []
        for each in list(self._questions.answering):
            if self._answer_waits(each) is None:
                continue
            if each.query.answer is None or not each.query.answer[0]:
                actions.append(self._questions.decline(each))
            self._hoping.release(each.query.key)
        if not self.over and self._waits(self._turns[self._next]) in (HOPE, OWNED):
            turn = self._turns[self._next]
            self._hoping.release(turn)
            if turn.what != CLOSE:
                self._told.note(f"#{turn.seq} was sent though not all had come that came before it.")
        return actions

    # What goes

    def _go_on(self, now: float) -> list[ClientAction]:
        """Do everything that has nothing left to wait for."""
        actions: list[ClientAction] = []
        moved = True
        while moved:
            moved = False
            for each in list(self._questions.answering):
                if self._answer_waits(each) is None:
                    actions += self._questions.answer(each)
                    moved = True
            while not self.over and self._waits(self._turns[self._next]) is None:
                turn = self._turns[self._next]
                if self._pauses(turn, now):
                    break
                self._ready = None
                self._next += 1
                actions += self._take_turn(turn, now)
                moved = True
                self._last = now
        return actions

    def _pauses(self, turn: Turn, now: float) -> bool:
        """Whether the time has not passed that the recorded client let pass before a turn."""
        if self._ready is None:
            self._ready = now
        return now < self._ready + self._pause(turn)

    def _pause(self, turn: Turn) -> float:
        return 0.0 if self._lines[turn.connection].over else turn.pause_ns / 1e9 * self._manner.pace

    def _waits(self, turn: Turn) -> str | None:
        return self._hoping.of_turn(turn, self._questions.answering)

    def _answer_waits(self, each: Answering) -> str | None:
        return self._hoping.of_answer(each, self._next, over=self.over)

    def _take_turn(self, turn: Turn, now: float) -> list[ClientAction]:
        line = self._lines[turn.connection]
        if turn.what == CLOSE:
            line.over = True
            for run in line.waiting():
                run.done = True
            return [] if line.gone else [Leave(line.connection)]
        if line.over:
            self._skip(turn, now, line.why)
            return []
        if turn.what == OPEN:
            return [Connect(line.connection)]
        if turn.what == CANCEL and turn.cancels is not None:
            return self._cancel(turn, self._runs[turn.cancels], now)
        return self._send(line, turn, now)

    def _cancel(self, turn: Turn, run: Run, now: float) -> list[ClientAction]:
        if run.live is not None or run.began < 0:
            return []
        self._lines[turn.connection].answered(run.id)
        self._end(run, now, "")
        run.cancelled = True
        # A poll or a round that was not recorded has an id of its own.
        body = identity.put(turn.body, identity.CANCELLED, run.id)
        return [*self._written(turn, body, cancels=run.id)]

    def _send(self, line: Line, turn: Turn, now: float) -> list[ClientAction]:
        body = turn.body
        requests = [self._runs[key] for key in turn.requests]
        if len(requests) == 1 and requests[0].request.round_of is not None:
            adapted = self._adapted(line, body, requests[0].request)
            if adapted is None:
                self._skip(turn, now, "It was not sent: the call did not ask for another round.")
                return []
            body = adapted
        if len(requests) == 1 and requests[0].request.page_of is not None:
            run = requests[0]
            run.unneeded = ends_before(self._runs[requests[0].request.page_of])
            if run.unneeded:
                self._skip(turn, now, "The list had ended before this page.")
                return []
        for key, place in reversed(turn.answers):
            body = self._questions.in_batch(body, place, key)
        written = self._written(turn, body)
        if not written:
            self._skip(turn, now, "It was not sent: a secret in it is not known.")
        for run in requests if written else ():
            run.begin(run.request.id, now, written[0].body)
            line.expect(run)
        return [*written]

    def _written(self, turn: Turn, body: bytes, cancels: str | None = None) -> list[Write]:
        filled = self.veil.filled(self.correlations.applied(body))
        return [] if filled is None else [Write(turn.connection, filled, turn.seq, cancels)]

    def _skip(self, turn: Turn, now: float, why: str) -> None:
        for key in turn.requests:
            self._end(self._runs[key], now, why)

    def _end(self, run: Run, now: float, why: str) -> None:
        run.done, run.ended, run.poll_at = True, now, None
        run.why = run.why or why

    # Answers

    def _on_answer(
        self, line: Line, message: Message, body: bytes, seq: int, answers: str | None, now: float
    ) -> list[ClientAction]:
        named = message.id
        if named in (None, "null") and answers is not None:
            named = answers
        run = line.answered(named or "null")
        if run is None:
            if not line.knew(named or "null"):
                self._told.note("The server answered a request that was not open; it was passed over.")
            return []
        run.live, run.body, run.seq = message, body, seq
        again = self._goes_on(line, run, message, now)
        if again is not None:
            return again
        self._end(run, now, "")
        if run.pages:
            # What is compared first is the page that was recorded; the rest of the list is added to it.
            run.pages.append((message, body))
            message, run.body = run.pages.pop(0)
            run.live = message
        self._learn(line, run, message, now)
        return []

    def _goes_on(self, line: Line, run: Run, message: Message, now: float) -> list[ClientAction] | None:
        """What the call goes on with, ``None`` if this is its answer."""
        recorded = run.request.answer
        if recorded is None or message.kind is not Kind.RESULT:
            return None
        if run.request.method == "tasks/get" and run.request.polls is None:
            status, was = (peek(each, "result", "status") for each in (message, recorded))
            if isinstance(was, str) and isinstance(status, str) and status != was and status not in _FINAL:
                if now - run.began < self._manner.maximum:
                    wait = peek(message, "result", "pollInterval")
                    run.poll_at = now + _poll_seconds(wait)
                    line.pause(run)
                    return []
                return None
        if result_type(message) == INPUT_REQUIRED and result_type(recorded) != INPUT_REQUIRED:
            return self._further_round(line, run, message)
        more = further_page(run, message)
        if more is not None:
            run.pages.append((message, run.body))
            return self._again(line, run, more)
        return None

    def _further_round(self, line: Line, run: Run, message: Message) -> list[ClientAction] | None:
        """Answer what a result asks that asked for nothing when it was recorded."""
        if run.rounds >= MAX_ROUNDS:
            return None
        run.rounds += 1
        found = next_round(
            run.sent, message, run.id, lambda asked: self._questions.decide(line, asked, run.seq)
        )
        return None if found is None else self._again(line, run, found)

    def _again(self, line: Line, run: Run, body: bytes) -> list[ClientAction]:
        self._fresh += 1
        run.id, run.live, run.poll_at = str(self._fresh), None, None
        run.sent = identity.put(body, identity.ID, run.id)
        line.expect(run)
        return [Write(line.connection, run.sent, 0)]

    def _adapted(self, line: Line, body: bytes, request: Request) -> bytes | None:
        """The next round of a call as the live server asked for it, ``None`` if it did not."""
        before = self._runs[request.round_of or 0]
        recorded = before.request.answer
        if before.live is None or recorded is None or result_type(before.live) != INPUT_REQUIRED:
            return None

        def missing(method: str) -> None:
            self._told.question(Questioned(MISSING, line.connection, before.request.answer_seq or 0, method))

        asked = Round(recorded, before.live, before.id)
        return further(
            body,
            asked,
            self._judge.asks_alike,
            lambda each: self._questions.decide(line, each, before.seq),
            missing,
        )

    def _learn(self, line: Line, run: Run, message: Message, now: float) -> None:
        recorded = run.request.answer
        if recorded is None or recorded.kind is not message.kind:
            self._give_up(line, run, now)
            return
        if run.request.method == "initialize" and message.kind is Kind.RESULT:
            version = peek(message, "result", "protocolVersion")
            line.revision = version if isinstance(version, str) else None
        what = "error" if message.kind is Kind.ERROR else "result"
        was, is_now = recorded.value(what), message.value(what)
        if run.request.method == "tools/list":
            line.learn_tools(is_now)
        self.correlations.learn(run.request.answer_seq or run.request.seq, was, is_now)
        run.differences = self._judge.answer(run.request, message, line.tools)

    def _give_up(self, line: Line, run: Run, now: float) -> None:
        """Nothing can be asked of a server that refuses the handshake, or does not answer it."""
        recorded = run.request.answer
        if run.request.method != "initialize" or recorded is None or recorded.kind is not Kind.RESULT:
            return
        what = "did not answer" if run.live is None else "refused"
        line.why, line.over = f"It was not sent: the server {what} the handshake.", True
        for run in line.waiting():
            self._end(run, now, line.why)

    # The rest

    def _on_notification(self, line: Line, message: Message, now: float) -> None:
        method = message.method or ""
        telling: Telling = (line.connection, method, 0)
        if method == "notifications/progress":
            token = peek(message, "params", "progressToken")
            run = None if token is None else line.by_token(jsonrpc.id_text(token))
            if run is None:
                return
            run.heard = now
            telling = (line.connection, method, run.request.key)
        elif method == "notifications/cancelled":
            named = peek(message, "params", "requestId")
            self._questions.taken_back(line, None if named is None else jsonrpc.id_text(named))
            return
        elif method not in TELLING:
            return
        self._hoping.told(telling)

    # The outcome

    def revision(self, connection: int) -> str | None:
        """What the handshake of a connection agreed on, as far as it has come."""
        return self._lines[connection].revision

    def stored(self, each: Compared, taken: int) -> tuple[bytes, tuple[Span, ...], int]:
        """A live answer as the recording would hold it: under the recorded id, with the values it knows
        by their recorded names and without secrets; where placeholders stand in it, and its size on
        the wire. ``taken`` is the highest number of a placeholder in the recording."""
        # Between tokens of JSON a line end is as good as a blank, and a recording over lines has none.
        live = each.body.strip().replace(b"\r", b" ").replace(b"\n", b" ")
        body = identity.put(self.correlations.recorded(live), identity.ID, each.request.id)
        return *self.veil.stored(body, taken), len(body)

    def schema(self, connection: int, tool: str) -> Any:
        """The ``inputSchema`` of a tool as the live server listed it, else as it was recorded."""
        known = self._lines[connection].tools.get(tool, self._script.tools.get(tool))
        return known.get("inputSchema") if isinstance(known, dict) else None

    def verification(self) -> Verification:
        """What came of it, once it is over (or for as far as it has come)."""
        told = self._told
        self._settle_pages()
        told.compared = [
            self._judge.verdict(run, self._lines[run.request.connection]) for run in self._runs.values()
        ]
        told.followed = self.correlations.followed
        asked = {(each.verdict, each.seq) for each in told.questions}
        for query in self._script.queries.values():
            if query.key not in self._questions.asked and (MISSING, query.seq) not in asked:
                told.question(Questioned(MISSING, query.connection, query.seq, query.method))
        return told

    def _settle_pages(self) -> None:
        """Compare the lists that came on several pages."""
        after = {run.request.page_of: run for run in self._runs.values()}
        for first in self._runs.values():
            if first.request.page_of is not None or first.settled:
                continue
            first.settled = True
            pages = [first]
            while (following := after.get(pages[-1].request.key)) is not None:
                pages.append(following)
            if len(pages) > 1 or first.pages:
                note = settle(pages, self._lines[first.request.connection], self._judge)
                if note:
                    self._told.note(note)


def _poll_seconds(wait: Any) -> float:
    """The seconds that a server wants between two polls (milliseconds in the protocol)."""
    if isinstance(wait, (int, float)) and not isinstance(wait, bool) and wait > 0:
        return min(float(wait) / 1000, LONGEST_POLL)
    return POLL
