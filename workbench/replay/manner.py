"""How a mock client verifies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from workbench.core.policy import Policy
from workbench.replay.correlate import NO_RULES, Rules
from workbench.replay.levels import Levels

#: How long a server may say nothing before what it asked or told when it was recorded is waited for no
#: more (seconds).
SILENCE = 2.0


class Manner(NamedTuple):
    """How to verify. Times are seconds: ``timeout`` without a sign of life, ``maximum`` in all, ``start``
    for the handshake. ``secrets`` are those of the recording, by number; ``policy`` answers what was
    not recorded; ``slower`` is how many times as long as recorded an answer may take. The time that the
    client let pass before it sent something is waited for ``pace`` times; ``correlations`` say what is
    followed from answers to requests."""

    levels: Levels = Levels()
    timeout: float = 60.0
    maximum: float = 600.0
    start: float = 60.0
    silence: float = SILENCE
    secrets: Mapping[str, str] = {}
    policy: Policy | None = None
    slower: float | None = None
    pace: float = 0.0
    correlations: Rules = NO_RULES
