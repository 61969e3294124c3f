"""A copy of a recording without what would be kept out of it today, and what that is.

The text form is walked through several times: what is secret by its name is learned
before anything is written, so that it is found wherever it stands, also earlier. What
is written is a new file; nothing that was taken out is in any page of it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO, Any, NamedTuple

from workbench.core.frame import Channel, Span
from workbench.core.jsonrpc import dumps, loads
from workbench.core.places import pointer_at
from workbench.core.redact import Redactor, placeholders
from workbench.errors import RecordingError
from workbench.store.copying import export, import_file
from workbench.store.formats.exact import parse
from workbench.store.formats.export import line_of
from workbench.store.formats.lines import (
    CHANNELS,
    FRAME,
    JSON_COLUMNS,
    NUMBERED,
    OF_BODY,
    PLACED,
    body_of,
    event_of,
)

#: Columns that hold what somebody else said.
_TEXTS = frozenset(("name", "target", "note", "tags", "text", "detail", "value", "closed_how"))


class Place(NamedTuple):
    """A secret's place: the session, what holds it (``frame``, ``stream``, ``connection``, …) and its
    number, the JSON pointer in a frame's body or the column, and what stands there now."""

    session: int
    what: str
    number: int
    pointer: str
    placeholder: str


class Redacted(NamedTuple):
    """What was found in a recording; ``found`` counts it by kind."""

    places: tuple[Place, ...]
    found: dict[str, int]


def redact(source: str, redactor: Redactor, target: str | None = None) -> Redacted:
    """Look for secrets in a recording of either form, and write a copy without them to ``target`` (which
    must not exist; ``.jsonl`` gets the text form). Raises ``RecordingError``; then nothing is left."""
    folder = os.path.dirname(os.path.abspath(target)) if target is not None else None
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", dir=folder) as text:
        export(source, text)
        # Numbers that are taken come first, then what is to be looked for.
        _adopt(redactor, _from_start(text))
        for _ in _Copy(redactor).lines(_from_start(text)):
            pass
        redactor.found.clear()
        copy = _Copy(redactor)
        if target is None:
            for _ in copy.lines(_from_start(text)):
                pass
        else:
            _write(copy.lines(_from_start(text)), target)
    return Redacted(tuple(copy.places), dict(redactor.found))


def _adopt(redactor: Redactor, lines: IO[str]) -> None:
    for line in lines:
        if "<redacted:" in line:
            members: dict[str, Any] = parse(line).value
            if "frame" in members:
                body = body_of(members)
                redactor.adopt(body[at : at + length] for at, length, _ in members.get("spans", ()))
            else:
                redactor.adopt(placeholders(line.encode()))


def _from_start(text: IO[str]) -> IO[str]:
    text.seek(0)
    return text


def _write(lines: Iterable[str], target: str) -> None:
    folder = os.path.dirname(os.path.abspath(target))
    made, place = "", target
    try:
        if not target.endswith(".jsonl"):
            handle, made = tempfile.mkstemp(prefix=".mcp-workbench-", suffix=".jsonl", dir=folder)
            os.close(handle)
            place = made
        with open(place, "w" if made else "x", encoding="utf-8", newline="\n") as out:
            try:
                out.writelines(lines)
            except BaseException:
                os.remove(place)
                raise
        if made:
            import_file(made, target)
    except FileExistsError:
        raise RecordingError(f"{target} exists already; name another file, or remove it first.") from None
    except OSError as error:
        raise RecordingError(f"{target} cannot be written: {error.strerror}.") from None
    finally:
        if made and os.path.exists(made):
            os.remove(made)


class _Copy:
    """The lines of a recording's text form without secrets, and where these stood."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self.places: list[Place] = []
        self._session = 1

    def lines(self, lines: IO[str]) -> Iterator[str]:
        for line in lines:
            parsed = parse(line)
            members: dict[str, Any] = parsed.value
            what = next(iter(members), "")
            if what == "session":
                self._session = members["session"]
            if what == "frame":
                yield self._frame(members, parsed.plain, line)
            elif what in NUMBERED or what in PLACED:
                yield self._row(what, members, line)
            else:
                yield line

    def _row(self, what: str, members: dict[str, Any], line: str) -> str:
        shown = dict(members)
        for column, value in members.items():
            if column == "url":
                shown[column] = self._redactor.url(str(value))
            elif column in ("request_headers", "response_headers") and isinstance(value, list):
                shown[column] = [[name, self._redactor.header(str(name), str(text))] for name, text in value]
            elif column in JSON_COLUMNS:
                text = value if isinstance(value, str) else dumps(value)
                hidden = self._redactor.text(text)
                shown[column] = value if hidden == text else loads(hidden)
            elif column in _TEXTS and isinstance(value, str):
                shown[column] = self._redactor.text(value)
            if shown[column] != value:
                before = placeholders(dumps(value).encode())
                self._note(
                    what, members[what], f"/{column}", placeholders(dumps(shown[column]).encode()), before
                )
        return line if shown == members else line_of(shown)

    def _frame(self, members: dict[str, Any], plain: bool, line: str) -> str:
        body = body_of(members, plain=plain)
        event = event_of(members, plain=plain)
        old = tuple(Span(*span) for span in members.get("spans", ()))
        channel = CHANNELS.get(members.get("channel", "stdio"), Channel.STDIO)
        shown, spans = self._redactor.redact(body, channel, members.get("connection", 1))
        shown_event = self._redactor.text(event) if event else event
        if shown == body and shown_event == event:
            return line
        for span in spans:
            found = shown[span.offset : span.offset + span.length]
            self._note("frame", members["frame"], pointer_at(shown, span.offset), [found], [])
        if shown_event != event:
            self._note("frame", members["frame"], "/event", placeholders((shown_event or "").encode()), [])
        kept = {name: value for name, value in members.items() if name not in OF_BODY and name != "event"}
        kept["size"] = members.get("size", len(body))
        if kept["size"] == len(shown):
            del kept["size"]
        kept["spans"] = [list(span) for span in _joined(old, spans)] or None
        if event is not None:
            kept["event"] = members["event"] if shown_event == event else shown_event
        order = ("frame", *FRAME)
        return line_of({name: kept[name] for name in order if kept.get(name) is not None}, shown)

    def _note(self, what: str, number: int, pointer: str, found: list[bytes], before: list[bytes]) -> None:
        for placeholder in found:
            if placeholder in before:
                before.remove(placeholder)
            else:
                text = placeholder.decode("utf-8", "replace")
                self.places.append(Place(self._session, what, number, pointer, text))


def _joined(old: tuple[Span, ...], new: tuple[Span, ...]) -> list[Span]:
    """The spans of a body that had some and got more: old ones move, or go with what took them along,
    whose length on the wire then is that of all of it."""
    joined: list[Span] = []
    left = list(old)
    shift = 0
    for span in new:
        start = span.offset - shift
        wire = span.wire
        while left and left[0].offset < start + span.wire:
            first = left.pop(0)
            if first.offset < start:
                joined.append(first._replace(offset=first.offset + shift))
            else:
                wire += first.wire - first.length
        joined.append(span._replace(wire=wire))
        shift += span.length - span.wire
    return joined + [span._replace(offset=span.offset + shift) for span in left]
