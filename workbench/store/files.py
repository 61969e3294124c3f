"""Recordings as files: how they are made, how SQLite is told of them, which ones we write."""

from __future__ import annotations

import os
import sqlite3

from workbench.errors import RecordingError
from workbench.store import schema

#: The files this process is writing. POSIX drops *all* of a process's locks on a file when any
#: descriptor of it is closed, also SQLite's own; so these files are never opened behind its back.
_written_here: set[str] = set()


def file_uri(path: str) -> str:
    """A path as SQLite's URI; ``urllib`` is not imported for three characters."""
    absolute = os.path.abspath(path)
    return "file:" + absolute.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def create_database(path: str | None, uri: str, *, log: bool = True) -> sqlite3.Connection:
    """A new recording without a session, readable by its owner only; in memory without ``path``.

    An empty file is a place kept for it. ``log``: with a write-ahead log, for a recording that is
    read while it grows; else it is whole, or nothing, when the transaction is. Raises
    ``RecordingError``.
    """
    try:
        if path is not None:
            _claim(path)
        db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        if path is not None:
            db.execute(f"PRAGMA page_size={schema.PAGE_BYTES}")
            db.execute(f"PRAGMA journal_mode={'WAL' if log else 'DELETE'}")
            db.execute("PRAGMA synchronous=FULL")
        schema.create(db)
    except FileExistsError:
        raise RecordingError(f"{path} exists already; name another file, or remove it first.") from None
    except (OSError, sqlite3.Error) as error:
        raise RecordingError(
            f"The recording {path} cannot be made ({error}); choose another place."
        ) from None
    return db


def remove(path: str) -> None:
    """Remove a recording and what SQLite may have left beside it."""
    for name in (path, path + "-wal", path + "-shm", path + "-journal"):
        if os.path.exists(name):
            os.remove(name)


def begin_writing(path: str) -> None:
    _written_here.add(os.path.realpath(path))


def end_writing(path: str) -> None:
    _written_here.discard(os.path.realpath(path))


def is_written_here(path: str) -> bool:
    return os.path.realpath(path) in _written_here


def _claim(path: str) -> None:
    # Made by us first, so that nobody else can read it for a moment.
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        if os.path.getsize(path) or not os.path.isfile(path):
            raise
