"""Numbers as they are read: grouped counts, sizes with a unit, durations of three digits."""

from __future__ import annotations

from datetime import datetime

_UNITS = ("kB", "MB", "GB", "TB")


def count(number: int) -> str:
    """``12,904``."""
    return f"{number:,}"


def size(number: int) -> str:
    """Bytes: ``118 B``, ``2.1 kB``, ``16.0 MB`` (powers of 1000)."""
    if number < 1000:
        return f"{number} B"
    value = number / 1000
    place = 0
    while value >= 999.95 and place + 1 < len(_UNITS):
        value /= 1000
        place += 1
    return f"{value:.1f} {_UNITS[place]}"


def duration(ns: int | None) -> str:
    """``0.42 ms``, ``12.1 ms``, ``4.20 s``, ``2.17 min``, ``1.05 h``; nothing for ``None``."""
    if ns is None:
        return ""
    ms = max(ns, 0) / 1e6
    if ms < 999.5:
        return f"{_three(ms)} ms"
    seconds = ms / 1000
    if seconds < 59.95:
        return f"{_three(seconds)} s"
    minutes = seconds / 60
    if minutes < 59.95:
        return f"{_three(minutes)} min"
    return f"{_three(minutes / 60)} h"


def _three(value: float) -> str:
    if value < 9.995:
        return f"{value:.2f}"
    if value < 99.95:
        return f"{value:.1f}"
    return f"{value:.0f}"


def offset(ns: int) -> str:
    """A distance in time on a column: ``+0.133``, ``+1:02.133``, ``+1:02:03``; ``-`` before it."""
    sign = "-" if ns < 0 else "+"
    milliseconds = (abs(ns) + 500_000) // 1_000_000
    seconds, rest = divmod(milliseconds, 1000)
    if seconds < 60:
        return f"{sign}{seconds}.{rest:03d}"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{sign}{minutes}:{seconds:02d}.{rest:03d}"
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{hours}:{minutes:02d}:{seconds:02d}"


def clock(wall_ns: int) -> str:
    """The local time of day, ``22:41:07.123``."""
    try:
        moment = datetime.fromtimestamp(wall_ns / 1e9)
    except (ValueError, OverflowError, OSError):
        return "--:--:--.---"
    return f"{moment:%H:%M:%S}.{wall_ns // 1_000_000 % 1000:03d}"
