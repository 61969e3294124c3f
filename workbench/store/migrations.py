"""Old recordings open for ever: one small step a version, applied to a private copy.

A step takes the tables of its version to the next one; ``user_version`` says which
a file has. The tables of the current version are made by ``schema``, so steps are
only ever needed for files, and sqlite-utils is only loaded for these.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from workbench.errors import RecordingError
from workbench.store import schema

if TYPE_CHECKING:
    from sqlite_utils import Database


def _to_2(recording: Database) -> None:
    """HTTP streams: nothing wrote any before, so the table is made as it is now."""
    recording.execute("DROP TABLE stream")
    recording.execute(
        "CREATE TABLE stream (session INTEGER NOT NULL, number INTEGER NOT NULL, connection INTEGER NOT NULL,"
        " verb TEXT, url TEXT, status INTEGER, encoding TEXT, wire_bytes INTEGER, request_headers TEXT,"
        " response_headers TEXT, opened_ns INTEGER, closed_ns INTEGER, closed_how TEXT,"
        " PRIMARY KEY (session, number)) WITHOUT ROWID"
    )


#: From each version to the next: ``STEPS[1]`` makes a file of version 1 one of version 2.
STEPS: Mapping[int, Callable[[Database], None]] = {1: _to_2}


def migrate(db: sqlite3.Connection) -> None:
    """Bring a database that may be written to up to the current version, all of it or nothing.

    Raises ``RecordingError`` for a version that never was.
    """
    from sqlite_utils import Database

    recording = Database(db)
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    with recording.atomic():
        for number in range(version, schema.VERSION):
            step = STEPS.get(number)
            if step is None:
                raise RecordingError(f"The recording's format {version} is none of this product's.")
            step(recording)
        db.execute(f"PRAGMA user_version={schema.VERSION}")
