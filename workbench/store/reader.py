"""Reads a recording, live or at rest, and never changes a byte of it.

A closed recording is one file and is opened ``immutable``, so that it can lie in
a read-only folder and gets no neighbours. A live or killed one has a
write-ahead log beside it and is opened read-only without holding a transaction
between queries; where its folder cannot be written, a private copy is read. The
text form is read into memory.

Windows of the log are searched by primary key: they cost the same anywhere in a
million rows. A reader may be used from several threads; queries take turns.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from workbench.core.frame import PREVIEW_BYTES, Channel, Direction, Ending, Frame, Kind, Row, Span
from workbench.core.jsonrpc import loads
from workbench.errors import RecordingError
from workbench.store.opening import open_recording

#: Frames read at once when a recording is walked through, or searched.
CHUNK = 1000

#: Rows looked at between two looks at ``stop`` in a search.
SEARCH_CHUNK = 20_000

_ROW = (
    "SELECT f.key, f.connection, f.wall, f.mono, f.direction, f.channel, f.kind, f.size, "
    f"substr(f.body, 1, {PREVIEW_BYTES}), m.text, f.id, n.text, p.request, a.answer, q.mono "
    "FROM frame f LEFT JOIN word m ON m.id=f.method LEFT JOIN word n ON n.id=f.name "
    "LEFT JOIN pair p ON p.answer=f.key LEFT JOIN pair a ON a.request=f.key "
    "LEFT JOIN frame q ON q.key=p.request "
)
_FRAME = (
    "SELECT f.key, f.connection, f.wall, f.mono, f.direction, f.channel, f.kind, f.body, f.size, f.ending, "
    "m.text, f.id, n.text, f.spans, f.stored "
    "FROM frame f LEFT JOIN word m ON m.id=f.method LEFT JOIN word n ON n.id=f.name "
)


class SessionRow(NamedTuple):
    """One session of a file. Times are nanoseconds since the epoch; ``ended_how`` is ``None`` for
    a live session and for one that was killed."""

    number: int
    name: str
    group: str | None
    started_ns: int
    ended_ns: int | None
    ended_how: str | None
    origin: str
    note: str | None
    tags: str | None
    product: str
    frames: int
    connections: int


class ConnectionRow(NamedTuple):
    """One connection of a session. Identities and capabilities are JSON text."""

    number: int
    name: str
    transport: str
    target: str
    era: str | None
    era_found: str | None
    revision: str | None
    client_info: str | None
    server_info: str | None
    client_capabilities: str | None
    server_capabilities: str | None
    opened_ns: int
    closed_ns: int | None
    closed_how: str | None
    exit_code: int | None
    parent: int | None


class Reader:
    """One session of a recording. Raises ``RecordingError`` if it cannot be read."""

    def __init__(self, db: sqlite3.Connection, *, live: bool, session: int | None, path: str = "") -> None:
        self._db = db
        self._lock = threading.RLock()
        self.live = live
        self.path = path
        self.session = self._choose(session)
        row = self._one("SELECT base, started_ns, mono_ns FROM session WHERE number=?", self.session)
        self._base: int = row[0]
        self.started_ns: int = row[1]
        self._mono_ns: int = row[2]
        following = self._one("SELECT min(base) FROM session WHERE number>?", self.session)[0]
        self._end: int | None = following

    @classmethod
    def open(cls, path: str, *, session: int | None = None) -> Reader:
        """Open a recording in either form; the first session unless one is named."""
        opened = open_recording(path)
        return cls(opened.db, live=opened.live, session=session, path=path)

    @classmethod
    def attach(cls, uri: str) -> Reader:
        """Read along with a recorder of this process, given its ``uri``."""
        separator = "&" if "?" in uri else "?"
        memory = "mode=memory" in uri
        db = sqlite3.connect(
            uri if memory else f"{uri}{separator}mode=ro",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
        if memory:
            db.execute("PRAGMA read_uncommitted=1")
            db.execute("PRAGMA query_only=1")
        return cls(db, live=True, session=None)

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What there is

    def sessions(self) -> list[SessionRow]:
        rows = self._all(
            'SELECT number, name, "group", started_ns, ended_ns, ended_how, origin, note, tags, product, '
            "base FROM session ORDER BY number"
        )
        top = self._one("SELECT coalesce(max(key), 0) FROM frame")[0]
        ends = [row[10] for row in rows[1:]] + [top]
        counts = dict(self._all("SELECT session, count(*) FROM connection GROUP BY session"))
        return [
            SessionRow._make((*row[:10], max(0, end - row[10]), counts.get(row[0], 0)))
            for row, end in zip(rows, ends, strict=True)
        ]

    def connections(self) -> list[ConnectionRow]:
        rows = self._all(
            "SELECT number, name, transport, target, era, era_found, revision, client_info, server_info, "
            "client_capabilities, server_capabilities, opened_ns, closed_ns, closed_how, exit_code, parent "
            "FROM connection WHERE session=? ORDER BY number",
            self.session,
        )
        return [ConnectionRow(*row) for row in rows]

    def height(self) -> int:
        """The last seq, 0 for an empty session."""
        if self._end is not None:
            return self._end - self._base
        top: int = self._one("SELECT coalesce(max(key), 0) FROM frame")[0]
        return max(0, top - self._base)

    # Frames

    def window(self, first: int, last: int) -> list[Row]:
        """The rows of the frames ``first`` to ``last``, both included, as far as there are any."""
        first, last = max(1, first), min(last, self.height())
        if last < first:
            return []
        rows = self._all(
            f"{_ROW} WHERE f.key BETWEEN ? AND ? ORDER BY f.key", first + self._base, last + self._base
        )
        return [self._row(row) for row in rows]

    def rows(self, seqs: Sequence[int]) -> list[Row]:
        """The rows of some frames, in the order of ``seqs``; those that are not there are left out."""
        found: dict[int, Row] = {}
        for at in range(0, len(seqs), 500):
            part = [seq + self._base for seq in seqs[at : at + 500]]
            marks = ",".join("?" * len(part))
            for values in self._all(f"{_ROW} WHERE f.key IN ({marks})", *part):
                row = self._row(values)
                found[row.seq] = row
        return [found[seq] for seq in seqs if seq in found]

    def frame(self, seq: int) -> Frame:
        """One frame with its whole body. Raises ``RecordingError`` if there is none."""
        rows = self._all(f"{_FRAME} WHERE f.key=?", seq + self._base) if seq > 0 else []
        if not rows or seq > self.height():
            raise RecordingError(f"There is no frame {seq}; the session has {self.height()}.")
        return self._frame(rows[0])

    def body(self, seq: int) -> bytes:
        return self.frame(seq).body

    def frames(
        self, *, connection: int | None = None, first: int = 1, last: int | None = None
    ) -> Iterator[Frame]:
        """Walk through frames in order, in pieces, so that any recording can be walked."""
        end = min(self.height() if last is None else last, self.height()) + self._base
        key = max(1, first) + self._base
        only = "" if connection is None else f" AND f.connection={int(connection)}"
        while key <= end:
            upto = min(key + CHUNK - 1, end)
            for row in self._all(f"{_FRAME} WHERE f.key BETWEEN ? AND ?{only} ORDER BY f.key", key, upto):
                yield self._frame(row)
            key = upto + 1

    def pair(self, seq: int) -> int | None:
        """The seq of the answer to a request, or of the request an answer answers."""
        key = seq + self._base
        row = self._all(
            "SELECT request FROM pair WHERE answer=? UNION ALL SELECT answer FROM pair WHERE request=?",
            key,
            key,
        )
        return row[0][0] - self._base if row else None

    def find(
        self,
        text: bytes,
        *,
        first: int = 1,
        last: int | None = None,
        newest_first: bool = True,
        connection: int | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Iterator[int]:
        """The seqs of frames whose body, method or name contains ``text`` (exact bytes).

        ``stop`` is asked between pieces of the search. Large bodies are searched as well.
        """
        low = max(1, first) + self._base
        high = min(self.height() if last is None else last, self.height()) + self._base
        order = "DESC" if newest_first else "ASC"
        only = "" if connection is None else f" AND f.connection={int(connection)}"
        words = self._words_with(text)
        sql = (
            f"SELECT f.key, f.stored, instr(f.body, ?) OR f.method IN ({words}) OR f.name IN ({words}) "
            f"FROM frame f WHERE f.key BETWEEN ? AND ?{only} AND (f.stored IS NOT NULL OR instr(f.body, ?) "
            f"OR f.method IN ({words}) OR f.name IN ({words})) ORDER BY f.key {order}"
        )
        pieces = [(at, min(at + SEARCH_CHUNK - 1, high)) for at in range(low, high + 1, SEARCH_CHUNK)]
        for start, end in reversed(pieces) if newest_first else pieces:
            if stop is not None and stop():
                return
            for key, stored, hit in self._all(sql, text, start, end, text):
                if hit or (stored is not None and text in self._large(key)):
                    yield key - self._base

    # Inside

    def _choose(self, session: int | None) -> int:
        if session is None:
            found = self._all("SELECT min(number) FROM session")
        else:
            found = self._all("SELECT number FROM session WHERE number=?", session)
        if not found or found[0][0] is None:
            which = "no session" if session is None else f"no session {session}"
            raise RecordingError(f"The recording has {which}; list them with `mcp-workbench sessions show`.")
        number: int = found[0][0]
        return number

    def _words_with(self, text: bytes) -> str:
        try:
            needle = text.decode()
        except UnicodeDecodeError:
            return ""
        rows = self._all("SELECT id FROM word WHERE instr(text, ?) LIMIT 5000", needle)
        return ",".join(str(row[0]) for row in rows)

    def _large(self, key: int) -> bytes:
        return b"".join(row[0] for row in self._all("SELECT data FROM body WHERE key=? ORDER BY part", key))

    def _row(self, row: tuple[Any, ...]) -> Row:
        key, connection, wall, mono, direction, channel, kind, size, preview, method, id, name = row[:12]
        request, answer, asked = row[12:]
        pair = request if request is not None else answer
        return Row(
            key - self._base,
            connection,
            wall + mono + self.started_ns,
            mono + self._mono_ns,
            Direction(direction),
            Channel(channel),
            Kind(kind),
            size,
            preview or b"",  # SQLite's substr of an empty blob is NULL
            method,
            id,
            name,
            None if pair is None else pair - self._base,
            None if asked is None else mono - asked,
        )

    def _frame(self, row: tuple[Any, ...]) -> Frame:
        key, connection, wall, mono, direction, channel, kind, body, size, ending, method, id, name = row[:13]
        spans, stored = row[13:]
        return Frame(
            seq=key - self._base,
            connection=connection,
            wall_ns=wall + mono + self.started_ns,
            mono_ns=mono + self._mono_ns,
            direction=Direction(direction),
            channel=Channel(channel),
            kind=Kind(kind),
            body=body if stored is None else self._large(key),
            size=size,
            ending=Ending(ending),
            method=method,
            id=id,
            name=name,
            spans=tuple(Span(*span) for span in loads(spans)) if spans else (),
        )

    def _all(self, sql: str, *values: Any) -> list[Any]:
        try:
            with self._lock:
                return self._db.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise RecordingError(
                f"The recording {self.path} cannot be read ({error}); it may be damaged, try a copy."
            ) from None

    def _one(self, sql: str, *values: Any) -> Any:
        return self._all(sql, *values)[0]
