"""The calls of a stateless connection on their way: sent, sent again, given up, ended.

Whatever happens to a request on the wire happens to the ``Work`` it belongs to;
here one becomes the other, so that callers only ever hear of their own calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from workbench.core import probing
from workbench.core.actions import Abandon, Action, Completed, Continued, Outcome, Progressed, Send
from workbench.core.asked import Asked
from workbench.core.calling import Calling, cancelled
from workbench.core.cures import Cures
from workbench.core.envelope import Envelope
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message, id_text
from workbench.core.pending import Pending
from workbench.core.rounds import Rounds, Work


class Works:
    """Those of one connection. ``own_streams`` tells that each request has a stream of its own."""

    def __init__(
        self, calls: Calling, envelope: Envelope, asked: Asked, speak: Sequence[str], own_streams: bool
    ) -> None:
        self.rounds = Rounds(asked)
        self.cures = Cures(calls, envelope, speak)
        self._calls = calls
        self._envelope = envelope
        self._own_streams = own_streams

    # Going out

    def send(self, work: Work, now: float) -> Send:
        """Send the next round of a call, or its first one."""
        params = self._envelope.params(work.again)
        call = self._calls.open(work.method, params, now, work.timeout, work.progress)
        self.rounds.sent(work, call.id)
        return self._envelope.request(call.id, work.method, call.params)

    def again(self, work: Work, now: float) -> list[Action]:
        """Send a call again, and tell that it goes on."""
        send = self.send(work, now)
        return [Continued(work.id, work.round or 0, work.seq, work.asked), send]

    def next_round(self, work: Work, now: float) -> list[Action]:
        """Send a call again with what it was asked for, if everything is there."""
        if work.waiting:
            return []
        work.turn()
        return self.again(work, now)

    def with_headers(
        self, work: Work, message: Message, seq: int, now: float, status: int | None
    ) -> list[Action]:
        """See to it that a call is sent again with the headers that its tool asks for by now; empty
        where its error is about something else. ``status`` is the HTTP status of the answer."""
        if not self._own_streams:
            return []
        failed = Outcome("error", now - work.started, message, seq)
        if not probing.headers_refused(message, status):
            return []
        return [*self.cures.headers(work, failed, now)]

    def listed(self, id: int, message: Message, seq: int, now: float) -> list[Action]:
        """Take an answer to a listing for that purpose."""
        work, failed, sends = self.cures.listed(id, message, now)
        if sends:
            return [*sends]
        if self.rounds.get(work.id) is not work:
            return []  # it was cancelled meanwhile
        if failed is not None:
            return [*self.rounds.end(work, seq), Completed(work.id, failed)]
        return self.again(work, now)

    # Coming to an end

    def end(self, work: Work, message: Message, seq: int, now: float) -> list[Action]:
        """A call has its answer."""
        how = "result" if message.kind is Kind.RESULT else "error"
        ended = Outcome(how, now - work.started, message, seq)
        return [*self.rounds.end(work, seq), Completed(work.id, ended)]

    def refused(
        self, work: Work, why: str, seq: int, now: float, message: Message | None = None
    ) -> list[Action]:
        """A call does not go on, because the server asked for what it does not get."""
        ended = Outcome("refused", now - work.started, message, seq or None, why)
        return [*self.rounds.end(work, seq), Completed(work.id, ended)]

    def failed(self, call: Pending, ended: Outcome, now: float) -> list[Action]:
        """A request got no answer: end whatever it belongs to."""
        work = self.cures.given_up(call.id) or self.rounds.answered(call.id)
        if work is None:
            return [Completed(call.id, ended)]
        return [*self.rounds.end(work, 0), Completed(work.id, replace(ended, seconds=now - work.started))]

    def give_up(self, round: int, reason: str | None) -> list[Action]:
        """Wait no longer for a request, and let the peer know."""
        self._calls.give_up(round)
        return self.told_given_up(round, reason)

    def told_given_up(self, round: int, reason: str | None) -> list[Action]:
        """Over HTTP a closed stream says it, and nothing else does ("Cancellation", 2026-07-28)."""
        return [Abandon(str(round))] if self._own_streams else [cancelled(round, reason)]

    def closed(self, id: Any) -> list[Action]:
        """The server says no more about a request: its stream, if it has one of its own, is done with."""
        return [Abandon(id_text(id))] if self._own_streams else []

    def known(self, action: Action) -> Action:
        """An action about a request, for whoever knows its call."""
        if isinstance(action, Progressed):
            return action._replace(id=self.rounds.caller(action.id))
        if isinstance(action, Completed):
            work = self.cures.given_up(action.id) or self.rounds.answered(action.id)
            if work is not None:
                self.rounds.end(work, 0)
                return Completed(work.id, action.outcome)
        return action
