"""What a mock decides is to be done; whoever gives it pipes does it."""

from __future__ import annotations

from typing import NamedTuple

from workbench.core.frame import Ending


class Send(NamedTuple):
    """Write a body to the client. ``seq`` is the recorded frame it is made from, 0 if it is ours;
    ``part`` of ``parts`` is its place in the batch it was recorded in."""

    body: bytes
    ending: Ending = Ending.LF
    seq: int = 0
    part: int = 0
    parts: int = 1


class Stderr(NamedTuple):
    """Write a line to stderr."""

    body: bytes
    ending: Ending = Ending.LF
    seq: int = 0


class Eof(NamedTuple):
    """Close stdout, as the recorded server did."""

    seq: int


class Exit(NamedTuple):
    """End with this status, as the recorded server did."""

    code: int
    seq: int = 0


Action = Send | Stderr | Eof | Exit
