"""What a mock tells of its run: what was asked, what was missed, what was left over."""

from __future__ import annotations

from typing import Any

from workbench.core.jsonrpc import dumps
from workbench.core.redact import Redactor
from workbench.replay.diff import ABSENT, Difference
from workbench.replay.matching import Miss
from workbench.replay.script import Cue

#: Misses and notes beyond this are counted, not listed.
MAX_LISTED = 1000

#: The longest value shown of a difference (characters).
MAX_VALUE = 200


class Report:
    """Counts and lists of one replay; ``value()`` is JSON for ``--report``."""

    def __init__(self, recording: str, connection: str) -> None:
        self.recording = recording
        self.connection = connection
        self.requests = 0
        self.answered = 0
        self.missed = 0
        self.differing = 0
        self.misses: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.ended = ""
        self._redactor = Redactor()

    def note(self, text: str) -> None:
        if len(self.notes) < MAX_LISTED and text not in self.notes:
            self.notes.append(text)

    def miss(self, method: str, name: str | None, miss: Miss) -> dict[str, Any]:
        """Write a miss down; returns it as the ``data`` of the error that answers it."""
        told: dict[str, Any] = {
            "recording": self.recording,
            "why": "already used" if miss.used else "never recorded",
            "method": method,
        }
        if name is not None:
            told["name"] = self._redactor.text(name)
        if miss.nearest is not None:
            told["nearest"] = {
                "seq": miss.nearest.seq,
                "method": miss.nearest.method,
                "name": miss.nearest.name,
                "differences": [self._shown(difference) for difference in miss.found],
            }
        self.missed += 1
        if len(self.misses) < MAX_LISTED:
            self.misses.append(told)
        return told

    def sentence(self, told: dict[str, Any]) -> str:
        """A miss in one sentence."""
        what = f"{told['method']} {told['name']}" if told.get("name") else told["method"]
        nearest = told.get("nearest")
        if told["why"] == "already used":
            return f"The recording answers {what} no more: every recorded one has been used."
        if nearest is None:
            return f"The recording has no {what}."
        places = ", ".join(difference["pointer"] or "/" for difference in nearest["differences"][:3])
        return (
            f"The recording has no such {what}; the nearest is #{nearest['seq']}, which differs at {places}."
        )

    def value(self, unused: list[Cue], *, strict: bool) -> dict[str, Any]:
        return {
            "recording": self.recording,
            "connection": self.connection,
            "verdict": "ok" if self.agrees(unused, strict=strict) else "mismatch",
            "requests": self.requests,
            "answered": self.answered,
            "missed": self.missed,
            "differing_answers": self.differing,
            "misses": self.misses,
            "unused": [
                {"seq": cue.seq, "method": cue.method, "name": cue.name} for cue in unused[:MAX_LISTED]
            ],
            "unused_count": len(unused),
            "notes": self.notes,
            "ended": self.ended,
        }

    def agrees(self, unused: list[Cue], *, strict: bool) -> bool:
        return not self.missed and not self.differing and not (strict and unused)

    def _shown(self, difference: Difference) -> dict[str, Any]:
        shown: dict[str, Any] = {"pointer": difference.pointer}
        if difference.why:
            # At a redacted place the live value is the secret itself.
            shown["why"] = difference.why
            return shown
        for side, value in (("recorded", difference.recorded), ("live", difference.live)):
            if value is not ABSENT:
                text = self._redactor.text(dumps(value))
                shown[side] = text if len(text) <= MAX_VALUE else text[:MAX_VALUE] + "…"
        return shown
