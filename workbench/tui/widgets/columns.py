"""Widths of columns, in cells: what each needs, bounded, and the rest to the last one."""

from __future__ import annotations

from collections.abc import Sequence

#: Cells between two columns.
GAP = 2


def share(needs: Sequence[int], width: int, *, most: float = 0.4) -> list[int]:
    """Widths for columns that need ``needs`` cells within ``width``, gaps not included.

    Every column but the last gets what it needs, but no more than the share ``most`` of the
    whole while the others need the room; the last gets what is left. An empty column gets none.
    """
    widths: list[int] = []
    left = width
    for place, need in enumerate(needs):
        rest = needs[place + 1 :]
        if not any(rest):
            widths.append(max(left, 0))
            left = 0
            continue
        wanted = sum(rest) + GAP * sum(1 for other in rest if other)
        bound = max(int(width * most), left - wanted)
        taken = max(min(need, bound, left), 0)
        widths.append(taken)
        left -= taken + (GAP if taken else 0)
    return widths
