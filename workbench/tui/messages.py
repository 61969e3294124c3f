"""What the parts of the screen tell each other. Messages carry keys and numbers; whoever hears one
reads the desk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from workbench.check.rule import Finding
    from workbench.core.view import Item
    from workbench.tui.heads import Heads


class Changed(Message):
    """The desk shows something else now: frames, connections, calls, the inbox. Merged."""


class Said(Message):
    """A sentence for the user, in its place above the status line. ``bad``: something failed."""

    def __init__(self, text: str, bad: bool = False) -> None:
        super().__init__()
        self.text = text
        self.bad = bad


class Call(Message):
    """An item is to be called. ``connection`` is the one whose pane it was filled in on, ``arguments``
    and ``params`` are JSON text, as they are to go out."""

    def __init__(self, connection: int, item: Item, method: str, params: str, arguments: str) -> None:
        super().__init__()
        self.connection = connection
        self.item = item
        self.method = method
        self.params = params
        self.arguments = arguments


class Show(Message):
    """A body is to be shown whole. ``title`` is as a peer wrote it."""

    def __init__(self, title: str, body: bytes) -> None:
        super().__init__()
        self.title = title
        self.body = body


class Copy(Message):
    """A text is to be copied."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Owner(Message):
    """The cursor has gone to an item of another connection, which is the one in view now."""

    def __init__(self, connection: int) -> None:
        super().__init__()
        self.connection = connection


class Entered(Message):
    """The focus has gone to another of the columns that stand side by side."""


class Hints(Message):
    """Other keys may work now than before."""


class Kept(Message):
    """A recording has been kept: ``lines`` tell of it, ``bad`` that it failed."""

    def __init__(self, lines: tuple[str, ...], bad: bool) -> None:
        super().__init__()
        self.lines = lines
        self.bad = bad


class Body(Message):
    """The body of a frame, fetched in a thread, with the heads it came with and what is wrong with it."""

    def __init__(
        self,
        seq: int,
        title: str,
        body: bytes,
        heads: Heads | None = None,
        findings: Sequence[Finding] = (),
    ) -> None:
        super().__init__()
        self.seq = seq
        self.title = title
        self.body = body
        self.heads = heads
        self.findings = findings


class Deciding(Message):
    """Somebody is to choose one of some keys, in a question that stands above the status line: each
    with what it says and what it does."""

    def __init__(
        self, question: str, lines: Sequence[str], choices: Sequence[tuple[str, str, Callable[[str], str]]]
    ) -> None:
        super().__init__()
        self.question = question
        self.lines = lines
        self.choices = choices
