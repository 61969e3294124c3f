"""What a rule is: one thing that the protocol asks for and a peer can break."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from workbench.core.methods import REVISIONS

#: ``error`` breaks a "must", ``warning`` a "should" or what nearly every peer relies on, ``info`` is
#: worth knowing and allowed, or what the protocol leaves open.
Severity = Literal["error", "warning", "info"]

#: The severities, worst first.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")

ALL = (REVISIONS[0], REVISIONS[-1])
HANDSHAKE = (REVISIONS[0], REVISIONS[3])
STATELESS = (REVISIONS[4], REVISIONS[4])


#: Where the first part of an explanation ends.
_STOP = re.compile(r"[;:] |\.(?: |$)")


class Rule(NamedTuple):
    """One rule; ``id`` is its name for ever, in recordings and in scripts.

    ``revisions`` are the first and the last one it holds for. ``source`` is where it is written: the
    section of the specification in words (with its revision where it is not all of ``revisions``).
    ``explanation`` is one or two sentences: what is wrong and what it does.

    ``example`` are lines that break this rule and no other. ``> {…}`` is a body of the client and
    ``< {…}`` one of the server; ``@ 2025-11-25`` stands for a handshake that agrees on this revision
    with every capability on both sides, ``@ 2025-11-25 none`` for one without any; ``$META`` in a body
    for the keys of ``_meta`` that 2026-07-28 requires, ``$DEEP`` for an object within 60,000 others,
    ``$MANY`` for 10,001 notifications. ``N> `` and ``N< `` are bodies on the HTTP
    stream N, which a line ``N POST /path Header: value; … => status Header: value; …`` has opened and
    ``N end`` closes; ``N: {"id": …}`` before a body makes it an event of this stream. ``+ 2.5`` lets
    seconds pass, ``! {…}`` is a process event, ``* {…}`` a step of authorization.
    """

    id: str
    severity: Severity
    revisions: tuple[str, str]
    source: str
    explanation: str
    example: tuple[str, ...]

    @property
    def short(self) -> str:
        """What is wrong, without what it does: the explanation up to its first stop."""
        return _STOP.split(self.explanation, maxsplit=1)[0]


class Finding(NamedTuple):
    """A rule that a frame breaks.

    ``seq`` is the frame (0 where there is none). ``pointer`` is the JSON pointer of the place in its
    body, empty for the whole. ``detail`` says what is there, in a few words; it may hold text of the
    peer, so it is unsafe for a terminal.
    """

    seq: int
    rule: Rule
    pointer: str = ""
    detail: str = ""
