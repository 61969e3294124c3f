"""How a recording is opened: closed, live, killed, or as text; never written to."""

from __future__ import annotations

import os
import sqlite3
from typing import NamedTuple

from workbench.errors import RecordingError
from workbench.store import schema
from workbench.store.files import file_uri

_MAGIC = b"SQLite format 3\x00"

#: Byte 18 of a SQLite file: 1 for a rollback journal, 2 for a write-ahead log.
_WRITE_VERSION = 18


class Opened(NamedTuple):
    """``live``: the recording is being written, or was when its writer was killed."""

    db: sqlite3.Connection
    live: bool


def open_recording(path: str) -> Opened:
    """Open a file in either form. Raises ``RecordingError``."""
    head = _head(path)
    if not head.startswith(_MAGIC):
        if head.lstrip()[:1] != b"{":
            raise RecordingError(f"{path} is no recording: it is neither SQLite nor our text form.")
        from workbench.store.formats.text import import_to_memory

        return Opened(import_to_memory(path), False)
    at_rest = len(head) > _WRITE_VERSION and head[_WRITE_VERSION] == 1 and not _has_log(path)
    try:
        return Opened(check(_connect(path, at_rest), path), not at_rest)
    except sqlite3.Error as error:
        raise RecordingError(f"{path} cannot be read ({error}); it is damaged or no recording.") from None


def check(db: sqlite3.Connection, path: str) -> sqlite3.Connection:
    """See that a database is a recording of a version we know."""
    application = db.execute("PRAGMA application_id").fetchone()[0]
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if application != schema.APPLICATION_ID:
        db.close()
        raise RecordingError(f"{path} is a SQLite file, but no recording of this product.")
    if version > schema.VERSION:
        db.close()
        raise RecordingError(
            f"{path} was written by a newer version (format {version}, known is {schema.VERSION}); "
            "upgrade mcp-workbench to read it."
        )
    return db


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


def _has_log(path: str) -> bool:
    try:
        return os.path.getsize(path + "-wal") > 0
    except OSError:
        return False


def _connect(path: str, at_rest: bool) -> sqlite3.Connection:
    if at_rest:
        uri = file_uri(path) + "?mode=ro&immutable=1"
    elif os.access(os.path.dirname(os.path.abspath(path)), os.W_OK):
        uri = file_uri(path) + "?mode=ro"
    else:
        return _private_copy(path)
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


def _private_copy(path: str) -> sqlite3.Connection:
    """A killed recording in a folder that cannot be written: its log must be applied elsewhere."""
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "recording.db")
        shutil.copyfile(path, copy)
        if _has_log(path):
            shutil.copyfile(path + "-wal", copy + "-wal")
        source = sqlite3.connect(copy, isolation_level=None)
        memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        source.backup(memory)
        source.close()
    return memory
