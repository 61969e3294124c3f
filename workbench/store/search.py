"""Finding text in frames, in pieces, so that a search can be given up and shows its first hits at once.

``instr`` on a BLOB compares bytes and takes no index; it reads about a million
small frames a second. ``LIKE`` would find nothing in a BLOB, and an index of all
text could not be kept up to date while frames come in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from workbench.store.queries import Queries

#: Rows looked at between two looks at ``stop``.
ROWS = 10_000

#: Methods and names with the text that are looked for by number; more of them are rare.
MAX_WORDS = 5_000


def find(
    queries: Queries,
    text: bytes,
    low: int,
    high: int,
    *,
    newest_first: bool = True,
    connection: int | None = None,
    stop: Callable[[], bool] | None = None,
) -> Iterator[int]:
    """The keys from ``low`` to ``high`` of the frames whose body, method or name contains ``text``."""
    order = "DESC" if newest_first else "ASC"
    only = "" if connection is None else f" AND connection={int(connection)}"
    words = _words_with(queries, text)
    hit = f"(instr(body, ?) OR method IN ({words}) OR name IN ({words}))"
    sql = (
        f"SELECT key, stored, {hit} FROM frame WHERE key BETWEEN ? AND ?{only} "
        f"AND (stored IS NOT NULL OR {hit}) ORDER BY key {order}"
    )
    for start, end in _pieces(low, high, newest_first):
        if stop is not None and stop():
            return
        for key, stored, found in queries.all(sql, text, start, end, text):
            if found or (stored is not None and _in_parts(queries, key, text)):
                yield key


def _pieces(low: int, high: int, newest_first: bool) -> Iterator[tuple[int, int]]:
    if newest_first:
        for end in range(high, low - 1, -ROWS):
            yield max(low, end - ROWS + 1), end
    else:
        for start in range(low, high + 1, ROWS):
            yield start, min(start + ROWS - 1, high)


def _words_with(queries: Queries, text: bytes) -> str:
    try:
        needle = text.decode()
    except UnicodeDecodeError:
        return ""
    rows = queries.all(f"SELECT id FROM word WHERE instr(text, ?) LIMIT {MAX_WORDS}", needle)
    return ",".join(str(row[0]) for row in rows)


def _in_parts(queries: Queries, key: int, text: bytes) -> bool:
    """Whether a large body contains the text; only two of its parts are in memory at a time."""
    before = b""
    part = 0
    while rows := queries.all("SELECT data FROM body WHERE key=? AND part=?", key, part):
        piece = before + rows[0][0]
        if text in piece:
            return True
        before = piece[-len(text) + 1 :] if len(text) > 1 else b""
        part += 1
    return False
