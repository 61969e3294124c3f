"""Reads a recording, live or at rest, and never changes a byte of it.

How it is opened is told in ``opening``. Windows of the log are searched by
primary key: they cost the same anywhere in a million rows. A reader may be used
from several threads; queries take turns.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from workbench.core.frame import Channel, Frame, Row, Stream
from workbench.core.frame_filter import FrameFilter
from workbench.errors import RecordingError
from workbench.store.about import ConnectionRow, SessionRow
from workbench.store.matching import matching
from workbench.store.opening import open_recording
from workbench.store.queries import Queries
from workbench.store.shaping import FRAME, ROW, Shaping
from workbench.store.streams import COLUMNS, stream_of

__all__ = ["ConnectionRow", "Reader", "SessionRow"]

#: Frames read at once when a recording is walked through.
CHUNK = 500

#: Frames asked for by number at once; SQLite bounds how many values a statement has.
NUMBERS = 500


class Reader:
    """One session of a recording. Raises ``RecordingError`` if it cannot be read.

    ``live``: it was being written when it was opened, so it may grow. One that was killed is not
    live, and no session of it says how it ended.
    """

    def __init__(self, db: sqlite3.Connection, *, live: bool, session: int | None, path: str = "") -> None:
        self.path = path
        self._queries = Queries(db, path)
        try:
            self.session = self._choose(session)
            base, started, mono, ended = self._queries.one(
                "SELECT base, started_ns, mono_ns, ended_how FROM session WHERE number=?", self.session
            )
            end = self._queries.one("SELECT min(base) FROM session WHERE number>?", self.session)[0]
        except BaseException:
            self._queries.close()
            raise
        self.live = live and ended is None
        self.started_ns: int = started
        self._base: int = base
        self._row = ROW.format(session=self.session)
        self._shaping = Shaping(self._queries, base, started, mono)
        self._end: int | None = end

    @classmethod
    def open(cls, path: str, *, session: int | None = None) -> Reader:
        """Open a recording in either form; the first session unless one is named."""
        opened = open_recording(path)
        return cls(opened.db, live=opened.live, session=session, path=path)

    @classmethod
    def attach(cls, uri: str) -> Reader:
        """Read along with a recorder of this process, given its ``uri``."""
        memory = "mode=memory" in uri
        try:
            db = sqlite3.connect(
                uri if memory else f"{uri}?mode=ro", uri=True, isolation_level=None, check_same_thread=False
            )
            if memory:
                db.execute("PRAGMA read_uncommitted=1")
                db.execute("PRAGMA query_only=1")
        except sqlite3.Error as error:
            raise RecordingError(f"The recording {uri} cannot be read ({error}).") from None
        return cls(db, live=True, session=None)

    def close(self) -> None:
        self._queries.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What there is

    def sessions(self) -> list[SessionRow]:
        rows = self._queries.all(
            'SELECT number, name, "group", started_ns, ended_ns, ended_how, origin, note, tags, product, '
            "base FROM session ORDER BY number"
        )
        top = self._queries.one("SELECT coalesce(max(key), 0) FROM frame")[0]
        ends = [row[10] for row in rows[1:]] + [top]
        counts = dict(self._queries.all("SELECT session, count(*) FROM connection GROUP BY session"))
        return [
            SessionRow._make((*row[:10], max(0, end - row[10]), counts.get(row[0], 0)))
            for row, end in zip(rows, ends, strict=True)
        ]

    @property
    def place(self) -> int:
        """Which of the sessions of the file it is, counted from 1."""
        return [row.number for row in self.sessions()].index(self.session) + 1

    def connections(self) -> list[ConnectionRow]:
        rows = self._queries.all(
            f"SELECT {', '.join(ConnectionRow._fields)} FROM connection WHERE session=? ORDER BY number",
            self.session,
        )
        return [ConnectionRow(*row) for row in rows]

    def streams(self, connection: int | None = None) -> list[Stream]:
        """The HTTP streams of a connection, or of all, by number; see ``core.frame.Stream``."""
        only = "" if connection is None else f" AND connection={int(connection)}"
        sql = f"SELECT {COLUMNS} FROM stream WHERE session=?{only} ORDER BY number"
        return [self._stream(row) for row in self._queries.all(sql, self.session)]

    def stream(self, number: int) -> Stream | None:
        """One HTTP stream, by the number its frames have; ``None`` if it was not recorded."""
        rows = self._queries.all(
            f"SELECT {COLUMNS} FROM stream WHERE session=? AND number=?", self.session, number
        )
        return self._stream(rows[0]) if rows else None

    def rules(self) -> list[tuple[str, str]]:
        """The rules kept with the session, in order: what each is for, and its text."""
        return [
            tuple(row)
            for row in self._queries.all(
                "SELECT what, value FROM rule WHERE session=? ORDER BY number", self.session
            )
        ]

    def provenance(self, seqs: Sequence[int] | None = None) -> dict[int, str]:
        """How frames came to be that were not recorded as they are, by seq; of some, or of all."""
        low, high = self._keys(1, None)
        if seqs:
            low, high = self._keys(min(seqs), max(seqs))
        rows = self._queries.all("SELECT key, how FROM provenance WHERE key BETWEEN ? AND ?", low, high)
        return {key - self._base: how for key, how in rows}

    def height(self) -> int:
        """The last seq, 0 for an empty session."""
        if self._end is not None:
            return self._end - self._base
        top: int = self._queries.one("SELECT coalesce(max(key), 0) FROM frame")[0]
        return max(0, top - self._base)

    # Frames

    def window(self, first: int, last: int) -> list[Row]:
        """The rows of the frames ``first`` to ``last``, both included, as far as there are any."""
        low, high = self._keys(first, last)
        rows = self._queries.all(f"{self._row} WHERE f.key BETWEEN ? AND ? ORDER BY f.key", low, high)
        self._shaping.complete(len(rows), low, high)
        return [self._shaping.row(row) for row in rows]

    def rows(self, seqs: Sequence[int]) -> list[Row]:
        """The rows of some frames, in the order of ``seqs``; those that are not there are left out."""
        found: dict[int, Row] = {}
        low, high = self._keys(1, None)
        for at in range(0, len(seqs), NUMBERS):
            keys = [key for seq in seqs[at : at + NUMBERS] if low <= (key := seq + self._base) <= high]
            marks = ",".join("?" * len(keys))
            for values in self._queries.all(f"{self._row} WHERE f.key IN ({marks})", *keys):
                row = self._shaping.row(values)
                found[row.seq] = row
        return [found[seq] for seq in seqs if seq in found]

    def frame(self, seq: int) -> Frame:
        """One frame with its whole body. Raises ``RecordingError`` if there is none."""
        low, high = self._keys(seq, seq)
        rows = self._queries.all(f"{FRAME} WHERE key BETWEEN ? AND ?", low, high)
        if not rows:
            raise RecordingError(f"There is no frame {seq}; the session has {self.height()}.")
        return self._shaping.frame(rows[0])

    def body(self, seq: int) -> bytes:
        return self.frame(seq).body

    def frames(
        self,
        *,
        connection: int | None = None,
        channel: Channel | None = None,
        first: int = 1,
        last: int | None = None,
    ) -> Iterator[Frame]:
        """Walk through frames in order, in pieces, so that a recording of any size can be walked."""
        key, end = self._keys(first, last)
        only = "" if connection is None else f" AND connection={int(connection)}"
        only += "" if channel is None else f" AND channel={int(channel)}"
        while key <= end:
            upto = min(key + CHUNK - 1, end)
            sql = f"{FRAME} WHERE key BETWEEN ? AND ?{only} ORDER BY key"
            rows = self._queries.all(sql, key, upto)
            if not only:
                self._shaping.complete(len(rows), key, upto)
            for row in rows:
                yield self._shaping.frame(row)
            key = upto + 1

    def pair(self, seq: int) -> int | None:
        """The seq of the answer to a request, or of the request an answer answers."""
        key = seq + self._base
        sql = "SELECT request FROM pair WHERE answer=? UNION ALL SELECT answer FROM pair WHERE request=?"
        row = self._queries.all(sql, key, key)
        return row[0][0] - self._base if row else None

    def matching(
        self,
        wanted: FrameFilter,
        *,
        first: int = 1,
        last: int | None = None,
        newest_first: bool = True,
        connection: int | None = None,
        found: Callable[[int], tuple[str, ...]] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Iterator[list[int]]:
        """The seqs of frames that a filter lets pass, in pieces of growing size: the first piece of a
        recording of any size comes at once. An answer's method is its request's, and it took as long as its
        request. ``found`` gives the ids of rules that a frame breaks beside those that are recorded.
        """
        low, high = self._keys(first, last)
        base = self._base
        for keys in matching(
            self._queries,
            self.session,
            wanted,
            low,
            high,
            newest_first=newest_first,
            connection=connection,
            found=None if found is None else lambda key: found(key - base),
            stop=stop,
        ):
            yield [key - base for key in keys]

    # Inside

    def _stream(self, row: tuple[Any, ...]) -> Stream:
        try:
            return stream_of(row)
        except (TypeError, ValueError) as error:
            raise self._queries.damaged(f"stream {row[0]} holds {error}") from None

    def _choose(self, session: int | None) -> int:
        if session is None:
            found = self._queries.all("SELECT min(number) FROM session")
        else:
            found = self._queries.all("SELECT number FROM session WHERE number=?", session)
        if not found or found[0][0] is None:
            which = "no session" if session is None else f"no session {session}"
            raise RecordingError(f"The recording has {which}; list them with `mcp-workbench sessions show`.")
        number: int = found[0][0]
        return number

    def _keys(self, first: int, last: int | None) -> tuple[int, int]:
        """The keys of a range of seqs, as far as the session goes."""
        height = self.height()
        return max(1, first) + self._base, (height if last is None else min(last, height)) + self._base
