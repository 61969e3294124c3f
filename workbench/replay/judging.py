"""Holding what a live server sent against what was recorded, by the levels and rules the user chose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message, dumps, loads
from workbench.core.peek import peek
from workbench.replay.correlate import Correlations
from workbench.replay.diff import ABSENT, Difference, at
from workbench.replay.levels import (
    EXACT,
    SCHEMA,
    SHAPE,
    STATUS,
    Excuse,
    Levels,
    answers_differ,
    kind_word,
    opaque,
    values_differ,
)
from workbench.replay.lines import Line, Run
from workbench.replay.matching import steady
from workbench.replay.playing import MISS
from workbench.replay.report import STOPS
from workbench.replay.schema import faults
from workbench.replay.turns import ANSWERED, CANCELLED, LEFT, ClientScript, Request
from workbench.replay.veil import Veil
from workbench.replay.verification import (
    CHANGED,
    EQUAL,
    ERROR_NOW,
    EXTRA,
    LEFT_OPEN,
    MISSING,
    RENEWED,
    RESULT_NOW,
    SLOWER,
    Compared,
)


class Judge:
    """Compares. ``correlations`` and ``veil`` are those of the run: what they follow is no difference.
    ``slower`` is how many times as long as recorded an answer may take, ``None`` for any time."""

    def __init__(
        self,
        script: ClientScript,
        levels: Levels,
        correlations: Correlations,
        veil: Veil,
        slower: float | None = None,
    ) -> None:
        self._script = script
        self._slower = slower
        self._levels = levels
        self._correlations = correlations
        self._veil = veil

    def answer(self, request: Request, live: Message, tools: Mapping[str, Any]) -> tuple[Difference, ...]:
        """Where an answer of the recorded kind differs; no secret is in what is given back."""
        recorded = request.answer
        assert recorded is not None
        what = "error" if live.kind is Kind.ERROR else "result"
        return self.compare(request, live.kind, recorded.value(what), live.value(what), tools)

    def compare(
        self, request: Request, kind: Kind, was: Any, now: Any, tools: Mapping[str, Any]
    ) -> tuple[Difference, ...]:
        """The same of the results (or errors) themselves."""
        veiled = self._veiled(now)
        found = answers_differ(
            self.level(request),
            kind,
            was,
            now,
            self._excuse(request.method, request.name, veiled),
            self._output_schema(request, tools),
            faults,
        )
        return _veiled_live(found, veiled)

    def level(self, request: Request) -> str:
        """The level that counts for a request. Of several polls of a task only the last one's answer
        does, because how often it takes is chance."""
        return STATUS if request.polls is not None else self._levels.of(request.method, request.name)

    def asks_alike(self, method: str, recorded: Any, live: Any) -> bool:
        """Whether two requests of a server ask the same, by the level and rules for its method."""
        return not self.asks_otherwise(method, recorded, live)

    def asks_otherwise(self, method: str, recorded: Any, live: Any) -> tuple[Difference, ...]:
        """Where they do not; no secret is in what is given back."""
        was, now = steady(recorded or {}), steady(live or {})
        veiled = self._veiled(now)
        level = self._levels.of(method, None)
        excuse = self._excuse(method, None, veiled)
        return _veiled_live(values_differ(EXACT if level == SCHEMA else level, was, now, excuse), veiled)

    def asks_in_shape(self, method: str, recorded: Any, live: Any) -> bool:
        """Whether they ask for the same kind of thing in other words."""
        was, now = steady(recorded or {}), steady(live or {})
        modes = [each.get("mode") if isinstance(each, dict) else None for each in (was, now)]
        excuse = self._excuse(method, None, self._veiled(now))
        return modes[0] == modes[1] and not values_differ(SHAPE, was, now, excuse)

    def verdict(self, run: Run, line: Line) -> Compared:
        """How an exchange compares, now that it is over."""
        verdict, why = self._verdict(run, line)
        seconds = run.ended - run.began if run.live is not None else None
        differences = run.differences if verdict == CHANGED else ()
        compared = Compared(
            run.request,
            verdict,
            self.level(run.request),
            differences,
            why,
            seconds,
            run.seq,
            run.body,
            bool(run.body) and (verdict in RENEWED if run.renew is None else run.renew),
        )
        if verdict == EQUAL and self._slower is not None and compared.slow(self._slower):
            times = f"It took {seconds:.2f} s, and {compared.recorded_seconds:.2f} s when it was recorded."
            return compared._replace(verdict=SLOWER, why=times)
        return compared

    def _verdict(self, run: Run, line: Line) -> tuple[str, str]:
        request = run.request
        if request.ends == ANSWERED:
            return self._answered(run)
        if request.ends == LEFT:
            return LEFT_OPEN, ""
        if request.ends == CANCELLED:
            if run.live is not None:
                return EXTRA, "It was answered before it was cancelled."
            return (EQUAL, "cancelled") if run.cancelled else (MISSING, run.why or "It was not cancelled.")
        if run.live is not None and not _stops(run.live):
            return EXTRA, "It is answered now; when it was recorded it was not."
        code = self._script.codes.get(request.connection)
        if run.gone and code is not None and line.code != code:
            how = "did not exit" if line.code is None else f"exited with status {line.code}"
            return CHANGED, f"The server {how}, and with {code} when it was recorded."
        if code is not None and not run.gone:
            return MISSING, run.why
        return EQUAL, "not answered, as recorded"

    def _answered(self, run: Run) -> tuple[str, str]:
        recorded, live = run.request.answer, run.live
        assert recorded is not None
        if run.unneeded:
            return EQUAL, "the list had ended before this page"
        if live is None:
            return MISSING, run.why
        if recorded.kind is not live.kind:
            told = f"{kind_word(recorded)} when recorded, {kind_word(live)} now"
            if live.kind is Kind.ERROR:
                return ERROR_NOW, f"{told}: {self._said(live)}"
            return RESULT_NOW, told
        return (CHANGED, run.why) if run.differences else (EQUAL, "")

    def _said(self, live: Message) -> str:
        error = self._veiled(live.value("error"))()
        message = error.get("message") if isinstance(error, dict) else None
        code = error.get("code") if isinstance(error, dict) else None
        return f"{str(message)[:200]} ({code})"

    def _output_schema(self, request: Request, tools: Mapping[str, Any]) -> Any:
        """What the tool declared when it was recorded, else what it declares now."""
        name = request.name or ""
        if request.method != "tools/call":
            return None
        for tool in (self._script.tools.get(name), tools.get(name)):
            if isinstance(tool, dict) and isinstance(tool.get("outputSchema"), dict):
                return tool["outputSchema"]
        return None

    def _excuse(self, method: str, name: str | None, veiled: Callable[[], Any]) -> Excuse:
        ignored = self._levels.ignored(method, name)

        def excuse(pointer: str, recorded: Any, live: Any) -> bool:
            if ignored(pointer) or opaque(pointer, recorded, live):
                return True
            if not isinstance(recorded, str) or not isinstance(live, str):
                return False
            if self._correlations.live(recorded) == live:
                return True
            return "<redacted:" in recorded and self._veil.fits(recorded, at(veiled(), pointer))

        return excuse

    def _veiled(self, value: Any) -> Callable[[], Any]:
        """The value without secrets in it, made when it is first asked for."""
        made: list[Any] = []

        def veiled() -> Any:
            if not made:
                try:
                    body = dumps({"result": value}).encode("utf-8", "surrogateescape")
                    made.append(loads(self._veil.shown(body))["result"])
                except (ValueError, RecursionError):
                    made.append(None)
            return made[0]

        return veiled


def _veiled_live(found: list[Difference], veiled: Callable[[], Any]) -> tuple[Difference, ...]:
    return tuple(
        each if each.live is ABSENT else each._replace(live=at(veiled(), each.pointer)) for each in found
    )


def _stops(live: Message) -> bool:
    """Whether a mock server says that its recording stops before an answer."""
    code: Any = peek(live, "error", "code")
    return bool(code == MISS) and peek(live, "error", "data", "why") == STOPS
