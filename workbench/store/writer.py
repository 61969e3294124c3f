"""Transactions: units and statements in, all of them in the file or none.

When the disk refuses, frames are dropped and counted, and the first transaction
that succeeds again begins with a note that says how many are missing. Statements
are few and small and nothing repeats them, so they wait for that transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence

from workbench.core.frame import Channel, Clock, Direction, Unit
from workbench.core.jsonrpc import dumps
from workbench.store.backlog import COMMIT_BYTES, UNIT_BYTES, Statement
from workbench.store.rows import Batch, RowMaker
from workbench.store.schema import FINDINGS_VERSION

#: Statements kept for better times; more than any session has connections and facts about them.
MAX_KEPT = 10_000

#: How long another process that reads the file may keep us from putting it at rest (milliseconds).
REST_PATIENCE = 500

#: The findings of a frame are numbered in the order they come.
ADD_FINDING = (
    "INSERT INTO finding (key, item, rule, severity, pointer, version) "
    f"SELECT ?, coalesce(max(item), -1) + 1, ?, ?, nullif(?, ''), {FINDINGS_VERSION} FROM finding WHERE key=?"
)

#: Given the key of a transaction's first frame, and whether each of its units is one frame.
About = Callable[[int, bool], Iterable[Statement]]


class Writer:
    """Owns the database and the rows. ``lost`` counts frames the disk did not take; ``trouble`` is
    the sentence about it, empty while all is well."""

    def __init__(
        self, db: sqlite3.Connection, rows: RowMaker, clock: Clock, on_trouble: Callable[[str], None] | None
    ) -> None:
        self.rows = rows
        self.lost = 0
        self.trouble = ""
        self._db = db
        self._clock = clock
        self._on_trouble = on_trouble
        self._gap = 0
        self._kept: list[Statement] = []

    def write(
        self, units: Sequence[Unit], statements: Iterable[Statement] = (), about: About | None = None
    ) -> tuple[int, int]:
        """One transaction. Returns the first and last key of the frames it added; the first is the
        greater one when there are none, or when they were lost.

        ``about`` is asked for what is to be written with the frames: it gets the key of the first,
        and whether each unit is one frame.
        """
        self._kept += statements
        return self._transaction(units, about)

    def finish(self, ended_how: str) -> None:
        """Write unfinished lines and how it ended, and put the file at rest."""
        wall, mono = self._clock.wall_ns(), self._clock.mono_ns()
        self._kept.append(Statement("UPDATE session SET ended_ns=?, ended_how=?", (wall, ended_how)))
        self._transaction(list(self.rows.rest(wall, mono)))
        if self._kept:
            # What was left did not fit; how it ended may.
            self._transaction(())
        self._rest()

    def _transaction(self, units: Sequence[Unit], about: About | None = None) -> tuple[int, int]:
        rows, batch = self.rows, Batch()
        top, words = rows.key, rows.next_word
        noted = bool(self._gap and units)
        try:
            if noted:
                self._note_gap(batch)
            first = rows.key + 1
            for unit in units:
                rows.add(unit, batch)
            whole = rows.key - first + 1 == len(units)
            self._insert(batch, () if about is None else about(first, whole))
        except Exception as error:
            # Whatever it is: the thread goes on, because the next frames may well be written.
            self._refused(len(batch.frames) - noted if len(batch.frames) > noted else len(units), error)
            rows.take_back(top, words)
            return top + 1, top
        self._kept.clear()
        if batch.frames:
            self._gap = 0
            self.trouble = ""
        return first, rows.key

    def _insert(self, batch: Batch, more: Iterable[Statement]) -> None:
        self._db.execute("BEGIN")
        try:
            for sql, values in self._kept:
                self._db.execute(sql, values)
            batch.write(self._db)
            for sql, values in more:
                self._db.execute(sql, values)
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _note_gap(self, batch: Batch) -> None:
        text = dumps({"event": "gap", "frames": self._gap}).encode()
        wall, mono = self._clock.wall_ns(), self._clock.mono_ns()
        self.rows.add(Unit(0, Direction.NONE, Channel.NOTE, text, wall, mono), batch)

    def _refused(self, frames: int, error: Exception) -> None:
        """Count what is lost, and say so once."""
        self._gap += frames
        self.lost += frames
        del self._kept[MAX_KEPT:]
        if not isinstance(error, sqlite3.OperationalError):
            self._kept.clear()  # not the disk: one of them may be what cannot be written
        if not self.trouble:
            self.trouble = f"The recording cannot be written ({error}); frames are counted but not kept."
            if self._on_trouble is not None:
                self._on_trouble(self.trouble)

    def _rest(self) -> None:
        """Leave one file. While another process reads it the log cannot go; then it is emptied."""
        try:
            self._db.execute(f"PRAGMA busy_timeout={REST_PATIENCE}")
            self._db.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError:
            try:
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error as error:
                self._refused(0, error)
        self._db.close()


def portions(units: Sequence[Unit]) -> Iterable[tuple[Sequence[Unit], int]]:
    """Cut what is to be written into transactions; yields units and their weight (bytes)."""
    start = weight = 0
    for end, unit in enumerate(units, 1):
        weight += len(unit.data) + UNIT_BYTES
        if weight >= COMMIT_BYTES:
            yield units[start:end], weight
            start, weight = end, 0
    if start < len(units):
        yield units[start:], weight
