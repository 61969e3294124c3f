"""One connection: a target's server, the conversation with it, and what is seen of it.

The connection performs what the conversation decides. It lives in one event
loop, and every method is called there; only ``view`` may be read from any
thread. Nothing here waits for anybody else: a connection that floods, hangs or
dies holds up no other one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Sequence
from typing import Any, Protocol

import anyio

from workbench.config import Root, Target, display
from workbench.core.actions import Action, Notified, Outcome, PeerRequest, Send, StateChanged
from workbench.core.conversation import Conversation
from workbench.core.fold import ConnectionFold, ConnectionView
from workbench.core.frame import Clock, Sink
from workbench.core.jsonrpc import Decoded, dumps
from workbench.core.lifecycle import FAILED, OVER, Event, State
from workbench.core.methods import CHANGED_LISTS, LIST_METHODS, gate_of, has_capability
from workbench.core.pages import Pages
from workbench.core.policy import Policy
from workbench.errors import ConnectionFailed, ProtocolError
from workbench.wire.calls import Call
from workbench.wire.command import NotStarted
from workbench.wire.dealings import Dealings
from workbench.wire.listings import Listings
from workbench.wire.publishing import Publisher
from workbench.wire.stdio import StdioTransport, open_stdio
from workbench.wire.tap import Tap
from workbench.wire.timekeeping import Timekeeper

_LOG = logging.getLogger(__name__)


class Owner(Protocol):
    """Who made a connection and wants to know what becomes of it. Called in the connection's loop."""

    def changed(self, what: str, connection: Connection, seq: int) -> None:
        """``what`` is ``connection``, ``call`` or ``inbox``; ``seq`` the last frame it rests on."""
        ...

    def describe(self, connection: Connection, facts: dict[str, Any]) -> None:
        """Facts of the connection that a recording holds beside its frames."""
        ...

    def again(self, connection: Connection) -> Connection:
        """Connect to the target of a connection once more."""
        ...


class Connection:
    """A connection to one target. Made by a session, which runs ``run`` in a task of its own.

    ``dealings`` are what goes on (requests that run, the inbox, remarks), ``listings`` the
    lists being read. ``successor`` is the connection that took this one's place.
    """

    def __init__(
        self,
        target: Target,
        sink: Sink,
        owner: Owner,
        *,
        number: int,
        name: str,
        client_info: dict[str, Any],
        held: Collection[str] = (),
        listing: bool = True,
        clock: Clock | None = None,
    ) -> None:
        self.target = target
        self.number = number
        self.name = name
        self.successor: Connection | None = None
        self.fold = ConnectionFold(number, name, target.transport, display(target))
        self.listings = Listings(self.list)
        self.conversation = Conversation(
            offer=target.offer,
            capabilities=target.offered_capabilities,
            client_info=target.client_info or client_info,
            require=target.require,
            policy=Policy(roots=[_plain(root) for root in target.roots], held=held),
            timeouts=target.timeouts.plain(),
        )
        self._owner = owner
        self._publisher = Publisher(self.fold, self._tell)
        self._tap = Tap(sink, number, self._publisher.seen, clock)
        self.dealings = Dealings(self._tap, lambda what, seq: owner.changed(what, self, seq))
        self._time = Timekeeper(self.conversation.next_deadline, self._on_time)
        self.listing = listing
        self._transport: StdioTransport | None = None
        self._settled = anyio.Event()
        self._stopped = anyio.Event()
        self._finished = anyio.Event()
        self._was_ready = False

    @property
    def view(self) -> ConnectionView:
        """What there is to show; an immutable value."""
        return self._publisher.view

    @property
    def state(self) -> State:
        return self.conversation.state

    @property
    def inbox(self) -> dict[str, PeerRequest]:
        """The server's requests that wait for a user, by the JSON text of their id."""
        return self.dealings.inbox

    @property
    def calls(self) -> dict[int, Call]:
        """The requests that run, by their id."""
        return self.dealings.calls

    # What users do

    async def ready(self) -> None:
        """Wait for the end of the handshake. Raises ``ConnectionFailed`` with what went wrong and
        what to do next, now and whenever it is asked on a connection that has failed."""
        await self._settled.wait()
        if self.state in OVER or not self._was_ready:
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
    ) -> Call:
        """Send a request and return at once. ``params`` is JSON text and sent as it is; ``timeout``
        is in seconds, ``None`` for the target's, ``math.inf`` for none."""
        call = Call(self, method, params)
        if self._transport is None and self.state not in OVER:
            call.finish(
                Outcome("lost", 0.0, why="The server has not been started yet; wait until it is ready.")
            )
            return call
        call.number, actions = self.conversation.request(
            method, params, time.monotonic(), timeout=timeout, progress=progress
        )
        self.dealings.calls[call.number] = call
        self._perform(actions)
        return call

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
            call.cancel()

    def cancel(self, number: int, reason: str | None = None) -> None:
        """Give a request up and tell the server."""
        self._perform(self.conversation.cancel(number, reason, time.monotonic()))

    def notify(self, method: str, params: str | None = None) -> None:
        """Send a notification; ``params`` is JSON text."""
        self._perform(self.conversation.notify(method, params))

    def send_raw(self, body: bytes) -> None:
        """Send any bytes as one line (as several, if they hold line ends)."""
        self._perform(self.conversation.send_raw(body))

    def answer(
        self, id_text: str, result: str | None = None, error: tuple[int, str, str | None] | None = None
    ) -> bool:
        """Answer a request of the inbox with the JSON text of a result, or an error (code, message,
        JSON text of data). False when it is not open any more."""
        actions = self.conversation.answer(id_text, result, error)
        self._perform(actions)
        self.dealings.answered(id_text, self._publisher.last_seq)
        return bool(actions)

    def set_roots(self, roots: Sequence[Root]) -> None:
        """Change what ``roots/list`` is answered with, and tell the server."""
        self.conversation.policy.roots = [_plain(root) for root in roots]
        if has_capability(self.conversation.capabilities, "roots.listChanged"):
            self.notify("notifications/roots/list_changed")

    async def list(self, method: str) -> list[dict[str, Any]]:
        """All items of a listing, page by page, with a guard against pages that lead nowhere.

        Raises ``ProtocolError`` for an error of the server, ``ConnectionFailed`` for no answer.
        """
        pages = Pages(LIST_METHODS[method])
        while pages.more:
            outcome = await self.request(method, pages.params)
            if outcome.how == "error":
                raise ProtocolError(f"{self.name}: {method} failed: {outcome.sentence}; see the frame log.")
            if outcome.how != "result":
                raise ConnectionFailed(f"{self.name}: {method} was not answered: {outcome.sentence}")
            pages.take(await parsed(outcome))
        return pages.items

    async def refresh(self, *, force: bool = False) -> None:
        """Read every list the server offers, or with ``force`` also those it does not. What fails
        is told in ``listings.failures`` and in the view, and stops no other list."""
        self.listings.want(method for method in LIST_METHODS if force or self.offers(method))
        await self.listings.settled()

    def offers(self, method: str) -> bool:
        """Whether the server said that it has a method."""
        gate = gate_of(method, self.conversation.revision)
        return not gate or has_capability(self.conversation.server_capabilities, gate)

    async def close(self) -> None:
        """End the connection and wait until its server is gone."""
        self._stopped.set()
        await self._finished.wait()

    async def reconnect(self) -> Connection:
        """Connect to the same target again: a new connection of the same name. This one is closed
        first and stays with its history."""
        await self.close()
        if self.successor is None:
            self.successor = self._owner.again(self)
        return self.successor

    # The life of it

    async def run(self) -> None:
        """Start the server, talk to it, end it. Never raises but for a cancellation."""
        try:
            await self._converse()
        except NotStarted as failure:
            self._perform(self.conversation.happened(Event.START))
            self._perform(self.conversation.happened(Event.START_FAILED, failure.why, failure.next_step))
        except Exception:
            _LOG.exception("connection %s", self.name)
            why = "The workbench itself failed on this connection."
            self._perform(self.conversation.lost(why, time.monotonic(), "See the log file; connect again."))
        finally:
            self._end()

    async def _converse(self) -> None:
        conversation = self.conversation
        async with open_stdio(self.target, self._tap, self._received) as transport:
            self._transport = transport
            self._perform(conversation.start(time.monotonic()))
            async with anyio.create_task_group() as group:
                self.listings.attend(group)
                group.start_soon(self._time.run)
                await _first(transport.over, self._stopped)
                group.cancel_scope.cancel()
            if not transport.over.is_set():
                self._perform(conversation.closing())
            elif self.state not in OVER:
                self._lose()
        if transport.forced:
            view = self.view
            self._perform(conversation.happened(Event.FORCED, view.why, view.next_step))

    def _lose(self) -> None:
        """The server went by itself, or closed its stdout; the fold knows the words for an exit."""
        view = self.view
        gone = view.state in OVER
        why = view.why if gone else "The server closed its stdout, so nothing more can come from it."
        step = view.next_step if gone else "Read its stderr, then connect again."
        self._perform(self.conversation.lost(why, time.monotonic(), step))

    def _end(self) -> None:
        """What is true of every connection that is over."""
        if self.state not in OVER:
            self._perform(self.conversation.closing())
        self._perform(self.conversation.lost("The connection was closed.", time.monotonic()))
        self._transport = None
        self.listings.stop()
        for id_text in list(self.inbox):
            self.dealings.answered(id_text, self._publisher.last_seq)
        view = self.view
        facts = {"closed_ns": time.time_ns(), "closed_how": str(view.state), "exit_code": view.exit_code}
        self._owner.describe(self, facts)
        self._publisher.publish()
        self._owner.changed("connection", self, self._publisher.last_seq)
        self._settled.set()
        self._finished.set()

    # What the conversation decides

    def _received(self, seq: int, decoded: Decoded) -> None:
        self._perform(self.conversation.receive(decoded, seq, time.monotonic()))

    def _on_time(self) -> None:
        self._perform(self.conversation.tick(time.monotonic()))

    def _perform(self, actions: Sequence[Action]) -> None:
        for action in actions:
            if isinstance(action, Send):
                self._send(action)
            elif isinstance(action, StateChanged):
                self._on_state(action)
            elif isinstance(action, Notified):
                self._on_notified(action)
            else:
                self.dealings.take(action)
        if actions:
            self._time.moved()

    def _send(self, action: Send) -> None:
        if self._transport is not None:
            self.dealings.sent(action, self._transport.send(action.body))

    def _on_notified(self, action: Notified) -> None:
        changed = CHANGED_LISTS.get(action.method, ())
        if changed and self.listing:
            self.listings.want((method for method in changed if self.offers(method)), changed=True)

    def _on_state(self, action: StateChanged) -> None:
        if action.state is State.READY:
            self._on_ready()
        elif action.state in FAILED:
            view = self.view
            # A frame tells what no other frame tells: an exit or a signal speaks for itself.
            if view.state is not action.state or view.next_step != action.next:
                self._tap.process("failed", state=str(action.state), why=action.why, next=action.next)
            self._stopped.set()
            self._settled.set()
        self._publisher.publish()

    def _on_ready(self) -> None:
        self._was_ready = True
        self._owner.describe(self, _agreed(self.conversation))
        level = self.target.log_level
        if level is not None and self.offers("logging/setLevel"):
            self.call("logging/setLevel", dumps({"level": level}))
        if self.listing:
            self.listings.want(method for method in LIST_METHODS if self.offers(method))
        self._settled.set()

    def _tell(self, seq: int) -> None:
        self._owner.changed("connection", self, seq)


async def parsed(outcome: Outcome) -> Any:
    """The result of an outcome; a large one is parsed in a thread, so that no connection waits."""
    if outcome.large:
        return await anyio.to_thread.run_sync(lambda: outcome.result)
    return outcome.result


def _agreed(conversation: Conversation) -> dict[str, Any]:
    """What a recording says of a connection whose handshake is done; objects as JSON text."""
    return {
        "era": "handshake",
        "era_found": "offered",
        "revision": conversation.revision,
        "client_info": dumps(conversation.client_info),
        "server_info": dumps(conversation.server_info),
        "client_capabilities": dumps(conversation.capabilities),
        "server_capabilities": dumps(conversation.server_capabilities),
    }


def _plain(root: Root) -> dict[str, Any]:
    return root.model_dump(exclude_none=True)


async def _first(*events: anyio.Event) -> None:
    """Wait for any of these."""

    async def wait(event: anyio.Event) -> None:
        await event.wait()
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for event in events:
            group.start_soon(wait, event)
