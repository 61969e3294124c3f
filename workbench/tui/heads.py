"""What surrounded a frame on HTTP: the heads of its request and answer, and what its SSE event had
beside its data. All text is a peer's own: whoever draws it cleans it."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, NamedTuple

from workbench.core.frame import Frame, Stream
from workbench.core.jsonrpc import loads
from workbench.tui import figures
from workbench.tui.lines import Bit, Line

#: How an answer ended, where it is worth a word.
_ENDED = {
    "": "still open",
    "cut": "broke off",
    "closed": "closed by us",
    "failed": "no answer came",
}


class Heads(NamedTuple):
    """``event`` is what the SSE event had beside its data, by member."""

    stream: Stream
    event: dict[str, Any]

    def lines(self) -> list[Line]:
        """One line of the stream, and one of the event if it had anything."""
        stream = self.stream
        bits = [Bit(" "), Bit(f"{stream.verb} ", "text"), Bit(stream.url, "quiet")]
        if stream.status is not None:
            bits.append(Bit(f"   {stream.status}", "failed" if stream.status >= 400 else "text"))
        bits += [
            Bit(f"   {word}", "quiet") for word in (self.encoding, _ENDED.get(stream.closed_how, "")) if word
        ]
        told: list[Line] = [bits]
        if words := list(self._event_words()):
            told.append([Bit(" "), Bit("event", "quiet"), *(Bit(f"   {word}", "quiet") for word in words)])
        return told

    @property
    def encoding(self) -> str:
        """``gzip, 211 B on the wire``; empty where the body was sent as it is."""
        stream = self.stream
        if not stream.encoding:
            return ""
        size = "" if stream.wire_bytes is None else f", {figures.size(stream.wire_bytes)} on the wire"
        return stream.encoding + size

    def _event_words(self) -> Iterator[str]:
        for member in ("id", "name"):
            if isinstance(self.event.get(member), str):
                yield f"{member} {self.event[member]}"
        retry = self.event.get("retry")
        if isinstance(retry, int):
            yield f"retry {figures.duration(retry * 1_000_000)}"
        if self.event.get("comment") is True:
            yield "a comment"
        if "raw" in self.event:
            yield "written in its own way"

    def text(self) -> str:
        """Everything, as it would be written on the wire."""
        stream = self.stream
        rows = [f"{stream.verb} {stream.url}", *_headers(stream.request_headers), ""]
        if stream.status is None:
            rows.append("There is no answer yet." if not stream.closed_how else "No answer came.")
        else:
            rows += [f"{stream.status} {_phrase(stream.status)}".rstrip(), *_headers(stream.response_headers)]
        ended = _ENDED.get(stream.closed_how, "")
        if told := ", ".join(word for word in (self.encoding, ended) if word):
            rows += ["", f"({told})"]
        if self.event:
            rows += ["", "The event of this frame:"]
            rows += [f"{member}: {value}" for member, value in self.event.items()]
        return "\n".join(rows)


def heads_of(frame: Frame, stream: Stream | None) -> Heads | None:
    """The heads of a frame's stream, ``None`` if it came on none or that was not recorded."""
    if stream is None:
        return None
    return Heads(stream, _event(frame.event))


def _event(text: str | None) -> dict[str, Any]:
    try:
        event = loads(text) if text else {}
    except (ValueError, RecursionError):
        return {"raw": text}
    return event if isinstance(event, dict) else {"raw": text}


def _headers(headers: tuple[tuple[str, str], ...]) -> list[str]:
    return [f"{name}: {value}" for name, value in headers]


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
