"""One connection: a target's server, the conversation with it, and what is seen of it.

The connection performs what the conversation decides. It lives in one event
loop, and every method is called there; only ``view`` may be read from any
thread. Nothing here waits for anybody else: a connection that floods, hangs or
dies holds up no other one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import uuid4

from workbench.check.rule import Finding
from workbench.config import Root, Target, display
from workbench.core.actions import Outcome, PeerRequest
from workbench.core.fold import ConnectionFold, ConnectionView
from workbench.core.frame import Clock, StreamSink
from workbench.core.jsonrpc import dumps
from workbench.core.lifecycle import OVER, State
from workbench.core.methods import CHANGED_LISTS, LIST_METHODS, has_capability
from workbench.core.policy import Policy
from workbench.core.received import ReceivedTasks
from workbench.core.rules import Rule, result_faults
from workbench.core.splice import with_members
from workbench.core.tasks import NO_TASKS, Task, task_doubts, task_param
from workbench.errors import ConnectionFailed
from workbench.wire.calls import Call
from workbench.wire.dealings import Dealings
from workbench.wire.eras import Either, Eras, Verdicts, plain
from workbench.wire.life import Life
from workbench.wire.listings import Listings, read_all
from workbench.wire.oauth_logins import Logins
from workbench.wire.owner import Owner, agreed, ended
from workbench.wire.tasks import Tasks
from workbench.wire.turns import Turn, Turns


class Connection:
    """A connection to one target. Made by a session, which runs ``run`` in a task of its own.

    ``listings`` are the lists being read, ``listing`` whether that happens without being asked.
    ``successor`` is the connection that took this one's place. ``verdicts`` are the eras that were
    found by the connections of a session, ``turns`` what its loop is shared by.
    """

    def __init__(
        self,
        target: Target,
        sink: StreamSink,
        owner: Owner,
        *,
        number: int,
        name: str,
        client_info: dict[str, Any],
        held: Collection[str] = (),
        listing: bool = True,
        clock: Clock | None = None,
        verdicts: Verdicts | None = None,
        turns: Turns | None = None,
        logins: Logins | None = None,
    ) -> None:
        self.target = target
        self.number = number
        self.name = name
        self.successor: Connection | None = None
        self.fold = ConnectionFold(number, name, target.transport, display(target))
        self.listings = Listings(self.list)
        policy = Policy(
            roots=[plain(root) for root in target.roots],
            held=held,
            rules=target.rules,
            tasks=ReceivedTasks(time.time, lambda: uuid4().hex),
        )
        self.listing = listing
        self._owner = owner
        eras = Eras(target, client_info, policy, self.fold.schema_of, verdicts)
        self._life = Life(
            target, sink, self.fold, eras, self.listings, self._tell, Turn(turns), clock, logins
        )
        self._life.on_ready = self._on_ready
        self._life.on_notified = self._on_notified
        self._life.on_end = self._on_end
        self._tasks = Tasks(self._ask, self.dealings.ended, lambda: self._tell("task", 0))
        self.dealings.tasks = self._tasks

    @property
    def view(self) -> ConnectionView:
        """What there is to show; an immutable value."""
        return self._life.publisher.view

    @property
    def conversation(self) -> Either:
        """The conversation that is held; another one may take its place until the server is ready."""
        return self._life.conversation

    @property
    def state(self) -> State:
        return self.conversation.state

    @property
    def dealings(self) -> Dealings:
        """What goes on between the two sides."""
        return self._life.dealings

    @property
    def findings(self) -> Sequence[Finding]:
        """What the checks have found on this connection: the last of them, oldest first."""
        return tuple(self._life.publisher.findings)

    def findings_of(self, seq: int) -> Sequence[Finding]:
        """What they have found on one frame, if that is not too long ago; from any thread."""
        return self._life.publisher.findings.of(seq)

    @property
    def inbox(self) -> dict[str, PeerRequest]:
        """The server's requests that wait for a user, by the JSON text of their id."""
        return self.dealings.inbox

    @property
    def calls(self) -> dict[int, Call]:
        """The requests that run, by their id."""
        return self.dealings.calls

    @property
    def tasks(self) -> Mapping[str, Task]:
        """The tasks that the server runs for our calls, by their id, oldest first; ended ones too."""
        return self._tasks.known

    @property
    def subscribed(self) -> Collection[str]:
        """The URIs of the resources we subscribed to."""
        return self.dealings.subscribed

    # What users do

    async def ready(self) -> None:
        """Wait for the end of the handshake. Raises ``ConnectionFailed`` with what went wrong and
        what to do next, now and whenever it is asked on a connection that has failed."""
        await self._life.settled.wait()
        if self.state in OVER or not self._life.was_ready:
            view = self.view
            why = view.why or "The connection was closed before it was ready."
            raise ConnectionFailed(f"{self.name}: {why} {view.next_step}".rstrip())

    def call(
        self,
        method: str,
        params: str | None = None,
        *,
        timeout: float | None = None,
        progress: bool = True,
        task: bool = False,
        ttl: float | None = None,
    ) -> Call:
        """Send a request and return at once. ``params`` is JSON text and sent as it is; ``timeout``
        is in seconds, ``None`` for the target's, ``math.inf`` for none.

        With ``task`` the server is asked to make it a task ("Tasks", 2025-11-25) that is kept for
        ``ttl`` seconds (``None`` leaves it to the server): the timeout is then for making it, and
        the call ends with the task's result. Without a handshake nothing is sent and the call is lost.
        """
        if task:
            params = with_members(params, {"task": task_param(ttl)})
        call = Call(self, method, params)
        call.as_task = task
        if task and self.conversation.era == "modern" and self.state is State.READY:
            call.finish(Outcome("lost", 0.0, why=NO_TASKS))
            return call
        if not self._life.can_send and self.state not in OVER:
            call.finish(
                Outcome("lost", 0.0, why="The server has not been started yet; wait until it is ready.")
            )
            return call
        call.number, actions = self.conversation.request(
            method, params, time.monotonic(), timeout=math.inf if task else timeout, progress=progress
        )
        self.dealings.calls[call.number] = call
        if task:
            self._tasks.expect(call, self.target.timeouts.request if timeout is None else timeout)
            call.remarks += task_doubts(method, self.conversation.server_capabilities)
        self._life.perform(actions)
        return call

    def _ask(self, method: str, params: str, timeout: float | None) -> Call:
        return self.call(method, params, timeout=timeout, progress=False)

    async def request(
        self,
        method: str,
        params: str | None = None,
        *,
        timeout: float | None = None,
        progress: bool = True,
    ) -> Outcome:
        """``call`` and wait for the end. Being cancelled cancels the request."""
        call = self.call(method, params, timeout=timeout, progress=progress)
        try:
            return await call.wait()
        finally:
            if self.state is State.READY:  # a connection that ends has nobody to tell
                call.cancel()

    def cancel(self, number: int, reason: str | None = None) -> None:
        """Give a request up and tell the server. One that was to become a task is never cancelled as
        a request: its task is."""
        call = self.calls.get(number)
        if call is not None and call.as_task:
            self._tasks.cancel(call, reason or f"The task of {call.method} was cancelled.")
            return
        self._life.perform(self.conversation.cancel(number, reason, time.monotonic()))

    def notify(self, method: str, params: str | None = None) -> None:
        """Send a notification; ``params`` is JSON text."""
        self._life.perform(self.conversation.notify(method, params))

    def send_raw(self, body: bytes) -> int:
        """Send any bytes as one line (as several, if they hold line ends). Returns the number of the
        (last) frame, 0 when nothing can be sent."""
        before = self._life.publisher.last_seq
        self._life.perform(self.conversation.send_raw(body))
        after = self._life.publisher.last_seq
        return after if after > before else 0

    def answer(
        self, id_text: str, result: str | None = None, error: tuple[int, str, str | None] | None = None
    ) -> bool:
        """Answer a request of the inbox with the JSON text of a result, or an error (code, message,
        JSON text of data). False when it is not open any more."""
        actions = self.conversation.answer(id_text, result, error, now=time.monotonic())
        self._life.perform(actions)
        self.dealings.answered(id_text, self._life.publisher.last_seq)
        return bool(actions)

    def report(
        self, id_text: str, progress: float, total: float | None = None, message: str | None = None
    ) -> bool:
        """Tell the server how a request of the inbox comes on. False when it did not ask for that,
        when the progress has not grown, or when the request is not open (any more)."""
        actions = self.conversation.report(id_text, progress, total, message)
        self._life.perform(actions)
        return bool(actions)

    def ping(self) -> Call:
        """Ask the server for a sign of life."""
        return self.call("ping")

    def subscribe(self, uri: str) -> Call:
        """Ask to be told when a resource changes; ``subscribed`` holds it once that is granted."""
        return self.call("resources/subscribe", dumps({"uri": uri}))

    def unsubscribe(self, uri: str) -> Call:
        """Ask not to be told of a resource any more."""
        return self.call("resources/unsubscribe", dumps({"uri": uri}))

    def set_roots(self, roots: Sequence[Root]) -> None:
        """Change what ``roots/list`` is answered with, after connecting again too, and tell the server."""
        self.target = self.target.model_copy(update={"roots": tuple(roots)})
        self.conversation.policy.roots = [plain(root) for root in roots]
        legacy = self.conversation.era == "legacy"
        if legacy and has_capability(self.conversation.capabilities, "roots.listChanged"):
            self.notify("notifications/roots/list_changed")

    def doubts(self, asked: PeerRequest, result: str) -> list[str]:
        """What is wrong with a result (JSON text) as the answer to a request of the server, as
        sentences without full stops. It can be sent all the same."""
        return result_faults(asked.method, asked.params, result)

    def add_rule(self, rule: Rule, *, last: bool = False) -> None:
        """Let a rule answer from now on, before those there are (or after them), and after connecting
        again too. It also answers what waits in the inbox and is meant for it."""
        rules = (*self.target.rules, rule) if last else (rule, *self.target.rules)
        self.target = self.target.model_copy(update={"rules": rules})
        self.conversation.policy.rules[:] = rules
        for id_text in list(self.inbox):
            actions = self.conversation.reconsider(id_text, time.monotonic())
            self._life.perform(actions)
            if actions:
                self.dealings.answered(id_text, self._life.publisher.last_seq)

    def remove_rule(self, rule: Rule) -> None:
        """Let a rule answer no more."""
        rules = tuple(each for each in self.target.rules if each != rule)
        self.target = self.target.model_copy(update={"rules": rules})
        self.conversation.policy.rules[:] = rules

    def hold(self, methods: Collection[str]) -> None:
        """Have requests of these methods wait for a user from now on, and no others."""
        self.conversation.policy.held = frozenset(methods)

    def during(self, id_text: str) -> Sequence[tuple[str, int]]:
        """The calls during which a request of the inbox came: the tool's name and the frame."""
        names = self.conversation.asked_during(id_text)
        seqs = {call.name: call.request_seq for call in list(self.calls.values())}
        return [(name, seqs.get(name, 0)) for name in names]

    async def list(self, method: str) -> list[dict[str, Any]]:
        """All items of a listing, page by page, with a guard against pages that lead nowhere.

        Raises ``ProtocolError`` for an error of the server, ``ConnectionFailed`` for no answer.
        """
        return await read_all(self.name, method, self.request)

    async def refresh(self, *, force: bool = False) -> None:
        """Read every list the server offers, or with ``force`` also those it does not. What fails
        is told in ``listings.failures`` and in the view, and stops no other list."""
        self.listings.want(method for method in LIST_METHODS if force or self.offers(method))
        await self.listings.settled()

    def offers(self, method: str) -> bool:
        """Whether the server said that it has a method."""
        return self.conversation.offers(method)

    async def close(self) -> None:
        """End the connection and wait until its server is gone."""
        self._life.stopping.set()
        await self._life.finished.wait()

    async def reconnect(self) -> Connection:
        """Connect to the same target again: a new connection of the same name in the place of this one,
        which is closed first."""
        await self.close()
        if self.successor is None:
            self.successor = self._owner.again(self)
        return self.successor

    async def run(self) -> None:
        """Live; whoever made the connection calls this once, in a task."""
        await self._life.run()

    # What happens

    def _on_ready(self) -> None:
        self._owner.describe(self, agreed(self.conversation))
        level = self.target.log_level
        if level is not None and self.offers("logging/setLevel"):
            self.call("logging/setLevel", dumps({"level": level}))
        if self.listing:
            self.listings.want(method for method in LIST_METHODS if self.offers(method))
            self._life.perform(self.conversation.watch())

    def _on_notified(self, method: str) -> None:
        changed = CHANGED_LISTS.get(method, ())
        if changed and self.listing:
            self.listings.want((method for method in changed if self.offers(method)), changed=True)

    def _on_end(self) -> None:
        self._owner.describe(self, ended(self.view, time.time_ns()))
        self._tell("connection", self._life.publisher.last_seq)

    def _tell(self, what: str, seq: int) -> None:
        self._owner.changed(what, self, seq)
