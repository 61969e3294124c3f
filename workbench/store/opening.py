"""How a recording is opened: closed, live, killed, of an older version, or as text; never written to.

A recording without a log beside it is complete: it is opened ``immutable``, so that
it may lie in a read-only folder and gets no neighbours. One with a log is being
written, or its writer was killed, and is read together with the log, in place if
the log's index is there too (else SQLite would make one), and from a private copy
otherwise. An older version is brought up to date in a private copy.
"""

from __future__ import annotations

import os
import sqlite3
from typing import NamedTuple

from workbench.errors import RecordingError
from workbench.store import schema
from workbench.store.files import file_uri, is_held, is_written_here
from workbench.store.neighbours import LEFTOVERS, size

_MAGIC = b"SQLite format 3\x00"

#: Copying a file that is written to meanwhile is tried so often.
TRIES = 5


class Opened(NamedTuple):
    """``live``: it is being written; what is read grows."""

    db: sqlite3.Connection
    live: bool


def open_recording(path: str) -> Opened:
    """Open a file in either form. Raises ``RecordingError``."""
    if not is_written_here(path):
        head = _head(path)
        if not head.startswith(_MAGIC):
            return Opened(_from_text(path, head), False)
    try:
        db, live = _connect(path)
        return Opened(_current(db, path), live)
    except (sqlite3.Error, OSError) as error:
        raise RecordingError(f"{path} cannot be read ({error}); it is damaged or no recording.") from None


def _from_text(path: str, head: bytes) -> sqlite3.Connection:
    if head.lstrip()[:1] != b"{":
        raise RecordingError(f"{path} is no recording: it is neither SQLite nor our text form.")
    from workbench.store.formats.text import import_to_memory

    return import_to_memory(path)


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(100)
    except FileNotFoundError:
        raise RecordingError(
            f"There is no recording {path}; list yours with `mcp-workbench sessions list`."
        ) from None
    except OSError as error:
        raise RecordingError(f"The recording {path} cannot be read: {error.strerror}.") from None


def _connect(path: str) -> tuple[sqlite3.Connection, bool]:
    if is_written_here(path):
        return _read_only(path, "mode=ro"), True
    leftovers = [suffix for suffix in LEFTOVERS if size(path + suffix)]
    if not leftovers:
        return _read_only(path, "mode=ro&immutable=1"), False
    folder = os.path.dirname(os.path.abspath(path))
    if leftovers == ["-wal"] and _writable(path + "-shm") and _writable(folder):
        live = is_held(path)
        return _read_only(path, "mode=ro"), live
    return _private_copy(path, migrated=False), False


def _current(db: sqlite3.Connection, path: str) -> sqlite3.Connection:
    """See that a database is a recording of a version we know; an older one is migrated."""
    try:
        version = _version(db, path)
        if version == schema.VERSION:
            return db
        newer = version > schema.VERSION
    except BaseException:
        db.close()
        raise
    db.close()
    if newer:
        raise RecordingError(
            f"{path} was written by a newer version (format {version}, known is {schema.VERSION}); "
            "upgrade mcp-workbench to read it."
        )
    return _private_copy(path, migrated=True)


def _version(db: sqlite3.Connection, path: str) -> int:
    if db.execute("PRAGMA application_id").fetchone()[0] != schema.APPLICATION_ID:
        raise RecordingError(f"{path} is a SQLite file, but no recording of this product.")
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    return version


def _read_only(path: str, how: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{file_uri(path)}?{how}", uri=True, isolation_level=None, check_same_thread=False)


def _private_copy(path: str, *, migrated: bool) -> sqlite3.Connection:
    """A recording with its log applied (and brought up to date), without touching where it lies.

    The copy is a file, because recordings may be larger than memory, and has no name any more when
    this returns, so nothing of it is left whenever the process ends.
    """
    import tempfile

    with tempfile.TemporaryDirectory(prefix="mcp-workbench-") as folder:
        copy = os.path.join(folder, "recording.db")
        _copy_whole(path, copy)
        db = sqlite3.connect(copy, isolation_level=None)
        try:
            if migrated:
                from workbench.store.migrations import migrate

                migrate(db)
            db.execute("PRAGMA journal_mode=DELETE")
        finally:
            db.close()
        db = _read_only(copy, "mode=ro&immutable=1")
        db.execute("PRAGMA user_version").fetchone()
        return db


def _copy_whole(path: str, copy: str) -> None:
    """Copy a recording and its log as they were at one moment: a log that was begun anew while
    they were copied does not belong to what was copied before."""
    import shutil

    for _ in range(TRIES):
        before = _log_head(path)
        shutil.copyfile(path, copy)
        for suffix in LEFTOVERS:
            if size(path + suffix):
                shutil.copyfile(path + suffix, copy + suffix)
            elif os.path.exists(copy + suffix):
                os.remove(copy + suffix)
        if before == _log_head(path):
            return
    raise RecordingError(f"{path} is being written to faster than it can be copied; try it again later.")


def _log_head(path: str) -> bytes:
    try:
        with open(path + "-wal", "rb") as log:
            return log.read(32)
    except OSError:
        return b""


def _writable(path: str) -> bool:
    return os.access(path, os.W_OK)
