"""The steps that tell of the peer's requests: who answered them, and with which frame."""

from __future__ import annotations

from collections import OrderedDict

from workbench.core.exchanges import Exchange
from workbench.core.frame import Frame, Kind
from workbench.core.inflight import keep
from workbench.core.story import Story

#: Requests of the peer whose step can still be completed.
MAX_TOLD = 1_000


class _Told:
    """The step of one request: ``by`` may be known before the answer is seen, or after it."""

    __slots__ = ("answer", "by", "request", "step", "word")

    def __init__(self, step: int, request: int) -> None:
        self.step = step
        self.request = request
        self.word = ""
        self.by = ""
        self.answer: int | None = None

    @property
    def detail(self) -> str:
        text = f"#{self.request}"
        if self.word:
            text += f", {self.word}"
        if self.by:
            text += f" by {self.by}"
        return text if self.answer is None else f"{text}, #{self.answer}"


class PeerStory:
    """Adds a step to ``story`` for each request of the peer and keeps it up to date."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._told: OrderedDict[str, _Told] = OrderedDict()

    def asked(self, frame: Frame, exchange: Exchange) -> None:
        step = self._story.step(frame, exchange.method, f"#{frame.seq}")
        keep(self._told, exchange.id, _Told(step, frame.seq), MAX_TOLD)

    def answered(self, frame: Frame, exchange: Exchange, kind: Kind) -> None:
        told = self._told.get(exchange.id)
        if told is None or told.request != exchange.request:
            return
        told.word = "answered" if kind is Kind.RESULT else "refused"
        told.answer = frame.seq
        self._story.change(told.step, told.detail, exchange.duration_ns)

    def became(self, exchange: Exchange, word: str, answer: int | None = None) -> None:
        """What has become of a request that was made a task; ``answer`` is the frame that says so."""
        told = self._told.get(exchange.id)
        if told is not None and told.request == exchange.request:
            told.word, told.answer = word, answer
            self._story.change(told.step, told.detail)

    def answered_by(self, identity: str, by: str) -> None:
        """Take a note that says who answered the request with this id (JSON text)."""
        told = self._told.get(identity)
        if told is not None and by != "user":
            told.by = by
            self._story.change(told.step, told.detail)

    def cancelled(self, exchange: Exchange) -> None:
        told = self._told.get(exchange.id)
        if told is not None and told.answer is None:
            told.word = "cancelled by the server"
            self._story.change(told.step, told.detail)
