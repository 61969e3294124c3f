"""What a peer asks, as whoever decides on it sees it, and an answer to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


def _nothing() -> Sequence[str]:
    return ()


class Question(NamedTuple):
    """A request of the peer. ``params`` is the parsed value, ``None`` where it is too large to be
    parsed on the way. ``during`` gives the names of the tools that run at the moment (of the one it
    belongs to, where the transport tells), ``server`` is what the server calls itself."""

    method: str
    params: Any
    during: Callable[[], Sequence[str]] = _nothing
    server: str = ""

    @property
    def message(self) -> str:
        """What it says to a person: an elicitation's message, the text of a sampling's last message."""
        if not isinstance(self.params, dict):
            return ""
        messages = self.params.get("messages")
        if isinstance(messages, list) and messages:
            return _text(messages[-1].get("content") if isinstance(messages[-1], dict) else None)
        said = self.params.get("message")
        return said if isinstance(said, str) else ""


class Reply(NamedTuple):
    """An answer: the JSON text of a result, or an error's code, message and ``data`` (JSON text);
    ``by`` says why, and ``rule`` whether a rule of the user's gave it."""

    by: str
    result: str | None = None
    code: int = 0
    message: str = ""
    rule: bool = False
    data: str | None = None


class Decision(NamedTuple):
    """``reply`` is the answer to give now, ``None`` to wait for one. ``remarks`` are sentences about
    rules that were meant for the request and did not fit it."""

    reply: Reply | None
    remarks: tuple[str, ...] = ()


def _text(content: Any) -> str:
    blocks = content if isinstance(content, list) else [content]
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def name_of_server(info: object) -> str:
    """What a ``serverInfo`` calls the server, empty when it does not say."""
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) else ""
