"""From units to rows: splitting, decoding, redacting, pairing.

This is what the recorder's thread does with everything that was handed over. It
holds the state that needs the order of frames: unfinished lines, open requests,
and the numbers of words. A frame costs about ten microseconds here, so values
are plain integers early: members of an enum are hashed and bound slowly.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from workbench.core.frame import (
    ANSWERS,
    PREVIEW_BYTES,
    Channel,
    Direction,
    Ending,
    Kind,
    Span,
    Unit,
    carried_kind,
)
from workbench.core.jsonrpc import Message, decode, dumps
from workbench.core.lines import LineSplitter
from workbench.core.methods import name_of
from workbench.core.peek import peek
from workbench.core.redact import Redactor
from workbench.store.schema import INLINE_BODY, PART_BYTES, SMALL_PART_BYTES

#: Open requests that are remembered for pairing; the oldest beyond it stay unpaired.
MAX_OPEN = 200_000

#: HTTP streams whose request is remembered for an answer that names none.
MAX_ASKED = 10_000

#: The longest method or name that is kept as a word (characters); a longer one is cut.
MAX_WORD = 512

#: Words kept in memory to find their numbers; beyond it all are numbered anew.
MAX_WORDS = 50_000

_FIXED_KINDS = {
    int(channel): int(kind)
    for channel, kind in (
        (Channel.STDERR, Kind.STDERR),
        (Channel.PROCESS, Kind.PROCESS),
        (Channel.NOTE, Kind.NOTE),
        (Channel.AUTH, Kind.AUTH),
    )
}
_STDIO = int(Channel.STDIO)
_BATCH, _REQUEST = int(Kind.BATCH), int(Kind.REQUEST)
_ANSWERS = tuple(map(int, ANSWERS))
#: A direction and the one against it are 1 and 2.
_BOTH_WAYS = Direction.TO_SERVER + Direction.TO_CLIENT
_LF, _NONE = int(Ending.LF), int(Ending.NONE)
_NAMING = ("name", "uri", "taskId", "ref")


class Batch:
    """The rows of one transaction. ``size`` is the bytes of the bodies in it."""

    __slots__ = ("bodies", "frames", "messages", "pairs", "size", "words")

    def __init__(self) -> None:
        self.frames: list[tuple[Any, ...]] = []
        self.bodies: list[tuple[int, int, bytes]] = []
        self.messages: list[tuple[int, int, int, str | None, str | None]] = []
        self.pairs: list[tuple[int, int]] = []
        self.words: list[tuple[int, str]] = []
        self.size = 0

    def write(self, db: sqlite3.Connection) -> None:
        """Insert everything, inside the transaction that the caller has begun."""
        if self.words:
            db.executemany("INSERT INTO word VALUES (?,?)", self.words)
        db.executemany("INSERT INTO frame VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", self.frames)
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
        self.next_word = next_word
        self._drift = wall_ns - mono_ns
        self._mono_ns = mono_ns
        self._redactor = redactor
        self._splitters: dict[tuple[int, int, int], LineSplitter] = {}
        self._open: dict[tuple[int, int, str], tuple[int, int | None, int | None]] = {}
        #: The last request of each HTTP stream, for answers that name none.
        self._asked: dict[tuple[int, int], str] = {}
        self._words: dict[str, int] = {}

    def add(self, unit: Unit, batch: Batch) -> None:
        """Add what a unit completes to a batch: one frame, several, or none."""
        if unit.whole:
            self._frame(unit, unit.data, unit.ending, batch)
            return
        key = (unit.connection, +unit.direction, +unit.channel)
        splitter = self._splitters.get(key)
        if splitter is None:
            splitter = self._splitters[key] = LineSplitter()
        if unit.data:
            for line in splitter.feed(unit.data):
                self._frame(unit, line, _LF, batch)
        elif (rest := splitter.end()) is not None:
            self._frame(unit, rest, _NONE, batch)

    def rest(self, wall_ns: int, mono_ns: int) -> Iterator[Unit]:
        """The unfinished lines of streams that were not ended before the recording was."""
        for (connection, direction, channel), splitter in self._splitters.items():
            rest = splitter.end()
            if rest is not None:
                way = Direction(direction), Channel(channel)
                yield Unit(connection, *way, rest, wall_ns, mono_ns, True, Ending.NONE)

    def take_back(self, key: int, next_word: int) -> None:
        """Forget everything after this key and from this word on: it could not be written."""
        self.key = key
        self.next_word = next_word
        self._words = {text: word for text, word in self._words.items() if word < next_word}
        self._open = {asked: known for asked, known in self._open.items() if known[0] <= key}

    def restore(self, unit: Unit, size: int, spans: tuple[Span, ...], batch: Batch) -> None:
        """Add a frame of another recording as it stood there: redacted, with its size on the wire."""
        self._keep(unit, unit.data, unit.ending, size, spans, batch)

    def _frame(self, unit: Unit, body: bytes, ending: int, batch: Batch) -> None:
        size = len(body)
        spans: tuple[Span, ...] = ()
        if self._redactor is not None:
            body, spans = self._redactor.redact(body, unit.channel, unit.connection)
            if unit.event:
                unit = unit._replace(event=self._redactor.text(unit.event))
        self._keep(unit, body, ending, size, spans, batch)

    def _keep(
        self, unit: Unit, body: bytes, ending: int, size: int, spans: tuple[Span, ...], batch: Batch
    ) -> None:
        connection, way, carrier, _, wall_ns, mono_ns, _, _, stream, event = unit
        direction, channel = +way, +carrier
        self.key = key = self.key + 1
        method = name = identity = stored = None
        kind = _FIXED_KINDS.get(channel)
        if kind is None and channel != _STDIO:
            kind = carried_kind(carrier, body, event)
        if kind is None:
            found, messages, _ = decode(body)
            kind = +found
            if kind != _BATCH and len(messages) == 1:
                message = messages[0]
                identity = message.id
                method, name = self._known_as(connection, direction, message, key, batch, stream)
            elif messages:
                self._several(connection, direction, messages, key, batch)
        if len(body) > INLINE_BODY:
            stored = len(body)
            batch.bodies += _parts(key, body)
            batch.size += stored
            body = body[:PREVIEW_BYTES]
        batch.size += len(body) + 64
        mono = mono_ns - self._mono_ns
        batch.frames.append(
            (
                key,
                connection,
                wall_ns - mono_ns - self._drift,
                mono,
                direction,
                channel,
                kind,
                method,
                name,
                identity,
                size,
                +ending,
                stream or None,
                event,
                dumps(spans) if spans else None,
                stored,
                body,
            )
        )

    def _known_as(
        self, connection: int, direction: int, message: Message, key: int, batch: Batch, stream: int = 0
    ) -> tuple[int | None, int | None]:
        """The words for a message's method and name; those of its request for an answer."""
        found, text, identity, members, raw, _, _ = message
        kind = +found
        if kind in _ANSWERS:
            asked = self._asked.pop((connection, stream), None) if stream else None
            if identity is None or identity == "null":
                identity = asked or identity
            if identity is None:
                return None, None
            known = self._open.pop((connection, _BOTH_WAYS - direction, identity), None)
            if known is None:
                return None, None
            batch.pairs.append((key, known[0]))
            return known[1:]
        if text is None:
            method = name = None
        else:
            params = members.get("params")
            if params is None and "params" in raw:
                params = {member: peek(message, "params", member) for member in _NAMING}
            about = name_of(text, params)
            method = self._word(text, batch)
            name = None if about is None else self._word(about, batch)
        if kind == _REQUEST and identity is not None:
            if len(self._open) >= MAX_OPEN:
                del self._open[next(iter(self._open))]
            self._open[connection, direction, identity] = (key, method, name)
            if stream:
                if len(self._asked) >= MAX_ASKED:
                    del self._asked[next(iter(self._asked))]
                self._asked[connection, stream] = identity
        return method, name

    def _several(
        self, connection: int, direction: int, messages: tuple[Message, ...], key: int, batch: Batch
    ) -> None:
        for item, message in enumerate(messages):
            method = None if message.method is None else plain(message.method[:MAX_WORD])
            batch.messages.append((key, item, +message.kind, method, message.id))
            self._known_as(connection, direction, message, key, batch)

    def _word(self, text: str, batch: Batch) -> int:
        number = self._words.get(text)
        if number is None:
            if len(text) > MAX_WORD:
                return self._word(text[:MAX_WORD], batch)
            if len(self._words) >= MAX_WORDS:
                self._words.clear()
            number = self._words[text] = self.next_word
            self.next_word += 1
            batch.words.append((number, plain(text)))
        return number


def plain(text: str) -> str:
    """A text that SQLite takes: lone surrogates, which stand for stray bytes, become escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _parts(key: int, body: bytes) -> list[tuple[int, int, bytes]]:
    step = PART_BYTES if len(body) > PART_BYTES else SMALL_PART_BYTES
    return [(key, part, body[at : at + step]) for part, at in enumerate(range(0, len(body), step))]
