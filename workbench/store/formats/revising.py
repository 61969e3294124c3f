"""Putting new answers and rules into a text form, and leaving every other line as it is, byte for byte."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from workbench.core.frame import Span
from workbench.core.jsonrpc import loads
from workbench.errors import RecordingError, UsageError
from workbench.store.formats.export import line_of
from workbench.store.formats.lines import HEAD, without_body

_WHAT = re.compile(rb'\s*\{\s*"([^"\\]+)"\s*:\s*(\d+)?')


class Revised(NamedTuple):
    """What a frame holds from now on: its body as it is stored, the placeholders in it, and its size on
    the wire (bytes)."""

    body: bytes
    spans: tuple[Span, ...]
    size: int


class Revision(NamedTuple):
    """What changes in one session: frames by seq, the provenance that is written for them, and rules
    that are kept from now on (what each is for, and its text)."""

    session: int
    frames: Mapping[int, Revised]
    how: str = ""
    detail: str = ""
    rules: Sequence[tuple[str, str]] = ()


def revise(path: str, revision: Revision) -> None:
    """Write a revision into the text form at ``path``: a new file takes the place of the old one.

    Raises ``UsageError`` if it is no text form, ``RecordingError`` if it cannot be read or written.
    """
    try:
        with open(path, "rb") as file:
            lines = file.read().splitlines(keepends=True)
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror}.") from None
    if not is_text_form(path):
        raise UsageError(
            f"{path} is no text form; make one with: mcp-workbench sessions export {path} -o FILE.jsonl"
        )
    _replace(path, _Session(lines, revision).lines())


def is_text_form(path: str) -> bool:
    """Whether a recording is in the form that can be revised."""
    try:
        with open(path, "rb") as file:
            return file.read(64).lstrip()[:1] == b"{"
    except OSError:
        return False


class _Session:
    """The lines of a file, of which those of one session change."""

    def __init__(self, lines: Sequence[bytes], revision: Revision) -> None:
        self._lines = lines
        self._revision = revision
        self._sessions = 0
        self._frames = 0
        self._rules = 0
        self._written = False
        self._provenance: set[int] = set()

    def lines(self) -> list[bytes]:
        kept: list[bytes] = []
        for line in self._lines:
            kept += self._revised(line)
        return kept

    def _revised(self, line: bytes) -> Iterable[bytes]:
        found = _WHAT.match(line)
        what = found[1].decode() if found else ""
        number = int(found[2]) if found and found[2] else 0
        if what == "session":
            self._sessions, self._frames = self._sessions + 1, 0
        elif what not in ("", HEAD) and not self._sessions:
            self._sessions = 1
        if self._sessions != self._revision.session:
            return [line]
        if what == "rule":
            self._rules = max(self._rules, number)
        elif what == "provenance" and number in self._revision.frames and self._revision.how:
            self._provenance.add(number)
            return [self._origin(number)]
        elif what == "frame":
            return [*self._before_frames(), self._frame(line)]
        return [line]

    def _before_frames(self) -> list[bytes]:
        """Rules and provenance stand before the first frame."""
        if self._written:
            return []
        self._written = True
        rules = [
            line_of({"rule": number, "what": what, "value": value}).encode()
            for number, (what, value) in enumerate(self._revision.rules, self._rules + 1)
        ]
        seqs = sorted(set(self._revision.frames) - self._provenance) if self._revision.how else []
        return rules + [self._origin(seq) for seq in seqs]

    def _origin(self, seq: int) -> bytes:
        members = {"provenance": seq, "how": self._revision.how, "detail": self._revision.detail}
        return line_of(members).encode()

    def _frame(self, line: bytes) -> bytes:
        self._frames += 1
        revised = self._revision.frames.get(self._frames)
        if revised is None:
            return line
        try:
            members = without_body(loads(line))
        except (ValueError, RecursionError, AttributeError):
            raise RecordingError(f"Frame {self._frames} cannot be read; mend its line first.") from None
        if revised.size != len(revised.body):
            members["size"] = revised.size
        if revised.spans:
            members["spans"] = [list(span) for span in revised.spans]
        return line_of(members, revised.body).encode()


def _replace(path: str, lines: Iterable[bytes]) -> None:
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    try:
        made, place = tempfile.mkstemp(prefix=".mcp-workbench-", dir=folder)
        try:
            with os.fdopen(made, "wb") as out:
                out.writelines(lines)
                out.flush()
                os.fsync(out.fileno())
            os.chmod(place, os.stat(path).st_mode & 0o777)
            os.replace(place, path)
        except BaseException:
            os.remove(place)
            raise
    except OSError as error:
        raise RecordingError(f"{path} cannot be written ({error.strerror}); it is as it was.") from None
