"""What a stateless server asks within a result, as the fold shows it: open until the next round.

A round is known again by what it is a round of: the same method and name, and
the same ``requestState``. That is all a recording made by standing between two
others has to go by.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

from workbench.core.exchanges import Exchange
from workbench.core.frame import Frame, Kind
from workbench.core.inflight import InFlight, keep
from workbench.core.jsonrpc import Message
from workbench.core.methods import INPUT_METHODS
from workbench.core.mrtr import INPUT_REQUIRED, asking, result_type
from workbench.core.peek import peek
from workbench.core.story import Story
from workbench.core.view import PeerCall

#: Results whose questions are remembered.
MAX_RESULTS = 1_000


class _Asked(NamedTuple):
    id: str
    method: str
    name: str | None
    state: Any
    steps: dict[tuple[int, int], int]  # key of an open request -> its step


class AskedWithin:
    """Keeps ``inflight`` and ``story`` up to date for the questions of one connection."""

    def __init__(self, inflight: InFlight, story: Story) -> None:
        self._inflight = inflight
        self._story = story
        self._results: OrderedDict[int, _Asked] = OrderedDict()

    def answered(self, frame: Frame, exchange: Exchange, message: Message) -> bool:
        """Take an answer; whether it asks for something."""
        if exchange.method not in INPUT_METHODS or message.kind is not Kind.RESULT:
            return False
        if result_type(message) != INPUT_REQUIRED:
            return False
        steps: dict[tuple[int, int], int] = {}
        for index, inner in enumerate(asking(message, exchange.id).inner):
            key = (frame.seq, index)
            asked = PeerCall(inner.id, frame.seq, inner.method, inner.params, frame.mono_ns)
            self._inflight.asked_within(key, asked)
            steps[key] = self._story.step(frame, inner.method, f"#{frame.seq}, for {exchange.method}")
        state = peek(message, "result", "requestState")
        keep(
            self._results,
            frame.seq,
            _Asked(exchange.id, exchange.method, exchange.name, state, steps),
            MAX_RESULTS,
        )
        return bool(steps)

    def asked(self, frame: Frame, exchange: Exchange, message: Message) -> None:
        """Take a request: it may be the next round of a call."""
        if exchange.method not in INPUT_METHODS or not self._results:
            return
        state = peek(message, "params", "requestState")
        given = peek(message, "params", "inputResponses")
        if state is None and given is None:
            return
        for seq, each in self._results.items():
            if (each.method, each.name, each.state) == (exchange.method, exchange.name, state):
                self._ended(seq, f"answered, #{frame.seq}")
                return

    def abandoned(self, identity: str) -> None:
        """Nobody answers what was asked in the answer to the last request with this id (JSON text)."""
        for seq, each in reversed(self._results.items()):
            if each.id == identity:
                self._ended(seq, "not answered, the call ended")
                return

    def _ended(self, seq: int, how: str) -> None:
        for key, step in self._results.pop(seq).steps.items():
            self._inflight.ended_within(key)
            self._story.change(step, f"#{seq}, {how}")
