"""Our requests: from sending to their end, whatever that is.

An id is used once in a connection (all handshake revisions), so an answer that
comes after its request was cancelled or has timed out can be told from every
other, and is never paired with a later call.
"""

from __future__ import annotations

import math
from collections import OrderedDict

from workbench.core import jsonrpc
from workbench.core.actions import Action, Completed, Late, Outcome, Progressed, Send
from workbench.core.frame import Kind
from workbench.core.inflight import keep
from workbench.core.jsonrpc import Message, dumps
from workbench.core.methods import PROGRESS_METHODS, name_of
from workbench.core.peek import number, peek
from workbench.core.pending import Pending, PendingCalls, Timeouts
from workbench.core.splice import with_progress_token

#: Given-up requests, and ids of raw requests, that are remembered to name a late answer.
MAX_REMEMBERED = 10_000


class Calling:
    """The requests of one connection that we make; times are monotonic seconds."""

    def __init__(self, first_id: int, timeouts: Timeouts) -> None:
        self.timeouts = timeouts
        self._first_id = first_id
        self._next_id = first_id
        self._pending = PendingCalls()
        self._given_up: OrderedDict[int, None] = OrderedDict()
        self._raw_ids: OrderedDict[str, bool] = OrderedDict()  # id text -> answered
        self._task_tokens: OrderedDict[str, Pending] = OrderedDict()
        self._task_tools: OrderedDict[str, str] = OrderedDict()  # task id -> name of its tool

    def __len__(self) -> int:
        return len(self._pending)

    def new_id(self) -> int:
        """An id that was never used, also not by a raw request."""
        while str(self._next_id) in self._raw_ids:
            self._next_id += 1
        self._next_id += 1
        return self._next_id - 1

    def open(
        self, method: str, params: str | None, now: float, timeout: float | None, progress: bool
    ) -> Pending:
        """Begin a request and remember it. ``Pending.params`` is the text to send."""
        id = self.new_id()
        seconds = self.timeouts.request if timeout is None else timeout
        call = Pending(id, method, params, now, seconds, self.timeouts.maximum)
        if progress and method in PROGRESS_METHODS:
            # The id as token, as most clients have it, unless a token of the user's is just that.
            token = str(id) if self._pending.with_token(str(id)) is None else f'"call-{id}"'
            call.params, call.token = with_progress_token(params, token)
        self._pending.add(call)
        return call

    def cancel(self, id: int, reason: str | None, now: float) -> list[Action]:
        """Give a request up and tell the peer; nothing if it has ended."""
        call = self.give_up(id)
        if call is None:
            return []
        why = reason or f"The request {call.method} was cancelled."
        return [cancelled(id, reason), Completed(id, Outcome("cancelled", call.age(now), why=why))]

    def give_up(self, id: int) -> Pending | None:
        """Wait no longer for the answer to a request, which is late if it still comes."""
        call = self._pending.take(id)
        if call is not None:
            keep(self._given_up, id, None, MAX_REMEMBERED)
        return call

    def recall(self, id: int) -> None:
        """A request that was given up has its answer after all."""
        self._given_up.pop(id, None)

    def forget(self, id: int) -> None:
        """An answer to this request is late from now on."""
        keep(self._given_up, id, None, MAX_REMEMBERED)

    def lost(self, why: str, now: float | None) -> list[Action]:
        """The peer is gone: end all."""
        ended: list[Action] = []
        for call in self._pending:
            self._pending.take(call.id)
            ended.append(Completed(call.id, Outcome("lost", call.age(now), why=why)))
        return ended

    def tools(self, id_text: str | None = None, task: str | None = None) -> list[str]:
        """The names of the tools that run, or of the one that the request with this id (JSON text)
        calls, or that was made this task."""
        if task is not None and task in self._task_tools:
            return [self._task_tools[task]]
        id = None if id_text is None else self._issued(id_text)
        call = None if id is None else self._pending.get(id)
        return [name for each in ([call] if call else self._pending) if (name := _tool(each)) is not None]

    def next_deadline(self) -> float | None:
        return self._pending.next_deadline()

    def expired(self, now: float, *, waited_for: bool = False) -> list[tuple[Pending, Outcome]]:
        """End the requests whose time is over; returns them with their outcomes. Where we are
        ``waited_for``, because the peer has asked something and has no answer yet, only those end
        that have reached their hard maximum."""
        if waited_for:
            self._pending.put_off(now)
        ended: list[tuple[Pending, Outcome]] = []
        for call in self._pending.expired(now):
            keep(self._given_up, call.id, None, MAX_REMEMBERED)
            ended.append((call, Outcome("timeout", call.age(now), why=_why(call, now))))
        return ended

    def unanswered(self, id_text: str) -> Pending | None:
        """Remove and return the request with this id, which will get no answer."""
        id = self._issued(id_text)
        return None if id is None else self._pending.take(id)

    def remember_raw(self, id_text: str) -> None:
        """A raw request with this id was sent: its answer is no surprise."""
        keep(self._raw_ids, id_text, False, MAX_REMEMBERED)

    def answered(self, message: Message, seq: int) -> Pending | Late | None:
        """The request an answer ends, or that it came late; ``None`` for an answer to no request of
        ours, or to a raw one, which whoever sent it sees in the log."""
        id_text = message.id or ""
        id = self._issued(id_text)
        call = None if id is None else self._pending.take(id)
        if call is not None:
            task = peek(message, "result", "task", "taskId")
            if isinstance(task, str):
                keep(self._task_tools, task, _tool(call) or "", MAX_REMEMBERED)
            if call.token is not None and isinstance(task, str):
                # The token outlives the answer for as long as the task runs (2025-11-25, "Tasks").
                keep(self._task_tokens, call.token, call, MAX_REMEMBERED)
            return call
        if id is not None and id_text not in self._raw_ids and id in self._given_up:
            del self._given_up[id]
            return Late(id, seq, message.kind)
        return None

    def progressed(self, message: Message, seq: int, now: float) -> list[Action]:
        """Take a ``notifications/progress``: it restarts the timeout of its request."""
        token = jsonrpc.id_text(peek(message, "params", "progressToken"))
        call = self._pending.with_token(token) or self._task_tokens.get(token)
        if call is None:
            return []
        progress = number(peek(message, "params", "progress"))
        if progress is None:
            return []
        self._pending.restart(call, now)
        text = peek(message, "params", "message")
        total = number(peek(message, "params", "total"))
        told = Progressed(call.id, progress, total, text if isinstance(text, str) else None, seq)
        if progress > call.progress:
            call.progress = progress
        return [told]

    def _issued(self, id_text: str) -> int | None:
        """The number of a request of ours; only our own spelling of it counts."""
        if not id_text.lstrip("-").isdecimal() or not id_text.isascii() or len(id_text) > 18:
            return None
        id = int(id_text)
        return id if str(id) == id_text and self._first_id <= id < self._next_id else None


def cancelled(id: int, reason: str | None) -> Send:
    """The notification that gives a request of ours up."""
    params: dict[str, object] = {"requestId": id}
    if reason is not None:
        params["reason"] = reason
    return Send(jsonrpc.notification("notifications/cancelled", dumps(params)), "cancel", str(id))


def outcome(call: Pending, message: Message, seq: int, now: float) -> Outcome:
    """The outcome of a request that has been answered."""
    how = "result" if message.kind is Kind.RESULT else "error"
    return Outcome(how, call.age(now), message, seq)


def _tool(call: Pending) -> str | None:
    if call.method != "tools/call" or call.params is None or len(call.params) > jsonrpc.INLINE_BYTES:
        return None
    try:
        return name_of(call.method, jsonrpc.loads(call.params))
    except (ValueError, RecursionError):
        return None


def level_of(params: str | None) -> str | None:
    """The level in the params of a ``logging/setLevel``."""
    try:
        value = jsonrpc.loads(params or "")
    except (ValueError, RecursionError):
        return None
    level = value.get("level") if isinstance(value, dict) else None
    return level if isinstance(level, str) else None


def _why(call: Pending, now: float) -> str:
    # The limits, not the time that passed: nobody set 60.003 seconds.
    if call.progress == -math.inf and call.deadline == call.started + call.timeout:
        return f"No answer to {call.method} within {call.timeout:.3g} s."
    if now >= call.hard:
        limit = call.hard - call.started
        return f"{call.method} was still going on after {limit:.3g} s, the most a request may take."
    return f"No answer to {call.method}, and no progress for {call.timeout:.3g} s."
