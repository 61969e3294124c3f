"""How fast and how small the recorder is, against bare ``executemany`` of the same rows.

    python -m tests.bench.recorder [FRAMES]

Prints one JSON object: frames a second of both and their ratio, the file's bytes for each
byte on the wire, what handing over costs (µs), and what reading a window costs (ms).
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator

from workbench.core.frame import Channel, Direction, Unit
from workbench.store import schema
from workbench.store.reader import Reader
from workbench.store.recorder import Recorder
from workbench.store.rows import Batch

#: Rows in a transaction of the bare run; about what the recorder puts into one.
ROWS = 5_000

_REQUEST = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":{"text":"%s"}}}'
_RESULT = '{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}],"isError":false}}'
_TOOLS = ("echo", "add", "get_weather", "search_files")


def units(count: int) -> list[Unit]:
    """Calls and their results in turn, 125 bytes on average."""
    made = []
    for number in range(1, count // 2 + 1):
        text = f"some text of the call number {number:>10}"
        request = _REQUEST % (number, _TOOLS[number % 4], text)
        result = _RESULT % (number, text + " and a bit")
        for direction, body in ((Direction.TO_SERVER, request), (Direction.TO_CLIENT, result)):
            wall = 1_800_000_000_000_000_000 + number * 10_007
            made.append(Unit(1, direction, Channel.STDIO, body.encode(), wall, number * 10_000))
    return made


def record(path: str, given: list[Unit]) -> tuple[float, float]:
    """Seconds from the first frame to the last commit, and microseconds for handing one over."""
    recorder = Recorder(path)
    recorder.connect("bench", "stdio", "server")
    recorder.flush()
    handing = 0.0
    began = time.perf_counter()
    for at in range(0, len(given), 1000):
        recorder.wait_room()
        before = time.perf_counter()
        for unit in given[at : at + 1000]:
            recorder.put(unit)
        handing += time.perf_counter() - before
    recorder.flush(600)
    took = time.perf_counter() - began
    recorder.close()
    return took, handing / len(given) * 1e6


def bare(path: str, source: str) -> float:
    """Seconds for inserting the same rows with ``executemany`` alone."""
    tables = {
        "frame": "SELECT key, connection, wall, mono, direction, channel, kind, method, name, id, size, ending, "
        "stream, event, spans, stored, body FROM frame",
        "pair": "SELECT answer, request FROM pair",
    }
    with sqlite3.connect(source) as db:
        frames, pairs = (db.execute(sql).fetchall() for sql in tables.values())
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    schema.create(db)
    db.execute("COMMIT")
    began = time.perf_counter()
    for at in range(0, len(frames), ROWS):
        batch = Batch()
        batch.frames = frames[at : at + ROWS]
        batch.pairs = pairs[at // 2 : (at + ROWS) // 2]
        db.execute("BEGIN")
        batch.write(db)
        db.execute("COMMIT")
    took = time.perf_counter() - began
    db.close()
    return took


def window(path: str) -> float:
    """Milliseconds for 100 rows anywhere, the median of 200."""
    with Reader.open(path) as reader:
        height = reader.height()
        return sorted(_windows(reader, height))[100] * 1e3


def _windows(reader: Reader, height: int) -> Iterator[float]:
    chosen = random.Random(1)
    for _ in range(200):
        first = chosen.randrange(1, max(2, height - 100))
        began = time.perf_counter()
        reader.window(first, first + 99)
        yield time.perf_counter() - began


def main(count: int) -> None:
    given = units(count)
    wire = sum(len(unit.data) + 1 for unit in given)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recorded.db")
        recorded, handing = record(path, given)
        size = os.path.getsize(path)
        plain = bare(os.path.join(folder, "bare.db"), path)
        print(
            json.dumps(
                {
                    "frames": count,
                    "recorded_per_s": round(count / recorded),
                    "bare_per_s": round(count / plain),
                    "ratio": round(plain / recorded, 3),
                    "us_a_put": round(handing, 2),
                    "file_to_wire": round(size / wire, 2),
                    "ms_a_window": round(window(path), 3),
                }
            )
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
