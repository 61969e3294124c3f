"""What may lie beside a recording's file and belongs to it."""

from __future__ import annotations

import os

#: Without these a recording that was not closed is not whole: its log, or the journal of a change.
LEFTOVERS = ("-wal", "-journal")

#: These and the log's index, which SQLite makes anew.
NEIGHBOURS = (*LEFTOVERS, "-shm")


def remove(path: str) -> None:
    """Remove a recording and what lies beside it. What is not there is no error."""
    for name in (path, *(path + suffix for suffix in NEIGHBOURS)):
        if os.path.exists(name):
            os.remove(name)


def size(path: str) -> int:
    """A file's size in bytes, 0 if there is none."""
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
