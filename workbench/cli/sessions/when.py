"""Times of a recording in words."""

from __future__ import annotations

import time


def moment(ns: int) -> str:
    """``2026-03-01 14:05:09``, in local time; ``ns`` counts nanoseconds since the epoch."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(ns / 1e9))


def iso(ns: int | None) -> str | None:
    """``2026-03-01T14:05:09.250000Z``."""
    if ns is None:
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ns // 10**9)) + f".{ns % 10**9 // 1000:06d}Z"


def span(seconds: float) -> str:
    """``2.3 s``, ``4 min 10 s``, ``1 h 5 min``."""
    if seconds < 60:
        return f"{max(0.0, seconds):.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
