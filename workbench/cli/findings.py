"""What is odd about what a server sent, each kind in a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from workbench.core.actions import ODDITIES, Odd
from workbench.core.jsonrpc import DEFECTS

#: More than this says nothing new.
MOST_FINDINGS = 100


class Finding(NamedTuple):
    """A frame and what is wrong with it; ``defect`` is the short word for it."""

    seq: int
    defect: str
    says: str


def findings(odd: Iterable[Odd]) -> list[Finding]:
    """Each oddity of each frame once, in order."""
    once = dict.fromkeys((each.seq, each.defect) for each in odd)
    said = [Finding(seq, defect, DEFECTS.get(defect) or ODDITIES.get(defect, defect)) for seq, defect in once]
    return said[:MOST_FINDINGS]
