"""What a benchmark says: a figure of ours, the one it is held against, and their ratio.

All ratios come from one run on one machine, measured in turns, so that what else the machine
does falls on both sides. Absolute figures are only there to be looked at.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple


class Figure(NamedTuple):
    """``ratio`` is ours to theirs; it holds if it is at most ``most`` and at least ``least``."""

    name: str
    ours: float
    theirs: float
    unit: str
    against: str
    most: float | None = None
    least: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def holds(self) -> bool | None:
        """``None`` if nothing is asked of it."""
        if self.most is None and self.least is None:
            return None
        return (self.most is None or self.ratio <= self.most) and (
            self.least is None or self.ratio >= self.least
        )

    def as_json(self) -> dict[str, object]:
        return {**self._asdict(), "ratio": round(self.ratio, 3), "holds": self.holds}


def median_of(samples: Sequence[float]) -> float:
    return statistics.median(samples)


def table(figures: Sequence[Figure]) -> str:
    """Figures as lines for people."""
    rows = [("", "ours", "theirs", "ratio", "asked", "")]
    for figure in figures:
        asked = f"≤ {figure.most:g}" if figure.most is not None else ""
        if figure.least is not None:
            asked = f"≥ {figure.least:g}"
        verdict = {True: "holds", False: "MISSED", None: ""}[figure.holds]
        rows.append(
            (
                figure.name,
                f"{figure.ours:,.4g} {figure.unit}",
                f"{figure.theirs:,.4g} {figure.unit} ({figure.against})",
                f"{figure.ratio:.2f}",
                asked,
                " ".join((verdict, figure.note)).strip(),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
