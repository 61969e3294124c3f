"""What a mock client found: each exchange beside the recorded one, and the questions beside theirs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from workbench.replay.diff import ABSENT, Difference
from workbench.replay.levels import short
from workbench.replay.turns import ClientScript, Request

#: How a live exchange compares with the recorded one.
EQUAL, CHANGED, MISSING, EXTRA = "equal", "changed", "missing", "extra"
ERROR_NOW, RESULT_NOW = "error instead of result", "result instead of error"
#: The answer is the recorded one and took longer than the user allows.
SLOWER = "slower"
#: Nobody waited for the answer when it was recorded, and nobody did now.
LEFT_OPEN = "left open"

VERDICTS = (EQUAL, SLOWER, CHANGED, MISSING, EXTRA, ERROR_NOW, RESULT_NOW, LEFT_OPEN)

#: Verdicts of answers that can take the place of the recorded ones.
RENEWED = frozenset((CHANGED, ERROR_NOW, RESULT_NOW))

#: Verdicts that are no disagreement.
AGREE = frozenset((EQUAL, LEFT_OPEN))

#: An answer that took so many times as long as the recorded one, and so much longer (seconds), is told
#: of as slow; starting a server is not compared.
SLOW_TIMES, SLOW_SECONDS = 2.0, 0.25
_STARTING = frozenset(("initialize", "server/discover"))

#: Notes and questions beyond this are counted, not listed.
MAX_LISTED = 1000


class Compared(NamedTuple):
    """One exchange. ``differences`` have live values with no secret in them, by pointers into the result
    (or the error). ``seconds`` is how long the live one took, ``None`` without an answer; ``seq`` the
    frame of the live answer, 0 for none. ``body`` is that answer as it came, empty where it came with
    others in one; ``renew`` tells whether it can take the place of the recorded one."""

    request: Request
    verdict: str
    level: str
    differences: tuple[Difference, ...] = ()
    why: str = ""
    seconds: float | None = None
    seq: int = 0
    body: bytes = b""
    renew: bool = False

    @property
    def recorded_seconds(self) -> float | None:
        return None if self.request.took_ns is None else self.request.took_ns / 1e9

    def slow(self, times: float = SLOW_TIMES) -> bool:
        """Whether the answer took more than so many times as long as the recorded one."""
        was, now = self.recorded_seconds, self.seconds
        if was is None or now is None or self.request.method in _STARTING:
            return False
        return now > was * times and now > was + SLOW_SECONDS

    def value(self) -> dict[str, Any]:
        """As JSON: differences as JSON text."""
        told: dict[str, Any] = {
            "seq": self.request.seq,
            "connection": self.request.connection,
            "method": self.request.method,
            "name": self.request.name,
            "verdict": self.verdict,
            "level": self.level,
            "seconds": {"recorded": self.recorded_seconds, "live": self.seconds},
            "slow": self.slow(),
            "answer": {"recorded": self.request.answer_seq, "live": self.seq or None},
        }
        if self.why:
            told["why"] = self.why
        if self.differences:
            told["differences"] = [_shown(each) for each in self.differences]
        return told


class Questioned(NamedTuple):
    """A request of the server's that it did not send (``missing``), that was not recorded (``extra``), or
    that asks the recorded thing otherwise (``changed``, with its ``differences``). ``seq`` is its
    recorded frame, for an extra one its live one; ``answered`` says what that was answered with."""

    verdict: str
    connection: int
    seq: int
    method: str
    answered: str = ""
    differences: tuple[Difference, ...] = ()

    def value(self) -> dict[str, Any]:
        """As JSON."""
        told = {**self._asdict(), "sentence": self.sentence}
        told["differences"] = [_shown(each) for each in self.differences]
        return told

    @property
    def sentence(self) -> str:
        if self.verdict == CHANGED:
            places = "; ".join(lines_of(self.differences[:3]))
            return f"The server asked #{self.seq} {self.method} otherwise: {places}."
        if self.verdict == MISSING:
            return f"The server did not ask #{self.seq} {self.method}."
        return f"The server asked {self.method}, which was not recorded so; it was answered: {self.answered}."


class Verification:
    """The outcome of one run of a mock client."""

    def __init__(self, recording: str, script: ClientScript) -> None:
        self.recording = recording
        self.script = script
        self.compared: list[Compared] = []
        self.questions: list[Questioned] = []
        self.more_questions = 0
        self.followed: list[dict[str, Any]] = []
        self._notes: dict[str, None] = {}

    @property
    def notes(self) -> list[str]:
        return list(self._notes)

    def note(self, text: str) -> None:
        """Add a sentence, once however often it is said."""
        if len(self._notes) < MAX_LISTED:
            self._notes[text] = None

    def question(self, question: Questioned) -> None:
        """Add a question that differs; those beyond ``MAX_LISTED`` are counted."""
        if len(self.questions) < MAX_LISTED:
            self.questions.append(question)
        else:
            self.more_questions += 1

    @property
    def agrees(self) -> bool:
        return not self.questions and not self.disagreeing

    @property
    def disagreeing(self) -> list[Compared]:
        return [each for each in self.compared if each.verdict not in AGREE]

    @property
    def counts(self) -> dict[str, int]:
        """How many exchanges have each verdict; those that none has are left out."""
        verdicts = [each.verdict for each in self.compared]
        return {verdict: verdicts.count(verdict) for verdict in VERDICTS if verdict in verdicts}

    @property
    def sentence(self) -> str:
        """The whole in a line."""
        told = ", ".join(f"{number} {verdict}" for verdict, number in self.counts.items())
        asked = len(self.questions) + self.more_questions
        if asked:
            told += (
                f"; {asked} question{'s' if asked > 1 else ''} of the server differ{'' if asked > 1 else 's'}"
            )
        return told or "nothing to compare"

    def value(self) -> dict[str, Any]:
        """As JSON, for ``--json`` and ``--report``."""
        return {
            "recording": self.recording,
            "verdict": "ok" if self.agrees else "mismatch",
            "counts": self.counts,
            "exchanges": [each.value() for each in self.compared],
            "questions": [each.value() for each in self.questions],
            "correlations": self.followed[:MAX_LISTED],
            "notes": self.notes,
        }


def lines_of(differences: Iterable[Difference]) -> list[str]:
    """Differences for a person, a line each."""
    return [_line(each) for each in differences]


def _line(each: Difference) -> str:
    where = each.pointer or "/"
    if each.why:
        return f"{where}: {each.why}"
    if each.recorded is ABSENT:
        return f"{where}: only now, {short(each.live)}"
    if each.live is ABSENT:
        return f"{where}: no more, was {short(each.recorded)}"
    return f"{where}: {short(each.recorded)} is now {short(each.live)}"


def _shown(each: Difference) -> dict[str, Any]:
    shown: dict[str, Any] = {"pointer": each.pointer}
    if each.recorded is not ABSENT:
        shown["recorded"] = short(each.recorded)
    if each.live is not ABSENT:
        shown["live"] = short(each.live)
    if each.why:
        shown["why"] = each.why
    return shown
