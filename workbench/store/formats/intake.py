"""Reading the text form into tables, a line at a time.

Everything derived is made anew. What a file written by hand leaves out gets a
value that does no harm. The first line that cannot be read ends it.
"""

from __future__ import annotations

import binascii
import json
import sqlite3
from collections.abc import Callable
from typing import IO, Any

from workbench.core.frame import Ending, Span, Unit
from workbench.errors import RecordingError
from workbench.store import schema
from workbench.store.backlog import COMMIT_BYTES
from workbench.store.files import create_database, file_uri
from workbench.store.formats.exact import Parsed, parse
from workbench.store.formats.lines import (
    CHANNELS,
    DIRECTIONS,
    FRAME,
    HEAD,
    NUMBERED,
    PLACED,
    VERSION,
    body_of,
    column_of,
    event_of,
)
from workbench.store.neighbours import remove
from workbench.store.rows import Batch, RowMaker

#: Puts one row, given by its columns, into a table.
Insert = Callable[[str, dict[str, Any]], object]

_SESSION = {"name": "", "started_ns": 0, "mono_ns": 0, "product": "", "origin": "hand"}
_CONNECTION = {"transport": "stdio", "target": "", "opened_ns": 0}


def import_text(source: IO[bytes], path: str, *, name: str = "") -> None:
    """Make the SQLite form at ``path`` (which must not exist) from the text form.

    Raises ``RecordingError`` with the number of the line that is wrong; then no file is left.
    """
    from sqlite_utils import Database

    db = create_database(path, file_uri(path), log=False)
    try:
        recording = Database(db)
        _Intake(db, lambda table, row: recording.table(table).insert(row), name or path).run(source)
    except BaseException:
        db.close()
        remove(path)
        raise
    db.close()


def import_to_memory(path: str) -> sqlite3.Connection:
    """The text form at ``path`` as a database in memory. Raises ``RecordingError``."""
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    schema.create(db)

    def insert(table: str, row: dict[str, Any]) -> None:
        # A replay begins with this: loading sqlite-utils would take longer than all the rest.
        names, marks = ", ".join(f'"{column}"' for column in row), ", ".join("?" * len(row))
        db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))

    try:
        with open(path, "rb") as source:
            _Intake(db, insert, path).run(source)
    except OSError as error:
        raise RecordingError(f"The recording {path} cannot be read: {error.strerror}.") from None
    return db


class _Intake:
    """Fills a database that was just made, in the transaction that this has begun."""

    def __init__(self, db: sqlite3.Connection, insert: Insert, name: str) -> None:
        self._db = db
        self._insert = insert
        self._name = name
        self._session = 0
        self._connections: set[int] = set()
        self._rows = RowMaker(base=0, wall_ns=0, mono_ns=0, redactor=None)
        self._batch = Batch()
        self._mono = 0

    def run(self, source: IO[bytes]) -> None:
        number = 0
        try:
            for number, line in enumerate(source, 1):  # noqa: B007 - named in the error
                if line.strip():
                    self._take(_object(line))
            self._write()
        except (ValueError, TypeError, OverflowError, RecursionError, sqlite3.Error) as error:
            raise RecordingError(
                f"{self._name}, line {number}: {_reason(error)}; mend the line and read it again."
            ) from None
        self._db.execute("COMMIT")

    def _take(self, parsed: Parsed) -> None:
        line: dict[str, Any] = parsed.value
        what = next(iter(line), "")
        if what == HEAD:
            if line[HEAD] != VERSION:
                raise ValueError(f"the text form is version {line[HEAD]!r}, known is {VERSION}")
        elif what == "session":
            self._begin(_columns(what, NUMBERED, line, parsed.plain))
        elif what == "connection":
            self._connection(_integer(line, what), _columns(what, NUMBERED, line, parsed.plain))
        elif what == "frame":
            self._frame(line, parsed.plain)
        elif what in NUMBERED:
            self._owned(what, _integer(line, what), _columns(what, NUMBERED, line, parsed.plain))
        elif what in PLACED:
            key = self._rows.base + _integer(line, what)
            self._insert(what, {"key": key, **_columns(what, PLACED, line, parsed.plain)})
        else:
            raise ValueError(f"the line begins with {what!r}, which is no line type")

    def _begin(self, columns: dict[str, Any]) -> None:
        self._write()
        self._session += 1
        self._connections = set()
        self._mono = 0
        base, words = self._rows.key, self._rows.next_word
        self._insert("session", {"number": self._session, "base": base, **_SESSION, **columns})
        self._rows = RowMaker(base=base, wall_ns=0, mono_ns=0, redactor=None, next_word=words)

    def _owned(self, table: str, number: int, columns: dict[str, Any]) -> None:
        if not self._session:
            self._begin({})
        self._insert(table, {"session": self._session, "number": number, **columns})

    def _connection(self, number: int, columns: dict[str, Any]) -> None:
        self._owned("connection", number, {"name": f"connection-{number}", **_CONNECTION, **columns})
        self._connections.add(number)

    def _frame(self, line: dict[str, Any], plain: bool) -> None:
        _known("frame", FRAME, line)
        connection = _integer(line, "connection", 1)
        if not self._session:
            self._begin({})
        if connection not in self._connections and connection:
            self._connection(connection, {})
        body = body_of(line, plain=plain)
        self._mono = _integer(line, "ns", self._mono)
        unit = Unit(
            connection,
            _word(DIRECTIONS, line, "direction"),
            _word(CHANNELS, line, "channel", "stdio"),
            body,
            self._mono + _integer(line, "wall", 0),
            self._mono,
            True,
            _word({"lf": Ending.LF, "none": Ending.NONE}, line, "ending", "lf"),
            _integer(line, "stream", 0),
            event_of(line, plain=plain),
        )
        size = _integer(line, "size", len(body))
        self._rows.restore(unit, size, _spans(line), self._batch)
        seq = self._rows.key - self._rows.base
        if line["frame"] is not None and _integer(line, "frame") != seq:
            raise ValueError(f"the frame is number {seq}, not {line['frame']}")
        if self._batch.size > COMMIT_BYTES:
            self._write()

    def _write(self) -> None:
        self._batch.write(self._db)
        self._batch = Batch()


def _object(line: bytes) -> Parsed:
    parsed = parse(line.decode())
    if not isinstance(parsed.value, dict):
        raise ValueError("the line is no JSON object")
    return parsed


def _known(what: str, names: tuple[str, ...], line: dict[str, Any]) -> None:
    for member in line:
        if member != what and member not in names:
            raise ValueError(f"{member!r} is no member of a line that begins with {what!r}")


def _columns(
    what: str, tables: dict[str, tuple[str, ...]], line: dict[str, Any], plain: bool
) -> dict[str, Any]:
    _known(what, tables[what], line)
    return {column: column_of(column, line[column], plain=plain) for column in tables[what] if column in line}


def _word(words: dict[str, Any], line: dict[str, Any], member: str, default: str = "") -> Any:
    word = line.get(member, default)
    if word not in words:
        raise ValueError(f"{member} {word!r} is not one of {', '.join(words)}")
    return words[word]


def _integer(line: dict[str, Any], member: str, default: int | None = None) -> int:
    value = line.get(member, default)
    if not isinstance(value, int) or isinstance(value, bool) or not -(1 << 62) < value < 1 << 62:
        raise ValueError(f"{member} is not a number, or not one that fits")
    return value


def _spans(line: dict[str, Any]) -> tuple[Span, ...]:
    spans = line.get("spans", [])
    for span in spans:
        if len(span) != 3 or not all(isinstance(number, int) for number in span):
            raise ValueError("spans are lists of three numbers: offset, length, length on the wire")
    return tuple(Span(*span) for span in spans)


def _reason(error: BaseException) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON ({error.msg} at character {error.pos + 1})"
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8"
    if isinstance(error, binascii.Error):
        return "base64 cannot be read"
    if isinstance(error, RecursionError):
        return "nested too deeply; give the body as text"
    return str(error)
