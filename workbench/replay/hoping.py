"""What a piece of the client half waits for: answers as a must, everything else as long as it may come."""

from __future__ import annotations

from collections.abc import Mapping, Set

from workbench.replay.lines import Answering, Line, Run
from workbench.replay.turns import CLOSE, LEFT, OPEN, ClientScript, Telling, Turn

#: Why something does not go out yet: an answer, something that an open request may bring, something else.
LAW, OWNED, HOPE = "law", "owned", "hope"


class Hoping:
    """Keeps what the servers have told, and what is waited for no more (``release``)."""

    def __init__(
        self, script: ClientScript, runs: Mapping[int, Run], lines: Mapping[int, Line], asked: Set[int]
    ) -> None:
        self._script = script
        self._runs = runs
        self._lines = lines
        self._asked = asked
        self._heard: dict[Telling, int] = {}
        self._released: set[object] = set()

    def told(self, telling: Telling) -> None:
        """A server has told something that a client acts on."""
        self._heard[telling] = self._heard.get(telling, 0) + 1

    def release(self, waiting: Turn | int) -> None:
        """A turn, or the answer to the question of this key, waits only for answers from now on."""
        self._released.add(waiting)

    def of_turn(self, turn: Turn, answering: list[Answering]) -> str | None:
        """Why a turn waits, ``None`` if it does not."""
        line = self._lines[turn.connection]
        if line.over:
            return None
        if any(not self._runs[key].done for key in turn.needs):
            return LAW
        if turn.what not in (OPEN, CLOSE) and not line.opened:
            return LAW
        if turn.what == CLOSE and any(run.request.ends != LEFT for run in line.waiting()):
            return LAW
        if turn in self._released:
            return None
        hopes = [*map(self._for_question, turn.queries), *(self._to_hear(*each) for each in turn.heard)]
        if turn.what == CLOSE and any(each.line is line for each in answering):
            hopes.append(HOPE)
        return HOPE if HOPE in hopes else OWNED if OWNED in hopes else None

    def of_answer(self, each: Answering, turns: int, *, over: bool) -> str | None:
        """Why the answer to a question waits, ``None`` if it does not. So many ``turns`` have gone out,
        and with that it may be ``over``."""
        query = each.query
        if query.key in self._released:
            return None
        if query.answer is None or (not query.answer[0] and not over):
            return HOPE
        if any(not self._runs[key].done for key in query.needs) or turns < query.turns:
            return HOPE
        hopes = [self._to_hear(*heard) for heard in query.heard]
        return HOPE if any(hopes) else None

    def _for_question(self, key: int) -> str | None:
        query = self._script.queries[key]
        if key in self._asked or self._lines[query.connection].over:
            return None
        return self._may_come(query.owner)

    def _to_hear(self, telling: Telling, count: int) -> str | None:
        connection, _, owner = telling
        if self._heard.get(telling, 0) >= count or self._lines[connection].over:
            return None
        return self._may_come(owner or None)

    def _may_come(self, owner: int | None) -> str | None:
        if owner is None:
            return HOPE
        return None if self._runs[owner].done else OWNED
