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
from contextlib import suppress
from itertools import chain, count
from typing import TYPE_CHECKING, NamedTuple

from workbench.errors import RecordingError, UsageError
from workbench.store.neighbours import remove, size

if TYPE_CHECKING:
    from workbench.store.reader import SessionRow

__all__ = [
    "Selection",
    "Stored",
    "folder",
    "list_store",
    "new_path",
    "prune",
    "remove",
    "resolve",
    "space_is_short",
]

#: Sessions older than this are pruned (days), unless tagged.
KEEP_DAYS = 30

#: The store is pruned, oldest first, to this size (bytes).
KEEP_BYTES = 5 << 30

SUFFIXES = (".db", ".jsonl")


class Stored(NamedTuple):
    """One file of the store. ``session`` is ``None`` for a file that cannot be read, and
    ``broken`` then says why. ``size`` is in bytes with the log; ``live``: it is being written."""

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
    """A place in the store for a session called ``name``: an empty file, which nobody else gets.

    Makes the folder. Raises ``RecordingError`` if that cannot be.
    """
    where = folder()
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:40] or "session"
    stem = time.strftime(f"{plain}-%Y%m%d-%H%M%S")
    try:
        os.makedirs(where, mode=0o700, exist_ok=True)
        for ending in chain(("",), (f"-{number}" for number in count(2))):
            path = os.path.join(where, f"{stem}{ending}.db")
            # Several stand-ins of one name may be started in the same second, so it is kept at once.
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                return path
    except OSError as error:
        raise RecordingError(
            f"The store {where} cannot be written to ({error.strerror}); "
            "set MCP_WORKBENCH_STORE to another folder."
        ) from None
    raise AssertionError("there is always another number")


def list_store() -> list[Stored]:
    """Every file of the store, newest first; one that cannot be read is there as broken."""
    found = [_look(path) for path in _files(folder())]
    return sorted(found, key=lambda stored: -stored.changed_ns)


def resolve(text: str) -> Selection:
    """What FILE means: a path, else a name (or the only beginning of one) in the store.

    ``FILE#3`` or ``FILE#name`` names a session, ``FILE#3/connection`` a connection too; where there is
    one session, ``FILE#connection`` will do. Raises ``RecordingError`` when there is no such
    recording, ``UsageError`` when several fit or there is no such part.
    """
    if os.path.exists(text):
        return Selection(text)
    file, mark, rest = text.rpartition("#")
    path = _path(file if mark else text)
    if not mark:
        return Selection(path)
    which, _, connection = rest.partition("/")
    if not which:
        return Selection(path, None, connection or None)
    return _part(path, which, connection or None)


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
        # An empty file is a place kept for a recording that is about to begin.
        if name.endswith(SUFFIXES) and os.path.isfile(path) and size(path):
            yield path


def _changed_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _look(path: str) -> Stored:
    name = os.path.splitext(os.path.basename(path))[0]
    weight = size(path) + size(path + "-wal")
    changed = max(_changed_ns(path), _changed_ns(path + "-wal"))
    from workbench.store.reader import Reader

    try:
        with Reader.open(path) as reader:
            return Stored(name, path, weight, changed, reader.live, reader.sessions()[0])
    except (RecordingError, OSError) as error:
        return Stored(name, path, weight, changed, False, None, str(error))


def _path(text: str) -> str:
    if os.path.exists(text):
        return text
    paths = list(_files(folder()))
    names = {os.path.splitext(os.path.basename(path))[0]: path for path in paths}
    if text in names:
        return names[text]
    if text == "last" and paths:
        return max(paths, key=_changed_ns)
    begun = [path for name, path in names.items() if text and name.startswith(text)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        several = ", ".join(sorted(os.path.splitext(os.path.basename(path))[0] for path in begun)[:5])
        raise UsageError(f"{text} fits several recordings ({several}); write more of the name.")
    raise RecordingError(f"There is no recording {text}; list yours with `mcp-workbench sessions list`.")


def _part(path: str, which: str, connection: str | None) -> Selection:
    from workbench.store.reader import Reader

    with Reader.open(path) as reader:
        sessions = reader.sessions()
        connections = [name for row in reader.connections() for name in (str(row.number), row.name)]
    for session in sessions:
        if which in (str(session.number), session.name):
            return Selection(path, session.number, connection)
    if len(sessions) == 1 and connection is None and which in connections:
        return Selection(path, sessions[0].number, which)
    listed = ", ".join(f"{session.number} {session.name}".strip() for session in sessions)
    raise UsageError(f"{path} has no session {which}; it has: {listed}.")
