"""What is odd about a server's frames, in the words of the decoder."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from workbench.core.frame import Channel, Direction, Frame
from workbench.core.jsonrpc import DEFECTS, decode

#: More than this says nothing new.
MOST_FINDINGS = 100


class Finding(NamedTuple):
    """A frame and what is wrong with it; ``defect`` is a word of ``jsonrpc.DEFECTS``."""

    seq: int
    defect: str
    says: str


def findings(frames: Iterable[Frame]) -> list[Finding]:
    """The defects in what the server sent, in order."""
    found: list[Finding] = []
    for frame in frames:
        if frame.direction is not Direction.TO_CLIENT or frame.channel is not Channel.STDIO:
            continue
        decoded = decode(frame.body)
        defects = [*decoded.defects, *(defect for message in decoded.messages for defect in message.defects)]
        found += [
            Finding(frame.seq, defect, DEFECTS.get(defect, defect)) for defect in dict.fromkeys(defects)
        ]
        if len(found) > MOST_FINDINGS:
            break
    return found[:MOST_FINDINGS]
