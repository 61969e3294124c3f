"""Frames that a filter lets pass, in pieces: a filter becomes one condition of SQL.

Only what SQL cannot tell is looked at here: text in large bodies, which stand in parts, and findings that
somebody beside the recording knows of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from workbench.core import frame_filter as language
from workbench.core.frame import Direction, Kind
from workbench.core.frame_filter import KINDS, WAYS, FrameFilter, Term, matches
from workbench.store.queries import Queries
from workbench.store.search import FIRST_ROWS, MAX_WORDS, in_parts, pieces, words_with

#: The ids of the rules that a frame breaks, by its key.
Found = Callable[[int], tuple[str, ...]]

#: How long a call took, from both of its ends.
_TOOK = (
    "coalesce((SELECT frame.mono-q.mono FROM pair p JOIN frame q ON q.key=p.request WHERE p.answer=frame.key)"
    ", (SELECT min(a.mono)-frame.mono FROM pair p JOIN frame a ON a.key=p.answer WHERE p.request=frame.key))"
)


class _Condition(NamedTuple):
    """Of SQL, never NULL, with its values."""

    sql: str
    values: tuple[Any, ...] = ()


def matching(
    queries: Queries,
    session: int,
    wanted: FrameFilter,
    low: int,
    high: int,
    *,
    newest_first: bool = True,
    connection: int | None = None,
    found: Found | None = None,
    stop: Callable[[], bool] | None = None,
) -> Iterator[list[int]]:
    """The keys from ``low`` to ``high`` of the frames that pass, in pieces of growing size: the first piece
    of a recording of any size comes at once. ``stop`` is asked between pieces."""
    texts = [term for term in wanted if term.key == language.TEXT]
    late = [term for term in wanted if term.key == language.FINDING] if found is not None else []
    having = [_has_text(queries, term) for term in texts]
    conditions = [_with_text(has, term) for has, term in zip(having, texts, strict=True)]
    conditions += [_condition(queries, session, term) for term in wanted if term not in (*texts, *late)]
    if connection is not None:
        conditions.append(_Condition("connection=?", (connection,)))
    where = "".join(f" AND {condition.sql}" for condition in conditions)
    values = [value for condition in conditions for value in condition.values]
    told = [value for has in having for value in has.values]
    sql = (
        f"SELECT key, stored{''.join(f', {has.sql}' for has in having)} FROM frame "
        f"WHERE key BETWEEN ? AND ?{where} "
        f"ORDER BY key {'DESC' if newest_first else 'ASC'}"
    )
    for start, end in pieces(low, high, newest_first, FIRST_ROWS):
        if stop is not None and stop():
            return
        rows = queries.all(sql, *told, start, end, *values)
        if late and rows:
            rows = _with_findings(queries, rows, late, found, start, end)
        keys = [row[0] for row in rows if row[1] is None or _large_passes(queries, row, texts)]
        if keys:
            yield keys


def _condition(queries: Queries, session: int, term: Term) -> _Condition:
    sql, values = _PLAIN[term.key](queries, session, term)
    return _Condition(f"{'NOT ' if term.negated else ''}coalesce(({sql}), 0)", values)


def _has_text(queries: Queries, term: Term) -> _Condition:
    """Whether a frame has a text, but for what stands in the parts of a large body."""
    text = _bytes(term)
    words = words_with(queries, text)
    return _Condition(
        f"(instr(body, ?) OR coalesce(method IN ({words}), 0) OR coalesce(name IN ({words}), 0))", (text,)
    )


def _with_text(has: _Condition, term: Term) -> _Condition:
    # Whether a large body has it is looked at afterwards.
    return _Condition(f"(stored IS NOT NULL OR {'NOT ' if term.negated else ''}{has.sql})", has.values)


def _large_passes(queries: Queries, row: tuple[Any, ...], texts: list[Term]) -> bool:
    """``row`` tells of each text whether the frame has it elsewhere."""
    return all(
        (bool(has) or in_parts(queries, row[0], _bytes(term))) is not term.negated
        for has, term in zip(row[2:], texts, strict=True)
    )


def _bytes(term: Term) -> bytes:
    return term.values[0].encode("utf-8", "surrogateescape")


def _with_findings(
    queries: Queries,
    rows: list[tuple[Any, ...]],
    terms: list[Term],
    found: Found | None,
    start: int,
    end: int,
) -> list[tuple[Any, ...]]:
    recorded: dict[int, list[str]] = {}
    for key, rule in queries.all("SELECT key, rule FROM finding WHERE key BETWEEN ? AND ?", start, end):
        recorded.setdefault(key, []).append(rule)
    passing = []
    for row in rows:
        rules = (*recorded.get(row[0], ()), *(found(row[0]) if found is not None else ()))
        if all(_has(rules, term) is not term.negated for term in terms):
            passing.append(row)
    return passing


def _has(rules: tuple[str, ...], term: Term) -> bool:
    return any(matches(pattern, rule) for rule in rules for pattern in term.values)


# Terms, each as a condition that may be NULL.

_Made = tuple[str, tuple[Any, ...]]


def _word(column: str) -> Callable[[Queries, int, Term], _Made]:
    def make(queries: Queries, _session: int, term: Term) -> _Made:
        globs = " OR ".join("text GLOB ?" for _ in term.values)
        rows = queries.all(f"SELECT id FROM word WHERE {globs} LIMIT {MAX_WORDS}", *map(_glob, term.values))
        return f"{column} IN ({','.join(str(row[0]) for row in rows)})", ()

    return make


def _numbers(column: str, numbers: list[int]) -> _Made:
    return f"{column} IN ({','.join(map(str, numbers))})", ()


def _kind(_queries: Queries, _session: int, term: Term) -> _Made:
    return _numbers(
        "kind", [number for name, number in KINDS.items() if any(matches(each, name) for each in term.values)]
    )


def _way(_queries: Queries, _session: int, term: Term) -> _Made:
    return _numbers("direction", [WAYS[each] for each in term.values])


def _connection(queries: Queries, session: int, term: Term) -> _Made:
    rows = queries.all("SELECT number, name FROM connection WHERE session=?", session)
    chosen = [
        number
        for number, name in rows
        if any(each == str(number) or matches(each, str(name)) for each in term.values)
    ]
    return _numbers("connection", chosen[:MAX_WORDS])


def _id(_queries: Queries, _session: int, term: Term) -> _Made:
    sql = " OR ".join("id GLOB ? OR id GLOB ?" for _ in term.values)
    return sql, tuple(form for each in term.values for form in (_glob(each), f'"{_glob(each)}"'))


def _stream(_queries: Queries, _session: int, term: Term) -> _Made:
    return _numbers("stream", [int(each) for each in term.values if len(each) < 16])


def _status(_queries: Queries, session: int, term: Term) -> _Made:
    globs = " OR ".join("status GLOB ?" for _ in term.values)
    sql = (
        f"direction={int(Direction.TO_CLIENT)} AND stream IN "
        f"(SELECT number FROM stream WHERE session={session} AND ({globs}))"
    )
    return sql, tuple(map(_glob, term.values))


def _finding(_queries: Queries, _session: int, term: Term) -> _Made:
    globs = " OR ".join("rule GLOB ?" for _ in term.values)
    sql = f"EXISTS (SELECT 1 FROM finding WHERE finding.key=frame.key AND ({globs}))"
    return sql, tuple(map(_glob, term.values))


def _open(_queries: Queries, _session: int, _term: Term) -> _Made:
    return f"kind={int(Kind.REQUEST)} AND NOT EXISTS (SELECT 1 FROM pair WHERE request=frame.key)", ()


def _took(_queries: Queries, _session: int, term: Term) -> _Made:
    return f"{_TOOK} {term.than} ?", (term.number,)


def _size(_queries: Queries, _session: int, term: Term) -> _Made:
    return f"size {term.than} ?", (term.number,)


def _glob(pattern: str) -> str:
    """A pattern as SQLite has it, where brackets and question marks mean something too."""
    return pattern.replace("[", "[[]").replace("?", "[?]")


_PLAIN: dict[str, Callable[[Queries, int, Term], _Made]] = {
    language.METHOD: _word("method"),
    language.NAME: _word("name"),
    language.KIND: _kind,
    language.WAY: _way,
    language.CONNECTION: _connection,
    language.ID: _id,
    language.STREAM: _stream,
    language.STATUS: _status,
    language.FINDING: _finding,
    language.IS: _open,
    language.DURATION: _took,
    language.SIZE: _size,
}
