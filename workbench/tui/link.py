"""Whether the terminal takes what is written to it.

The framework writes through a thread with a queue of 30 items; when the terminal
drains slowly the queue fills, and a put on the full queue stops the event loop (a
terminal stalled for 5 s gave 2.8 s of lag). So what repaints by itself (a following
log) asks here first. The queue is private to the framework; a test holds this to it.
"""

from __future__ import annotations

#: More writes than this waiting means that the terminal is behind.
_WAITING = 2

#: What following a burst may write to the terminal, in bytes a second, and about how many bytes
#: a repainted cell costs.
BYTES_A_SECOND = 80_000
BYTES_A_CELL = 4.0


def link_ready(app: object) -> bool:
    """False while earlier output still waits for the terminal."""
    thread = getattr(getattr(app, "_driver", None), "_writer_thread", None)
    queue = getattr(thread, "_queue", None)
    waiting = getattr(queue, "qsize", None)
    return waiting is None or waiting() < _WAITING


def pause_for(cells: int) -> float:
    """Seconds between two repaints of that many cells: ten a second at most, fewer for large areas."""
    return max(0.1, cells * BYTES_A_CELL / BYTES_A_SECOND)
