"""Findings that are kept at hand."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator

from workbench.check.rule import Finding


class Noted:
    """The findings of the last ``limit`` frames that have any, by frame. One thread adds; ``of`` may be
    asked in any."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._of: OrderedDict[int, tuple[Finding, ...]] = OrderedDict()

    def add(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self._of[finding.seq] = (*self._of.get(finding.seq, ()), finding)
        while len(self._of) > self._limit:
            self._of.popitem(last=False)

    def of(self, seq: int) -> tuple[Finding, ...]:
        """The findings of a frame, in the order they were made."""
        return self._of.get(seq, ())

    def __iter__(self) -> Iterator[Finding]:
        for findings in self._of.values():
            yield from findings
