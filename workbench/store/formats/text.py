"""The text form of a recording: one JSON object a line, made to be reviewed and kept in git.

    {"mcp-workbench recording":1}
    {"session":1,"name":"weather","started_ns":…,…}
    {"connection":1,"name":"demo","transport":"stdio",…}
    {"frame":1,"connection":1,"ns":…,"direction":"to_server","channel":"stdio","json":{…}}

Metadata comes first, then the frames in order; every table that is not derived
has its line type. A body is written in the most readable way that gives its
bytes back, checked when it is written: ``json`` (with ``style`` where it was
spaced or escaped), ``text``, or ``base64``. A file written by hand may leave
out times, numbers, and everything derived.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import sqlite3
from collections.abc import Iterable
from typing import IO, Any

from workbench.core.frame import Channel, Direction, Ending, Span, Unit
from workbench.core.jsonrpc import loads
from workbench.errors import RecordingError
from workbench.store import schema
from workbench.store.backlog import COMMIT_BYTES
from workbench.store.files import create_database, file_uri
from workbench.store.formats.exact import STYLES, style_of, write
from workbench.store.formats.lines import CHANNELS, DIRECTIONS, body_of
from workbench.store.rows import Batch, RowMaker

#: The version of the text form, in its first line.
VERSION = 1

HEAD = "mcp-workbench recording"

_SESSION = (
    "name",
    "group",
    "started_ns",
    "mono_ns",
    "ended_ns",
    "ended_how",
    "product",
    "origin",
    "note",
    "tags",
)
_CONNECTION = (
    "name",
    "transport",
    "target",
    "era",
    "era_found",
    "revision",
    "client_info",
    "server_info",
    "client_capabilities",
    "server_capabilities",
    "opened_ns",
    "closed_ns",
    "closed_how",
    "exit_code",
    "parent",
)
_STREAM = (
    "connection",
    "method",
    "path",
    "status",
    "encoding",
    "request_headers",
    "response_headers",
    "opened_ns",
    "closed_ns",
    "closed_how",
)
#: Tables with a row for some frames, and their columns beside the frame's number.
_PLACED: dict[str, tuple[str, ...]] = {"mark": ("text",), "provenance": ("how", "detail")}

#: Columns that hold JSON text; it is shown as JSON.
_JSON_COLUMNS = frozenset(
    (
        "client_info",
        "server_info",
        "client_capabilities",
        "server_capabilities",
        "request_headers",
        "response_headers",
    )
)


# Export


def export_text(db: sqlite3.Connection, out: IO[str], *, session: int | None = None) -> None:
    """Write the sessions of an opened recording (all, or one) as text."""
    out.write(_line({HEAD: VERSION}))
    which = "" if session is None else f" WHERE number={int(session)}"
    for number, base in db.execute(f"SELECT number, base FROM session{which} ORDER BY number").fetchall():
        _export_session(db, out, number, base)


def _export_session(db: sqlite3.Connection, out: IO[str], number: int, base: int) -> None:
    for table, key, columns in (
        ("session", "number", _SESSION),
        ("connection", "session", _CONNECTION),
        ("stream", "session", _STREAM),
        ("rule", "session", ("what", "value")),
    ):
        names = ", ".join(f'"{column}"' for column in columns)
        for row in db.execute(
            f"SELECT number, {names} FROM {table} WHERE {key}=? ORDER BY number", (number,)
        ):
            out.write(_line({table: row[0], **_present(columns, row[1:])}))
    end = db.execute("SELECT min(base) FROM session WHERE base>=? AND number>?", (base, number)).fetchone()[0]
    within = (base, 1 << 62 if end is None else end)
    for placed, parts in _PLACED.items():
        names = ", ".join(parts)
        for row in db.execute(
            f"SELECT key, {names} FROM {placed} WHERE key>? AND key<=? ORDER BY key", within
        ):
            out.write(_line({placed: row[0] - base, **_present(parts, row[1:])}))
    query = (
        "SELECT key, connection, wall, mono, direction, channel, size, ending, stream, event, spans, stored, "
        "body FROM frame WHERE key>? AND key<=? ORDER BY key"
    )
    for row in db.execute(query, within):
        out.write(_frame_line(db, base, row))


def _frame_line(db: sqlite3.Connection, base: int, row: tuple[Any, ...]) -> str:
    key, connection, wall, mono, direction, channel, size, ending, stream, event, spans, stored, body = row
    if stored is not None:
        parts = db.execute("SELECT data FROM body WHERE key=? ORDER BY part", (key,))
        body = b"".join(part[0] for part in parts)
    head: dict[str, Any] = {"frame": key - base, "connection": connection, "ns": mono}
    if wall:
        head["wall"] = wall
    head["direction"] = Direction(direction).name.lower()
    head["channel"] = Channel(channel).name.lower()
    if ending != Ending.LF:
        head["ending"] = "none"
    if size != len(body):
        head["size"] = size
    if spans:
        head["spans"] = loads(spans)
    if stream is not None:
        head["stream"] = stream
    if event is not None:
        head["event"] = event
    return _line({**head, **_body_members(body)})


def _body_members(body: bytes) -> dict[str, Any]:
    found = style_of(body)
    if found is not None:
        value, style = found
        return {"style": style, "json": value} if style else {"json": value}
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def _present(columns: tuple[str, ...], values: Iterable[Any]) -> dict[str, Any]:
    present: dict[str, Any] = {}
    for column, value in zip(columns, values, strict=True):
        if value is None:
            continue
        if column in _JSON_COLUMNS:
            found = style_of(str(value).encode("utf-8", "surrogatepass"))
            if found is not None and not found[1] and isinstance(found[0], (dict, list)):
                value = found[0]
        present[column] = value
    return present


def _line(members: dict[str, Any]) -> str:
    try:
        return write(members, STYLES[""]).encode().decode() + "\n"
    except UnicodeEncodeError:
        return write(members, STYLES["ascii"]) + "\n"


# Import


def import_text(source: IO[bytes], path: str, *, name: str = "") -> None:
    """Make the SQLite form at ``path`` (which must not exist) from the text form.

    Raises ``RecordingError`` with the number of the line that is wrong; then no file is left.
    """
    db = create_database(path, file_uri(path), log=False)
    try:
        _Import(db, name or path).run(source)
    except BaseException:
        db.close()
        for leftover in (path, path + "-wal", path + "-shm"):
            if os.path.exists(leftover):
                os.remove(leftover)
        raise
    db.execute("PRAGMA journal_mode=DELETE")
    db.close()


def import_to_memory(path: str) -> sqlite3.Connection:
    """The text form at ``path`` as a database in memory."""
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    schema.create(db)
    with open(path, "rb") as source:
        _Import(db, path).run(source)
    return db


class _Import:
    def __init__(self, db: sqlite3.Connection, name: str) -> None:
        self._db = db
        self._name = name
        self._session = 0
        self._rows: RowMaker | None = None
        self._batch = Batch()
        self._connections: set[int] = set()
        self._mono = 0
        self._next_word = 1
        self._key = 0

    def run(self, source: IO[bytes]) -> None:
        self._db.execute("BEGIN")
        for number, line in enumerate(source, 1):
            if line.strip():
                try:
                    self._take(_object(line))
                except (ValueError, TypeError, RecursionError, sqlite3.Error) as error:
                    raise RecordingError(
                        f"{self._name}, line {number}: {_reason(error)}; mend the line and read it again."
                    ) from None
        self._write()
        self._db.execute("COMMIT")

    def _take(self, line: dict[str, Any]) -> None:
        what = next(iter(line), "")
        if what == HEAD:
            if line[HEAD] != VERSION:
                raise ValueError(f"the text form is version {line[HEAD]!r}, known is {VERSION}")
        elif what == "session":
            self._begin(line)
        elif what == "connection":
            self._connection(line)
        elif what == "frame":
            self._frame(line)
        elif what in ("stream", "rule"):
            self._numbered(what, _STREAM if what == "stream" else ("what", "value"), line)
        elif what in _PLACED:
            self._placed(what, _PLACED[what], line)
        else:
            raise ValueError(f"the line begins with {what!r}, which is no line type")

    def _begin(self, line: dict[str, Any]) -> None:
        self._write()
        self._session += 1
        self._connections = set()
        self._mono = 0
        values = {"name": "", "started_ns": 0, "mono_ns": 0, "product": "", "origin": "hand"}
        values.update({column: line[column] for column in _SESSION if column in line})
        self._insert("session", {"number": self._session, "base": self._key, **values})
        self._rows = RowMaker(base=self._key, wall_ns=0, mono_ns=0, redactor=None, next_word=self._next_word)

    def _connection(self, line: dict[str, Any]) -> None:
        if self._rows is None:
            self._begin({})
        number = _integer(line, "connection")
        values = {"name": f"connection-{number}", "transport": "stdio", "target": "", "opened_ns": 0}
        values.update({column: _column(column, line[column]) for column in _CONNECTION if column in line})
        self._insert("connection", {"session": self._session, "number": number, **values})
        self._connections.add(number)

    def _frame(self, line: dict[str, Any]) -> None:
        connection = line.get("connection", 1)
        if not isinstance(connection, int):
            raise ValueError("connection is not a number")
        if self._rows is None:
            self._begin({})
        if connection not in self._connections and connection:
            self._connection({"connection": connection})
        rows = self._rows
        assert rows is not None
        body = body_of(line)
        self._mono = line.get("ns", self._mono)
        unit = Unit(
            connection,
            _word(DIRECTIONS, line, "direction"),
            _word(CHANNELS, line, "channel", "stdio"),
            body,
            self._mono + line.get("wall", 0),
            self._mono,
            True,
            Ending.NONE if line.get("ending") == "none" else Ending.LF,
        )
        spans = tuple(Span(*span) for span in line.get("spans", ()))
        rows.restore(unit, line.get("size", len(body)), spans, self._batch)
        if isinstance(line.get("frame"), int) and line["frame"] != rows.key - rows.base:
            raise ValueError(f"the frame is number {rows.key - rows.base}, not {line['frame']}")
        if self._batch.size > COMMIT_BYTES:
            self._write()

    def _numbered(self, table: str, columns: tuple[str, ...], line: dict[str, Any]) -> None:
        values = {column: _column(column, line[column]) for column in columns if column in line}
        self._insert(table, {"session": self._session, "number": _integer(line, table), **values})

    def _placed(self, table: str, columns: tuple[str, ...], line: dict[str, Any]) -> None:
        base = self._rows.base if self._rows is not None else 0
        values = {column: line[column] for column in columns if column in line}
        self._insert(table, {"key": base + _integer(line, table), **values})

    def _insert(self, table: str, values: dict[str, Any]) -> None:
        names = ", ".join(f'"{name}"' for name in values)
        marks = ", ".join("?" * len(values))
        self._db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))

    def _write(self) -> None:
        if self._rows is not None:
            self._batch.write(self._db)
            self._batch = Batch()
            self._key = self._rows.key
            self._next_word = self._rows.next_word


def _object(line: bytes) -> dict[str, Any]:
    value = loads(line.decode())
    if not isinstance(value, dict):
        raise ValueError("the line is no JSON object")
    return value


def _word(words: dict[str, Any], line: dict[str, Any], member: str, default: str = "") -> Any:
    word = line.get(member, default)
    if word not in words:
        raise ValueError(f"{member} {word!r} is not one of {', '.join(words)}")
    return words[word]


def _integer(line: dict[str, Any], member: str) -> int:
    if not isinstance(line[member], int):
        raise ValueError(f"{member} is not a number")
    return int(line[member])


def _column(column: str, value: Any) -> Any:
    if column in _JSON_COLUMNS and isinstance(value, (dict, list)):
        return write(value, STYLES[""])
    return value


def _reason(error: BaseException) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON ({error.msg} at character {error.pos + 1})"
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8"
    if isinstance(error, binascii.Error):
        return "base64 cannot be read"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(error)
