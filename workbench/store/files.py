"""Recordings as files: how they are made, how SQLite is told of them, which ones we write."""

from __future__ import annotations

import os
import sqlite3

from workbench.errors import RecordingError
from workbench.store import schema

#: The files this process is writing. POSIX drops *all* of a process's locks on a file when any
#: descriptor of it is closed, also SQLite's own; so these files are never opened behind its back.
_written_here: set[str] = set()


#: Length and place of the bytes SQLite locks to share a file ("File Locking", "pending byte" + 2).
_SHARED_LOCKS = (510, 0x40000000 + 2)


def file_uri(path: str) -> str:
    """A path as SQLite's URI; ``urllib`` is not imported for three characters."""
    absolute = os.path.abspath(path)
    return "file:" + absolute.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def create_database(path: str | None, uri: str, *, log: bool = True) -> sqlite3.Connection:
    """A new recording without a session, readable by its owner only; in memory without ``path``.
    Nothing of it is committed yet.

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


def begin_writing(path: str) -> None:
    _written_here.add(os.path.realpath(path))


def end_writing(path: str) -> None:
    _written_here.discard(os.path.realpath(path))


def is_written_here(path: str) -> bool:
    return os.path.realpath(path) in _written_here


def is_held(path: str) -> bool:
    """Whether another process has a recording with a log open, as its writer does.

    SQLite keeps a shared lock on such a file as long as it is open; when an exclusive one can be had,
    nobody has. A killed process holds none.
    """
    try:
        import fcntl
    except ImportError:  # no POSIX: nothing can be said
        return True
    try:
        file = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, *_SHARED_LOCKS)
        fcntl.lockf(file, fcntl.LOCK_UN, *_SHARED_LOCKS)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


def _claim(path: str) -> None:
    # Made by us first, so that nobody else can read it for a moment.
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        if os.path.getsize(path) or not os.path.isfile(path):
            raise
