"""Writing the text form, a line at a time: nothing larger than a frame is in memory."""

from __future__ import annotations

import binascii
import json
import sqlite3
from typing import IO, TYPE_CHECKING, Any

from workbench.core.frame import Channel, Direction, Ending
from workbench.core.jsonrpc import loads
from workbench.core.printable import printable_json
from workbench.store.formats.exact import style_of
from workbench.store.formats.lines import HEAD, JSON_COLUMNS, NUMBERED, PLACED, VERSION

if TYPE_CHECKING:
    from sqlite_utils import Database

_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
_LAST = 1 << 62


def export_text(db: sqlite3.Connection, out: IO[str], *, session: int | None = None) -> None:
    """Write the sessions of an opened recording (all, or one) as text.

    Raises ``sqlite3.Error`` or ``ValueError`` where the recording is damaged, and what writing raises.
    """
    from sqlite_utils import Database

    recording = Database(db)
    out.write(line_of({HEAD: VERSION}))
    for row in recording.table("session").rows_where(order_by="number", select="number, base"):
        if session in (None, row["number"]):
            _session(recording, out, row["number"], row["base"])


def _session(recording: Database, out: IO[str], number: int, base: int) -> None:
    for table, columns in NUMBERED.items():
        where = "number = ?" if table == "session" else "session = ?"
        for row in recording.table(table).rows_where(where, [number], order_by="number"):
            out.write(line_of({table: row["number"], **_present(columns, row)}))
    following = next(
        iter(recording.query("SELECT min(base) AS base FROM session WHERE number > ?", [number]))
    )
    within = [base, _LAST if following["base"] is None else following["base"]]
    for table, columns in PLACED.items():
        for row in recording.table(table).rows_where("key > ? AND key <= ?", within, order_by="key"):
            out.write(line_of({table: row["key"] - base, **_present(columns, row)}))
    key = base
    for row in recording.table("frame").rows_where("key > ? AND key <= ?", within, order_by="key"):
        key += 1
        if row["key"] != key:
            break
        out.write(_frame(recording, base, row))
    # A damaged page can end a walk without an error, but frames have no gaps.
    if key != (_last_key(recording) if following["base"] is None else following["base"]):
        raise ValueError(f"frame {key + 1 - base} is missing")


def _last_key(recording: Database) -> int:
    row = next(iter(recording.query("SELECT coalesce(max(key), 0) AS key FROM frame")))
    key: int = row["key"]
    return key


def _frame(recording: Database, base: int, row: dict[str, Any]) -> str:
    body: bytes = row["body"]
    if row["stored"] is not None:
        parts = recording.table("body").rows_where("key = ?", [row["key"]], order_by="part", select="data")
        body = b"".join(part["data"] for part in parts)
    members = {
        "frame": row["key"] - base,
        "connection": row["connection"],
        "ns": row["mono"],
        "wall": row["wall"] or None,
        "direction": Direction(row["direction"]).name.lower(),
        "channel": Channel(row["channel"]).name.lower(),
        "ending": None if row["ending"] == Ending.LF else "none",
        "size": None if row["size"] == len(body) else row["size"],
        "spans": loads(row["spans"]) if row["spans"] else None,
        "stream": row["stream"],
        "event": _readable(row["event"]),
    }
    return line_of({member: value for member, value in members.items() if value is not None}, body)


def _present(columns: tuple[str, ...], row: dict[str, Any]) -> dict[str, Any]:
    return {column: _shown(column, row[column]) for column in columns if row[column] is not None}


class _Json(str):
    """JSON text that stands in a line as it is."""


def _shown(column: str, value: Any) -> Any:
    """A column's value."""
    return _readable(value) if column in JSON_COLUMNS else value


def _readable(value: Any) -> Any:
    """JSON text as the JSON it is, if that gives the text back."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        found = style_of(value.encode())
        if found is not None and not found[1]:
            return _Json(value)
    return value


def line_of(members: dict[str, Any], body: bytes | None = None) -> str:
    """A line of the text form: members in their order, then the body of a frame, exactly."""
    parts = [
        f'"{member}":{value if isinstance(value, _Json) else _ENCODER.encode(value)}'
        for member, value in members.items()
    ]
    if body is not None:
        parts.append(_body(body))
    # What nobody sees, and halves of characters, which UTF-8 has not, are escaped in every text, so
    # that a file can be looked at and reviewed.
    return printable_json("{" + ",".join(parts) + "}\n")


def _body(body: bytes) -> str:
    found = style_of(body)
    if found is not None:
        text, style = found
        return f'"style":"{style}","json":{text}' if style else f'"json":{text}'
    try:
        return f'"text":{_ENCODER.encode(body.decode())}'
    except UnicodeDecodeError:
        return f'"base64":"{binascii.b2a_base64(body, newline=False).decode()}"'
