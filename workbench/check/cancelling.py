"""Cancelling a request."""

from __future__ import annotations

from collections import OrderedDict

from workbench.check.rule import ALL, HANDSHAKE, STATELESS, Rule
from workbench.check.watched import Hooks, Watched, brief
from workbench.core.exchange import Exchange, Told
from workbench.core.frame import Direction
from workbench.core.inflight import keep
from workbench.core.jsonrpc import Message, id_text
from workbench.core.methods import LISTEN, REVISIONS
from workbench.core.peek import peek

_CANCELLATION = "Utilities: Cancellation"
_LATEST = (REVISIONS[3], REVISIONS[3])

CANCEL_UNKNOWN = Rule(
    "cancel-unknown",
    "warning",
    ALL,
    _CANCELLATION,
    "The request that is cancelled was never sent by this side.",
    ("@ 2025-11-25", '> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}'),
)
CANCEL_FINISHED = Rule(
    "cancel-finished",
    "info",
    ALL,
    _CANCELLATION,
    "The request that is cancelled has been answered; the two may have crossed on their ways.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t"}}',
        '< {"jsonrpc":"2.0","id":7,"result":{"content":[]}}',
        '> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
    ),
)
CANCEL_INITIALIZE = Rule(
    "cancel-initialize",
    "error",
    HANDSHAKE,
    _CANCELLATION,
    "The client cancels initialize, which must not be cancelled: it should close the connection instead.",
    (
        '> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
        '"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}',
        '> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
    ),
)
CANCEL_WITHOUT_ID = Rule(
    "cancel-without-id",
    "error",
    ALL,
    _CANCELLATION,
    "The cancellation has no requestId, so nobody can say what it cancels.",
    ("@ 2025-11-25", '> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}'),
)
CANCEL_OF_TASK = Rule(
    "cancel-of-task",
    "error",
    _LATEST,
    "Utilities: Tasks",
    "A request that was sent as a task is cancelled with a notification; tasks/cancel is for that.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","task":{"ttl":60000}}}',
        '> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
    ),
)
CANCEL_OVER_HTTP = Rule(
    "cancel-over-http",
    "error",
    STATELESS,
    _CANCELLATION,
    "Over HTTP a request is cancelled by closing its stream; the notification is for stdio.",
    (
        "@ 2026-07-28",
        "1 POST /mcp => 200 Content-Type: text/event-stream",
        '1> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":$META}}',
        "2 POST /mcp => 202",
        '2> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
    ),
)
CANCEL_BY_SERVER = Rule(
    "cancel-by-server",
    "error",
    STATELESS,
    _CANCELLATION,
    "The server cancels something other than a subscription: it has no requests of its own.",
    (
        "@ 2026-07-28",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":$META}}',
        '< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
    ),
)

RULES = (
    CANCEL_UNKNOWN,
    CANCEL_FINISHED,
    CANCEL_INITIALIZE,
    CANCEL_WITHOUT_ID,
    CANCEL_OF_TASK,
    CANCEL_OVER_HTTP,
    CANCEL_BY_SERVER,
)

#: Requests remembered on one connection to tell a finished one from an unknown one.
MAX_REMEMBERED = 256


class Cancelling:
    """Looks at each ``notifications/cancelled``."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        self._finished: OrderedDict[tuple[Direction, str], None] = OrderedDict()
        self._tasks: OrderedDict[tuple[int, int], None] = OrderedDict()
        hooks.answers.append(self._on_answer)
        hooks.on_request(self._on_task, "tools/call", "sampling/createMessage", "elicitation/create")
        hooks.on_told(self._on_cancelled, "notifications/cancelled")

    def _on_answer(self, exchange: Exchange, _message: Message) -> None:
        keep(self._finished, (exchange.direction, brief(exchange.id)), None, MAX_REMEMBERED)

    def _on_task(self, exchange: Exchange, message: Message) -> None:
        if peek(message, "params", "task") is not None:
            keep(self._tasks, exchange.key, None, MAX_REMEMBERED)

    def _on_cancelled(self, told: Told) -> None:
        watched = self._watched
        identity = peek(told.message, "params", "requestId")
        if identity is None:
            watched.found(CANCEL_WITHOUT_ID, "/params")
        elif watched.modern and watched.from_server:
            self._by_server(id_text(identity))
        elif watched.modern and watched.over_http:
            watched.found(CANCEL_OVER_HTTP)
        elif told.owner is not None:
            self._known(told.owner)
        else:
            self._not_open(id_text(identity))

    def _known(self, exchange: Exchange) -> None:
        if exchange.method == "initialize":
            self._watched.found(CANCEL_INITIALIZE, "/params/requestId")
        if exchange.key in self._tasks:
            self._watched.found(CANCEL_OF_TASK, "/params/requestId")

    def _not_open(self, id: str) -> None:
        watched = self._watched
        frame = watched.frame
        if (frame.connection, frame.direction, id) in watched.pairing.open:
            return  # cancelled before
        finished = (frame.direction, brief(id)) in self._finished
        watched.found(CANCEL_FINISHED if finished else CANCEL_UNKNOWN, "/params/requestId", id)

    def _by_server(self, id: str) -> None:
        watched = self._watched
        waiting = watched.pairing.open.get((watched.frame.connection, Direction.TO_SERVER, id), ())
        if not any(exchange.method == LISTEN for exchange in waiting):
            watched.found(CANCEL_BY_SERVER, "/params/requestId", id)
