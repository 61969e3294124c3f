"""The user's store: a folder with a file a session, and how a FILE is named on the command line.

The folder is the platform's data folder, or ``MCP_WORKBENCH_STORE``. It and its
files are for their owner only. A broken file in it is listed as broken and
hides nothing else. Naming a file must cost nothing, so the reader is loaded only
to look into one.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from workbench.errors import RecordingError, UsageError

if TYPE_CHECKING:
    from workbench.store.reader import SessionRow

#: Sessions older than this are pruned (days), unless tagged.
KEEP_DAYS = 30

#: The store is pruned, oldest first, to this size (bytes).
KEEP_BYTES = 5 << 30

SUFFIXES = (".db", ".jsonl")


class Stored(NamedTuple):
    """One file of the store. ``session`` is ``None`` for a file that cannot be read, and
    ``broken`` then says why; ``live``: being written, or killed while it was."""

    name: str
    path: str
    size: int
    changed_ns: int
    live: bool
    session: SessionRow | None
    broken: str = ""


class Selection(NamedTuple):
    """What a FILE argument means: a file, and a session and connection of it if named."""

    path: str
    session: int | None = None
    connection: str | None = None


def folder() -> str:
    """The store's folder; it is not made by asking."""
    chosen = os.environ.get("MCP_WORKBENCH_STORE")
    if chosen:
        return chosen
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "mcp-workbench")
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or home, "mcp-workbench")
    return os.path.join(
        os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share"), "mcp-workbench"
    )


def new_path(name: str) -> str:
    """A free path in the store for a session called ``name``; makes the folder.

    Raises ``RecordingError`` if the folder cannot be made.
    """
    where = folder()
    try:
        os.makedirs(where, mode=0o700, exist_ok=True)
    except OSError as error:
        raise RecordingError(
            f"The store {where} cannot be made ({error.strerror}); set MCP_WORKBENCH_STORE to another folder."
        ) from None
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:40] or "session"
    stem = time.strftime(f"{plain}-%Y%m%d-%H%M%S")
    path = os.path.join(where, stem + ".db")
    number = 1
    while os.path.exists(path):
        number += 1
        path = os.path.join(where, f"{stem}-{number}.db")
    return path


def list_store() -> list[Stored]:
    """Every file of the store, newest first; one that cannot be read is there as broken."""
    found = [_look(path) for path in _files(folder())]
    return sorted(found, key=lambda stored: -stored.changed_ns)


def resolve(text: str) -> Selection:
    """What FILE means: a path, else a name (or the only beginning of one) in the store.

    ``FILE#3`` names a session, ``FILE#name/connection`` or ``FILE#3/connection`` a connection too.
    Raises ``RecordingError`` when there is none, ``UsageError`` when several fit.
    """
    if os.path.exists(text):
        return Selection(text)
    file, mark, rest = text.rpartition("#")
    path = _path(file if mark else text)
    if not mark:
        return Selection(path)
    which, _, connection = rest.partition("/")
    return Selection(path, _session(path, which) if which else None, connection or None)


def prune(
    *, days: float = KEEP_DAYS, most_bytes: int = KEEP_BYTES, now_ns: int | None = None, dry: bool = False
) -> list[Stored]:
    """Remove what is too old or too much, oldest first, never what is tagged or live; returns it."""
    now = time.time_ns() if now_ns is None else now_ns
    kept = [
        stored for stored in list_store() if stored.session and not stored.session.tags and not stored.live
    ]
    removed = [stored for stored in kept if now - stored.changed_ns > days * 86_400e9]
    total = sum(stored.size for stored in kept) - sum(stored.size for stored in removed)
    for stored in reversed(kept):
        if total <= most_bytes:
            break
        if stored not in removed:
            removed.append(stored)
            total -= stored.size
    if not dry:
        for stored in removed:
            remove(stored.path)
    return removed


def remove(path: str) -> None:
    """Remove a recording and what SQLite may have left beside it."""
    for name in (path, path + "-wal", path + "-shm"):
        if os.path.exists(name):
            os.remove(name)


def space_is_short(path: str, share: float = 0.05) -> bool:
    """Whether less than ``share`` of the disk that ``path`` lies on is free."""
    try:
        disk = os.statvfs(os.path.dirname(os.path.abspath(path)))
    except (OSError, AttributeError):
        return False
    return disk.f_bavail < disk.f_blocks * share


def _files(where: str) -> Iterator[str]:
    try:
        names = sorted(os.listdir(where))
    except OSError:
        return
    for name in names:
        path = os.path.join(where, name)
        if name.endswith(SUFFIXES) and os.path.isfile(path):
            yield path


def _look(path: str) -> Stored:
    name = os.path.splitext(os.path.basename(path))[0]
    status = os.stat(path)
    size, changed = status.st_size, status.st_mtime_ns
    from workbench.store.reader import Reader

    try:
        with Reader.open(path) as reader:
            return Stored(name, path, size, changed, reader.live, reader.sessions()[0])
    except (RecordingError, OSError) as error:
        return Stored(name, path, size, changed, False, None, str(error))


def _path(text: str) -> str:
    if os.path.exists(text):
        return text
    paths = list(_files(folder()))
    names = {os.path.splitext(os.path.basename(path))[0]: path for path in paths}
    if text in names:
        return names[text]
    if text == "last" and paths:
        return max(paths, key=lambda path: os.stat(path).st_mtime_ns)
    begun = [path for name, path in names.items() if text and name.startswith(text)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        several = ", ".join(sorted(os.path.splitext(os.path.basename(path))[0] for path in begun)[:5])
        raise UsageError(f"{text} fits several recordings ({several}); write more of the name.")
    raise RecordingError(f"There is no recording {text}; list yours with `mcp-workbench sessions list`.")


def _session(path: str, which: str) -> int:
    from workbench.store.reader import Reader

    with Reader.open(path) as reader:
        sessions = reader.sessions()
    for session in sessions:
        if which in (str(session.number), session.name):
            return session.number
    # A single session need not be named: then the text is the connection's.
    listed = ", ".join(f"{session.number} {session.name}".strip() for session in sessions)
    raise UsageError(f"{path} has no session {which}; it has: {listed}.")
