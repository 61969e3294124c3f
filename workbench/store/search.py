"""Finding text in frames, in pieces, so that a search can be given up and shows its first hits at once.

``instr`` on a BLOB compares bytes and takes no index; it reads about a million
small frames a second. ``LIKE`` would find nothing in a BLOB, and an index of all
text could not be kept up to date while frames come in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from workbench.store.queries import Queries

#: Rows looked at between two looks at ``stop``.
ROWS = 10_000

#: Rows looked at first where the first piece is wanted at once.
FIRST_ROWS = 500

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


def passing(
    queries: Queries,
    low: int,
    high: int,
    *,
    newest_first: bool = True,
    connection: int | None = None,
    hidden: Collection[int] = (),
    hidden_methods: Collection[str] = (),
    stop: Callable[[], bool] | None = None,
) -> Iterator[list[int]]:
    """The keys from ``low`` to ``high`` of the frames of no hidden kind or method, in pieces."""
    order = "DESC" if newest_first else "ASC"
    where = "" if connection is None else f" AND connection={int(connection)}"
    if hidden:
        where += f" AND kind NOT IN ({','.join(str(int(kind)) for kind in hidden)})"
    if words := _words_like(queries, hidden_methods):
        where += f" AND (method IS NULL OR method NOT IN ({words}))"
    sql = f"SELECT key FROM frame WHERE key BETWEEN ? AND ?{where} ORDER BY key {order}"
    for start, end in _pieces(low, high, newest_first, FIRST_ROWS):
        if stop is not None and stop():
            return
        if found := [row[0] for row in queries.all(sql, start, end)]:
            yield found


def _pieces(low: int, high: int, newest_first: bool, step: int = ROWS) -> Iterator[tuple[int, int]]:
    """Ranges of at most ``ROWS`` keys; the first is of ``step``, each next one twice as large."""
    while low <= high:
        if newest_first:
            yield max(low, high - step + 1), high
            high -= step
        else:
            yield low, min(low + step - 1, high)
            low += step
        step = min(2 * step, ROWS)


def _words_with(queries: Queries, text: bytes) -> str:
    try:
        needle = text.decode()
    except UnicodeDecodeError:
        return ""
    rows = queries.all(f"SELECT id FROM word WHERE instr(text, ?) LIMIT {MAX_WORDS}", needle)
    return ",".join(str(row[0]) for row in rows)


def _words_like(queries: Queries, methods: Collection[str]) -> str:
    """The numbers of these words: a word may have several."""
    if not methods:
        return ""
    marks = ",".join("?" * len(methods))
    rows = queries.all(f"SELECT id FROM word WHERE text IN ({marks})", *methods)
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
