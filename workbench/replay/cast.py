"""A recording that stands in for one server and many clients: who gets which connection, and one report.

In the handshake era a client gets the first recorded connection that began as it
does, with the same ``initialize``, and that nobody has had yet; if none did, the
first that nobody has had; and once all are gone, all of them again. Clients that
begin alike so get the recorded connections in their order. Each named place of
the stateless era gets the next; whoever uses the place without a name gets what
all recorded clients of that era got, because there nothing may be inferred from a
connection. Each client has queues of its own; the scripts are shared.

Part of the light path: standard library and ``core`` only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from workbench.core.methods import HANDSHAKE_REVISIONS
from workbench.errors import UsageError
from workbench.replay.cues import Cue, Script
from workbench.replay.faults import idle
from workbench.replay.matching import OPTIONAL, Prepared
from workbench.replay.options import Options
from workbench.replay.playing import Clock
from workbench.replay.report import MAX_LISTED, Report, Unused
from workbench.replay.server import MockServer

#: So many recorded connections are looked at for one that began as a client does.
MAX_COMPARED = 100


class Part:
    """A recorded connection. ``revision`` is what was agreed on, empty where that is not known;
    ``build`` makes its script, when it is needed."""

    def __init__(self, name: str, revision: str, build: Callable[[], Script]) -> None:
        self.name = name
        self._revision = revision
        self._build = build
        self._script: Script | None = None
        self.prepared: Prepared = {}
        #: The keys of requests that clients who have left had asked for; ``None`` before any has.
        self.used: set[int] | None = None

    @property
    def script(self) -> Script:
        if self._script is None:
            self._script = self._build()
        return self._script

    @property
    def modern(self) -> bool:
        """Whether it is of the stateless era."""
        if self._revision:
            return self._revision not in HANDSHAKE_REVISIONS
        return self.script.modern

    @property
    def greeting(self) -> Any:
        """The params of the recorded ``initialize``, ``None`` where the first request is another."""
        script = self.script
        while not script.requests and script.more is not None:
            script.more()
        first = script.requests[0] if script.requests else None
        return first.params if first is not None and first.method == "initialize" else None


class Player(NamedTuple):
    """A client that is being served."""

    part: Part
    client: str
    server: MockServer


class Cast:
    """The recorded connections to one server, and the clients that they are played to."""

    def __init__(
        self,
        recording: str,
        parts: Sequence[Part],
        options: Options | None = None,
        clock: Clock = lambda: 0.0,
        pooled: Part | None = None,
    ) -> None:
        self.recording = recording
        self.parts = parts
        self._pooled = pooled
        self._clock = clock
        self._options = options or Options()
        self._eras = {modern: [part for part in parts if part.modern is modern] for modern in (False, True)}
        self._left: dict[bool, list[Part]] = {False: [], True: []}
        self._count = 0
        self._players: dict[int, Player] = {}
        self._sums = dict.fromkeys(("requests", "answered", "missed", "differing_answers"), 0)
        self._misses: list[dict[str, Any]] = []
        self._injected: list[dict[str, Any]] = []
        self._struck: set[str] = set()
        self._live: list[dict[str, Any]] = []
        self._live_count = 0
        self._followed: list[dict[str, Any]] = []
        self._notes: dict[str, None] = {}
        self._clients: list[dict[str, Any]] = []
        self.ended = ""

    @property
    def eras(self) -> tuple[str, ...]:
        """The eras that are recorded, ``legacy`` or ``modern`` or both."""
        return tuple(name for name, modern in (("legacy", False), ("modern", True)) if self._eras[modern])

    def fix(self, name: str) -> None:
        """Give every client the connection of this name. Raises ``UsageError`` if there is none."""
        found = [part for part in self.parts if part.name == name]
        if not found:
            known = ", ".join(part.name for part in self.parts)
            raise UsageError(f"{self.recording} has no connection {name} ({known}); name one of them.")
        self._eras = {modern: [each for each in found if each.modern is modern] for modern in (False, True)}
        self._left = {False: [], True: []}
        self._pooled = None

    def enter(
        self, name: str = "", *, modern: bool = False, streams: bool = False, greeting: Any = None
    ) -> tuple[int, MockServer]:
        """A client comes to a place (its name, if it has one), speaking like one of an era; ``greeting`` are
        the params of its ``initialize``. Returns its number, to ``leave`` with, and its mock. See
        ``MockServer`` for ``streams``."""
        modern = modern if self._eras[modern] else not modern
        parts = self._eras[modern]
        if modern and streams and not name and self._pooled is not None and len(parts) > 1:
            part = self._pooled
            self.parts = [*(each for each in self.parts if not each.modern), part]
        else:
            part = self._next(modern, greeting)
        self._count += 1
        server = MockServer(
            part.script,
            Report(self.recording, part.name),
            self._options,
            streams=streams,
            clock=self._clock,
            prepared=part.prepared,
        )
        self._players[self._count] = Player(part, name or str(self._count), server)
        return self._count, server

    def _next(self, modern: bool, greeting: Any) -> Part:
        left = self._left[modern] = self._left[modern] or [*self._eras[modern]]
        at = 0
        if greeting is not None and len(left) > 1:
            alike = (at for at, part in enumerate(left[:MAX_COMPARED]) if part.greeting == greeting)
            at = next(alike, 0)
        return left.pop(at)

    def leave(self, number: int) -> None:
        """A client has gone."""
        player = self._players.pop(number)
        player.server.closed()
        self._fold(player)

    @property
    def idle(self) -> bool:
        """Whether no client is being served."""
        return not self._players

    def finish(self) -> None:
        """Everything is over: count also what nobody has come for."""
        for number in list(self._players):
            self.leave(number)
        for part in self.parts:
            if part.used is None and self._options.strict:
                part.used = set()

    def unused(self) -> Unused:
        """Recorded requests that no client has asked for, of connections that one has come for."""
        count, first = 0, list[Cue]()
        for part in self.parts:
            players = [player.server.used for player in self._players.values() if player.part is part]
            if part.used is None and not players:
                continue
            part.script.complete()
            used = (part.used or set()).union(*players)
            for cue in part.script.requests:
                if cue.key not in used and cue.method not in OPTIONAL:
                    count += 1
                    if len(first) < MAX_LISTED:
                        first.append(cue)
        return Unused(count, first)

    def agrees(self) -> bool:
        """Whether nothing was missed, and with ``strict`` nothing left."""
        reports = [player.server.report for player in self._players.values()]
        wrong = self._sums["missed"] or self._sums["differing_answers"]
        wrong = wrong or any(report.missed or report.differing for report in reports)
        return not wrong and not (self._options.strict and self.unused().number)

    def misses(self) -> list[dict[str, Any]]:
        """What was missed, as far as it is listed."""
        found = [*self._misses]
        for player in self._players.values():
            found += _named(player, player.server.report.misses)
        return found[:MAX_LISTED]

    def value(self) -> dict[str, Any]:
        """The report on all clients, as JSON for ``--report``."""
        sums, notes = dict(self._sums), dict(self._notes)
        clients, followed = [*self._clients], [*self._followed]
        injected, live, live_count = [*self._injected], [*self._live], self._live_count
        struck = {*self._struck}
        for player in self._players.values():
            told = _told(player)
            for key in sums:
                sums[key] += told[key]
            clients.append(told)
            notes.update(dict.fromkeys(player.server.report.notes))
            followed += player.server.followed
            report = player.server.report
            injected += _named(player, report.faults)
            struck |= report.struck
            live += _named(player, report.live)
            live_count += report.live_count
        notes.update(dict.fromkeys(idle(self._options.faults, struck)))
        unused = self.unused()
        return {
            "recording": self.recording,
            "connection": ", ".join(dict.fromkeys(part.name for part in self.parts)),
            "verdict": "ok" if self.agrees() else "mismatch",
            **sums,
            "misses": self.misses(),
            "faults": injected[:MAX_LISTED],
            "live": live[:MAX_LISTED],
            "live_count": live_count,
            **unused.value(),
            "correlations": followed[:MAX_LISTED],
            "notes": list(notes)[:MAX_LISTED],
            "ended": self.ended,
            "clients": clients[:MAX_LISTED],
            "client_count": self._count,
        }

    def _fold(self, player: Player) -> None:
        """Keep of a client that has gone what the report needs."""
        told = _told(player)
        for key in self._sums:
            self._sums[key] += told[key]
        if player.part.used is None:
            player.part.used = set()
        player.part.used |= player.server.used
        room = MAX_LISTED - len(self._misses)
        report = player.server.report
        self._misses += _named(player, report.misses)[:room]
        self._injected += _named(player, report.faults)[: MAX_LISTED - len(self._injected)]
        self._struck |= report.struck
        self._live += _named(player, report.live)[: MAX_LISTED - len(self._live)]
        self._live_count += report.live_count
        self._followed += player.server.followed[: MAX_LISTED - len(self._followed)]
        if len(self._clients) < MAX_LISTED:
            self._clients.append(told)
        for note in player.server.report.notes:
            if len(self._notes) < MAX_LISTED:
                self._notes[note] = None


def _named(player: Player, listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a client's report lists, with the client."""
    return [{**each, "client": player.client} for each in listed]


def _told(player: Player) -> dict[str, Any]:
    report = player.server.report
    return {
        "client": player.client,
        "connection": player.part.name,
        "requests": report.requests,
        "answered": report.answered,
        "missed": report.missed,
        "differing_answers": report.differing,
        "ended": report.ended,
    }
