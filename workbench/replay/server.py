"""The mock server: what a recorded server would send, without any I/O.

``feed`` takes one body from the live client and returns what to do. Each live
request is matched to a recorded one, and what hangs on that is played.

What the recording has no answer for is answered with error ``MISS``, whose data
says what is nearest and where it differs. Nothing is guessed, notifications are
never answered, and nothing here opens a connection or starts a process.

Part of the light path: standard library and ``core`` only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Set
from itertools import islice
from typing import Any, NamedTuple

from workbench.core import jsonrpc
from workbench.core.frame import ANSWERS, Kind
from workbench.core.jsonrpc import Message, dumps
from workbench.core.methods import INPUT_METHODS, REVISIONS
from workbench.core.peek import peek
from workbench.replay import identity
from workbench.replay.actions import Action, Forward, HangUp, Injected, Reply, Send, Withdraw
from workbench.replay.correlate import Correlations
from workbench.replay.cues import Cue, Plain, Script
from workbench.replay.diff import differences
from workbench.replay.discovered import discovered
from workbench.replay.faults import DELAY, DISCONNECTED, DROP, ERROR, GARBAGE, RUBBISH, Fault, Faults, idle
from workbench.replay.matching import Live, Matcher, Miss, Prepared, steady
from workbench.replay.options import Options
from workbench.replay.playing import MISS, Clock, Player
from workbench.replay.reading import params_of, read
from workbench.replay.report import MAX_LISTED, Report, Unused, sentence
from workbench.replay.runs import Asked, Run

__all__ = ["MISS", "MockServer"]

METHOD_NOT_FOUND = -32601

#: The stateless era's error for a revision a server does not speak (2026-07-28, "Versioning").
UNSUPPORTED_REVISION = -32022


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
            mode=options.match,
            after=options.after,
            ignores=options.ignores,
            prepared=prepared,
            modern=script.modern,
        )
        self._correlations = Correlations(script, rules=options.correlations)
        self._player = Player(
            report,
            self._correlations,
            in_order=options.order == "recorded",
            streams=streams,
            own=not (streams and script.modern),
            pace=options.timing,
            clock=clock,
        )
        self._faults = Faults(options.faults)
        self._clock = clock
        #: Requests whose answers an injected delay holds back.
        self._delayed: list[_Delayed] = []
        #: Requests that a live server has been asked, by id, with why the recording had no answer.
        self._forwarded: dict[str, tuple[Forward, Live, Miss]] = {}
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
        if not self._script.modern:
            return []
        self._delayed = [each for each in self._delayed if each.stream != stream]
        gone = [id for id, (asked, _, _) in self._forwarded.items() if asked.stream == stream]
        withdrawn = [action for id in gone for action in self._withdraw(id)]
        return [*withdrawn, *self._joined(self._player.left(stream))]

    @property
    def stuck(self) -> bool:
        return self._player.stuck

    @property
    def due(self) -> float | None:
        """How long until ``tick`` is to be called (seconds), ``None`` if nothing waits for its time."""
        due = self._player.due
        if self._delayed and not self._player.over:
            held = max(0.0, min(each.until for each in self._delayed) - self._clock())
            due = held if due is None else min(due, held)
        return due

    def tick(self) -> list[Action]:
        """Send what has become due."""
        actions = self._player.go_on()
        now = self._clock()
        for each in [each for each in self._delayed if each.until <= now]:
            self._delayed.remove(each)
            if self._player.over:
                continue
            actions += self._player.begin(each.held) if isinstance(each.held, Run) else [each.held]
        return self._joined(actions)

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
        value = self.report.value(self.unused(), strict=self._options.strict, followed=self.followed)
        # Not kept: a report is written again with every request, and a fault may still be met.
        value["notes"] = [*value["notes"], *idle(self._options.faults, self.report.struck)][:MAX_LISTED]
        return value

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
        if self._player.over or self._faults:
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
        fault = self._faults.strikes(method, live.name)
        if isinstance(found, Miss) or (method == "ping" and found.answer is None):
            return self._missed(message, live, found, fault)
        if method == "initialize":
            self._compare_versions(params)
        elif not alike and params != found.params:
            self._correlations.learn(found.seq, steady(found.params), steady(params))
            self._compare_inputs(found, params)
        if fault is not None:
            return self._injected(fault, message, live, self._run(found, message))
        self.report.answered += 1
        if isinstance(found, Plain):
            actions = self._player.plain(found, id, self._stream)
            if actions is not None:
                return actions
        return self._player.begin(self._run(found, message))

    def _run(self, cue: Cue, message: Message) -> Run:
        token = peek(message, "params", "_meta", "progressToken")
        text = None if token is None else jsonrpc.id_text(token)
        return Run(cue, message.id or "null", text, self._stream)

    def _injected(
        self, fault: Fault, message: Message, live: Live, held: Run | Send | Forward
    ) -> list[Action]:
        """Do what a fault says in place of what is ``held`` back for it."""
        id, stream = message.id or "null", self._stream
        self.report.inject(fault.text, live.method, live.name)
        told = Injected(fault.text, live.method, id)
        if fault.kind == DELAY:
            self.report.answered += not isinstance(held, Forward)
            self._delayed.append(_Delayed(self._clock() + fault.seconds, id, stream, held))
            return [told]
        if fault.kind == ERROR:
            body = jsonrpc.error(id, fault.code, f"Injected by --fault {fault.text}")
            return [told, Send(body, stream=stream, status=self._player.status(body))]
        if fault.kind == GARBAGE:
            return [told, Reply(stream, 200, RUBBISH, "application/json", 0) if stream else Send(RUBBISH)]
        if fault.kind == DROP:
            return [told]
        if stream:
            return [told, HangUp(stream, 0, 0, last=True)]
        self.report.ended = "disconnected, as --fault says"
        return [told, *self._player.stop(DISCONNECTED)]

    def _missed(self, message: Message, live: Live, miss: Miss | Cue, fault: Fault | None) -> list[Action]:
        method, id = live.method, message.id or "null"
        answer = self._without_recording(method, id)
        if answer is not None:
            send = Send(answer, stream=self._stream)
            if fault is not None:
                return self._injected(fault, message, live, send)
            self.report.answered += 1
            return [send]
        assert isinstance(miss, Miss)
        if self._options.on_miss != "error" and method != "initialize":
            params = message.members.get("params") if message.members else message.value("params")
            forward = Forward(id, method, None if params is None else dumps(params), self._stream)
            if fault is None or fault.kind == DELAY:
                self._forwarded[id] = forward, live, miss
            return [forward] if fault is None else self._injected(fault, message, live, forward)
        return self._told_miss(live, miss, id, self._stream)

    def came(self, forward: Forward, body: bytes) -> list[Action]:
        """A live server has answered what it was asked; the body has any id."""
        found = self._forwarded.pop(forward.id, None)
        if found is None:
            return []
        self.report.answered += 1
        self.report.went_live(forward.method, found[1].name)
        body = identity.put(body, identity.ID, forward.id)
        return [Send(body, stream=forward.stream, status=self._player.status(body))]

    def did_not_come(self, forward: Forward, why: str) -> list[Action]:
        """It has not: the client is told what is missing, and why nobody else knows it."""
        found = self._forwarded.pop(forward.id, None)
        if found is None:
            return []
        self.report.note(f"The live server was asked for {forward.method}, and did not answer: {why}")
        return self._told_miss(found[1], found[2], forward.id, forward.stream)

    def _withdraw(self, id: str) -> list[Action]:
        return [] if self._forwarded.pop(id, None) is None else [Withdraw(id)]

    def _told_miss(self, live: Live, miss: Miss, id: str, stream: int) -> list[Action]:
        told = self.report.miss(live.method, live.name, miss, self._matcher.secrets.known.values())
        return [Send(jsonrpc.error(id, MISS, sentence(told), dumps(told)), stream=stream)]

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
            if identity is None:
                return []
            id = jsonrpc.id_text(identity)
            self._delayed = [each for each in self._delayed if each.id != id]
            return self._withdraw(id) or self._player.cancel(id)
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


class _Delayed(NamedTuple):
    """What an injected delay holds back of a request, and until when by the clock (seconds)."""

    until: float
    id: str
    stream: int
    held: Run | Send | Forward


def _has_inputs(params: Any) -> bool:
    """Whether a request brings what the client answers to a result that asked."""
    return isinstance(params, dict) and "inputResponses" in params
