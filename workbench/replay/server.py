"""The mock server: what a recorded server would send, without any I/O.

``feed`` takes one body from the live client and returns what to do. Each live
request is matched to a recorded one, and what hangs on that is played.

What the recording has no answer for is answered with error ``MISS``, whose data
says what is nearest and where it differs. Nothing is guessed, notifications are
never answered, and nothing here opens a connection or starts a process.

Part of the light path: standard library and ``core`` only.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Set
from itertools import islice
from typing import Any, NamedTuple

from workbench.core import jsonrpc
from workbench.core.frame import ANSWERS, Kind
from workbench.core.jsonrpc import Message, dumps
from workbench.core.methods import INPUT_METHODS, REVISIONS, name_of
from workbench.core.peek import peek
from workbench.errors import UsageError
from workbench.replay.actions import Action, Eof, Exit, Send, Stderr
from workbench.replay.correlate import Correlations
from workbench.replay.cues import Cue, Plain, Script
from workbench.replay.diff import differences
from workbench.replay.discovered import discovered
from workbench.replay.matching import Ignore, Matcher, Miss, Prepared, steady
from workbench.replay.playing import MISS, Clock, Player
from workbench.replay.reading import params_of, read
from workbench.replay.report import MAX_LISTED, Report, Unused, sentence
from workbench.replay.runs import Asked, Run

__all__ = ["MISS", "Action", "Eof", "Exit", "MockServer", "Options", "Send", "Stderr"]

METHOD_NOT_FOUND = -32601

#: The stateless era's error for a revision a server does not speak (2026-07-28, "Versioning").
UNSUPPORTED_REVISION = -32022


class Options(NamedTuple):
    """How to replay; the names are those of the command line."""

    match: str = "exact"
    after: str = ""
    ignores: tuple[Ignore, ...] = ()
    on_answer: str = "warn"
    order: str = "causal"
    strict: bool = False
    timing: float = 0.0

    def keeping(self, ignores: tuple[Ignore, ...]) -> Options:
        """The same with the ignore rules kept with a recording."""
        return self._replace(ignores=(*ignores, *self.ignores))


def parse_timing(text: str) -> float:
    """How much of the recorded waits is kept: ``none``, ``recorded`` or a factor such as ``0.1x``.

    Raises ``UsageError``.
    """
    words = {"none": 0.0, "recorded": 1.0}
    if text in words:
        return words[text]
    if re.fullmatch(r"\d{1,6}(\.\d{1,6})?x", text):
        return float(text[:-1])
    raise UsageError(f"--timing is none, recorded or a factor such as 0.1x, not {text}")


class MockServer:
    """Replays the server half of a script to one live client.

    ``start`` first, then ``feed`` for every body of the client, and ``closed`` when it has gone. With
    ``streams`` each request has a stream of its own, as over HTTP: ``feed`` is told its number, and
    ``left`` when the client has closed it.
    ``clock`` is needed where recorded waits are kept (``Options.timing``): see ``due``.
    While ``stuck``, something is held back for a request that may never come: call ``release``
    when the client has been silent for a while. ``report`` holds what happened.
    """

    def __init__(
        self,
        script: Script,
        report: Report,
        options: Options | None = None,
        *,
        streams: bool = False,
        clock: Clock = lambda: 0.0,
        prepared: Prepared | None = None,
    ) -> None:
        self.report = report
        self._script = script
        self._options = options = options or Options()
        self._matcher = Matcher(
            mode=options.match, after=options.after, ignores=options.ignores, prepared=prepared
        )
        self._correlations = Correlations(script)
        self._player = Player(
            report,
            self._correlations,
            in_order=options.order == "recorded",
            streams=streams,
            own=not (streams and script.modern),
            pace=options.timing,
            clock=clock,
        )
        self._stream = 0
        self._notifications: dict[str, deque[Cue]] = {}
        #: How many of the script's requests, notifications and notes have been taken in.
        self._known = self._heard = self._noted = 0
        self._learn()

    def start(self) -> list[Action]:
        """What the server sends before the client has said anything."""
        return self._player.begin(Run(self._script.start))

    def feed(self, body: bytes, stream: int = 0) -> list[Action]:
        """Take one body of the client. Never raises, whatever it is."""
        self._stream = stream
        as_recorded = self._verbatim(body)
        if as_recorded is not None:
            return as_recorded
        decoded = read(body)
        if not decoded.messages and body.strip():
            self.report.note("The client sent a line that is no message; it was passed over.")
        actions: list[Action] = []
        for message in decoded.messages:
            if self._player.over:
                break
            if message.kind is Kind.REQUEST:
                actions += self._on_request(message)
            elif message.kind is Kind.NOTIFICATION:
                actions += self._on_notification(message)
            elif message.kind in ANSWERS:
                actions += self._on_answer(message)
        return self._joined(actions)

    def left(self, stream: int) -> list[Action]:
        """The client has closed a stream without waiting for its answer. In the stateless era that
        gives the request up, in the handshake era it says nothing ("Cancellation", 2026-07-28)."""
        return self._joined(self._player.left(stream)) if self._script.modern else []

    @property
    def stuck(self) -> bool:
        return self._player.stuck

    @property
    def due(self) -> float | None:
        """How long until ``tick`` is to be called (seconds), ``None`` if nothing waits for its time."""
        return self._player.due

    def tick(self) -> list[Action]:
        """Send what has become due."""
        return self._joined(self._player.go_on())

    @property
    def over(self) -> bool:
        """Whether the recorded server has ended by itself."""
        return self._player.over

    def release(self) -> list[Action]:
        """Stop waiting for what may never come."""
        return self._joined(self._player.release())

    def closed(self) -> None:
        """The client has gone."""
        self._player.close()
        self.report.ended = self.report.ended or "the client closed the connection"

    def status(self) -> int:
        """The exit status the recorded server ended with after its client had gone."""
        return self._script.status()

    def read_all(self) -> None:
        """Read what has been left of the script, which others may play too."""
        self._script.complete()
        self._learn()

    def unused(self) -> Unused:
        """Recorded requests that were not asked for; what a client may leave out is not counted."""
        self.read_all()
        return Unused(self._matcher.waiting, list(islice(self._matcher.unused(), MAX_LISTED)))

    @property
    def used(self) -> Set[int]:
        """The keys of the recorded requests that were asked for."""
        return self._matcher.used

    @property
    def followed(self) -> list[dict[str, Any]]:
        """What correlation has put a live value for; see ``Correlations``."""
        return self._correlations.followed

    def report_value(self) -> dict[str, Any]:
        return self.report.value(self.unused(), strict=self._options.strict, followed=self.followed)

    def agrees(self) -> bool:
        if self._options.strict:
            self.read_all()
        return self.report.agrees(self._matcher.waiting if self._options.strict else 0)

    def _learn(self) -> None:
        """Take in what has been read of the script since the last time."""
        script = self._script
        for at in range(self._known, len(script.requests)):
            self._matcher.add(script.requests[at])
        self._known = len(script.requests)
        for at in range(self._heard, len(script.notifications)):
            cue = script.notifications[at]
            self._notifications.setdefault(cue.method, deque()).append(cue)
        self._heard = len(script.notifications)
        for text in script.notes[self._noted :]:
            self.report.note(text)
        self._noted = len(script.notes)

    def _read_on(self) -> bool:
        """Have more of the recording at hand, which other clients of it may have read already; False
        where there is no more."""
        script = self._script
        if self._known == len(script.requests) and self._heard == len(script.notifications):
            if script.more is None:
                return False
            script.more()
        self._learn()
        return True

    # The live client's messages

    def _verbatim(self, body: bytes) -> list[Action] | None:
        """Answer a body that is the next recorded request to the byte, but for its id; what it means need not
        be worked out. ``None`` for any other."""
        if self._player.over:
            return None
        if not self._matcher.ready and self._script.more is not None:
            self._read_on()
        found = self._matcher.verbatim(body)
        if found is None:
            return None
        cue, id = found
        self.report.requests += 1
        self.report.answered += 1
        actions = self._player.plain(cue, id, self._stream)
        return self._player.begin(Run(cue, id, cue.token, self._stream)) if actions is None else actions

    def _on_request(self, message: Message) -> list[Action]:
        method, id = message.method or "", message.id or "null"
        params = params_of(message)
        self.report.requests += 1
        live = self._matcher.live(method, params)
        found = self._matcher.next(live)
        while found is None and self._read_on():
            found = self._matcher.next(live)
        alike = found is not None and self._matcher.compares_all and not _has_inputs(params)
        found = found or self._matcher.left(live)
        if isinstance(found, Miss) or (method == "ping" and found.answer is None):
            return self._missed(method, id, params, found)
        if method == "initialize":
            self._compare_versions(params)
        elif not alike and params != found.params:
            self._correlations.learn(found.seq, steady(found.params), steady(params))
            self._compare_inputs(found, params)
        self.report.answered += 1
        if isinstance(found, Plain):
            actions = self._player.plain(found, id, self._stream)
            if actions is not None:
                return actions
        token = peek(message, "params", "_meta", "progressToken")
        text = None if token is None else jsonrpc.id_text(token)
        return self._player.begin(Run(found, id, text, self._stream))

    def _missed(self, method: str, id: str, params: Any, miss: Miss | Cue) -> list[Action]:
        answer = self._without_recording(method, id)
        if answer is not None:
            self.report.answered += 1
            return [Send(answer, stream=self._stream)]
        assert isinstance(miss, Miss)
        told = self.report.miss(method, name_of(method, params), miss, self._matcher.secrets.known.values())
        return [Send(jsonrpc.error(id, MISS, sentence(told), dumps(told)), stream=self._stream)]

    def _without_recording(self, method: str, id: str) -> bytes | None:
        """What any server of the recorded era answers, recorded or not."""
        if method == "ping":
            return jsonrpc.result(id, "{}")
        if method == "server/discover" and not self._script.modern:
            # A probe for the other era: a server of the recorded one does not know the method, and
            # the client falls back to the handshake.
            self.report.note("A probe for the stateless era was answered as a server of this era would.")
            return jsonrpc.error(id, METHOD_NOT_FOUND, "Method not found")
        if method == "server/discover":
            self.report.note("server/discover was not recorded; it was answered with what was used.")
            return jsonrpc.result(id, dumps(discovered(self._script)))
        if method == "initialize" and self._script.modern:
            self.report.note("A handshake was answered as a server of the stateless era would.")
            supported = dumps({"supported": [REVISIONS[-1]]})
            return jsonrpc.error(id, UNSUPPORTED_REVISION, "Unsupported protocol version", supported)
        return None

    def _on_notification(self, message: Message) -> list[Action]:
        method = message.method or ""
        if method == "notifications/cancelled":
            identity = peek(message, "params", "requestId")
            return [] if identity is None else self._player.cancel(jsonrpc.id_text(identity))
        while not (cues := self._notifications.get(method)):
            if not self._read_on():
                return []
        return self._player.begin(Run(cues.popleft()))

    def _on_answer(self, message: Message) -> list[Action]:
        asked = self._player.answer(message.id or "")
        if asked is None:
            self.report.note("The client answered a question that was not asked; it was passed over.")
            return []
        recorded = self._script.answers.get(asked.piece.key)
        if recorded is not None:
            self._correlations.learn(asked.piece.seq, recorded.value("result"), message.value("result"))
            if self._options.on_answer != "ignore":
                self._compare_answers(asked, recorded, message)
        return self._player.answered(asked)

    def _compare_answers(self, asked: Asked, recorded: Message, live: Message) -> None:
        how = self._differs(recorded, live)
        if how is None:
            return
        self.report.note(
            f"The answer to #{asked.piece.seq} {asked.piece.method} {how}; "
            "what follows was recorded after another answer."
        )
        if self._options.on_answer == "fail":
            self.report.differing += 1

    def _compare_inputs(self, found: Cue, params: Any) -> None:
        """Hold what the client answers to a result that asked against what it answered then."""
        recorded, live = (
            each["inputResponses"] if _has_inputs(each) else None for each in (found.params, params)
        )
        if self._options.on_answer == "ignore" or found.method not in INPUT_METHODS or recorded == live:
            return
        unlike = differences(recorded, live, self._matcher.secrets)
        if not unlike:
            return
        places = ", ".join(difference.pointer or "/" for difference in unlike[:3])
        self.report.note(
            f"The answers in #{found.seq} {found.method} differ at {places}; "
            "what follows was recorded after other answers."
        )
        if self._options.on_answer == "fail":
            self.report.differing += 1

    def _differs(self, recorded: Message, live: Message) -> str | None:
        """How a live answer of the client differs from the recorded one, ``None`` if it does not."""
        was, is_now = ("result" if message.kind is Kind.RESULT else "error" for message in (recorded, live))
        if was != is_now:
            return f"is now of kind {is_now}, and was {was}"
        found = differences(recorded.value(was), live.value(is_now), self._matcher.secrets)
        if not found:
            return None
        return f"differs at {', '.join(difference.pointer or '/' for difference in found[:3])}"

    def _compare_versions(self, params: Any) -> None:
        offered = params.get("protocolVersion") if isinstance(params, dict) else None
        recorded = self._script.revision
        if recorded is not None and isinstance(offered, str) and offered != recorded:
            self.report.note(
                f"The client offers {offered}, the recording answers {recorded}; "
                "a client that cannot speak it hangs up."
            )

    def _joined(self, actions: list[Action]) -> list[Action]:
        """Messages that were recorded as one batch are one again, if all of them go out together."""
        batches: dict[int, list[Send]] = {}
        for action in actions:
            if isinstance(action, Send) and action.parts > 1:
                batches.setdefault(action.seq, []).append(action)
        for seq, parts in batches.items():
            if len(parts) == parts[0].parts and len({part.stream for part in parts}) == 1:
                whole = Send(self._batch(seq, parts), parts[0].ending, seq, stream=parts[0].stream)
                whole = whole._replace(apart=any(part.apart for part in parts))
                actions[actions.index(parts[-1])] = whole
                actions = [action for action in actions if all(action is not part for part in parts)]
        return actions

    def _batch(self, seq: int, parts: list[Send]) -> bytes:
        first, *between = self._script.batches[seq]
        bodies = [part.body for part in sorted(parts, key=lambda send: send.part)]
        return first + b"".join(part for pair in zip(bodies, between, strict=True) for part in pair)


def _has_inputs(params: Any) -> bool:
    """Whether a request brings what the client answers to a result that asked."""
    return isinstance(params, dict) and "inputResponses" in params
