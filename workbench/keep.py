"""From what was just seen to a fixture: a recording's text form in a project's ``sessions/``.

A part may be taken: one connection, a range of frames. The handshake of a kept
connection always comes along, because without it nothing can be replayed, and so
do the answers to kept requests. What is kept counts its frames anew from 1.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from workbench.core.frame import ANSWERS, Channel, Direction, Frame, Kind
from workbench.errors import RecordingError, UsageError
from workbench.replay.selfcheck import Verdict, selfcheck
from workbench.store.copying import export
from workbench.store.reader import Reader

#: Where fixtures go, below the current folder.
FOLDER = "sessions"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_PLACED = re.compile(r'\{"(frame|mark|provenance)":([0-9]+)(?:,"connection":([0-9]+))?')
_OWNED = re.compile(r'\{"(connection|stream)":([0-9]+)(?:.*?"connection":([0-9]+))?')


class Part(NamedTuple):
    """What of a recording is wanted: a session and connection by number, a range of frames (both
    ends included). ``None`` is no limit."""

    session: int | None = None
    connection: int | None = None
    first: int | None = None
    last: int | None = None

    @property
    def whole(self) -> bool:
        return self.connection is None and self.first is None and self.last is None


#: A whole recording: its first session, all connections, all frames.
WHOLE = Part()


class Checked(NamedTuple):
    """A connection by name and number, and whether it replays."""

    connection: str
    number: int
    verdict: Verdict


class Kept(NamedTuple):
    """A fixture that was written. ``redacted`` counts each placeholder in it; ``checked`` tells
    of each connection whether it replays."""

    path: str
    frames: int
    redacted: dict[str, int]
    checked: tuple[Checked, ...]

    @property
    def replays(self) -> bool:
        return all(each.verdict.whole for each in self.checked)


def keep(source: str, name: str, part: Part = WHOLE, folder: str = FOLDER) -> Kept:
    """Write a recording, or a part of it, to ``folder/name.jsonl`` (which must not exist).

    Raises ``UsageError`` for a name or part that cannot be, ``RecordingError`` for the rest.
    """
    path = fixture_path(name, folder)
    with Reader.open(source, session=part.session) as reader:
        numbers, streams = _chosen(reader, part)
        redacted = _placeholders(reader, numbers)
        session = reader.session
    if not numbers:
        raise UsageError("that part of the recording holds no frame; choose another range or connection")
    try:
        os.makedirs(folder, exist_ok=True)
        with open(path, "x", encoding="utf-8", newline="\n") as out:
            export(source, _Selection(out, numbers, streams, part), session=session)  # type: ignore[arg-type]
    except OSError as error:
        raise RecordingError(f"{path} cannot be written ({error.strerror}); choose another folder.") from None
    return Kept(path, len(numbers), redacted, check(path))


def check(path: str, session: int | None = None) -> tuple[Checked, ...]:
    """Replay each connection of a recording against itself. Raises ``RecordingError``."""
    with Reader.open(path, session=session) as reader:
        return tuple(
            Checked(row.name or str(row.number), row.number, selfcheck(reader.frames(connection=row.number)))
            for row in reader.connections()
        )


def fixture_path(name: str, folder: str = FOLDER) -> str:
    """Where a fixture of this name goes. Raises ``UsageError``."""
    if not _NAME.match(name):
        raise UsageError(f"{name!r} is no name for a fixture; use letters, digits, '.', '_' and '-'")
    path = os.path.join(folder, f"{name.removesuffix('.jsonl')}.jsonl")
    if os.path.exists(path):
        raise UsageError(f"{path} exists already; choose another name, or remove it first")
    return path


def uses(path: str) -> tuple[str, str, str]:
    """The lines that use a fixture: as a command, as a server of the official SDK's client, and as the
    marker of a pytest test."""
    words = ["replay", "server", path]
    listed = ", ".join(f'"{word}"' for word in words)
    return (
        f"mcp-workbench {' '.join(words)}",
        f'StdioServerParameters(command="mcp-workbench", args=[{listed}])',
        f'@pytest.mark.mcp_recording("{os.path.basename(path).removesuffix(".jsonl")}")',
    )


def _chosen(reader: Reader, part: Part) -> tuple[dict[int, int], frozenset[int]]:
    """The numbers of the frames to keep with the number each gets, and the HTTP streams they came on."""
    wanted: list[int] = []
    streams: set[int] = set()
    questions: set[tuple[int, Direction, str | None]] = set()
    for frame in reader.frames(connection=part.connection):
        inside = (part.first or 1) <= frame.seq and (part.last is None or frame.seq <= part.last)
        if frame.kind in ANSWERS and not part.whole:
            # An answer goes with its question, wherever the range begins or ends.
            question = (frame.connection, _OTHER_WAY[frame.direction], frame.id)
            inside = question in questions
            questions.discard(question)
        if inside or _opens(frame):
            wanted.append(frame.seq)
            streams.add(frame.stream)
            if frame.kind is Kind.REQUEST:
                questions.add((frame.connection, frame.direction, frame.id))
    return {seq: number for number, seq in enumerate(wanted, 1)}, frozenset(streams)


_OTHER_WAY = {
    Direction.TO_SERVER: Direction.TO_CLIENT,
    Direction.TO_CLIENT: Direction.TO_SERVER,
    Direction.NONE: Direction.NONE,
}


def _opens(frame: Frame) -> bool:
    """Whether a frame belongs to the handshake, or tells how the server was started or reached, or on
    which HTTP stream another one goes on."""
    if frame.channel in (Channel.PROCESS, Channel.NOTE):
        return _OPENING.search(frame.body) is not None
    return frame.method in ("initialize", "notifications/initialized", "server/discover")


_OPENING = re.compile(rb'"event":"(?:started|restart|fallback|era|session|probe|reconnect|redirect)"')


def _placeholders(reader: Reader, numbers: Iterable[int]) -> dict[str, int]:
    counted: Counter[str] = Counter()
    kept = set(numbers)
    for frame in reader.frames():
        if frame.spans and frame.seq in kept:
            for span in frame.spans:
                text = frame.body[span.offset : span.offset + span.length]
                counted[text.decode("utf-8", "replace")] += 1
    return dict(counted)


class _Selection:
    """Passes on the lines of the text form that belong to the part, with their frames renumbered.

    Only the number at the beginning of a line is touched: bodies pass through as they are.
    """

    def __init__(self, out: object, numbers: dict[int, int], streams: frozenset[int], part: Part) -> None:
        self._out = out
        self._numbers = numbers
        self._streams = streams
        self._part = part

    def write(self, line: str) -> int:
        kept = line if self._part.whole else self._selected(line)
        if kept:
            self._out.write(kept)  # type: ignore[attr-defined]
        return len(line)

    def _selected(self, line: str) -> str:
        found = _PLACED.match(line)
        if found:
            number = self._numbers.get(int(found[2]))
            return "" if number is None else f"{line[: found.start(2)]}{number}{line[found.end(2) :]}"
        owned = _OWNED.match(line)
        if owned and owned[1] == "stream" and int(owned[2]) not in self._streams:
            return ""
        if owned and self._part.connection is not None:
            owner = owned[2] if owned[1] == "connection" else owned[3]
            return line if int(owner) == self._part.connection else ""
        return line
