"""Frames written by hand: what is known of one before it is sent, and what became of it."""

from __future__ import annotations

import time
from typing import NamedTuple

from workbench.core.actions import Outcome
from workbench.core.frame import ANSWERS, Kind
from workbench.core.jsonrpc import DEFECTS, decode
from workbench.core.jsontext import problem


class Reading(NamedTuple):
    """What a server will take some bytes for: ``kind`` a word for it, ``name`` method and id, ``wrong`` why
    they are no message. ``waits`` is whether an answer is to be expected."""

    kind: str
    name: str = ""
    wrong: str = ""
    waits: bool = False


def read(body: bytes, *, lines: bool) -> Reading:
    """Say what bytes are. ``lines``: each line of them is a frame of its own, as on a stdio server's."""
    count = body.count(b"\n") + 1
    if lines and count > 1:
        return Reading("lines", wrong=f"{count} lines, each a frame of its own here")
    decoded = decode(body)
    if len(decoded.messages) > 1:
        return Reading("batch", f"{len(decoded.messages)} messages")
    if not decoded.messages or decoded.kind is Kind.INVALID:
        found = problem(body.decode("utf-8", "replace"))
        if found is not None and body.strip():
            return Reading("no JSON", wrong=f"{found.why} in line {found.line}, column {found.column}")
        return Reading("no message", wrong=_first_defect(decoded.defects))
    message = decoded.messages[0]
    if message.kind is Kind.REQUEST:
        return Reading("request", f"{message.method}, id {message.id}", waits=True)
    if message.kind in ANSWERS:
        return Reading("answer", f"to id {message.id}")
    return Reading(message.kind.name.lower(), message.method or "")


def _first_defect(defects: tuple[str, ...]) -> str:
    return next((DEFECTS.get(defect, defect) for defect in defects), "neither request nor answer")


class RawFrame:
    """A frame that was sent as it was typed. ``seq`` is its number (0 until it has gone out), ``timeout``
    how long an answer is waited for (seconds), ``ended`` how that came out. Any thread may read it."""

    def __init__(self, key: str, connection: int, body: bytes, reading: Reading, timeout: float) -> None:
        self.key = key
        self.connection = connection
        self.body = body
        self.reading = reading
        self.timeout = timeout
        self.began = time.monotonic()
        self.seq = 0
        self.ended: Outcome | None = None

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; ``None`` while an answer is waited for, and where none is."""
        if self.ended is not None or not self.reading.waits:
            return self.ended
        age = time.monotonic() - self.began
        if age < self.timeout:
            return None
        return Outcome("timeout", self.timeout, why=f"No answer came within {self.timeout:.3g} s.")

    @property
    def waiting(self) -> bool:
        """Whether an answer may still come."""
        return self.reading.waits and self.outcome is None
