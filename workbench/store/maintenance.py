"""Changes to recordings at rest: what people write about them, and their upkeep.

A recording that is being written is left alone, and so is one whose writer was
killed, until it is copied: its log belongs to it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from workbench.errors import RecordingError
from workbench.store.neighbours import LEFTOVERS
from workbench.store.opening import open_recording

if TYPE_CHECKING:
    from sqlite_utils import Database


def annotate(
    path: str,
    *,
    session: int = 1,
    name: str | None = None,
    note: str | None = None,
    tags: str | None = None,
) -> None:
    """Write down what people say about a session; what is not given stays. A session with tags is
    never pruned. Raises ``RecordingError``."""
    given = {"name": name, "note": note, "tags": tags}
    changes = {column: value for column, value in given.items() if value is not None}
    with _opened(path) as recording:
        if not recording.table("session").count_where("number = ?", [session]):
            raise RecordingError(f"{path} has no session {session}.")
        if changes:
            recording.table("session").update(session, changes)


def compact(path: str) -> int:
    """Give back the space of what was removed; returns by how many bytes the file shrank.

    Raises ``RecordingError``.
    """
    before = os.path.getsize(path)
    with _opened(path) as recording:
        recording.vacuum()
    return before - os.path.getsize(path)


@contextmanager
def _opened(path: str) -> Iterator[Database]:
    open_recording(path).db.close()  # says what is wrong with it, if it is no recording
    if any(os.path.exists(path + suffix) for suffix in LEFTOVERS):
        raise RecordingError(f"{path} is not closed; take a copy with `mcp-workbench sessions copy` first.")
    from sqlite_utils import Database

    db = sqlite3.connect(path)
    try:
        yield Database(db)
    except sqlite3.Error as error:
        raise RecordingError(f"{path} cannot be changed ({error}).") from None
    finally:
        db.close()
