"""What a mock tells of its run: what was asked, what was missed, what was left over."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.core.jsonrpc import dumps
from workbench.replay.diff import ABSENT, Difference, has_placeholder
from workbench.replay.matching import Miss

if TYPE_CHECKING:
    from workbench.core.redact import Redactor
    from workbench.replay.cues import Cue

#: Misses, notes and unused requests beyond this are counted, not listed.
MAX_LISTED = 1000

#: The longest value shown of a difference (characters).
MAX_VALUE = 200

#: Live secrets shorter than this are no use to search for (characters).
MIN_SECRET = 4

#: Why a live request has no answer.
USED, NEVER, STOPS = "already used", "never recorded", "never answered"


class Unused(NamedTuple):
    """Recorded requests that nobody asked for: how many, and the first ``MAX_LISTED`` of them."""

    number: int
    first: list[Cue]

    def value(self) -> dict[str, Any]:
        listed = [{"seq": cue.seq, "method": cue.method, "name": cue.name} for cue in self.first]
        return {"unused": listed, "unused_count": self.number}


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
        self.faults: list[dict[str, Any]] = []
        #: Those that were injected, as they are written.
        self.struck: set[str] = set()
        #: What was answered by a live server, as far as it is listed, and how much in all.
        self.live: list[dict[str, Any]] = []
        self.live_count = 0
        self._notes: dict[str, None] = {}
        self.ended = ""
        self._redactor: Redactor | None = None

    @property
    def notes(self) -> list[str]:
        return list(self._notes)

    def note(self, text: str) -> None:
        """Add a sentence, once however often it is said."""
        if len(self._notes) < MAX_LISTED:
            self._notes[text] = None

    def miss(self, method: str, name: str | None, miss: Miss, secrets: Iterable[str] = ()) -> dict[str, Any]:
        """Write a miss down; returns it as the ``data`` of the error that answers it. ``secrets`` are
        live texts that stand where the recording has placeholders."""
        hide = _Hidden(self._redaction(), secrets)
        nearest = None
        if miss.nearest is not None:
            nearest = {
                "seq": miss.nearest.seq,
                "method": miss.nearest.method,
                "name": miss.nearest.name,
                "differences": [_shown(difference, hide) for difference in miss.found],
            }
        return self._missed(method, None if name is None else hide.text(name), _why(miss), nearest)

    def inject(self, fault: str, method: str, name: str | None) -> None:
        """Write an injected fault down."""
        self.struck.add(fault)
        if len(self.faults) < MAX_LISTED:
            self.faults.append({"fault": fault, "method": method, "name": self._shown(name)})

    def went_live(self, method: str, name: str | None) -> None:
        """Write down that a live server has answered."""
        self.live_count += 1
        if len(self.live) < MAX_LISTED:
            self.live.append({"method": method, "name": self._shown(name)})

    def stopped(self, cue: Cue) -> dict[str, Any]:
        """The same for a request that the recording has, but no answer to it."""
        name = self._shown(cue.name)
        nearest = {"seq": cue.seq, "method": cue.method, "name": cue.name, "differences": []}
        return self._missed(cue.method, name, STOPS, nearest)

    def _missed(
        self, method: str, name: str | None, why: str, nearest: dict[str, Any] | None
    ) -> dict[str, Any]:
        told: dict[str, Any] = {"recording": self.recording, "why": why, "method": method}
        if name is not None:
            told["name"] = name
        if nearest is not None:
            told["nearest"] = nearest
        self.missed += 1
        if len(self.misses) < MAX_LISTED:
            self.misses.append(told)
        return told

    def value(
        self, unused: Unused, *, strict: bool, followed: Iterable[dict[str, Any]] = ()
    ) -> dict[str, Any]:
        return {
            "recording": self.recording,
            "connection": self.connection,
            "verdict": "ok" if self.agrees(unused.number if strict else 0) else "mismatch",
            "requests": self.requests,
            "answered": self.answered,
            "missed": self.missed,
            "differing_answers": self.differing,
            "misses": self.misses,
            "faults": self.faults,
            "live": self.live,
            "live_count": self.live_count,
            **unused.value(),
            "correlations": list(followed)[:MAX_LISTED],
            "notes": self.notes,
            "ended": self.ended,
        }

    def agrees(self, missing: int) -> bool:
        """``missing`` is how many recorded requests were not asked for that had to be."""
        return not self.missed and not self.differing and not missing

    def _shown(self, name: str | None) -> str | None:
        return None if name is None else self._redaction().text(name)

    def _redaction(self) -> Redactor:
        if self._redactor is None:
            # Loaded with the first miss: a replay that agrees has nothing to hide.
            from workbench.core.redact import Redactor

            self._redactor = Redactor()
        return self._redactor


def sentence(told: dict[str, Any]) -> str:
    """A miss in one sentence."""
    what = f"{told['method']} {told['name']}" if told.get("name") else told["method"]
    nearest = told.get("nearest")
    if told["why"] == USED:
        return f"The recording answers {what} no more: every recorded one has been used."
    if nearest is None:
        return f"The recording has no {what}."
    if told["why"] == STOPS:
        return f"The recording stops before {what} (#{nearest['seq']}) was answered."
    places = ", ".join(difference["pointer"] or "/" for difference in nearest["differences"][:3])
    return f"The recording has no such {what}; the nearest is #{nearest['seq']}, which differs at {places}."


def _why(miss: Miss) -> str:
    return USED if miss.used else NEVER


def _shown(difference: Difference, hide: _Hidden) -> dict[str, Any]:
    shown: dict[str, Any] = {"pointer": hide.text(difference.pointer)}
    if difference.why:
        # At a redacted place the live value is the secret itself.
        shown["why"] = difference.why
        return shown
    if difference.recorded is not ABSENT:
        shown["recorded"] = hide.value(difference.recorded)
    if difference.live is not ABSENT and not has_placeholder(difference.recorded):
        name = difference.pointer.rpartition("/")[2]
        shown["live"] = hide.value(difference.live, name)
    return shown


class _Hidden:
    """Shows values without the secrets in them."""

    def __init__(self, redactor: Redactor, secrets: Iterable[str]) -> None:
        self._redactor = redactor
        self._secrets = sorted((text for text in secrets if len(text) >= MIN_SECRET), key=len, reverse=True)

    def text(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "<secret>")
        return self._redactor.text(text)

    def value(self, value: Any, name: str = "") -> str:
        """A value as JSON text, shortened; under a name like a password's no string is shown."""
        try:
            text = self.text(dumps(self._masked(value, name)))
        except RecursionError:
            return "…"
        return text if len(text) <= MAX_VALUE else text[:MAX_VALUE] + "…"

    def _masked(self, value: Any, name: str) -> Any:
        from workbench.core.redact import looks_secret

        if isinstance(value, str):
            return "<secret>" if looks_secret(name, value) and "<redacted:" not in value else value
        if isinstance(value, dict):
            return {key: self._masked(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self._masked(item, name) for item in value]
        return value
