"""Taking a recording out safely: a live or killed one has a log beside it that belongs to it."""

from __future__ import annotations

import os
import sqlite3
from typing import IO

from workbench.errors import RecordingError
from workbench.store.files import create_database, file_uri
from workbench.store.formats.text import export_text, import_text
from workbench.store.opening import open_recording


def copy(source: str, target: str) -> None:
    """Copy a recording, in whatever state and form, to a closed file at ``target`` (which must not
    exist). A name that ends in ``.jsonl`` gets the text form. Raises ``RecordingError``."""
    opened = open_recording(source)
    try:
        if target.endswith(".jsonl"):
            _write_text(opened.db, target)
        else:
            _backup(opened.db, target)
    finally:
        opened.db.close()


def export(source: str, out: IO[str], *, session: int | None = None) -> None:
    """Write a recording, in whatever form, as text. Raises ``RecordingError``."""
    opened = open_recording(source)
    try:
        export_text(opened.db, out, session=session)
    finally:
        opened.db.close()


def import_file(source: str, target: str) -> None:
    """Make the SQLite form of a text recording. Raises ``RecordingError``."""
    try:
        with open(source, "rb") as file:
            import_text(file, target, name=source)
    except OSError as error:
        raise RecordingError(f"{source} cannot be read: {error.strerror}.") from None


def _write_text(db: sqlite3.Connection, target: str) -> None:
    try:
        with open(target, "x", encoding="utf-8", newline="\n") as out:
            export_text(db, out)
    except FileExistsError:
        raise RecordingError(f"{target} exists already; name another file, or remove it first.") from None
    except OSError as error:
        raise RecordingError(f"{target} cannot be written: {error.strerror}.") from None


def _backup(db: sqlite3.Connection, target: str) -> None:
    made = create_database(target, file_uri(target), log=False)
    try:
        db.backup(made)
        made.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        made.close()
        os.remove(target)
        raise RecordingError(f"The copy {target} cannot be written: {error}.") from None
    made.close()
