"""How a mock server replays; the names are those of its command line. Part of the light path."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from workbench.errors import UsageError
from workbench.replay.correlate import NO_RULES, Rules
from workbench.replay.faults import Fault
from workbench.replay.matching import Ignore, kept_ignores


class Options(NamedTuple):
    """``match`` and ``after`` as ``Matcher`` takes them; ``timing`` is how much of the waits is kept."""

    match: str = "exact"
    after: str = ""
    ignores: tuple[Ignore, ...] = ()
    on_answer: str = "warn"
    order: str = "causal"
    strict: bool = False
    timing: float = 0.0
    faults: tuple[Fault, ...] = ()
    on_miss: str = "error"
    correlations: Rules = NO_RULES

    def keeping(self, rules: Iterable[tuple[str, str]]) -> Options:
        """The same with the rules kept with a recording. Raises ``UsageError``."""
        kept = list(rules)
        return self._replace(
            ignores=(*kept_ignores(kept), *self.ignores), correlations=self.correlations.and_kept(kept)
        )


def parse_timing(text: str) -> float:
    """How much of the recorded waits is kept: ``none``, ``recorded`` or a factor such as ``0.1x``.

    Raises ``UsageError``.
    """
    words = {"none": 0.0, "recorded": 1.0}
    if text in words:
        return words[text]
    if re.fullmatch(r"\d{1,6}(\.\d{1,6})?x", text):
        return float(text[:-1])
    raise UsageError(f"--timing is none, recorded or a factor such as 0.1x, not {text}")
