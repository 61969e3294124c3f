"""Finding one connection's frames in the text form, line by line.

Only for files as our export writes them, where the beginning of each line says
what it is. Whatever looks otherwise (written by hand, damaged) is left to the
import, which reads every spelling and knows what to say about mistakes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from workbench.core.frame import Channel, Ending, Frame, Kind, Span, Stream, carried_kind
from workbench.core.jsonrpc import decode, loads
from workbench.errors import RecordingError
from workbench.store.formats.lines import CHANNELS, DIRECTIONS, body_of, event_of

_FIRST = b'{"mcp-workbench recording":1}'
_HEAD = re.compile(
    rb'\{"(session|connection|stream|rule|mark|provenance|frame)":(\d+)(?:,"connection":(\d+))?'
)

#: What frames are on channels that carry no messages.
_KINDS = {
    Channel.STDERR: Kind.STDERR,
    Channel.PROCESS: Kind.PROCESS,
    Channel.NOTE: Kind.NOTE,
    Channel.AUTH: Kind.AUTH,
}


_T = TypeVar("_T")


class _Line(NamedTuple):
    number: int
    text: bytes


class Outline:
    """What a text form holds: ``connections`` as (session, number, name, target, revision), their frames
    and HTTP streams.

    The frames' times are relative to their session's, and method, id and name are not worked out.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._session = 0
        self.connections: list[tuple[int, int, str, str, str]] = []
        self._rules: dict[int, list[_Line]] = {}
        self._streams: dict[tuple[int, int], _Line] = {}
        self._frames: dict[tuple[int, int], list[_Line]] = {}

    def frames(self, session: int, connection: int) -> Iterator[Frame]:
        """The frames of a connection in order, each read when it is asked for."""
        for line in self._frames.get((session, connection), ()):
            yield self._read(line, _frame, "frame")

    def process(self, session: int, connection: int, first: int) -> Iterator[Frame]:
        """The frames that tell of a connection's process, from a seq on."""
        for line in self._frames.get((session, connection), ()):
            if b'"process"' in line.text:
                frame = self._read(line, _frame, "frame")
                if frame.seq >= first and frame.channel is Channel.PROCESS:
                    yield frame

    def stream(self, session: int, number: int) -> Stream | None:
        """An HTTP stream by its number; raises ``RecordingError`` where it cannot be read."""
        line = self._streams.get((session, number))
        return None if line is None else self._read(line, _stream, "stream")

    def rules(self, session: int) -> list[tuple[str, str]]:
        """The rules kept with a session: what each is for, and its text."""
        return [self._read(line, _rule, "rule") for line in self._rules.get(session, ())]

    def _read(self, line: _Line, make: Callable[[dict[str, Any]], _T], what: str) -> _T:
        try:
            return make(loads(line.text.decode()))
        except (ValueError, TypeError, KeyError, RecursionError):
            raise RecordingError(
                f"{self._path}, line {line.number}: it is no {what}; mend the line and read it again."
            ) from None

    def take(self, line: _Line) -> bool:
        """Note what a line is; False if it is not as our export writes it."""
        found = _HEAD.match(line.text)
        if found is None:
            return False
        what, number, owner = found.groups()
        session = self._session
        if what == b"session":
            self._session += 1
        elif what == b"connection":
            told = loads(line.text.decode())
            name, target, revision = (str(told.get(key) or "") for key in ("name", "target", "revision"))
            self.connections.append((session, int(number), name, target, revision))
        elif what == b"rule":
            self._rules.setdefault(session, []).append(line)
        elif what == b"stream":
            self._streams[session, int(number)] = line
        elif what == b"frame":
            if owner is None:
                return False
            self._frames.setdefault((session, int(owner)), []).append(line)
        return self._session > 0


def outline(path: str) -> Outline | None:
    """What the text form at a path holds, ``None`` if it is another form or not as we write it."""
    try:
        with open(path, "rb") as file:
            if file.read(len(_FIRST)) != _FIRST:
                return None
            text = file.read()
    except OSError:
        return None
    found = Outline(path)
    try:
        for number, line in enumerate(text.split(b"\n"), 1):
            if line and not found.take(_Line(number, line)):
                return None
    except (ValueError, AttributeError, RecursionError):
        return None
    return found


def _frame(line: dict[str, Any]) -> Frame:
    body = body_of(line)
    channel = CHANNELS[line["channel"]]
    event = event_of(line)
    wall = line.get("wall", 0)
    return Frame(
        line["frame"],
        line["connection"],
        line["ns"] + wall,
        line["ns"],
        DIRECTIONS[line["direction"]],
        channel,
        _KINDS.get(channel) or carried_kind(channel, body, event) or decode(body).kind,
        body,
        line.get("size", len(body)),
        Ending.NONE if line.get("ending") == "none" else Ending.LF,
        spans=tuple(Span(*span) for span in line.get("spans", ())),
        stream=line.get("stream", 0),
        event=event,
    )


def _rule(line: dict[str, Any]) -> tuple[str, str]:
    return str(line["what"]), str(line["value"])


def _stream(line: dict[str, Any]) -> Stream:
    return Stream(
        line["stream"],
        line["connection"],
        line.get("verb", ""),
        line.get("url", ""),
        _pairs(line.get("request_headers", ())),
        line.get("opened_ns", 0),
        line.get("status"),
        _pairs(line.get("response_headers", ())),
        line.get("encoding", ""),
        line.get("wire_bytes"),
        line.get("closed_ns"),
        line.get("closed_how", ""),
    )


def _pairs(headers: Any) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(value)) for name, value in headers)
