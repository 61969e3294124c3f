"""A live server behind a replay: asked what the recording has no answer for, because its user said so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from workbench.config import Target
from workbench.config.arguments import parse_line
from workbench.core.frame import ANSWERS
from workbench.core.jsonrpc import Message, error, result
from workbench.errors import ConnectionFailed, UsageError
from workbench.session import Session
from workbench.wire.connection import Connection


class Lived(NamedTuple):
    """What a live server answered to a client that was played a recorded ``connection``. ``params`` is JSON
    text, ``body`` the answer under an id of its own."""

    connection: str
    method: str
    params: str | None
    body: bytes


class Falling:
    """The live server: each client that needs it has a connection of its own. ``answered`` is what it
    answered, in order."""

    def __init__(self, session: Session, target: Target) -> None:
        self._session = session
        self._target = target
        self.answered: list[Lived] = []

    def server(self, connection: str) -> LiveServer:
        """The live server of a client that is played a recorded connection."""
        return LiveServer(self, connection)

    def connect(self) -> Connection:
        return self._session.connect(self._target, listing=False)


class LiveServer:
    """What ``serve_client`` asks. Nothing is connected before it does."""

    def __init__(self, falling: Falling, name: str) -> None:
        self._falling = falling
        self._name = name
        self._connection: Connection | None = None

    async def ask(self, method: str, params: str | None) -> bytes:
        """Raises ``ConnectionFailed``."""
        if self._connection is None:
            self._connection = self._falling.connect()
        await self._connection.ready()
        outcome = await self._connection.request(method, params, progress=False)
        if outcome.message is None or outcome.message.kind not in ANSWERS:
            raise ConnectionFailed(outcome.why or f"the live server did not answer {method}")
        body = _body(outcome.message)
        self._falling.answered.append(Lived(self._name, method, params, body))
        return body


@asynccontextmanager
async def falling(line: str) -> AsyncIterator[Falling]:
    """The live server that a line names, as long as the context is open. Raises ``UsageError``."""
    targets = parse_line(line)
    if len(targets) != 1:
        raise UsageError(f"--live names one server, and {line!r} names {len(targets)}.")
    async with Session.open(record=False, origin="live") as session:
        yield Falling(session, targets[0])


def _body(message: Message) -> bytes:
    """An answer as it came; a large one is put together of its members."""
    if message.text:
        return message.text.encode("utf-8", "surrogateescape")
    identity = message.id or "null"
    if "result" in message.raw:
        return result(identity, message.raw["result"].decode("utf-8", "surrogateescape"))
    told = message.value("error")
    code, words = (told.get("code"), told.get("message")) if isinstance(told, dict) else (None, None)
    return error(identity, code if isinstance(code, int) else -32603, str(words or ""))
