"""The lines of a comparison as a column shows them: paths that all begin alike under one heading."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from workbench.replay.comparing import Comparison, Side

#: Where the answer proper begins in a result: JSON in a text, structured content.
_STEM = re.compile(
    r"(?:content|contents|messages)\[\d*\](?:\.content(?:\[\d*\])?)?(?:\.resource)?\.text(?=[.\[:])"
    r"|structuredContent(?=[.\[])"
)


class Row(NamedTuple):
    """A row of a column: a ``heading``, else what it has there. ``different``: in any column."""

    heading: str
    side: Side | None
    different: bool


def rows_of(comparison: Comparison, column: int, only: bool) -> list[Row]:
    """The rows of a column, the same number in each; ``only`` those that differ."""
    rows: list[Row] = []
    before = ""
    for place in comparison.different() if only else range(len(comparison.lines)):
        line = comparison.lines[place]
        known = next((side for side in line if side is not None), None)
        stem = stem_of(known.path) if known is not None else ""
        own = line[column]
        if stem != before:
            # What stands behind the heading's lines has a heading of its own, or none to be under.
            rows.append(Row(stem if stem and own is not None else " ", None, False))
            before = stem
        rows.append(
            Row("", own and own._replace(path=below(own.path)), any(side and side.mark for side in line))
        )
    if comparison.left and not only:
        rows.append(Row("and more that is not shown", None, False))
    return rows


def stem_of(path: str) -> str:
    """``content[0].text`` of ``content[0].text.results[0].id``; empty where there is none."""
    found = _STEM.match(path)
    return found[0] if found else ""


def below(path: str) -> str:
    """The path behind its stem."""
    return path[len(stem_of(path)) :].lstrip(".")


def shape_words(words: Iterable[str]) -> str:
    """Differences of shape in one line, each once, without stems."""
    told = [f"{word[:2]}{below(word[2:])}" if word[1:2] == " " else word for word in words]
    return ", ".join(dict.fromkeys(told))
