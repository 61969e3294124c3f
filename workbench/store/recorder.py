"""The only writer of a recording, in a thread of its own.

Handing a unit over is a lock and an append (``backlog``): it never blocks and
never refuses. The thread splits streams into lines, finds out what each frame
is, redacts a copy, pairs answers with requests (``rows``) and writes everything
in transactions (``writer``): soon after the oldest unwritten frame came, or when
a megabyte is waiting. ``synchronous=FULL`` costs nothing measurable with
batches, and keeps every committed frame through a power loss.

What has been committed is told with ``on_commit(last_seq)``, from this thread, so
that whoever reads never looks for what is not there yet.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from workbench.config.redaction import own_redactor
from workbench.core.frame import Channel, Clock, Direction, Stream, Unit
from workbench.core.jsonrpc import dumps
from workbench.core.redact import Redactor
from workbench.store.backlog import BACKLOG_BYTES, COMMIT_BYTES, LINGER, Backlog, Finding, Statement
from workbench.store.files import begin_writing, create_database, end_writing, file_uri
from workbench.store.heads import Heads
from workbench.store.rows import RowMaker, plain
from workbench.store.tickets import Tickets
from workbench.store.writer import ADD_FINDING, Writer, portions

__all__ = ["BACKLOG_BYTES", "COMMIT_BYTES", "LINGER", "PRODUCT", "SYSTEM", "Recorder", "SystemClock"]

PRODUCT = "mcp-workbench 0.1.0"

#: What ``describe`` takes.
FACTS = frozenset(
    (
        "era",
        "era_found",
        "revision",
        "client_info",
        "server_info",
        "client_capabilities",
        "server_capabilities",
        "closed_ns",
        "closed_how",
        "exit_code",
    )
)


class SystemClock:
    """The machine's own clocks."""

    def wall_ns(self) -> int:
        return time.time_ns()

    def mono_ns(self) -> int:
        return time.monotonic_ns()


SYSTEM = SystemClock()
_memory_names = iter(range(1, 1 << 62))


class Recorder(Backlog):
    """Records one session into a new file, or into memory when ``path`` is ``None``.

    ``uri`` is what ``Reader.attach`` takes to read it while it grows. Secrets are replaced in what
    is stored (``redactor``, one of its own if not given); ``redact=False`` switches that off, which
    is the user's explicit choice. ``last_seq`` is the last committed frame.

    When the disk refuses, recording goes on: frames are dropped and counted, ``on_trouble`` is told
    a sentence once, and a note in the recording says how many are missing as soon as it can.

    A recording in memory drops nothing, so it is bounded by the machine's memory only; it is gone
    when it is closed and its last reader is. Raises ``RecordingError`` if the file cannot be made.
    """

    def __init__(
        self,
        path: str | None,
        *,
        name: str = "",
        origin: str = "screen",
        group: str | None = None,
        redactor: Redactor | None = None,
        redact: bool = True,
        on_commit: Callable[[int], None] | None = None,
        on_trouble: Callable[[str], None] | None = None,
        clock: Clock = SYSTEM,
    ) -> None:
        super().__init__()
        self.path = path
        self.uri = _memory_uri() if path is None else file_uri(path)
        self.redactor = redactor or (own_redactor() if redact else None)
        self.last_seq = 0
        self._clock = clock
        self._on_commit = on_commit
        self._connections = 0
        self._streams = 0
        self._tickets_written = Tickets()
        self._heads = Heads(self.redactor)
        self._ended_how = "closed"
        db = create_database(path, self.uri)
        wall, mono = clock.wall_ns(), clock.mono_ns()
        db.execute(
            'INSERT INTO session (number, base, name, "group", started_ns, mono_ns, product, origin) '
            "VALUES (1,0,?,?,?,?,?,?)",
            (plain(name), group, wall, mono, PRODUCT, origin),
        )
        db.execute("COMMIT")
        if path is not None:
            begin_writing(path)
        rows = RowMaker(base=0, wall_ns=wall, mono_ns=mono, redactor=self.redactor)
        self._writer = Writer(db, rows, clock, on_trouble)
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    @property
    def lost(self) -> int:
        """How many frames the disk has not taken."""
        return self._writer.lost

    @property
    def trouble(self) -> str:
        """The sentence about the disk, empty while it takes what it is given."""
        return self._writer.trouble

    def connect(
        self,
        name: str,
        transport: str,
        target: str,
        *,
        secrets: Mapping[str, str] | None = None,
        parent: int | None = None,
    ) -> int:
        """Open a connection; returns its number, from 1. ``secrets`` are values given for this
        target by name (variables, auth-like arguments), which the redactor looks out for."""
        if self.redactor is not None:
            for secret, value in (secrets or {}).items():
                self.redactor.add_secret(secret, value)
        with self._lock:
            self._connections = number = self._connections + 1
        self._change(
            "INSERT INTO connection (session, number, name, transport, target, opened_ns, parent) "
            "VALUES (1,?,?,?,?,?,?)",
            number,
            self._shown(name),
            transport,
            self._shown(target),
            self._clock.wall_ns(),
            parent,
        )
        return number

    def describe(self, connection: int, **facts: Any) -> None:
        """Write down facts of a connection (``FACTS``): text or JSON text, redacted; ``closed_ns``
        and ``exit_code`` are integers. ``None`` takes a fact back. Raises ``ValueError`` for others."""
        unknown = facts.keys() - FACTS
        if unknown:
            raise ValueError(f"no such facts of a connection: {', '.join(sorted(unknown))}")
        if facts:
            names = ", ".join(f"{name}=?" for name in facts)
            values = [self._shown(value) if isinstance(value, str) else value for value in facts.values()]
            self._change(f"UPDATE connection SET {names} WHERE session=1 AND number=?", *values, connection)

    def new_stream(self) -> int:
        """A number for an HTTP stream, from 1."""
        with self._lock:
            self._streams += 1
            return self._streams

    def stream(self, stream: Stream) -> None:
        """Write down an HTTP stream as it stands now, in place of how it stood before. Secrets are
        taken out where it is written, as with frames."""
        with self._lock:
            self._streams = max(self._streams, stream.number)
        self._later(stream)

    def note(self, event: Mapping[str, Any], connection: int = 0) -> int:
        """Put a note frame (channel ``note``), whose body is the event as JSON."""
        body = dumps(dict(event)).encode()
        wall, mono = self._clock.wall_ns(), self._clock.mono_ns()
        return self.put(Unit(connection, Direction.NONE, Channel.NOTE, body, wall, mono))

    def seq_of(self, ticket: int) -> int | None:
        """The seq of the frame a ticket became (of a lost one, the seq before it; of a piece of a
        stream, one that surely holds it); ``None`` while it is not committed."""
        with self._lock:
            return self._tickets_written.seq_of(ticket)

    def flush(self, timeout: float = 5.0) -> int:
        """Wait until all that was handed over so far is committed; returns the last seq."""
        self._wait_written(timeout)
        return self.last_seq

    def close(self, ended_how: str = "closed") -> None:
        """Write what is left, say how the session ended, and leave one plain file. Idempotent; the
        first call says how it ended."""
        with self._lock:
            if not self._closing:
                self._closing = True
                self._ended_how = ended_how
        self._nudge()
        self._thread.join()

    def _change(self, sql: str, *values: Any) -> None:
        self._later(Statement(sql, values))

    def _shown(self, text: str) -> str:
        return plain(self.redactor.text(text) if self.redactor is not None else text)

    # The recorder's thread

    def _run(self) -> None:
        while (taken := self._take()) is not None:
            # Streams come first: what is found secret in a head is looked for in the bodies too.
            statements = self._statements_of(taken.statements)
            findings, asked = taken.findings, len(taken.statements)
            for units, weight in portions(taken.units):
                first = self._tickets_written.next
                # Each is written with its frame, or after it.
                here = [finding for finding in findings if finding.ticket < first + len(units)]
                findings = [finding for finding in findings if finding.ticket >= first + len(units)]
                self._committed(len(units), self._write(units, statements, here))
                self._settle(len(units), weight, asked)
                statements, asked = [], 0
                self._tell()
            if statements or findings:
                self._write((), statements, findings)
                self._settle(0, 0, asked)
                if findings:
                    self._tell()
        self._writer.finish(self._ended_how)
        self._committed(0, (0, self._writer.rows.key))
        self._tell()
        if self.path is not None:
            end_writing(self.path)

    def _statements_of(self, changes: Sequence[Statement | Stream]) -> list[Statement]:
        """What is to be written; of a stream that was handed over several times, only the last state."""
        last = {change.number: change for change in changes if isinstance(change, Stream)}
        return [change for change in changes if isinstance(change, Statement)] + [
            self._heads.statement(stream) for stream in last.values()
        ]

    def _write(
        self, units: Sequence[Unit], statements: Iterable[Statement], findings: Iterable[Finding]
    ) -> tuple[int, int]:
        """One transaction; the keys of its frames, as ``Writer.write`` gives them."""
        first = self._tickets_written.next

        def about(first_key: int, whole: bool) -> Iterator[Statement]:
            for finding in findings:
                key = self._tickets_written.frame_of(finding.ticket)
                if key is None and whole and first <= finding.ticket < first + len(units):
                    key = first_key + finding.ticket - first
                if key is not None:
                    yield Statement(ADD_FINDING, (key, *finding[1:], key))

        return self._writer.write(units, statements, about)

    def _committed(self, units: int, keys: tuple[int, int]) -> None:
        with self._lock:
            self._tickets_written.written(units, *keys)
            self.last_seq = keys[1]

    def _tell(self) -> None:
        if self._on_commit is not None:
            try:
                self._on_commit(self.last_seq)
            except Exception:
                # A listener that is gone (its loop is closed) must not cost a single frame.
                self._on_commit = None


def _memory_uri() -> str:
    return f"file:workbench-{os.getpid()}-{next(_memory_names)}?mode=memory&cache=shared"
