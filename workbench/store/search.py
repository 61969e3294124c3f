"""Text in frames, looked for in pieces, so that a search can be given up and shows its first hits at once.

``instr`` on a BLOB compares bytes and takes no index; it reads about a million
small frames a second. ``LIKE`` would find nothing in a BLOB, and an index of all
text could not be kept up to date while frames come in.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.store.queries import Queries

#: Rows looked at between two looks at ``stop``.
ROWS = 10_000

#: Rows looked at first where the first piece is wanted at once.
FIRST_ROWS = 500

#: Methods and names with the text that are looked for by number; more of them are rare.
MAX_WORDS = 5_000


def pieces(low: int, high: int, newest_first: bool, step: int = ROWS) -> Iterator[tuple[int, int]]:
    """Ranges of at most ``ROWS`` keys; the first is of ``step``, each next one twice as large."""
    while low <= high:
        if newest_first:
            yield max(low, high - step + 1), high
            high -= step
        else:
            yield low, min(low + step - 1, high)
            low += step
        step = min(2 * step, ROWS)


def words_with(queries: Queries, text: bytes) -> str:
    """The numbers of the words that contain a text, with commas between."""
    try:
        needle = text.decode()
    except UnicodeDecodeError:
        return ""
    rows = queries.all(f"SELECT id FROM word WHERE instr(text, ?) LIMIT {MAX_WORDS}", needle)
    return ",".join(str(row[0]) for row in rows)


def in_parts(queries: Queries, key: int, text: bytes) -> bool:
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
