"""What is under way between a client of one transport and a server of another, and whose it is.

Over HTTP several clients may share a place, and each request has a stream of its own; over stdio all
goes one way. So an id or a progress token that is under way already is given another name, and what the
server sends finds its stream again:

* an answer by its id, progress by its token, what a subscription brings by its id;
* what changed in a list or a resource belongs to the client's own stream;
* everything else to the newest request that is open, and to the client's own stream if there is none.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from workbench.core.frame import ANSWERS, Kind
from workbench.core.jsonrpc import Decoded, Message, id_text
from workbench.core.peek import peek
from workbench.core.routing import META, VERSION_KEY
from workbench.core.splice import members_of

#: Where a subscription's id stands in what it brings.
SUBSCRIPTION = META + "subscriptionId"

_OF_NO_REQUEST = frozenset(
    (
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
        "notifications/elicitation/complete",
        "notifications/tasks/status",
    )
)


class Asked(NamedTuple):
    """A request under way: its id and token as the client has them (JSON text), the stream it came on, and
    whether it is of the stateless era. ``named`` is the token that the server has."""

    id: str
    token: str | None
    stream: int
    stateless: bool
    named: str | None


class Names:
    """The requests under way, by the id that the server has (JSON text)."""

    def __init__(self) -> None:
        self.open: dict[str, Asked] = {}
        self._tokens: dict[str, Asked] = {}
        self._fresh = count(1)

    def asked(self, body: bytes, decoded: Decoded, stream: int) -> bytes:
        """A body of the client on its way to the server; returns how the server gets it."""
        for message in decoded.messages:
            if message.kind is not Kind.REQUEST or message.id is None:
                continue
            token = _text(peek(message, "params", "_meta", "progressToken"))
            name, named = message.id, token
            if len(decoded.messages) == 1:
                if name in self.open:
                    name = self._another()
                    body = replaced(body, ("id",), name)
                if named is not None and named in self._tokens:
                    named = self._another()
                    body = replaced(body, ("params", "_meta", "progressToken"), named)
            stateless = peek(message, "params", "_meta", VERSION_KEY) is not None
            asked = Asked(message.id, token, stream, stateless, named)
            self.open[name] = asked
            if named is not None:
                self._tokens[named] = asked
        return body

    def told(self, body: bytes, decoded: Decoded, answers: str | None = None) -> tuple[bytes, int]:
        """A body of the server on its way to the client: how the client gets it, and on which stream.
        ``answers`` is the id of the request it answers, if the body names none."""
        if len(decoded.messages) != 1:
            streams = [asked.stream for each in decoded.messages if (asked := self._ended(each)) is not None]
            return body, streams[0] if streams else self._newest()
        message = decoded.messages[0]
        if message.kind in ANSWERS:
            return self._answered(body, message, answers)
        if message.method == "notifications/progress":
            asked = self._tokens.get(_text(peek(message, "params", "progressToken")) or "")
            if asked is not None and asked.token != asked.named and asked.token is not None:
                body = replaced(body, ("params", "progressToken"), asked.token)
            return body, self._newest() if asked is None else asked.stream
        name = _text(peek(message, "params", "_meta", SUBSCRIPTION)) or ""
        asked = self.open.get(name)
        if asked is not None:
            if asked.id != name:
                body = replaced(body, ("params", "_meta", SUBSCRIPTION), asked.id)
            return body, asked.stream
        return body, 0 if message.method in _OF_NO_REQUEST else self._newest()

    def left(self, stream: int) -> list[str]:
        """The client has left a stream: the ids (JSON text) of what the server need not answer any more."""
        names = [name for name, asked in self.open.items() if asked.stream == stream and asked.stateless]
        for name in names:
            self.close(name)
        return names

    def close(self, name: str) -> Asked | None:
        """A request can get no answer any more."""
        asked = self.open.pop(name, None)
        if asked is not None and asked.named is not None:
            self._tokens.pop(asked.named, None)
        return asked

    def _answered(self, body: bytes, message: Message, answers: str | None) -> tuple[bytes, int]:
        name = message.id if message.id in self.open else answers
        asked = self.close(name or "")
        if asked is None:
            return body, self._newest()
        if asked.id != message.id:
            body = replaced(body, ("id",), asked.id)
            body = replaced(body, ("result", "_meta", SUBSCRIPTION), asked.id)
        return body, asked.stream

    def _ended(self, message: Message) -> Asked | None:
        return self.close(message.id or "") if message.kind in ANSWERS else None

    def _newest(self) -> int:
        return next(reversed(self.open.values())).stream if self.open else 0

    def _another(self) -> str:
        return f'"workbench-{next(self._fresh)}"'


def _text(value: object) -> str | None:
    """An id or token as JSON text, ``None`` for what cannot be one."""
    return id_text(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None


def replaced(body: bytes, path: tuple[str, ...], value: str) -> bytes:
    """A JSON body with another value (JSON text) at a path, and every byte beside it as it was. A body
    that has nothing there stays as it is."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return body
    start, end = 0, len(text)
    for key in path:
        member = (members_of(text[start:end]) or {}).get(key)
        if member is None:
            return body
        start, end = start + member.start, start + member.end
    return (text[:start] + value + text[end:]).encode()
