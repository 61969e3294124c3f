"""The client half of one connection, without any I/O (handshake era).

A conversation is told what came (``receive``), what the user wants
(``request``, ``notify``, ``cancel``, ``answer``, ``send_raw``), that time has
passed (``tick``) and that the peer is gone (``lost``). Each call returns
actions. It never raises on anything a peer does: what the protocol does not
have becomes ``Odd``, and the conversation goes on.

Three rules carry the weight:

* An answer belongs to a request only if the JSON text of their ids is equal, so
  ``1`` and ``"1"`` differ, and an id is never used twice; a late answer can
  therefore never be taken for the answer to a later call.
* Nothing of a large body is parsed here; an ``Outcome`` carries it on.
* What is sent is what was given: params travel as text.

Source: protocol revisions 2024-11-05 to 2025-11-25, sections "Lifecycle",
"Cancellation", "Progress", "Ping" and "Timeouts".
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.core import jsonrpc
from workbench.core.actions import (
    Action,
    Completed,
    Late,
    Notified,
    Odd,
    Outcome,
    PeerCancelled,
    PeerRequest,
    Progressed,
    Send,
    StateChanged,
)
from workbench.core.frame import Kind
from workbench.core.handshake import judge
from workbench.core.jsonrpc import Decoded, Message, dumps
from workbench.core.lifecycle import OVER, Event, State, advance
from workbench.core.methods import BATCH_REVISION, HANDSHAKE_REVISIONS, LATEST_HANDSHAKE, PROGRESS_METHODS
from workbench.core.pending import Pending, PendingCalls, Timeouts
from workbench.core.policy import Policy
from workbench.core.splice import with_progress_token

__all__ = [
    "Action",
    "Completed",
    "Conversation",
    "Late",
    "Notified",
    "Odd",
    "Outcome",
    "PeerCancelled",
    "PeerRequest",
    "Policy",
    "Progressed",
    "Send",
    "StateChanged",
    "Timeouts",
]

#: Requests of the peer that are kept open at once; the oldest beyond it are forgotten unanswered.
MAX_PEER_REQUESTS = 10_000

#: Given-up requests, and ids of raw requests, that are remembered to name a late answer.
MAX_REMEMBERED = 10_000


class Conversation:
    """The client half of a connection; see the module's text.

    ``offer`` is the revision to name (any string), ``accept`` those we can live with beside it,
    ``capabilities`` and ``client_info`` go out as they are, ``require`` are dotted server
    capabilities without which the connection is of no use. All times are seconds of one
    monotonic clock.
    """

    def __init__(
        self,
        *,
        offer: str = LATEST_HANDSHAKE,
        capabilities: Mapping[str, Any],
        client_info: Mapping[str, Any],
        accept: Sequence[str] = HANDSHAKE_REVISIONS,
        require: Sequence[str] = (),
        policy: Policy | None = None,
        timeouts: Timeouts | None = None,
        first_id: int = 1,
    ) -> None:
        self.offer = offer
        self.capabilities = dict(capabilities)
        self.client_info = dict(client_info)
        self.accept = tuple(accept)
        self.require = tuple(require)
        self.policy = policy or Policy()
        self.timeouts = timeouts or Timeouts()
        self.state = State.NEW
        self.revision: str | None = None
        self.server_info: Any = None
        self.server_capabilities: dict[str, Any] = {}
        self.instructions: str | None = None
        #: The level last asked for with ``logging/setLevel`` and granted.
        self.log_level: str | None = None
        #: Requests of the peer that wait for an answer: id text -> method.
        self.peer_requests: OrderedDict[str, str] = OrderedDict()
        self._first_id = first_id
        self._next_id = first_id
        self._initialize: int | None = None
        self._pending = PendingCalls()
        self._given_up: OrderedDict[int, None] = OrderedDict()
        self._raw_ids: OrderedDict[str, bool] = OrderedDict()

    # What the user wants

    def start(self, now: float) -> list[Action]:
        """Begin the handshake: the peer runs and can be written to."""
        params = {
            "protocolVersion": self.offer,
            "capabilities": self.capabilities,
            "clientInfo": self.client_info,
        }
        changed = self.happened(Event.START) + self.happened(Event.OFFERED)
        self._initialize, sends = self.request(
            "initialize", dumps(params), now, timeout=self.timeouts.start, progress=False
        )
        return [*changed[-1:], *sends]

    def request(
        self,
        method: str,
        params: str | None,
        now: float,
        *,
        timeout: float | None = None,
        progress: bool = True,
    ) -> tuple[int, list[Action]]:
        """Send a request; returns its id and the actions.

        ``params`` is JSON text and sent as it is, even if it is not JSON. With ``progress`` a
        token is put into it, for the methods that can report any. ``timeout`` is in seconds,
        ``None`` for the usual one, ``math.inf`` for none. On a connection that is over the
        request ends at once as ``lost``.
        """
        id = self._new_id()
        if self.state in OVER:
            return id, [Completed(id, Outcome("lost", 0.0, why="The connection is over."))]
        seconds = self.timeouts.request if timeout is None else timeout
        call = Pending(id, method, params, now, seconds, self.timeouts.maximum)
        if progress and method in PROGRESS_METHODS:
            params, call.token = with_progress_token(params, self._token(id))
        self._pending.add(call)
        return id, [Send(jsonrpc.request(str(id), method, params), method, str(id))]

    def notify(self, method: str, params: str | None = None) -> list[Action]:
        """Send a notification; ``params`` is JSON text and sent as it is."""
        return [Send(jsonrpc.notification(method, params), method)]

    def send_raw(self, body: bytes) -> list[Action]:
        """Send any bytes. Ids of requests in them are noted, so that their answers are no surprise,
        and an answer in them to a request of the peer counts as given."""
        for message in jsonrpc.decode(body).messages:
            if message.id is None:
                continue
            if message.kind is Kind.REQUEST:
                _remember(self._raw_ids, message.id, False)
            elif message.kind in (Kind.RESULT, Kind.ERROR):
                self.peer_requests.pop(message.id, None)
        return [Send(body, "raw")]

    def cancel(self, id: int, reason: str | None, now: float) -> list[Action]:
        """Give a request up and tell the peer. Nothing happens if it has ended, or is ``initialize``,
        which the protocol forbids to cancel."""
        if id == self._initialize:
            return []
        call = self._pending.take(id)
        if call is None:
            return []
        _remember(self._given_up, id, None)
        outcome = Outcome("cancelled", now - call.started, why=reason or "The request was cancelled.")
        return [self._cancelled(id, reason), Completed(id, outcome)]

    def answer(
        self,
        id_text: str,
        result: str | None = None,
        error: tuple[int, str, str | None] | None = None,
        *,
        about: str = "user",
    ) -> list[Action]:
        """Answer a request of the peer, with the JSON text of a result or with an error (code,
        message, JSON text of data or ``None``). Nothing happens if it is not open (any more)."""
        if self.peer_requests.pop(id_text, None) is None:
            return []
        if error is not None:
            body = jsonrpc.error(id_text, *error)
        else:
            body = jsonrpc.result(id_text, "{}" if result is None else result)
        return [Send(body, about, id_text)]

    def closing(self) -> list[Action]:
        """We have begun to end the connection; its end will be no failure."""
        return self.happened(Event.CLOSE)

    # What happens

    def happened(self, event: Event, why: str = "", next_step: str = "") -> list[Action]:
        """Move on in the lifecycle, for events that no message carries."""
        state = advance(self.state, event)
        if state is self.state:
            return []
        self.state = state
        return [StateChanged(state, why, next_step)]

    def lost(self, why: str, now: float | None = None, next_step: str = "") -> list[Action]:
        """The peer is gone: what waits ends at once. ``why`` and ``next_step`` are sentences;
        without ``now`` the lost requests are told to have taken no time."""
        actions = self.happened(Event.ENDED, why, next_step)
        for call in self._pending:
            self._pending.take(call.id)
            actions.append(Completed(call.id, Outcome("lost", call.age(now), why=why)))
        self.peer_requests.clear()
        return actions

    def next_deadline(self) -> float | None:
        """When ``tick`` has something to do, ``None`` if never."""
        return self._pending.next_deadline()

    def tick(self, now: float) -> list[Action]:
        """End the requests whose time is over."""
        actions: list[Action] = []
        for call in self._pending.expired(now):
            seconds = now - call.started
            why = f"No answer to {call.method} within {seconds:.3g} s."
            _remember(self._given_up, call.id, None)
            if call.id == self._initialize:
                actions += self.happened(
                    Event.TIMED_OUT,
                    f"The server did not answer initialize within {seconds:.3g} s.",
                    "Look at its stderr; if it is still starting, give it longer with --timeout.",
                )
            else:
                actions.append(self._cancelled(call.id, "timed out"))
            actions.append(Completed(call.id, Outcome("timeout", seconds, why=why)))
        return actions

    def receive(self, decoded: Decoded, seq: int, now: float) -> list[Action]:
        """Take a frame of the peer; ``seq`` is its number. Never raises."""
        actions: list[Action] = []
        for message in decoded.messages:
            actions += self._receive(message, seq, now)
            if message.kind is not decoded.kind:
                actions += [Odd(defect, seq) for defect in message.defects]
        actions += [Odd(defect, seq) for defect in decoded.defects]
        if decoded.kind is Kind.BATCH and self.revision != BATCH_REVISION:
            actions.append(Odd("batch", seq))
        return actions

    # Inside

    def _receive(self, message: Message, seq: int, now: float) -> list[Action]:
        if message.kind is Kind.REQUEST:
            return self._on_request(message, seq)
        if message.kind is Kind.NOTIFICATION:
            return self._on_notification(message, seq, now)
        if message.kind in (Kind.RESULT, Kind.ERROR):
            return self._on_answer(message, seq, now)
        return []

    def _on_answer(self, message: Message, seq: int, now: float) -> list[Action]:
        if message.id is None:
            return []
        if message.id in self._raw_ids:
            return self._on_raw_answer(message.id, seq)
        id = self._issued(message.id)
        if id is None:
            return [Odd("unknown-id", seq)]
        call = self._pending.take(id)
        if call is None:
            if id in self._given_up:
                del self._given_up[id]
                return [Late(id, seq, message.kind)]
            return [Odd("duplicate-answer", seq)]
        how = "result" if message.kind is Kind.RESULT else "error"
        done = Completed(id, Outcome(how, now - call.started, message, seq))
        if id == self._initialize:
            return [*self._on_initialized(message), done]
        if call.method == "logging/setLevel" and how == "result":
            self.log_level = _level(call.params)
        return [done]

    def _on_raw_answer(self, id: str, seq: int) -> list[Action]:
        answered = self._raw_ids[id]
        self._raw_ids[id] = True
        return [Odd("duplicate-answer", seq)] if answered else []

    def _on_initialized(self, message: Message) -> list[Action]:
        if self.state is not State.INITIALIZING:
            return []
        verdict = judge(message, self.offer, self.accept, self.require)
        self._learn(verdict.result)
        changed = self.happened(verdict.event, verdict.why, verdict.next)
        if verdict.event is Event.AGREED:
            return [*self.notify("notifications/initialized"), *changed]
        return changed

    def _learn(self, result: dict[str, Any]) -> None:
        version = result.get("protocolVersion")
        capabilities = result.get("capabilities")
        instructions = result.get("instructions")
        self.revision = version if isinstance(version, str) else None
        self.server_info = result.get("serverInfo")
        self.server_capabilities = capabilities if isinstance(capabilities, dict) else {}
        self.instructions = instructions if isinstance(instructions, str) else None

    def _on_request(self, message: Message, seq: int) -> list[Action]:
        method, id = message.method or "", message.id or "null"
        actions: list[Action] = []
        if self.state in (State.NEW, State.STARTING, State.INITIALIZING) and method != "ping":
            actions.append(Odd("early-request", seq))
        if id in self.peer_requests:
            actions.append(Odd("reused-id", seq))
        params = message.members.get("params")
        reply = self.policy.answer(method, params, self.capabilities)
        if len(self.peer_requests) >= MAX_PEER_REQUESTS:
            self.peer_requests.popitem(last=False)
        self.peer_requests[id] = method
        actions.append(PeerRequest(id, method, params, seq, reply is None))
        if reply is not None:
            error = None if reply.result is not None else (reply.code, reply.message, None)
            actions += self.answer(id, reply.result, error, about=f"policy {reply.by}")
        return actions

    def _on_notification(self, message: Message, seq: int, now: float) -> list[Action]:
        method = message.method or ""
        params = message.members.get("params")
        if method == "notifications/progress":
            return self._on_progress(params, seq, now)
        if method == "notifications/cancelled":
            return self._on_cancelled(params, seq)
        return [Notified(method, params, seq)]

    def _on_progress(self, params: Any, seq: int, now: float) -> list[Action]:
        if not isinstance(params, dict) or "progressToken" not in params:
            return [Odd("unknown-token", seq)]
        call = self._pending.with_token(jsonrpc.id_text(params["progressToken"]))
        if call is None:
            return [Odd("unknown-token", seq)]
        progress = _number(params.get("progress"))
        if progress is None:
            return [Odd("progress-shape", seq)]
        self._pending.restart(call, now)
        text = params.get("message")
        actions: list[Action] = [
            Progressed(
                call.id, progress, _number(params.get("total")), text if isinstance(text, str) else None, seq
            )
        ]
        if progress > call.progress:
            call.progress = progress
        else:
            actions.append(Odd("progress-not-growing", seq))
        return actions

    def _on_cancelled(self, params: Any, seq: int) -> list[Action]:
        if not isinstance(params, dict) or "requestId" not in params:
            return [Odd("unknown-cancel", seq)]
        id = jsonrpc.id_text(params["requestId"])
        if self.peer_requests.pop(id, None) is None:
            return [Odd("unknown-cancel", seq)]
        reason = params.get("reason")
        return [PeerCancelled(id, reason if isinstance(reason, str) else None, seq)]

    def _cancelled(self, id: int, reason: str | None) -> Send:
        params: dict[str, Any] = {"requestId": id}
        if reason is not None:
            params["reason"] = reason
        return Send(jsonrpc.notification("notifications/cancelled", dumps(params)), "cancel", str(id))

    def _new_id(self) -> int:
        while str(self._next_id) in self._raw_ids:
            self._next_id += 1
        self._next_id += 1
        return self._next_id - 1

    def _issued(self, id_text: str) -> int | None:
        """The number of a request of ours; ids are compared as text, so only our own spelling counts."""
        if not id_text.isascii() or not id_text.isdigit() or len(id_text) > 18:
            return None
        id = int(id_text)
        return id if str(id) == id_text and self._first_id <= id < self._next_id else None

    def _token(self, id: int) -> str:
        """A progress token: the id, as most clients have it, unless the user's own token is that."""
        return str(id) if self._pending.with_token(str(id)) is None else f'"call-{id}"'


def _remember(kept: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    if len(kept) >= MAX_REMEMBERED:
        kept.popitem(last=False)
    kept[key] = value


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return value if isinstance(value, float) else float(value)
    except OverflowError:
        return None


def _level(params: str | None) -> str | None:
    try:
        value = jsonrpc.loads(params or "")
    except (ValueError, RecursionError):
        return None
    level = value.get("level") if isinstance(value, dict) else None
    return level if isinstance(level, str) else None
