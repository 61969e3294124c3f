"""The mock server: what a recorded server would send, without any I/O.

``feed`` takes one body from the live client and returns what to send. Each live
request is matched to a recorded one, which starts a *run*: the recorded pieces
that hang on it go out in their order, with the live ids and tokens put in. A
run stops at a piece that waits for the client (an answer to a question, a
cancel) and goes on when that has come.

What the recording has no answer for is answered with error ``MISS``, whose data
says what is nearest and where it differs. Nothing is guessed, notifications are
never answered, and nothing here opens a connection or starts a process.

Part of the light path: standard library and ``core`` only.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from workbench.core import jsonrpc
from workbench.core.frame import Ending, Kind
from workbench.core.jsonrpc import Message, dumps
from workbench.core.methods import name_of
from workbench.core.peek import peek
from workbench.replay.correlate import replaced, spellings, traced
from workbench.replay.diff import differences
from workbench.replay.matching import Ignore, Matcher, Miss
from workbench.replay.report import Report
from workbench.replay.script import ANSWER, END, QUESTION, STDERR, Cue, Piece, Script, Shared

#: The error code of a miss. Not -32601: clients take that for "not supported" and change what they do.
MISS = -32010

METHOD_NOT_FOUND = -32601


class Send(NamedTuple):
    """Write a body to the client. ``seq`` is the recorded frame it is made from, 0 if it is ours."""

    body: bytes
    ending: Ending = Ending.LF
    seq: int = 0


class Stderr(NamedTuple):
    """Write a line to stderr."""

    body: bytes
    ending: Ending = Ending.LF
    seq: int = 0


class Exit(NamedTuple):
    """End with this status, as the recorded server did."""

    code: int


Action = Send | Stderr | Exit


class Options(NamedTuple):
    """How to replay; the names are those of the command line."""

    match: str = "exact"
    after: str = ""
    ignores: tuple[Ignore, ...] = ()
    on_answer: str = "warn"
    strict: bool = False


class _Run:
    """One playing of a cue's pieces for a live message."""

    __slots__ = ("cue", "id", "pieces", "token")

    def __init__(self, cue: Cue, id: str, token: str | None) -> None:
        self.cue = cue
        self.id = id
        self.token = token
        self.pieces = deque(cue.pieces)


class _Question(NamedTuple):
    """A question of the server's that the live client has not answered yet."""

    seq: int
    run: _Run
    method: str


class MockServer:
    """Replays the server half of a script to one live client.

    ``feed`` once for every body of the client; ``closed`` when it has gone. ``report`` holds
    what happened.
    """

    def __init__(self, script: Script, report: Report, options: Options | None = None) -> None:
        self.report = report
        self._script = script
        self._options = options or Options()
        self._matcher = Matcher(
            script.requests,
            mode=self._options.match,
            after=self._options.after,
            ignores=self._options.ignores,
        )
        self._cues = {cue.seq: cue for cue in script.requests}
        self._notifications: dict[str, deque[Cue]] = {}
        for cue in script.notifications:
            self._notifications.setdefault(cue.method, deque()).append(cue)
        self._runs: list[_Run] = []
        self._bound: dict[int, _Run] = {}
        self._came: set[int] = set()
        self._questions: dict[str, _Question] = {}
        self._asked: dict[str, str] = {}
        self._shared_sent: set[int] = set()
        self._responded: set[int] = set()
        self._next_id = 1
        self._over = False
        #: Recorded strings and the live ones that stand for them, both as JSON text.
        self._followed: list[tuple[bytes, bytes]] = []
        for text in script.notes:
            report.note(text)

    def start(self) -> list[Action]:
        """What the server sends before the client has said anything."""
        return self._begin(_Run(self._script.start, "", None))

    def feed(self, body: bytes) -> list[Action]:
        """Take one body of the client. Never raises, whatever it is."""
        actions: list[Action] = []
        for message in jsonrpc.decode(body).messages:
            if self._over:
                break
            if message.kind is Kind.REQUEST:
                actions += self._on_request(message)
            elif message.kind is Kind.NOTIFICATION:
                actions += self._on_notification(message)
            elif message.kind in (Kind.RESULT, Kind.ERROR):
                actions += self._on_answer(message)
        return actions

    def closed(self) -> int:
        """The client has gone; returns the exit status the recorded server ended with."""
        for run in self._runs:
            if run.pieces and run.cue.request:
                waiting = [piece for piece in run.pieces if piece.what == ANSWER]
                if waiting:
                    self.report.note(
                        f"#{run.cue.seq} {run.cue.method} was not answered: the client left first."
                    )
        for cue in self._script.requests:
            for shared in cue.shared:
                if shared.piece.seq not in self._shared_sent and cue.seq in self._bound:
                    self.report.note(f"#{shared.piece.seq} was not sent: one of its requests never came.")
        self.report.ended = self.report.ended or "the client closed the connection"
        return self._script.code

    def unused(self) -> list[Cue]:
        """Recorded requests that were not asked for; what a client may leave out is not counted."""
        return [cue for cue in self._matcher.unused() if cue.method not in ("ping", "server/discover")]

    def report_value(self) -> dict[str, Any]:
        return self.report.value(self.unused(), strict=self._options.strict)

    def agrees(self) -> bool:
        return self.report.agrees(self.unused(), strict=self._options.strict)

    # The live client's messages

    def _on_request(self, message: Message) -> list[Action]:
        method, id = message.method or "", message.id or "null"
        params = message.value("params")
        self.report.requests += 1
        found = self._matcher.match(method, params)
        if isinstance(found, Miss):
            return self._missed(method, id, params, found)
        if method == "initialize":
            self._compare_versions(params)
        self.report.answered += 1
        token = peek(message, "params", "_meta", "progressToken")
        run = _Run(found, id, None if token is None else jsonrpc.id_text(token))
        self._bound[found.seq] = run
        return self._begin(run)

    def _missed(self, method: str, id: str, params: Any, miss: Miss) -> list[Action]:
        if method == "ping":
            self.report.answered += 1
            return [Send(jsonrpc.result(id, "{}"))]
        if method == "server/discover":
            # A probe for the other era: a server of the recorded one does not know the method, and
            # the client falls back to the handshake.
            self.report.answered += 1
            self.report.note("A probe for the stateless era was answered as a server of this era would.")
            return [Send(jsonrpc.error(id, METHOD_NOT_FOUND, "Method not found"))]
        told = self.report.miss(method, name_of(method, params), miss)
        return [Send(jsonrpc.error(id, MISS, self.report.sentence(told), dumps(told)))]

    def _on_notification(self, message: Message) -> list[Action]:
        method = message.method or ""
        if method == "notifications/cancelled":
            return self._on_cancelled(message)
        cues = self._notifications.get(method)
        if not cues:
            return []
        cue = cues.popleft()
        return self._begin(_Run(cue, "", None))

    def _on_cancelled(self, message: Message) -> list[Action]:
        identity = peek(message, "params", "requestId")
        if identity is None:
            return []
        live = jsonrpc.id_text(identity)
        for run in reversed(self._runs):
            if run.cue.request and run.id == live:
                if any(-run.cue.seq in piece.waits for piece in run.pieces) or not run.cue.answered:
                    self._came.add(-run.cue.seq)
                    return self._go_on()
                # Cancelled where the recorded client was not: nothing more is sent for it.
                run.pieces.clear()
                return []
        return []

    def _on_answer(self, message: Message) -> list[Action]:
        question = self._questions.pop(message.id or "", None)
        if question is None:
            return []
        recorded = self._script.answers.get(question.seq)
        if recorded is not None:
            self._follow(question, recorded, message)
            if self._options.on_answer != "ignore":
                self._compare_answers(question, recorded, message)
        self._came.add(question.seq)
        return self._go_on()

    def _follow(self, question: _Question, recorded: Message, live: Message) -> None:
        """Note the strings of an answer that are to be replaced in what follows from it."""
        for was, is_now in traced(recorded.value("result"), live.value("result")):
            known = spellings(was)
            if not self._script.said_before(question.seq, known):
                self._followed += [(form, spellings(is_now)[0]) for form in known]

    def _compare_answers(self, question: _Question, recorded: Message, live: Message) -> None:
        how = _answer_differs(recorded, live)
        if how is None:
            return
        self.report.note(
            f"The answer to #{question.seq} {question.method} {how}; "
            "what follows was recorded after another answer."
        )
        if self._options.on_answer == "fail":
            self.report.differing += 1

    def _compare_versions(self, params: Any) -> None:
        offered = params.get("protocolVersion") if isinstance(params, dict) else None
        recorded = self._script.revision
        if recorded is not None and isinstance(offered, str) and offered != recorded:
            self.report.note(
                f"The client offers {offered}, the recording answers {recorded}; "
                "a client that cannot speak it hangs up."
            )

    # Sending what was recorded

    def _begin(self, run: _Run) -> list[Action]:
        self._runs.append(run)
        # A cue that is played again waits again.
        self._came.difference_update(wait for piece in run.cue.pieces for wait in piece.waits)
        return self._go_on()

    def _go_on(self) -> list[Action]:
        """Send everything that has nothing left to wait for."""
        actions: list[Action] = []
        moved = True
        while moved and not self._over:
            moved = False
            for run in list(self._runs):
                moved = self._advance(run, actions) or moved
                if self._over:
                    break
        self._runs = [run for run in self._runs if run.pieces or (run.cue.request and not self._is_done(run))]
        return actions

    def _is_done(self, run: _Run) -> bool:
        return run.cue.seq in self._responded or not run.cue.request

    def _advance(self, run: _Run, actions: list[Action]) -> bool:
        moved = False
        for shared in run.cue.shared:
            moved = self._share(shared, run, actions) or moved
        while run.pieces and run.pieces[0].waits <= self._came and not self._over:
            self._perform(run.pieces.popleft(), run, actions)
            moved = True
        return moved

    def _share(self, shared: Shared, run: _Run, actions: list[Action]) -> bool:
        if shared.piece.seq in self._shared_sent or not all(seq in self._bound for seq in shared.cues):
            return False
        self._shared_sent.add(shared.piece.seq)
        self._perform(shared.piece, run, actions)
        return True

    def _perform(self, piece: Piece, run: _Run, actions: list[Action]) -> None:
        if piece.what == STDERR:
            actions.append(Stderr(piece.cut.filled({}), piece.ending, piece.seq))
        elif piece.what == END:
            self._over = True
            self.report.ended = f"exited with status {piece.code}, as recorded"
            actions.append(Exit(piece.code))
        elif piece.what == QUESTION:
            actions.append(self._ask(piece, run))
        elif piece.method == "notifications/progress" and run.token is None and run.cue.token is not None:
            self.report.note(f"#{piece.seq} was not sent: the live {run.cue.method} asks for no progress.")
        else:
            if piece.what == ANSWER:
                self._responded.add(run.cue.seq)
            body = replaced(piece.cut.filled(self._live(piece, run)), self._followed)
            actions.append(Send(body, piece.ending, piece.seq))

    def _live(self, piece: Piece, run: _Run) -> dict[str, str]:
        live: dict[str, str] = {}
        if piece.what == ANSWER:
            live["id"] = run.id
        if run.token is not None:
            live["token"] = run.token
        if "request" in piece.cut.places:
            recorded = piece.cut.values[0]
            live["request"] = self._asked.get(recorded, recorded)
        return live

    def _ask(self, piece: Piece, run: _Run) -> Send:
        """A question goes out under its recorded id, or a fresh one where that is taken."""
        recorded = piece.cut.values[0] if piece.cut.values else "null"
        id = recorded
        while id in self._questions or (id != recorded and id in self._asked.values()):
            id = f'"replay-{self._next_id}"'
            self._next_id += 1
        self._questions[id] = _Question(piece.seq, run, piece.method)
        self._asked[recorded] = id
        return Send(piece.cut.filled({"id": id}), piece.ending, piece.seq)


def _answer_differs(recorded: Message, live: Message) -> str | None:
    """How a live answer of the client differs from the recorded one, ``None`` if it does not."""
    was, is_now = ("result" if message.kind is Kind.RESULT else "error" for message in (recorded, live))
    if was != is_now:
        return f"is now of kind {is_now}, and was {was}"
    found = differences(recorded.value(was), live.value(is_now))
    if not found:
        return None
    return f"differs at {', '.join(difference.pointer or '/' for difference in found[:3])}"
