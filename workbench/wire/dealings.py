"""What is going on between the two sides: our requests that run, theirs that wait, what is told of them.

The conversation decides; here the decisions reach whoever waits for them.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable

from anyio.abc import TaskGroup

from workbench.core.actions import (
    Abandoned,
    Action,
    Completed,
    Continued,
    Late,
    Notified,
    Outcome,
    PeerCancelled,
    PeerRequest,
    PolicyAnswered,
    Progressed,
    Remarked,
    Send,
    Settled,
    Unlistened,
)
from workbench.core.inflight import keep
from workbench.core.links import Links, link_of, links_of
from workbench.wire.calls import Call
from workbench.wire.tap import Tap
from workbench.wire.tasks import Tasks

#: Remarks that are kept, and calls given up; the last ones. The frames they speak of are all recorded.
KEPT = 1_000

#: How a policy's answer is told, by the reason it gives. A ping is not worth a word.
_WORDS = {
    "declined": "declined {}: no handler",
    "roots": "answered {} with the configured roots",
    "not offered": "refused {}: the capability was not offered",
    "mode not offered": "refused {}: its mode was not offered",
    "unknown method": "refused {}: unknown method",
    "invalid": "refused {} as invalid",
    "too many tasks": "refused {}: too many tasks wait already",
}


_TASK_LEFT = "The connection ended before the task did; the server may still be at it."


class Dealings:
    """``calls`` are our requests that run, by id. ``inbox`` holds the server's requests that wait
    for a user, by the JSON text of their id. ``remarks`` are sentences about what was done without
    asking anybody. ``subscribed`` are the URIs of the resources we subscribed to, ``links`` the URLs
    that the server wants opened. ``withdrawn`` holds why the server took requests back, by their id.
    ``changed(what, seq)`` is told of ``call`` and ``inbox``."""

    def __init__(self, tap: Tap, changed: Callable[[str, int], None]) -> None:
        self.calls: dict[int, Call] = {}
        self.inbox: dict[str, PeerRequest] = {}
        self.remarks: deque[str] = deque(maxlen=KEPT)
        self.subscribed: dict[str, None] = {}
        self.links = Links()
        self.withdrawn: OrderedDict[str, str | None] = OrderedDict()
        self.tasks: Tasks | None = None
        self._tap = tap
        self._changed = changed
        self._given_up: OrderedDict[int, Call] = OrderedDict()
        self._rounds: dict[int, Call] = {}  # further rounds of calls that run, by their ids
        self._asked = ""  # the method of the last request of the server that is not held

    def take(self, action: Action) -> None:
        """Take what the conversation says happened (all but what is to be sent is told here)."""
        if isinstance(action, Completed):
            self._completed(action)
        elif isinstance(action, Progressed):
            self._progressed(action)
        elif isinstance(action, PeerRequest):
            self._peer_asked(action)
        elif isinstance(action, PeerCancelled):
            keep(self.withdrawn, action.id, action.reason, KEPT)
            self.answered(action.id, action.seq)
        elif isinstance(action, Remarked):
            self.remark(action.text, action.id)
        elif isinstance(action, Continued):
            self._continued(action)
        elif isinstance(action, PolicyAnswered):
            self._answered_for_us(action.id, action.by, action.method, action.call)
        elif isinstance(action, Settled):
            self.answered(action.id, 0)
        elif isinstance(action, Late):
            self._late(action)
        elif isinstance(action, Abandoned):
            self._tap.process("abandoned", id=str(action.id))
        elif isinstance(action, Unlistened):
            self.subscribed.pop(action.uri, None)

    def sent(self, action: Send, seq: int) -> None:
        """Take note of something that has just been sent as the frame ``seq``."""
        if action.about.startswith(("policy ", "rule ")):
            waited = self.inbox.get(action.id or "")
            method = self._asked if waited is None else waited.method
            self._answered_for_us(action.id, action.about, method)
        elif action.id is not None:
            id = int(action.id) if action.id.isdigit() else 0
            call = self.calls.get(id) or self._rounds.get(id)
            if call is not None and call.sent(id, seq):
                self._changed("call", seq)

    def notified(self, action: Notified) -> None:
        """Take a notification that says something about what goes on."""
        if action.method == "notifications/tasks/status" and self.tasks is not None:
            self.tasks.told(action.params)
        elif action.method == "notifications/elicitation/complete":
            link = self.links.completed(action.params)
            if link is not None:
                self.remark(f"the server says that what was asked for at {link.url} is done")

    def ended(self, call: Call, outcome: Outcome) -> None:
        """A call has ended; what ends it a second time changes nothing."""
        if call.outcome is not None:
            return
        self.calls.pop(call.number, None)
        call.finish(outcome)
        self._note_end(call, outcome)
        self._changed("call", outcome.seq or call.request_seq)

    def _note_end(self, call: Call, outcome: Outcome) -> None:
        """What follows from the end of a call for the rest of the connection."""
        if outcome.how == "result" and call.name is not None:
            if call.method == "resources/subscribe":
                self.subscribed[call.name] = None
            elif call.method == "resources/unsubscribe":
                self.subscribed.pop(call.name, None)
        for link in links_of(outcome.error):
            self.links.expect(link)

    def answered(self, id_text: str, seq: int) -> None:
        """A request of the server needs no answer any more."""
        if self.inbox.pop(id_text, None) is not None:
            self._changed("inbox", seq)

    def attend(self, group: TaskGroup) -> None:
        """Do from now on in this task group what takes time by itself."""
        if self.tasks is not None:
            self.tasks.attend(group)

    def forget(self, seq: int) -> None:
        """The connection is over: nobody waits for answers any more."""
        if self.tasks is not None:
            self.tasks.stop()
        for call in [call for call in self.calls.values() if call.task is not None]:
            self.ended(call, Outcome("lost", call.seconds, why=_TASK_LEFT))
        for id_text in list(self.inbox):
            self.answered(id_text, seq)

    def _completed(self, action: Completed) -> None:
        call, outcome = self.calls.get(action.id), action.outcome
        seq = outcome.seq or 0
        if outcome.how == "timeout":
            last = action.id if call is None else call.last
            seq = self._tap.process("timeout", id=str(last), seconds=round(outcome.seconds, 3))
        if call is None:
            if self.tasks is not None:
                self.tasks.orphaned(action.id, outcome)
            return
        if call.as_task and self.tasks is not None and self.tasks.begins(call, outcome):
            self._changed("call", seq)
            return
        self.ended(call, outcome)
        if outcome.how in ("timeout", "cancelled"):
            self._given_up[action.id] = call
            if len(self._given_up) > KEPT:
                self._given_up.popitem(last=False)

    def _progressed(self, action: Progressed) -> None:
        call = self.calls.get(action.id)
        if call is not None:
            call.progress.append(action)
            self._changed("call", action.seq)

    def _late(self, action: Late) -> None:
        call = self._given_up.pop(action.id, None) or self._rounds.get(action.id)
        if call is not None:
            call.late_seq = action.seq
            self._changed("call", action.seq)

    def _peer_asked(self, action: PeerRequest) -> None:
        if action.method == "elicitation/create":
            self.links.expect(link_of(action.params))
        if action.held:
            self.inbox[action.id] = action
            self._changed("inbox", action.seq)
        else:
            self._asked = action.method

    def remark(self, text: str, call: int | None = None) -> None:
        """Keep a sentence, and tell it with the call it is about; without one with every call that
        runs, because it may be about any of them."""
        self.remarks.append(text)
        for each in self.calls.values():
            if call is None or each.number == call:
                each.remarks.append(text)

    def _continued(self, action: Continued) -> None:
        call = self.calls.get(action.id)
        if call is not None:
            call.go_on(action)
            self._rounds[action.round] = call
            if len(self._rounds) > KEPT:
                del self._rounds[next(iter(self._rounds))]

    def _answered_for_us(self, id: str | None, about: str, method: str, call: int | None = None) -> None:
        kind, _, reason = about.partition(" ")
        if reason == "ping":
            return
        by = kind if kind == "policy" else f'rule "{reason}"'
        self._tap.note("answered", id=id, by=by, method=method, why=reason)
        words = _WORDS.get(reason, "answered {}") if kind == "policy" else f"answered {{}} by rule {reason!r}"
        self.remark(words.replace("{}", method), call)
