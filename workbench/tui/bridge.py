"""The live desk: the session's thread on one side, the screen on the other.

The session is opened after the first paint, in a thread, because what it is made
of takes longer to load than the screen. It is closed by whoever runs the screen,
after it, whatever became of it. Nothing here waits for the session: work goes in
with ``call_soon``, and changes come out as one merged message.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.core.jsonrpc import dumps
from workbench.errors import WorkbenchError
from workbench.tui.desk import Desk, Diagnosis, Inquiry, Opening, Post, Prepared, Sign
from workbench.tui.runs import Run

if TYPE_CHECKING:
    from workbench.check.rule import Finding
    from workbench.config import Settings, Target
    from workbench.config.looking import Look
    from workbench.config.servers import FileServers
    from workbench.core.actions import Outcome, PeerRequest
    from workbench.core.rules import Rule
    from workbench.core.view import ConnectionView
    from workbench.session import Change, SessionThread
    from workbench.tui.raw import RawFrame
    from workbench.wire.connection import Connection


_ROOTS = "roots/list"


class LiveDesk(Desk):
    """A session on targets."""

    live = True

    def __init__(
        self,
        targets: Sequence[Target] | Callable[[], Sequence[Target]],
        *,
        record: bool = True,
        path: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        super().__init__()
        #: What to connect to, or what reads it when the first paint is done.
        self._wanted = targets
        #: What was typed before the session had begun.
        self._typed: list[Target] = []
        self._options: dict[str, Any] = {"record": record, "path": path}
        self._settings = settings
        self._thread: SessionThread | None = None
        self._opening: threading.Thread | None = None
        self._height = 0
        self._trouble = ""
        self._begun = False
        self._beginning = threading.Lock()
        #: The servers' requests as they were when they came.
        self._inquiries: dict[tuple[int, int, str], Inquiry] = {}
        self._diagnoses: dict[int, Diagnosis] = {}
        self._raw_count = 0
        #: Whether a thread looks for answers to raw frames now.
        self._seeking = False
        self.failed = ""

    def start(self, post: Post) -> None:
        super().start(post)
        self._opening = threading.Thread(target=self._open, name="opening", daemon=True)
        self._opening.start()

    def close(self, how: str = "closed") -> None:
        if self._opening is not None:
            self._opening.join()
        if self._thread is not None:
            self._thread.stop(how)

    def _open(self) -> None:
        try:
            targets = self._wanted() if callable(self._wanted) else self._wanted
            from workbench.session import SessionThread
            from workbench.session.live import ANSWERABLE

            redact = self._settings.redact if self._settings is not None else True
            self._thread = SessionThread.start(held=ANSWERABLE, redact=redact, **self._options)
        except Exception as error:
            self.failed = str(error) or type(error).__name__
            self.say(f"The session cannot be opened: {self.failed}", bad=True)
            self.changed()
            return
        self.reader = self._thread.session.reader
        self._thread.call_soon(self._begin, targets)

    def _begin(self, targets: Sequence[Target]) -> None:
        """In the session's thread, as everything below that begins with ``_do``."""
        assert self._thread is not None
        self._thread.session.listen(self._heard)
        with self._beginning:
            for target in (*targets, *self._typed):
                self._thread.session.connect(target)
            self._begun = True
        self.changed()

    def _heard(self, change: Change) -> None:
        if change.what == "frames":
            self._height = change.seq
        elif change.what == "trouble":
            assert self._thread is not None
            self._trouble = self._thread.session.troubles[-1]
            self.say(self._trouble, bad=True)
        self.changed()

    # What there is.

    @property
    def opening(self) -> str:
        waits = bool(self._wanted or self._typed) and not self.failed and not self._begun
        return "opening the session" if waits else ""

    def _connections(self) -> list[Connection]:
        if self._thread is None:
            return []
        return self._thread.session.current

    def _connection(self, number: int) -> Connection | None:
        return None if self._thread is None else self._thread.session.connections.get(number)

    @property
    def views(self) -> Sequence[ConnectionView]:
        return [connection.view for connection in self._connections()]

    def findings(self, seq: int) -> Sequence[Finding]:
        return () if self._thread is None else self._thread.session.findings_of(seq)

    @property
    def height(self) -> int:
        return self._height

    @property
    def sign(self) -> Sign:
        if self._trouble:
            return Sign("REC TROUBLE", "failed", self._height)
        if not self._options["record"]:
            return Sign("NOT RECORDING", "waiting", self._height)
        if self.failed:
            return Sign("NOT RECORDING", "failed")
        return Sign("REC", "text", self._height)

    @property
    def source(self) -> tuple[str, int | None] | None:
        path = self._thread.session.path if self._thread is not None else None
        return None if path is None else (path, None)

    @property
    def inbox(self) -> Sequence[Inquiry]:
        before, self._inquiries = self._inquiries, {}
        for connection in self._connections():
            for id, asked in list(connection.inbox.items()):
                key = (connection.number, asked.seq, id)
                self._inquiries[key] = before.get(key) or self._inquiry(connection, id, asked)
        return sorted(self._inquiries.values(), key=lambda inquiry: inquiry.seq)

    def _inquiry(self, connection: Connection, id: str, asked: PeerRequest) -> Inquiry:
        conversation = connection.conversation
        return Inquiry(
            connection.number,
            id,
            asked.seq,
            asked.method,
            asked.params,
            time.monotonic(),
            tuple(connection.during(id)),
            dumps({"roots": conversation.policy.roots}),
            conversation.era,
        )

    def gone(self, inquiry: Inquiry) -> str:
        from workbench.core.lifecycle import OVER

        connection = self._connection(inquiry.connection)
        if connection is None or connection.state in OVER:
            return "The connection ended before it was answered."
        withdrawn = connection.dealings.withdrawn
        if inquiry.id not in withdrawn:
            return "It has been answered already."
        reason = withdrawn[inquiry.id]
        return f"The server took it back: {reason}" if reason else "The server took it back."

    @property
    def rules(self) -> Sequence[tuple[int, Rule]]:
        return [(each.number, rule) for each in self._connections() for rule in each.target.rules]

    @property
    def openings(self) -> Sequence[Opening]:
        found: list[Opening] = []
        for connection in self._connections():
            links = connection.dealings.links
            found += [Opening(connection.number, link, True) for link in list(links.done)]
            found += [Opening(connection.number, link, False) for link in links]
        return found

    def roots(self, number: int) -> Sequence[str]:
        connection = self._connection(number)
        roots = connection.conversation.policy.roots if connection is not None else ()
        return [str(root.get("uri", "")) for root in roots]

    @property
    def holds_roots(self) -> bool:
        return self._thread is not None and _ROOTS in self._thread.session.held

    def diagnosis(self, number: int) -> Diagnosis | None:
        return self._diagnoses.get(number)

    # What can be done.

    def found(self) -> Sequence[tuple[FileServers, Sequence[Look]]]:
        from workbench.config.looking import look
        from workbench.config.servers import found_servers

        files = found_servers((), self._settings.config if self._settings is not None else ())
        return [(file, [look(entry) for entry in file.entries]) for file in files]

    def places(self) -> Sequence[tuple[str, str]]:
        from workbench.config.files import OWN, PROJECT, server_files, short

        files = server_files((), self._settings.config if self._settings is not None else ())
        # A project's files are looked for in every folder upwards; those of this one tell enough.
        return [(short(file.path), file.owner) for file in files if not PROJECT < file.tier < OWN]

    def prepare(self, line: str, inputs: Mapping[str, str] | None = None) -> Prepared:
        from workbench.config import parse_line
        from workbench.config.consent import unagreed
        from workbench.config.inputs import InputsNeeded

        if self.failed:
            return Prepared(f"The session cannot be opened: {self.failed}")
        try:
            targets = parse_line(line, self._settings, inputs)
        except InputsNeeded as needed:
            faults = any(wanted.fault for wanted in needed.inputs)
            return Prepared(f"{needed}") if faults else Prepared(inputs=needed.inputs)
        except WorkbenchError as error:
            return Prepared(f"{error}")
        return Prepared(targets=targets, unagreed=unagreed(targets))

    def open(self, targets: Sequence[Target], *, remember: bool = False) -> str:
        if remember:
            from workbench.config.consent import agree

            try:
                agree(targets)
            except WorkbenchError as error:
                return f"{error}"
        with self._beginning:
            if not self._begun:
                # The session begins with it.
                self._typed += targets
                self.changed()
                return ""
        assert self._thread is not None
        for target in targets:
            self._thread.call_soon(self._do_connect, target)
        return ""

    def _do_connect(self, target: Target) -> None:
        assert self._thread is not None
        self._thread.session.connect(target)
        self.changed()

    def reconnect(self, number: int) -> None:
        connection = self._connection(number)
        if self._thread is not None and connection is not None:
            self._thread.submit(self._do_reconnect, connection)

    async def _do_reconnect(self, connection: Connection) -> None:
        await connection.reconnect()
        self.changed()

    def disconnect(self, number: int) -> None:
        connection = self._connection(number)
        if self._thread is not None and connection is not None:
            self._thread.submit(connection.close)

    def call(self, number: int, item: str, method: str, params: str) -> Run | None:
        connection = self._connection(number)
        if self._thread is None or connection is None:
            return None
        run = self.runs.new(number, item, method, params)
        self._thread.call_soon(self._do_call, connection, run)
        return run

    def _do_call(self, connection: Connection, run: Run) -> None:
        run.call = connection.call(run.method, run.params)
        self.changed()

    def send_raw(self, number: int, body: bytes) -> RawFrame | None:
        from workbench.tui.raw import RawFrame, read

        connection = self._connection(number)
        if self._thread is None or connection is None:
            return None
        self._raw_count += 1
        reading = read(body, lines=connection.target.transport == "stdio")
        timeout = connection.target.timeouts.request
        raw = RawFrame(str(self._raw_count), number, body, reading, timeout)
        self.raw.append(raw)
        self._thread.call_soon(self._do_raw, connection, raw)
        return raw

    def _do_raw(self, connection: Connection, raw: RawFrame) -> None:
        from workbench.core.actions import Outcome

        raw.seq = connection.send_raw(raw.body)
        if not raw.seq:
            raw.ended = Outcome("lost", 0.0, why="There is no connection to send it on; connect again.")
        self.changed()

    def looked(self) -> None:
        super().looked()
        waiting = [raw for raw in self.raw if raw.seq and raw.waiting]
        if waiting and not self._seeking:
            self._seeking = True
            threading.Thread(target=self._seek, args=(waiting,), name="raw", daemon=True).start()

    def _seek(self, waiting: Sequence[RawFrame]) -> None:
        """Look for the answers to frames written by hand, which no conversation waits for."""
        try:
            for raw in waiting:
                raw.ended = self._answer_to(raw)
            if any(raw.ended is not None for raw in waiting):
                self.changed()
        finally:
            self._seeking = False

    def _answer_to(self, raw: RawFrame) -> Outcome | None:
        from workbench.core.actions import Outcome
        from workbench.core.frame import Kind
        from workbench.core.jsonrpc import decode
        from workbench.core.lifecycle import OVER

        assert self.reader is not None
        connection = self._connection(raw.connection)
        over = connection is None or connection.state in OVER
        seq = self.reader.pair(raw.seq)
        if seq is None:
            why = "The connection ended before an answer came."
            return Outcome("lost", time.monotonic() - raw.began, why=why) if over else None
        asked, answer = self.reader.frame(raw.seq), self.reader.frame(seq)
        how = "result" if answer.kind is Kind.RESULT else "error"
        messages = decode(answer.body).messages
        took = (answer.mono_ns - asked.mono_ns) / 1e9
        return Outcome(how, took, messages[0] if messages else None, seq)

    def cancel(self, run: Run) -> None:
        if self._thread is not None and run.call is not None:
            self._thread.call_soon(run.call.cancel)

    def answer(self, inquiry: Inquiry, result: str | None, error: tuple[int, str] | None = None) -> None:
        connection = self._connection(inquiry.connection)
        if self._thread is not None and connection is not None:
            whole = None if error is None else (*error, None)
            self._thread.call_soon(connection.answer, inquiry.id, result, whole)

    def refresh(self, number: int) -> None:
        connection = self._connection(number)
        if self._thread is not None and connection is not None:
            self._thread.submit(connection.refresh)

    def add_rule(self, inquiry: Inquiry, rule: Rule) -> None:
        connection = self._connection(inquiry.connection)
        if self._thread is not None and connection is not None:
            self._thread.call_soon(self._do_rule, connection.add_rule, rule)

    def remove_rule(self, number: int, rule: Rule) -> None:
        connection = self._connection(number)
        if self._thread is not None and connection is not None:
            self._thread.call_soon(self._do_rule, connection.remove_rule, rule)

    def _do_rule(self, do: Callable[[Rule], None], rule: Rule) -> None:
        do(rule)
        self.changed()

    def set_roots(self, number: int, texts: Sequence[str]) -> str:
        from workbench.config.targets import root_of

        connection = self._connection(number)
        if self._thread is None or connection is None:
            return "There is no connection."
        try:
            roots = [root_of(text) for text in texts]
        except (ValueError, RuntimeError, OSError) as error:
            return f"That is no folder and no URI ({error})."
        self._thread.call_soon(connection.set_roots, roots)
        return ""

    def hold_roots(self, on: bool) -> None:
        if self._thread is not None:
            self._thread.call_soon(self._thread.session.hold, _ROOTS, on)

    def command_line(self, number: int, method: str, params: str) -> str:
        from workbench.config.command_line import request_line

        connection = self._connection(number)
        return "" if connection is None else request_line(connection.target, method, params)

    def diagnose(self, number: int) -> None:
        connection = self._connection(number)
        before = self._diagnoses.get(number)
        if self._thread is None or connection is None or (before is not None and not before.over):
            return
        self._diagnoses[number] = Diagnosis()
        self.changed()
        self._thread.submit(self._do_diagnose, connection)

    async def _do_diagnose(self, connection: Connection) -> None:
        from workbench.session.doctor import walk

        number = connection.number
        try:
            async for step in walk(connection.target):
                self._diagnoses[number] = Diagnosis((*self._diagnoses[number].steps, step))
                self.changed()
        finally:
            self._diagnoses[number] = self._diagnoses[number]._replace(over=True)
            self.changed()
