"""Taking a recording out safely: a live or killed one has a log beside it that belongs to it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from workbench.errors import RecordingError
from workbench.store.files import create_database, file_uri
from workbench.store.neighbours import remove
from workbench.store.opening import open_recording


def copy(source: str, target: str) -> None:
    """Copy a recording, in whatever state and form, to a closed file at ``target`` (which must not
    exist). A name that ends in ``.jsonl`` gets the text form. Raises ``RecordingError``; then
    nothing is left."""
    with _opened(source) as db:
        if target.endswith(".jsonl"):
            _write_text(db, target)
        else:
            _backup(db, target)


def export(source: str, out: IO[str], *, session: int | None = None) -> None:
    """Write a recording, in whatever form, as text. Raises ``RecordingError``, and ``OSError`` where
    ``out`` cannot be written."""
    from workbench.store.formats.text import export_text

    with _opened(source) as db:
        export_text(db, out, session=session)


def import_file(source: str, target: str) -> None:
    """Make the SQLite form of a text recording. Raises ``RecordingError``; then nothing is left."""
    from workbench.store.formats.text import import_text

    try:
        with open(source, "rb") as file:
            import_text(file, target, name=source)
    except OSError as error:
        raise RecordingError(f"{source} cannot be read: {error.strerror}.") from None


@contextmanager
def _opened(source: str) -> Iterator[sqlite3.Connection]:
    db = open_recording(source).db
    try:
        yield db
    except (sqlite3.Error, ValueError) as error:
        raise RecordingError(f"{source} cannot be read ({error}); it may be damaged.") from None
    finally:
        db.close()


def _write_text(db: sqlite3.Connection, target: str) -> None:
    from workbench.store.formats.text import export_text

    try:
        with open(target, "x", encoding="utf-8", newline="\n") as out:
            try:
                export_text(db, out)
            except BaseException:
                os.remove(target)
                raise
    except FileExistsError:
        raise RecordingError(f"{target} exists already; name another file, or remove it first.") from None
    except OSError as error:
        raise RecordingError(f"{target} cannot be written: {error.strerror}.") from None


def _backup(db: sqlite3.Connection, target: str) -> None:
    made = create_database(target, file_uri(target), log=False)
    try:
        made.execute("COMMIT")
        db.backup(made)
        # The pages say of themselves that they have a log, as those of a live recording do.
        made.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        made.close()
        remove(target)
        raise RecordingError(f"The copy {target} cannot be written: {error}.") from None
    made.close()
