"""Finding text in a long text while keys go on working, and showing where it stands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from workbench.tui.widgets.documents import Span

#: Characters looked at before others get their turn.
_PIECE = 1024 * 1024

#: The longest text that is searched for; pieces overlap by as much.
MAX_SOUGHT = 1024

Place = tuple[int, int]


async def find(text: str, sought: str, start: int, step: int) -> tuple[Place | None, bool]:
    """Where ``sought`` stands next from ``start`` on (``step`` 1) or before it (-1), and whether
    the search went round the end. Case counts only if ``sought`` has capitals."""
    sought = sought[:MAX_SOUGHT]
    if not sought:
        return None, False
    there, round_the_end = (start, len(text)), (0, start)
    turns = [there, round_the_end] if step > 0 else [round_the_end, there]
    for turn, (first, last) in enumerate(turns):
        # A match that reaches over ``start`` belongs to the second turn.
        stop = min(last + len(sought) - 1, len(text)) if turn and step > 0 else last
        found = await _within(text, sought, first, stop, step)
        if found is not None:
            return found, bool(turn)
    return None, False


async def _within(text: str, sought: str, first: int, last: int, step: int) -> Place | None:
    starts = range(first, last, _PIECE)
    ignore = sought == sought.lower()
    for start in starts if step > 0 else reversed(starts):
        piece = text[start : min(start + _PIECE + len(sought), last)]
        if ignore:
            lowered = piece.lower()
            # A few capitals become two letters; where they do, case counts.
            piece = lowered if len(lowered) == len(piece) else piece
        place = piece.find(sought) if step > 0 else piece.rfind(sought)
        if place >= 0:
            return start + place, start + place + len(sought)
        await asyncio.sleep(0)
    return None


def highlighted(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """The spans of a row with its characters from ``start`` up to ``end`` bright."""
    made: list[Span] = []
    at = 0
    for span in spans:
        after = at + len(span.text)
        first, last = max(start, at), min(end, after)
        if first >= last:
            made.append(span)
        else:
            made += [
                Span(span.text[: first - at], span.role),
                Span(span.text[first - at : last - at], "bright"),
                Span(span.text[last - at :], span.role),
            ]
        at = after
    return [span for span in made if span.text]
