"""One call sent to several connections at once: to whom it went, how each answered, how they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.message import Message

from workbench.core.actions import Outcome
from workbench.core.jsonrpc import dumps
from workbench.core.lifecycle import State
from workbench.core.view import ConnectionView, Item
from workbench.replay.comparing import Comparison
from workbench.tui.beside.apart import compare_apart
from workbench.tui.messages import Call
from workbench.tui.strip import state_word
from workbench.tui.widgets.result_blocks import is_tool_error

if TYPE_CHECKING:
    from workbench.tui.desk import Desk
    from workbench.tui.runs import Run

_NOUNS = {"tool": "tool", "resource": "resource", "template": "resource template", "prompt": "prompt"}
_LISTINGS = {
    "tool": "tools/list",
    "resource": "resources/list",
    "template": "resources/templates/list",
    "prompt": "prompts/list",
}


class Sent(NamedTuple):
    """What became of the call on one connection: its run, or why nothing was sent."""

    number: int
    run: Run | None
    why: str = ""

    @property
    def outcome(self) -> Outcome | None:
        return self.run.outcome if self.run is not None else None

    @property
    def running(self) -> bool:
        return self.run is not None and self.run.outcome is None


class Answers(NamedTuple):
    """All answers held against each other, a member for each connection that was asked.
    ``failed``: whether it is a result with ``isError: true``; ``whole``: what there is to open,
    copy or save, empty while there is no answer."""

    comparison: Comparison
    failed: tuple[bool, ...]
    whole: tuple[bytes, ...]


class Compared(Message, bubble=False):
    """Answers have been held against each other (from the thread that did it)."""

    def __init__(self, turn: int, answers: Answers) -> None:
        super().__init__()
        self.turn = turn
        self.answers = answers


class Together:
    """A call to the connections of ``views``; sent when it is made, to each on its own wire."""

    def __init__(self, desk: Desk, call: Call, views: Sequence[ConnectionView]) -> None:
        self.call = call
        self.sent = [_send(desk, call, view) for view in views]

    def of(self, number: int) -> Sent | None:
        """What became of it on a connection, ``None`` if that was not asked."""
        place = self.place(number)
        return None if place is None else self.sent[place]

    def place(self, number: int) -> int | None:
        """Which of those that were asked a connection is."""
        return next((place for place, sent in enumerate(self.sent) if sent.number == number), None)

    @property
    def running(self) -> list[Run]:
        return [sent.run for sent in self.sent if sent.running and sent.run is not None]

    @property
    def ended(self) -> tuple[bool, ...]:
        """Who has answered so far."""
        return tuple(sent.outcome is not None for sent in self.sent)

    def compared(self, turn: int) -> Compared:
        """Hold what has come against each other. Takes its time: call it in a thread."""
        outcomes = [sent.outcome for sent in self.sent]
        hows = {outcome.how for outcome in outcomes if outcome is not None}
        how = "result" if "result" in hows else "error"
        texts = [_text(outcome) if outcome and outcome.how == how else None for outcome in outcomes]
        failed = tuple(how == "result" and text is not None and is_tool_error(text) for text in texts)
        whole = tuple(_whole(outcome) if outcome is not None else b"" for outcome in outcomes)
        return Compared(turn, Answers(compare_apart(texts), failed, whole))


def _text(outcome: Outcome) -> str:
    return outcome.text if outcome.how == "result" else dumps(outcome.error)


def _whole(outcome: Outcome) -> bytes:
    text = _text(outcome) if outcome.how in ("result", "error") else outcome.why
    return text.encode("utf-8", "surrogateescape")


def _send(desk: Desk, call: Call, view: ConnectionView) -> Sent:
    why = why_not(call.item, view)
    if why:
        return Sent(view.number, None, why)
    run = desk.call(view.number, call.item.name, call.method, call.params)
    return Sent(view.number, run, "" if run is not None else "nothing can be sent")


def why_not(item: Item, view: ConnectionView) -> str:
    """Why a call of this item cannot go to a connection, empty if it can."""
    if view.state is not State.READY:
        return f"{state_word(view)}, so nothing was sent"
    listing = _LISTINGS[item.kind]
    items = {
        "tool": view.tools,
        "resource": view.resources,
        "template": view.templates,
        "prompt": view.prompts,
    }[item.kind]
    if any(other.name == item.name and other.change != "removed" for other in items):
        return ""
    noun = _NOUNS[item.kind]
    if listing not in view.listed:
        return f"it has listed no {noun}s, so nothing was sent"
    return f"no {noun} {item.name} there, so nothing was sent"
