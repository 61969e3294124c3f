"""Server-sent events, read from any chunks of bytes, with every byte kept.

An event of a recording must be shown, stored and played again as it was, so the
parser gives what the standard's own algorithm throws away: comments, events
without data, the last event of a stream that was cut, and the bytes themselves.
What the fields mean is the standard's: lines end with LF, CR or CRLF, one byte
order mark may begin the stream, an ``id`` with NUL and a ``retry`` that is not
digits are ignored.

Part of the light path: standard library only. Source: WHATWG HTML, "Server-sent
events"; protocol revisions 2025-03-26 to 2026-07-28, "Streamable HTTP".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from workbench.core.jsonrpc import dumps

#: An event of more bytes than this is given in pieces: no row of a recording can hold more than 1 GB.
LONGEST_EVENT = 512 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"


class ServerEvent(NamedTuple):
    """One event: the lines up to an empty one.

    ``data`` is the data lines joined by ``\\n``; of a block of comments only, their text. The other
    fields are ``None`` where the event has none. ``raw`` is the bytes it came in, so all of a
    stream's ``raw`` together are the stream; only the LF of a CRLF that was split between two chunks
    counts to the event after it. ``finished`` is false when the stream ended, or the event was cut,
    before its empty line. ``described`` is what ``Unit.event`` says of it.
    """

    data: bytes = b""
    name: str | None = None
    id: str | None = None
    retry: int | None = None
    comment: bool = False
    raw: bytes = b""
    finished: bool = True
    described: str | None = None


def write_event(data: bytes, event: Mapping[str, Any] | None = None) -> bytes:
    """The bytes of an event from its data and the members of ``Unit.event``.

    Fields are written in the order of the members, the data after them. With ``raw`` among the
    members that is the answer, whatever the data.
    """
    members = event or {}
    if isinstance(members.get("raw"), str):
        return str(members["raw"]).encode("utf-8", "surrogateescape")
    eol = str(members.get("eol", "\n")).encode()
    lines = [
        field + str(members[member]).encode("utf-8", "surrogateescape") for member, field in _fields(members)
    ]
    mark = b": " if members.get("comment") is True else b"data: "
    lines += [mark + line for line in data.split(b"\n")]
    return eol.join(lines) + eol + eol


_WRITTEN = {"name": b"event: ", "id": b"id: ", "retry": b"retry: "}


def _fields(members: Mapping[str, Any]) -> list[tuple[str, bytes]]:
    return [(member, _WRITTEN[member]) for member in members if member in _WRITTEN]


class SseParser:
    """Feed it a stream as it comes; each byte is looked at once, however it is chunked."""

    def __init__(self, longest: int = LONGEST_EVENT) -> None:
        self._longest = longest
        self._first_line = True
        self._after_cr = False
        self._begin()

    def _begin(self) -> None:
        self._raw: list[bytes] = []
        self._size = 0
        self._line: list[bytes] = []
        self._eol = b""
        self._data: list[bytes] = []
        self._comments: list[bytes] = []
        self._members: dict[str, Any] = {}
        self._empty = True

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that end in this chunk."""
        events: list[ServerEvent] = []
        for piece in chunk.splitlines(keepends=True):
            self._raw.append(piece)
            self._size += len(piece)
            if self._after_cr and piece == b"\n":
                self._after_cr = False
                continue
            self._after_cr = False
            line = piece.rstrip(b"\r\n")
            if len(line) == len(piece):
                self._line.append(piece)
            elif self._ends(line, piece[len(line) :]):
                events.append(self._made(True))
            if self._size > self._longest:
                events.append(self._cut())
        self._after_cr = chunk.endswith(b"\r") or (self._after_cr and not chunk)
        return events

    def end(self) -> list[ServerEvent]:
        """What the stream left unfinished: one event, or none."""
        if not self._raw:
            return []
        if self._line:
            self._ends(b"", b"")
        return [] if self._empty else [self._made(False)]

    def _ends(self, line: bytes, eol: bytes) -> bool:
        """Take the line that ends here; true when it is the empty one after an event."""
        if self._line:
            line = b"".join([*self._line, line])
            self._line = []
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(_BOM)
        self._eol = eol
        if not line:
            return not self._empty
        self._empty = False
        self._field(line)
        return False

    def _field(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif not field:
            self._comments.append(value)
        elif field == b"event":
            self._members["name"] = _text(value)
        elif field == b"id" and b"\0" not in value:
            self._members["id"] = _text(value)
        elif field == b"retry" and value.isdigit() and len(value) < 16:
            self._members["retry"] = int(value)

    def _cut(self) -> ServerEvent:
        """The event so far. What follows of a data line is data again."""
        in_data = bool(self._line) and b"".join(self._line[:2]).startswith(b"data:")
        if self._line:
            self._ends(b"", b"")
        event = self._made(False)
        self._line = [b"data: "] if in_data else []
        return event

    def _made(self, finished: bool) -> ServerEvent:
        members = self._members
        comment = bool(self._comments) and not self._data and not members
        data = b"\n".join(self._comments if comment else self._data)
        raw = b"".join(self._raw)
        described = _described(data, members, comment, self._eol, raw)
        self._begin()
        known = (members.get("name"), members.get("id"), members.get("retry"))
        return ServerEvent(data, *known, comment, raw, finished, described)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _described(data: bytes, fields: dict[str, Any], comment: bool, eol: bytes, raw: bytes) -> str | None:
    """The text of ``Unit.event``: the fields, and the bytes where they cannot be made again."""
    members = dict(fields)
    if comment:
        members["comment"] = True
    if eol in (b"\r\n", b"\r"):
        members["eol"] = eol.decode()
    if write_event(data, members) != raw:
        members.pop("eol", None)
        members["raw"] = _text(raw)
    return dumps(members) if members else None
