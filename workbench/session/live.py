"""A live session: any number of connections, one recorder, one reader.

The session belongs to one event loop. It is a context manager, and leaving it,
however it is left, ends every server and then the recording, which says how it
ended.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus

from workbench.check.noted import Noted
from workbench.check.rule import Finding
from workbench.config import Target, display, secrets_of, target_name, unique_name
from workbench.core.frame import Clock
from workbench.core.rules import Rule
from workbench.session.announcing import Announcer, Listener
from workbench.store.reader import Reader
from workbench.store.recorder import PRODUCT, SYSTEM, Recorder
from workbench.wire.connection import Connection
from workbench.wire.eras import Verdicts
from workbench.wire.oauth_logins import Logins
from workbench.wire.turns import Turns

#: What closing takes beyond the servers' own shutdown timeouts, at most (seconds).
CLOSING = 8.0

#: Frames whose findings are kept of connections that others have taken the place of.
PAST = 1000

#: What a person can answer: hold these for the inbox when there is somebody to answer.
ANSWERABLE = ("sampling/createMessage", "elicitation/create")


class Session:
    """Made by ``Session.open``. ``connections`` are those by number that no other one has taken the
    place of, the ended ones too; what was before is in the recording.

    ``held`` are the methods of servers' requests that wait in an inbox; all others are answered
    or declined at once. ``troubles`` are sentences of the recorder that users must see.
    ``ended_how`` is what the recording will say of its end.
    """

    def __init__(
        self, recorder: Recorder, reader: Reader, announcer: Announcer, held: Collection[str]
    ) -> None:
        self.recorder = recorder
        self.reader = reader
        self.held = frozenset(held)
        self.connections: dict[int, Connection] = {}
        self.troubles: list[str] = []
        self.ended_how = "closed"
        self._announcer = announcer
        self._rules: tuple[Rule, ...] = ()
        self._verdicts: Verdicts = {}
        self._turns = Turns()
        self._logins = Logins()
        self._past = Noted(PAST)
        self._group: TaskGroup | None = None
        self._signal = 0

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        *,
        record: bool = True,
        path: str | None = None,
        name: str = "",
        origin: str = "screen",
        redact: bool = True,
        held: Collection[str] = (),
        clock: Clock = SYSTEM,
        logins: Logins | None = None,
    ) -> AsyncIterator[Session]:
        """Open a session. It is recorded to ``path``, without one to a new file of the user's
        store; with ``record=False`` to memory only. ``logins`` is how servers' tokens are come by; without
        it those that the user keeps are used, and nobody is asked. Raises ``RecordingError``.

        In the main thread SIGTERM and SIGHUP end the session in good order and then the program
        (``SystemExit``).
        """
        session = cls._make(record, path, name, origin, redact, held, clock)
        session._logins = logins or Logins()
        failure: Exception | None = None
        try:
            async with anyio.create_task_group() as group:
                session._group = group
                if threading.current_thread() is threading.main_thread():
                    await group.start(session._heed_signals)
                try:
                    yield session
                except Exception as error:
                    # Raised again outside of the task group, which would wrap it.
                    failure = error
                except BaseException:
                    session._ending("interrupted")
                    raise
                finally:
                    with anyio.CancelScope(shield=True):
                        await session.close_connections()
                    group.cancel_scope.cancel()
        finally:
            # A file that somebody reads cannot be put at rest, so the reader goes first.
            session.reader.close()
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(session.recorder.close, session.ended_how)
        if session._signal:
            raise SystemExit(128 + session._signal)
        if failure is not None:
            raise failure

    @classmethod
    def _make(
        cls,
        record: bool,
        path: str | None,
        name: str,
        origin: str,
        redact: bool,
        held: Collection[str],
        clock: Clock,
    ) -> Session:
        announcer = Announcer()
        made: list[Session] = []

        def trouble(sentence: str) -> None:
            announcer.soon(lambda: made[0]._on_trouble(sentence))

        recorder = Recorder(
            (path or _new_path(name)) if record else None,
            name=name,
            origin=origin,
            redact=redact,
            clock=clock,
            on_commit=announcer.committed,
            on_trouble=trouble,
        )
        try:
            reader = Reader.attach(recorder.uri)
        except BaseException:
            recorder.close("failed")
            raise
        made.append(cls(recorder, reader, announcer, held))
        return made[0]

    @property
    def path(self) -> str | None:
        """The recording's file, ``None`` when nothing is kept."""
        return self.recorder.path

    @property
    def current(self) -> list[Connection]:
        """The connections, in order."""
        return list(self.connections.values())

    def add_rule(self, rule: Rule) -> None:
        """Let a rule answer on every connection, those to come too, after the rules of its own."""
        self._rules = (*self._rules, rule)
        for connection in self.current:
            connection.add_rule(rule, last=True)

    def hold(self, method: str, on: bool = True) -> None:
        """Have a method's requests wait for a user from now on, or no longer, on every connection."""
        self.held = self.held | {method} if on else self.held - {method}
        for connection in self.current:
            connection.hold(self.held)

    def findings_of(self, seq: int) -> Sequence[Finding]:
        """What the checks have found on one frame, if that is not too long ago; from any thread."""
        for connection in list(self.connections.values()):
            if found := connection.findings_of(seq):
                return found
        return self._past.of(seq)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call this with every ``Change`` from now on, in the session's loop; it must not block.
        Returns what ends that."""
        return self._announcer.listen(listener)

    def connect(self, target: Target, *, listing: bool = True) -> Connection:
        """Begin a connection; returns at once. ``await connection.ready()`` waits for its handshake.

        With ``listing`` the server's lists are read when it is ready and when they change.
        """
        name = target.name or target_name(target)
        taken = [connection.name for connection in self.current]
        if self._rules:
            target = target.model_copy(update={"rules": (*target.rules, *self._rules)})
        return self._begin(target, unique_name(name, taken), listing, None)

    async def close_connections(self) -> None:
        """End all connections at once and wait until their servers are gone, within a bound."""
        slowest = max((item.target.timeouts.shutdown for item in self.connections.values()), default=0.0)
        with anyio.move_on_after(3 * slowest + CLOSING):
            async with anyio.create_task_group() as group:
                for connection in self.connections.values():
                    group.start_soon(connection.close)

    # What connections ask of their owner

    def changed(self, what: str, connection: Connection, seq: int) -> None:
        self._announcer.changed(what, connection.number, seq)

    def describe(self, connection: Connection, facts: dict[str, Any]) -> None:
        self.recorder.describe(connection.number, **facts)

    def again(self, connection: Connection) -> Connection:
        successor = self._begin(connection.target, connection.name, connection.listing, connection.number)
        # Nothing of it goes on, and what there is to tell of it stands in the recording.
        self._past.add(connection.findings)
        self.connections.pop(connection.number, None)
        return successor

    def _begin(self, target: Target, name: str, listing: bool, parent: int | None) -> Connection:
        if self._group is None:
            raise RuntimeError("the session is not open")
        number = self.recorder.connect(
            name, target.transport, display(target), secrets=secrets_of(target), parent=parent
        )
        connection = Connection(
            target,
            self.recorder,
            self,
            number=number,
            name=name,
            client_info=_client_info(),
            held=self.held,
            listing=listing,
            verdicts=self._verdicts,
            turns=self._turns,
            logins=self._logins,
        )
        self.connections[number] = connection
        self._group.start_soon(connection.run, name=f"connection {name}")
        return connection

    # How it ends

    def _ending(self, how: str) -> None:
        if self.ended_how == "closed":
            self.ended_how = how

    async def _heed_signals(self, *, task_status: TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP) as received:
            task_status.started()
            async for number in received:
                self._signal = int(number)
                self._ending(signal.Signals(number).name)
                assert self._group is not None
                self._group.cancel_scope.cancel()

    def _on_trouble(self, sentence: str) -> None:
        self.troubles.append(sentence)
        self._announcer.changed("trouble", None, self._announcer.last_seq)


def _client_info() -> dict[str, Any]:
    name, _, version = PRODUCT.partition(" ")
    return {"name": name, "version": version}


def _new_path(name: str) -> str:
    from workbench.store.library import new_path

    return os.fspath(new_path(name))
