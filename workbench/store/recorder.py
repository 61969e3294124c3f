"""The only writer of a recording, in a thread of its own.

Handing a unit over is a lock and an append: it never blocks, never refuses and
wakes the thread only when that sleeps. The thread splits streams into lines,
finds out what each frame is, redacts a copy, pairs answers with requests and
writes everything in transactions: when ``LINGER`` has passed since the oldest
unwritten frame, or at ``COMMIT_BYTES``. ``synchronous=FULL`` costs nothing
measurable with batches, and keeps every committed frame through a power loss.

A frame that has been committed is told with ``on_commit(last_seq)``, from this
thread, so that whoever reads never looks for what is not there yet.

When the disk refuses, frames are dropped and counted, ``on_trouble`` is told
once, and as soon as there is space again a note says how many are missing.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from workbench.core.frame import Channel, Clock, Direction, Unit
from workbench.core.jsonrpc import dumps
from workbench.core.redact import Redactor
from workbench.errors import RecordingError
from workbench.store import schema
from workbench.store.rows import Batch, RowMaker

#: How long the oldest unwritten frame may wait for company, in seconds.
LINGER = 0.025

#: A transaction is committed at this many bytes, and a burst is cut into such transactions.
COMMIT_BYTES = 1 << 20

#: Bytes handed over and not yet committed above which transports are asked to read no more.
BACKLOG_BYTES = 64 << 20

#: What a unit weighs beside its data (bytes), so that a flood of empty lines is bounded too.
UNIT_BYTES = 100

PRODUCT = "mcp-workbench 0.1.0"


class SystemClock:
    """The machine's own clocks."""

    def wall_ns(self) -> int:
        return time.time_ns()

    def mono_ns(self) -> int:
        return time.monotonic_ns()


SYSTEM = SystemClock()
_memory_names = iter(range(1, 1 << 62))


class Recorder:
    """Records one session into a new file, or into memory when ``path`` is ``None``.

    ``uri`` is what ``Reader.attach`` takes to read it while it grows. ``redactor`` replaces
    secrets in what is stored; ``None`` switches redaction off, which is the user's explicit
    choice. A recording in memory is bounded by the machine's memory only and is gone after
    ``close``. Raises ``RecordingError`` if the file cannot be made.
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
        self.path = path
        self.uri = _uri(path)
        self.redactor = redactor or (Redactor() if redact else None)
        self.last_seq = 0
        self.lost = 0
        self.trouble = ""
        self._clock = clock
        self._on_commit = on_commit
        self._on_trouble = on_trouble
        self._db = create_database(path, self.uri)
        self._started_ns = clock.wall_ns()
        self._rows = RowMaker(
            base=0, wall_ns=self._started_ns, mono_ns=clock.mono_ns(), redactor=self.redactor
        )
        self._db.execute(
            'INSERT INTO session (number, base, name, "group", started_ns, mono_ns, product, origin) '
            "VALUES (1,0,?,?,?,?,?,?)",
            (name, group, self._started_ns, self._rows._mono_ns, PRODUCT, origin),
        )
        self._db.commit()
        self._lock = threading.Lock()
        self._settled = threading.Condition(self._lock)
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._units: list[Unit] = []
        self._statements: list[tuple[str, tuple[Any, ...]]] = []
        self._tickets = 0
        self._done = 0
        self._bytes = 0
        self._asleep = True
        self._closing = False
        self._connections = 0
        self._gap = 0
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    # Handing over; any thread

    def put(self, unit: Unit) -> int:
        """Take a unit; returns its ticket, the frame's seq as long as all units are whole."""
        with self._lock:
            self._units.append(unit)
            self._bytes += len(unit.data) + UNIT_BYTES
            self._tickets = ticket = self._tickets + 1
            asleep = self._asleep
            if asleep:
                self._asleep = False
        if asleep:
            self._wake.set()
        elif self._bytes > COMMIT_BYTES and not self._hurry.is_set():
            self._hurry.set()
        return ticket

    def has_room(self) -> bool:
        return self._bytes < BACKLOG_BYTES

    def wait_room(self, timeout: float | None = None) -> bool:
        """Wait until there is room to read on; False when ``timeout`` (seconds) passed first."""
        if self._bytes < BACKLOG_BYTES:
            return True
        with self._settled:
            return self._settled.wait_for(self.has_room, timeout)

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
            target = self.redactor.text(target)
        with self._lock:
            self._connections = number = self._connections + 1
        self._later(
            "INSERT INTO connection (session, number, name, transport, target, opened_ns, parent) "
            "VALUES (1,?,?,?,?,?,?)",
            (number, name, transport, target, self._clock.wall_ns(), parent),
        )
        return number

    def describe(self, connection: int, **facts: Any) -> None:
        """Write down facts of a connection: ``era``, ``era_found``, ``revision``, ``client_info``,
        ``server_info``, ``client_capabilities``, ``server_capabilities`` (JSON text), ``closed_ns``,
        ``closed_how``, ``exit_code``."""
        values = [
            self.redactor.text(value) if self.redactor is not None and isinstance(value, str) else value
            for value in facts.values()
        ]
        names = ", ".join(f"{name}=?" for name in facts)
        self._later(f"UPDATE connection SET {names} WHERE session=1 AND number=?", (*values, connection))

    def note(self, event: Mapping[str, Any], connection: int = 0) -> int:
        """Put a note frame (channel ``note``), whose body is the event as JSON."""
        return self.put(
            Unit(
                connection,
                Direction.NONE,
                Channel.NOTE,
                dumps(dict(event)).encode(),
                self._clock.wall_ns(),
                self._clock.mono_ns(),
            )
        )

    def flush(self, timeout: float = 5.0) -> int:
        """Wait until all that was handed over so far is committed; returns the last seq."""
        with self._settled:
            target = self._tickets
            self._nudge()
            self._settled.wait_for(lambda: self._done >= target and not self._statements, timeout)
        return self.last_seq

    def close(self, ended_how: str = "closed") -> None:
        """Write what is left, say how the session ended, and leave one plain file. Idempotent."""
        with self._lock:
            if self._closing:
                return
            self._closing = True
            self._nudge()
        self._thread.join()
        self._finish(ended_how)

    # The recorder's thread

    def _nudge(self) -> None:
        self._hurry.set()
        self._wake.set()

    def _later(self, sql: str, values: tuple[Any, ...]) -> None:
        with self._lock:
            self._statements.append((sql, values))
            self._asleep = False
        self._wake.set()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._hurry.wait(LINGER)
            with self._lock:
                units, self._units = self._units, []
                statements, self._statements = self._statements, []
                self._hurry.clear()
                if not units and not statements:
                    if self._closing:
                        return
                    self._asleep = True
                    self._wake.clear()
                    continue
            self._write(units, statements)

    def _write(self, units: list[Unit], statements: list[tuple[str, tuple[Any, ...]]]) -> None:
        batch = self._batch()
        weight = count = 0
        for unit in units:
            self._rows.add(unit, batch)
            count += 1
            weight += len(unit.data) + UNIT_BYTES
            if batch.size >= COMMIT_BYTES:
                self._commit(batch, statements, count, weight)
                batch, statements, weight, count = self._batch(), [], 0, 0
        if count or statements:
            self._commit(batch, statements, count, weight)

    def _commit(
        self, batch: Batch, statements: list[tuple[str, tuple[Any, ...]]], count: int, weight: int
    ) -> None:
        try:
            self._insert(batch, statements)
            if batch.frames:
                self._gap = 0
                self.trouble = ""
        except sqlite3.Error as error:
            self._refused(batch, error)
        with self._settled:
            self._done += count
            self._bytes -= weight
            self.last_seq = self._rows.key - self._rows.base
            self._settled.notify_all()
        if self._on_commit is not None:
            self._on_commit(self.last_seq)

    def _insert(self, batch: Batch, statements: list[tuple[str, tuple[Any, ...]]]) -> None:
        self._db.execute("BEGIN")
        try:
            for sql, values in statements:
                self._db.execute(sql, values)
            batch.write(self._db)
            self._db.execute("COMMIT")
        except sqlite3.Error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _refused(self, batch: Batch, error: sqlite3.Error) -> None:
        """The disk takes no more: drop the batch, count it, say so once."""
        self._rows.drop(len(batch.frames))
        lost = len(batch.frames) - batch.notes
        self._gap += lost
        self.lost += lost
        if not self.trouble:
            self.trouble = f"The recording cannot be written ({error}); frames are counted but not kept."
            if self._on_trouble is not None:
                self._on_trouble(self.trouble)

    def _batch(self) -> Batch:
        """A new batch; after lost frames it begins with the note that counts them."""
        batch = Batch()
        if self._gap:
            text = dumps({"event": "gap", "frames": self._gap}).encode()
            wall, mono = self._clock.wall_ns(), self._clock.mono_ns()
            self._rows.add(Unit(0, Direction.NONE, Channel.NOTE, text, wall, mono), batch)
            batch.notes = 1
        return batch

    def _finish(self, ended_how: str) -> None:
        batch = self._batch()
        self._rows.rest(self._clock.wall_ns(), self._clock.mono_ns(), batch)
        ended = (
            "UPDATE session SET ended_ns=?, ended_how=? WHERE number=1",
            (self._clock.wall_ns(), ended_how),
        )
        self._commit(batch, [ended], 0, 0)
        if self.path is not None:
            try:
                self._db.execute("PRAGMA journal_mode=DELETE")
            except sqlite3.Error as error:
                self._refused(Batch(), error)
        self._db.close()


def _uri(path: str | None) -> str:
    if path is None:
        return f"file:workbench-{os.getpid()}-{next(_memory_names)}?mode=memory&cache=shared"
    return file_uri(path)


def file_uri(path: str) -> str:
    """A path as SQLite's URI; ``urllib`` is not imported for three characters."""
    absolute = os.path.abspath(path)
    return "file:" + absolute.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def create_database(path: str | None, uri: str = "") -> sqlite3.Connection:
    """A new, empty recording, readable by its owner only. Raises ``RecordingError``."""
    uri = uri or _uri(path)
    try:
        if path is not None:
            # Made by us first, so that nobody else can read it for a moment.
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        if path is not None:
            db.execute(f"PRAGMA page_size={schema.PAGE_BYTES}")
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
        schema.create(db)
    except FileExistsError:
        raise RecordingError(f"{path} exists already; name another file, or remove it first.") from None
    except (OSError, sqlite3.Error) as error:
        raise RecordingError(
            f"The recording {path} cannot be made ({error}); choose another place."
        ) from None
    return db
