"""Bodies of any size as rows to draw: indented JSON, text, or hex. No widget, no state.

A document is laid out once for a width; after that a row costs what it shows. Text
is made safe while it is laid out, so offsets are those of what is shown, and row
starts are kept as numbers, never as strings.
"""

from __future__ import annotations

import re
import subprocess
import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import Literal, NamedTuple, Protocol

from rich.cells import cell_len

from workbench.core.jsontext import kind_of, pretty_bytes, pretty_pieces
from workbench.core.printable import printable, printable_lines
from workbench.tui.palette import Role
from workbench.tui.safe import safe_bytes

View = Literal["pretty", "raw", "hex"]

#: Bodies above this size are indented by another process: one call in this one would be felt.
HELPER_BYTES = 4 * 1024 * 1024

#: Characters made safe in one call.
_PIECE = 256 * 1024

#: A key longer than this is not told from its value.
_KEY = re.compile(r'( *)("(?:[^"\\\n]|\\.){0,1024}": )?')

#: How far back from a row the beginning of its line is looked for; further in it is all value.
_NEAR = 4096

_HELPER = (
    "import sys; from workbench.core.jsontext import pretty_bytes as p; "
    "b = sys.stdin.buffer.read(); r = p(b); "
    "sys.stdout.buffer.write(r) if r is not None else sys.exit(1)"
)


class Span(NamedTuple):
    """A piece of a row in one role."""

    text: str
    role: Role


class Document(Protocol):
    """Rows, counted from 0."""

    @property
    def height(self) -> int: ...

    @property
    def width(self) -> int:
        """Cells of the widest row, about."""
        ...

    def row(self, index: int, left: int, cells: int) -> list[Span]:
        """At most about ``cells`` characters of a row from character ``left`` on."""
        ...


class TextRows:
    """Text that has been made safe, broken at ``wrap`` cells (0: at line ends only)."""

    def __init__(self, text: str, wrap: int, *, json: bool) -> None:
        self.text = text
        self.json = json
        self.starts = _row_starts(text, wrap)
        self.wrapped = wrap > 0
        self.width = wrap or max(
            (after - start for start, after in zip(self.starts, [*self.starts[1:], len(text)], strict=True)),
            default=0,
        )

    @property
    def height(self) -> int:
        return len(self.starts)

    def bounds(self, index: int) -> tuple[int, int]:
        """Where a row begins and ends in ``text``, its line end not included."""
        start = self.starts[index]
        end = self.starts[index + 1] if index + 1 < len(self.starts) else len(self.text)
        return start, end - 1 if end > start and self.text[end - 1] == "\n" else end

    def row_at(self, offset: int) -> int:
        """The row that shows this place of ``text``."""
        return max(bisect_right(self.starts, offset) - 1, 0)

    def row(self, index: int, left: int, cells: int) -> list[Span]:
        start, end = self.bounds(index)
        begin, stop = start + left, min(end, start + left + cells)
        if begin >= stop:
            return []
        if not self.json:
            return [Span(self.text[begin:stop], "text")]
        return list(self._coloured(start, begin, stop))

    def _coloured(self, start: int, begin: int, stop: int) -> Iterator[Span]:
        """Keys and punctuation quiet, values as text: told by a line's own structure, so a row in
        the middle of a value of 5 MB costs no more than another."""
        value = start
        line = start if not start else self.text.rfind("\n", max(start - _NEAR, 0), start) + 1
        if line or start <= _NEAR:
            head = _KEY.match(self.text, line)
            value = head.end() if head else line
        if begin < value:
            yield Span(self.text[begin : min(value, stop)], "quiet")
            begin = min(value, stop)
        if begin >= stop:
            return
        rest = self.text[begin:stop]
        body = rest.rstrip(",") if stop == len(self.text) or self.text[stop] == "\n" else rest
        if body and not body.strip("{}[]"):
            yield Span(rest, "quiet")
            return
        if body:
            yield Span(body, "text")
        if len(body) < len(rest):
            yield Span(rest[len(body) :], "quiet")


class HexRows:
    """Bytes, 16 a row (8 where 16 do not fit), made up as they are drawn."""

    def __init__(self, body: bytes, width: int) -> None:
        self.body = body
        self.each = 16 if width >= 77 else 8
        self.width = 13 + 4 * self.each

    @property
    def height(self) -> int:
        return -(-len(self.body) // self.each)

    def row(self, index: int, left: int, cells: int) -> list[Span]:  # noqa: ARG002 - rows are short
        piece = self.body[index * self.each : (index + 1) * self.each]
        halves = [piece[:8].hex(" "), piece[8:].hex(" ")]
        digits = f"{halves[0]:<23}" + (f"  {halves[1]:<23}" if self.each == 16 else "")
        plain = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in piece)
        return [
            Span(f"{index * self.each:08x}  ", "quiet"),
            Span(digits, "text"),
            Span(f"  {plain}", "quiet"),
        ]


def looks_like_json(body: bytes) -> bool:
    """Whether a body begins as an object or an array does."""
    return kind_of(body[:64].decode("utf-8", "replace").lstrip("\ufeff")) in ("object", "array")


def lay_out(body: bytes, view: View, width: int, wrap: bool) -> Document:
    """A body as rows. Takes its time on a large one: call it where nobody waits."""
    if view == "hex":
        return HexRows(body, width)
    json = view == "pretty" and looks_like_json(body)
    text = _indented(body) if json else printable_lines_of(safe_bytes(body))
    return TextRows(text, max(width, 8) if wrap else 0, json=json)


def _indented(body: bytes) -> str:
    strict = _with_helper(body) if len(body) > HELPER_BYTES else pretty_bytes(body)
    if strict is not None:
        return printable_lines_of(safe_bytes(strict))
    return "".join(printable_lines(piece) for piece in pretty_pieces(safe_bytes(body)))


def _with_helper(body: bytes) -> bytes | None:
    try:
        done = subprocess.run([sys.executable, "-c", _HELPER], input=body, capture_output=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def printable_lines_of(text: str) -> str:
    """``printable_lines`` a piece at a time, so that other threads get their turn."""
    if len(text) <= _PIECE:
        return printable_lines(text)
    pieces: list[str] = []
    at = 0
    while at < len(text):
        end = min(at + _PIECE, len(text))
        # A pair of characters that is read as one stays together.
        if text[end - 1 : end] == "\r":
            end = min(end + 1, len(text))
        pieces.append(printable_lines(text[at:end]))
        at = end
    return "".join(pieces)


def _row_starts(text: str, wrap: int) -> array[int]:
    starts = array("q")
    if not wrap:
        starts.append(0)
        starts.extend(found.end() for found in re.finditer("\n", text))
        if len(starts) > 1 and starts[-1] == len(text):
            starts.pop()
        return starts
    # A row ends at a line's end, else behind a blank or the like, else anywhere.
    pattern = rf"[^\n]{{1,{wrap}}}(?:\n|\Z)|[^\n]{{1,{wrap}}}(?<=[ ,;/-])|[^\n]{{1,{wrap}}}|\n"
    narrow = text.isascii()
    for found in re.finditer(pattern, text):
        start = found.start()
        starts.append(start)
        row = "" if narrow else found[0]
        if not row.isascii() and cell_len(row) > wrap:
            starts.extend(start + place for place in _breaks(row, wrap))
    return starts or array("q", [0])


def _breaks(row: str, wrap: int) -> Iterator[int]:
    """Where a row that is too wide (though not too long) is broken, by cells."""
    used = 0
    for place, character in enumerate(row):
        cells = cell_len(character)
        if used + cells > wrap:
            yield place
            used = 0
        used += cells


def one_line(body: bytes, limit: int = 4096) -> str:
    """The beginning of a body as one line that a terminal can be given."""
    return printable(safe_bytes(body[:limit]))
