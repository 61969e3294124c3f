"""Questions to an opened recording, from any thread, one at a time.

Each is fetched at once, so that no transaction is held between two of them: a
live recording's log could not be emptied while one is.
"""

from __future__ import annotations

import sqlite3
import threading
from typing import Any

from workbench.errors import RecordingError

#: Words kept in memory; there are few methods and tools, but every resource's URI is one too.
MAX_WORDS = 50_000


class Queries:
    """An opened database. Raises ``RecordingError`` where it cannot be read."""

    def __init__(self, db: sqlite3.Connection, path: str) -> None:
        self.path = path
        self._db = db
        self._lock = threading.RLock()
        self._words: dict[int, str] = {}

    def all(self, sql: str, *values: Any) -> list[Any]:
        try:
            with self._lock:
                return self._db.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise self.damaged(str(error)) from None

    def one(self, sql: str, *values: Any) -> Any:
        return self.all(sql, *values)[0]

    def word(self, number: int | None) -> str | None:
        """The method or name that a row has the number of."""
        if number is None:
            return None
        word = self._words.get(number)
        if word is None:
            word = self._look_up(number)
        return word

    def _look_up(self, number: int) -> str | None:
        if len(self._words) > MAX_WORDS:
            self._words = {}
        # Words come in order and are never changed, so the ones around are asked for too.
        self._words.update(
            self.all("SELECT id, text FROM word WHERE id BETWEEN ? AND ?", number, number + 99)
        )
        return self._words.get(number)

    def large(self, key: int) -> bytes:
        """A body that stands in parts."""
        return b"".join(row[0] for row in self.all("SELECT data FROM body WHERE key=? ORDER BY part", key))

    def damaged(self, why: str) -> RecordingError:
        return RecordingError(
            f"The recording {self.path or 'in memory'} cannot be read ({why}); it may be damaged, try a copy."
        )

    def close(self) -> None:
        with self._lock:
            self._db.close()
