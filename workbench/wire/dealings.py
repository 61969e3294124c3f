"""What is going on between the two sides: our requests that run, theirs that wait, what is odd.

The conversation decides; here the decisions reach whoever waits for them.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable

from workbench.core.actions import (
    Action,
    Completed,
    Late,
    Odd,
    PeerCancelled,
    PeerRequest,
    Progressed,
    Remarked,
    Send,
)
from workbench.wire.calls import Call
from workbench.wire.tap import Tap

#: Oddities and remarks that are kept; the last ones. The frames they speak of are all recorded.
KEPT = 1_000

#: How a policy's answer is told, by the reason it gives. A ping is not worth a word.
_WORDS = {
    "declined": "declined {}: no handler",
    "roots": "answered {} with the configured roots",
    "not offered": "refused {}: the capability was not offered",
    "mode not offered": "refused {}: its mode was not offered",
    "unknown method": "refused {}: unknown method",
    "invalid": "refused {} as invalid",
}


class Dealings:
    """``calls`` are our requests that run, by id. ``inbox`` holds the server's requests that wait
    for a user, by the JSON text of their id. ``remarks`` are sentences about what was done without
    asking anybody, ``odd`` is what the server did that the protocol does not have.
    ``changed(what, seq)`` is told of ``call`` and ``inbox``."""

    def __init__(self, tap: Tap, changed: Callable[[str, int], None]) -> None:
        self.calls: dict[int, Call] = {}
        self.inbox: dict[str, PeerRequest] = {}
        self.remarks: deque[str] = deque(maxlen=KEPT)
        self.odd: deque[Odd] = deque(maxlen=KEPT)
        self._tap = tap
        self._changed = changed
        self._given_up: OrderedDict[int, Call] = OrderedDict()
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
            self.answered(action.id, action.seq)
        elif isinstance(action, Remarked):
            self.remark(action.text)
        elif isinstance(action, Late):
            self._late(action)
        elif isinstance(action, Odd):
            self.odd.append(action)

    def sent(self, action: Send, seq: int) -> None:
        """Take note of something that has just been sent as the frame ``seq``."""
        if action.about.startswith(("policy ", "rule ")):
            self._answered_for_us(action)
        elif action.id is not None:
            call = self.calls.get(int(action.id)) if action.id.isdigit() else None
            if call is not None and call.request_seq == 0:
                call.request_seq = seq
                self._changed("call", seq)

    def answered(self, id_text: str, seq: int) -> None:
        """A request of the server needs no answer any more."""
        if self.inbox.pop(id_text, None) is not None:
            self._changed("inbox", seq)

    def forget(self, seq: int) -> None:
        """The connection is over: nobody waits for answers any more."""
        for id_text in list(self.inbox):
            self.answered(id_text, seq)

    def _completed(self, action: Completed) -> None:
        call = self.calls.pop(action.id, None)
        seq = action.outcome.seq or 0
        if action.outcome.how == "timeout":
            seq = self._tap.process("timeout", id=str(action.id), seconds=round(action.outcome.seconds, 3))
        if call is None:
            return
        call.finish(action.outcome)
        if action.outcome.how in ("timeout", "cancelled"):
            self._given_up[action.id] = call
            if len(self._given_up) > KEPT:
                self._given_up.popitem(last=False)
        self._changed("call", seq or call.request_seq)

    def _progressed(self, action: Progressed) -> None:
        call = self.calls.get(action.id)
        if call is not None:
            call.progress.append(action)
            self._changed("call", action.seq)

    def _late(self, action: Late) -> None:
        call = self._given_up.pop(action.id, None)
        if call is not None:
            call.late_seq = action.seq
            self._changed("call", action.seq)

    def _peer_asked(self, action: PeerRequest) -> None:
        if action.held:
            self.inbox[action.id] = action
            self._changed("inbox", action.seq)
        else:
            self._asked = action.method

    def remark(self, text: str) -> None:
        """Keep a sentence, and tell it with every call that runs: it may be about any of them."""
        self.remarks.append(text)
        for call in self.calls.values():
            call.remarks.append(text)

    def _answered_for_us(self, action: Send) -> None:
        kind, _, reason = action.about.partition(" ")
        if reason == "ping":
            return
        waited = self.inbox.get(action.id or "")
        method = self._asked if waited is None else waited.method
        by = kind if kind == "policy" else f'rule "{reason}"'
        self._tap.note("answered", id=action.id, by=by, method=method, why=reason)
        words = _WORDS.get(reason, "answered {}") if kind == "policy" else f"answered {{}} by rule {reason!r}"
        self.remark(words.replace("{}", method))
