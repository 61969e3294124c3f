"""From units to rows: splitting, decoding, redacting, pairing.

This is what the recorder's thread does with everything that was handed over. It
holds the state that needs the order of frames: unfinished lines, open requests,
and the numbers of words.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from workbench.core.frame import ANSWERS, PREVIEW_BYTES, Channel, Direction, Ending, Kind, Span, Unit
from workbench.core.jsonrpc import Message, decode, dumps
from workbench.core.lines import LineSplitter
from workbench.core.methods import name_of
from workbench.core.redact import Redactor
from workbench.store.schema import INLINE_BODY, PART_BYTES, SMALL_PART_BYTES

#: Open requests that are remembered for pairing; the oldest beyond it stay unpaired.
MAX_OPEN = 200_000

#: The longest name that is kept as a word of its own (characters); a longer one is cut.
MAX_NAME = 512

#: Words kept in memory to find their numbers; beyond it they are looked up in the table.
MAX_WORDS = 50_000

_FIXED_KINDS = {
    Channel.STDERR: Kind.STDERR,
    Channel.PROCESS: Kind.PROCESS,
    Channel.NOTE: Kind.NOTE,
    Channel.AUTH: Kind.AUTH,
}


class Batch:
    """The rows of one transaction. ``size`` is the bytes of the bodies in it."""

    __slots__ = ("bodies", "frames", "messages", "notes", "pairs", "size", "words")

    def __init__(self) -> None:
        self.frames: list[tuple[Any, ...]] = []
        self.bodies: list[tuple[int, int, bytes]] = []
        self.messages: list[tuple[int, int, int, str | None, str | None]] = []
        self.pairs: list[tuple[int, int]] = []
        self.words: list[tuple[int, str]] = []
        self.size = 0
        #: Frames in it that are our own words about lost ones.
        self.notes = 0

    def write(self, db: sqlite3.Connection) -> None:
        """Insert everything, inside the transaction that the caller has begun."""
        if self.words:
            db.executemany("INSERT INTO word VALUES (?,?)", self.words)
        db.executemany("INSERT INTO frame VALUES (?,?,?,?,?,?,?,?,?,?,?,?,NULL,NULL,?,?,?)", self.frames)
        if self.bodies:
            db.executemany("INSERT INTO body VALUES (?,?,?)", self.bodies)
        if self.messages:
            db.executemany("INSERT INTO message VALUES (?,?,?,?,?)", self.messages)
        if self.pairs:
            db.executemany("INSERT OR IGNORE INTO pair VALUES (?,?)", self.pairs)


class RowMaker:
    """Turns units into the rows of a session whose first frame has the key ``base + 1``.

    ``wall_ns`` and ``mono_ns`` are the session's start on both clocks; rows hold times relative
    to it. ``next_word`` is the first unused number of the word table.
    """

    def __init__(
        self, *, base: int, wall_ns: int, mono_ns: int, redactor: Redactor | None, next_word: int = 1
    ) -> None:
        self.base = base
        self.key = base
        self._wall_ns = wall_ns
        self._mono_ns = mono_ns
        self._redactor = redactor
        self._splitters: dict[tuple[int, Direction, Channel], LineSplitter] = {}
        self._open: dict[tuple[int, int, str], tuple[int, int | None, int | None]] = {}
        self._words: dict[str, int] = {}
        self.next_word = next_word

    def add(self, unit: Unit, batch: Batch) -> None:
        """Add what a unit completes to a batch: one frame, several, or none."""
        if unit.whole:
            self._frame(unit, unit.data, unit.ending, batch)
            return
        key = (unit.connection, unit.direction, unit.channel)
        splitter = self._splitters.get(key)
        if splitter is None:
            splitter = self._splitters[key] = LineSplitter()
        if not unit.data:
            rest = splitter.end()
            if rest is not None:
                self._frame(unit, rest, Ending.NONE, batch)
            return
        for line in splitter.feed(unit.data):
            self._frame(unit, line, Ending.LF, batch)

    def rest(self, wall_ns: int, mono_ns: int, batch: Batch) -> None:
        """The unfinished lines of streams that were not ended before the recording was."""
        for (connection, direction, channel), splitter in self._splitters.items():
            rest = splitter.end()
            if rest is not None:
                unit = Unit(connection, direction, channel, rest, wall_ns, mono_ns)
                self._frame(unit, rest, Ending.NONE, batch)

    def drop(self, frames: int) -> None:
        """Take back the last ``frames`` numbers: their rows could not be written."""
        self.key -= frames
        self._words.clear()
        self._open.clear()

    def restore(self, unit: Unit, size: int, spans: tuple[Span, ...], batch: Batch) -> None:
        """Add a frame of another recording as it stood there: redacted, with its size on the wire."""
        self._keep(unit, unit.data, unit.ending, size, spans, batch)

    def _frame(self, unit: Unit, body: bytes, ending: Ending, batch: Batch) -> None:
        size = len(body)
        spans: tuple[Span, ...] = ()
        if self._redactor is not None:
            body, spans = self._redactor.redact(body)
        self._keep(unit, body, ending, size, spans, batch)

    def _keep(
        self, unit: Unit, body: bytes, ending: Ending, size: int, spans: tuple[Span, ...], batch: Batch
    ) -> None:
        self.key = key = self.key + 1
        method = name = id = None
        kind = _FIXED_KINDS.get(unit.channel)
        if kind is None:
            decoded = decode(body)
            kind = decoded.kind
            messages = decoded.messages
            if len(messages) == 1 and kind is not Kind.BATCH:
                message = messages[0]
                id = message.id
                method, name = self._known_as(unit, message, key, batch)
            elif messages:
                self._several(unit, messages, key, batch)
        stored: int | None = None
        if len(body) > INLINE_BODY:
            stored = len(body)
            step = PART_BYTES if stored > PART_BYTES else SMALL_PART_BYTES
            batch.bodies += [
                (key, part, body[at : at + step]) for part, at in enumerate(range(0, stored, step))
            ]
            body = body[:PREVIEW_BYTES]
            batch.size += stored
        mono = unit.mono_ns - self._mono_ns
        batch.size += len(body) + 64
        batch.frames.append(
            (
                key,
                unit.connection,
                unit.wall_ns - self._wall_ns - mono,
                mono,
                unit.direction,
                unit.channel,
                kind,
                method,
                name,
                id,
                size,
                ending,
                dumps(spans) if spans else None,
                stored,
                body,
            )
        )

    def _known_as(
        self, unit: Unit, message: Message, key: int, batch: Batch
    ) -> tuple[int | None, int | None]:
        if message.kind in ANSWERS:
            return self._answer(unit, message, key, batch)
        method = self._word(message.method, batch)
        params = message.members.get("params")
        name = self._word(name_of(message.method, params), batch)
        if message.kind is Kind.REQUEST and message.id is not None:
            if len(self._open) >= MAX_OPEN:
                del self._open[next(iter(self._open))]
            self._open[unit.connection, unit.direction, message.id] = (key, method, name)
        return method, name

    def _answer(self, unit: Unit, message: Message, key: int, batch: Batch) -> tuple[int | None, int | None]:
        if message.id is None:
            return None, None
        asked = Direction.TO_CLIENT if unit.direction is Direction.TO_SERVER else Direction.TO_SERVER
        found = self._open.pop((unit.connection, asked, message.id), None)
        if found is None:
            return None, None
        batch.pairs.append((key, found[0]))
        return found[1], found[2]

    def _several(self, unit: Unit, messages: tuple[Message, ...], key: int, batch: Batch) -> None:
        for item, message in enumerate(messages):
            batch.messages.append((key, item, message.kind, message.method, message.id))
            self._known_as(unit, message, key, batch)

    def _word(self, text: str | None, batch: Batch) -> int | None:
        if text is None:
            return None
        number = self._words.get(text)
        if number is None:
            if len(self._words) >= MAX_WORDS:
                self._words.clear()
            number = self._words[text] = self.next_word
            self.next_word += 1
            shown = text[:MAX_NAME].encode("utf-8", "backslashreplace").decode()
            batch.words.append((number, shown))
        return number
