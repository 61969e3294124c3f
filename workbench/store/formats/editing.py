"""Changing the frames of a text form: others' bodies, frames that go, frames that are made by hand.

Lines that are not concerned pass through byte for byte, but for the numbers of frames: these are
counted anew, and so are the marks and the provenance that name them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from workbench.core.frame import Direction, Span
from workbench.core.jsonrpc import loads
from workbench.errors import RecordingError
from workbench.store.formats.export import line_of
from workbench.store.formats.lines import HEAD, body_of, without_body

#: How a frame came to be that was not recorded as it is: its body was changed, all of it was written, or
#: it was recorded at another time.
EDITED, HAND, LATER = "edited", "hand", "recorded"

_LINE = re.compile(rb'(\s*\{\s*"([^"\\]+)"\s*:\s*)(-?\d+|null)?')


class Added(NamedTuple):
    """A frame made by hand, and the seq of the one that it comes after (0: before all). ``spans`` and
    ``size`` are as in ``Frame``, ``how`` is its provenance."""

    after: int
    connection: int
    direction: Direction
    body: bytes
    how: str = HAND
    spans: tuple[Span, ...] = ()
    size: int | None = None


class Edit(NamedTuple):
    """What changes in one session of a file (counted from 1): bodies by seq, frames that go, frames that
    come; rules that are kept from now on or no more (what each is for, and its text)."""

    session: int = 1
    bodies: Mapping[int, bytes] = {}
    dropped: frozenset[int] = frozenset()
    added: Sequence[Added] = ()
    rules: Sequence[tuple[str, str]] = ()
    forgotten: frozenset[tuple[str, str]] = frozenset()


class _Line(NamedTuple):
    """A line of a session. ``number`` is what it counts or names, ``how`` the provenance it gets."""

    what: str
    number: int
    text: bytes
    how: str = ""


def edited(lines: Sequence[bytes], edit: Edit) -> list[bytes]:
    """The lines of a text form after an edit. Raises ``RecordingError`` for a line that cannot be read."""
    return _apply(lines, edit.session, lambda session: _changed(session, edit))


def retold(lines: Sequence[bytes], before: Sequence[bytes]) -> list[bytes]:
    """Lines that a person has changed, with frames counted anew and what was changed marked as such.

    ``before`` are the lines they were made from. A frame's number says which one it was; a new frame has
    none (``null``), or one that there was not. Raises ``RecordingError`` for a line that cannot be read.
    """
    known = dict(_sessions(before))
    done: list[bytes] = []
    for session, inner in _sessions(lines):
        was = {line.number: line.text for line in known.get(session, ()) if line.what == "frame"}
        seen: set[int] = set()
        told: list[_Line] = []
        for line in inner:
            if line.what == "frame":
                old = line.number if line.number not in seen else -1
                seen.add(old)
                how = HAND if old not in was else "" if _same(was[old], line.text) else EDITED
                line = line._replace(number=old if old in was else -1, how=how)
            told.append(line)
        done += _written(told) if session else [line.text for line in told]
    return done


def _changed(inner: list[_Line], edit: Edit) -> list[_Line]:
    """The lines of the session after the edit, frames still under their old numbers."""
    coming: dict[int, list[Added]] = {}
    for added in edit.added:
        coming.setdefault(added.after, []).append(added)
    seqs = {line.number for line in inner if line.what == "frame"}
    wrong = sorted(({*edit.bodies, *edit.dropped} | {after for after in coming if after}) - seqs)
    if wrong:
        raise RecordingError(f"There is no frame {wrong[0]}; the session has {len(seqs)}.")
    done: list[_Line] = []
    clock, rules = 0, 0
    begun = False
    for line in inner:
        if line.what == "rule":
            rules = max(rules, line.number)
            if _rule(line) in edit.forgotten:
                continue
        if line.what == "frame" and not begun:
            begun = True
            done += _new_rules(edit.rules, rules)
            done += [_made(added, clock) for added in coming.get(0, ())]
        if line.what != "frame":
            done.append(line)
            continue
        members = _members(line)
        at = members.get("ns")
        clock = at if isinstance(at, int) else clock
        if line.number in edit.bodies:
            text = line_of(without_body(members), edit.bodies[line.number]).encode()
            done.append(_Line("frame", line.number, text, EDITED))
        elif line.number not in edit.dropped:
            done.append(line)
        done += [_made(added, clock) for added in coming.get(line.number, ())]
    return done if begun else [*done, *_new_rules(edit.rules, rules)]


def _new_rules(rules: Sequence[tuple[str, str]], known: int) -> Iterator[_Line]:
    for number, (what, value) in enumerate(rules, known + 1):
        yield _Line("rule", number, line_of({"rule": number, "what": what, "value": value}).encode())


def _made(added: Added, clock: int) -> _Line:
    members: dict[str, object] = {
        "frame": 0,
        "connection": added.connection,
        "ns": clock,
        "direction": added.direction.name.lower(),
        "channel": "stdio",
    }
    if added.size not in (None, len(added.body)):
        members["size"] = added.size
    if added.spans:
        members["spans"] = [list(span) for span in added.spans]
    return _Line("frame", -1, line_of(members, added.body).encode(), added.how)


def _written(inner: Sequence[_Line]) -> list[bytes]:
    """A session's lines with its frames counted from 1. Provenance stands before the first of them."""
    frames = [line for line in inner if line.what == "frame"]
    numbers = {line.number: seq for seq, line in enumerate(frames, 1) if line.number > 0}
    told = {
        seq: line_of({"provenance": seq, "how": line.how}).encode()
        for seq, line in enumerate(frames, 1)
        if line.how
    }
    done: list[bytes] = []
    seq = 0
    for line in inner:
        if line.what == "frame":
            if not seq:
                done += told.values()
                told = {}
            seq += 1
            done.append(_numbered(line.text, seq))
        elif line.what in ("mark", "provenance"):
            now = numbers.get(line.number)
            if now is not None and not (line.what == "provenance" and now in told):
                done.append(_numbered(line.text, now))
        else:
            done.append(line.text)
    return done


def _numbered(text: bytes, number: int) -> bytes:
    found = _LINE.match(text)
    if found is None or found[3] is None:
        return text
    return b"%s%d%s" % (text[: found.start(3)], number, text[found.end(3) :])


def _apply(lines: Sequence[bytes], session: int, change: Callable[[list[_Line]], list[_Line]]) -> list[bytes]:
    done: list[bytes] = []
    met = False
    for number, inner in _sessions(lines):
        met = met or number == session
        done += _written(change(inner)) if number == session else [line.text for line in inner]
    if not met:
        raise RecordingError(f"There is no session {session} in it.")
    return done


def _sessions(lines: Sequence[bytes]) -> list[tuple[int, list[_Line]]]:
    """The lines of each session, with the number that it counts; those before the first have 0."""
    found: list[tuple[int, list[_Line]]] = [(0, [])]
    frames = 0
    for at, text in enumerate(lines, 1):
        if not text.strip():
            continue
        told = _LINE.match(text)
        if told is None:
            raise RecordingError(f"Line {at} is no line of a recording; mend it and try again.")
        what = told[2].decode("utf-8", "replace")
        if what == "session" or (what != HEAD and not found[-1][0]):
            found.append((found[-1][0] + 1, []))
            frames = 0
        number = int(told[3]) if told[3] not in (None, b"null") else -1
        if what == "frame":
            frames += 1
        text = text if text.endswith(b"\n") else text + b"\n"
        found[-1][1].append(_Line(what, number, text))
    return found


def _rule(line: _Line) -> tuple[str, str]:
    members = _members(line)
    return str(members.get("what")), str(members.get("value"))


def _members(line: _Line) -> dict[str, object]:
    try:
        members = loads(line.text)
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict):
        raise RecordingError(f"The line of {line.what} {line.number} is no JSON object; mend it first.")
    return members


def _same(one: bytes, other: bytes) -> bool:
    """Whether two lines of a frame have the same body, however they are written."""
    if one.strip() == other.strip():
        return True
    try:
        return body_of(loads(one)) == body_of(loads(other))
    except (ValueError, RecursionError, TypeError, AttributeError):
        return False
