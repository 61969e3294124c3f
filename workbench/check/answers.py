"""Answers: which request each of them belongs to."""

from __future__ import annotations

from workbench.check.rule import ALL, HANDSHAKE, STATELESS, Rule
from workbench.check.watched import Hooks, Watched
from workbench.core.exchange import Exchange, Orphaned
from workbench.core.frame import Direction, Kind
from workbench.core.jsonrpc import Message

_RESPONSES = "Base protocol: Responses"

ANSWER_UNKNOWN = Rule(
    "answer-unknown",
    "error",
    ALL,
    _RESPONSES,
    "The answer names no request that was sent.",
    ("@ 2025-11-25", '< {"jsonrpc":"2.0","id":999,"result":{}}'),
)
ANSWER_DUPLICATE = Rule(
    "answer-duplicate",
    "error",
    ALL,
    _RESPONSES,
    "The request was answered before; clients drop the second answer or end the connection.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"ping"}',
        '< {"jsonrpc":"2.0","id":7,"result":{}}',
        '< {"jsonrpc":"2.0","id":7,"result":{}}',
    ),
)
ANSWER_ID_TYPE = Rule(
    "answer-id-type",
    "error",
    ALL,
    _RESPONSES,
    'The answer spells the id of an open request in another type (1 and "1" are two ids), so the request '
    "stays without an answer.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"ping"}',
        '< {"jsonrpc":"2.0","id":"7","result":{}}',
    ),
)
ANSWER_WRONG_DIRECTION = Rule(
    "answer-wrong-direction",
    "error",
    ALL,
    _RESPONSES,
    "The answer comes from the side that asked: it names an open request of its own sender.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"ping"}',
        '> {"jsonrpc":"2.0","id":7,"result":{}}',
    ),
)
ANSWER_LATE = Rule(
    "answer-late",
    "info",
    HANDSHAKE,
    "Utilities: Cancellation",
    "The answer came after its request was cancelled or had timed out; the receiver should ignore it.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t"}}',
        '> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
        '< {"jsonrpc":"2.0","id":7,"result":{"content":[]}}',
    ),
)
MESSAGE_AFTER_CANCEL = Rule(
    "message-after-cancel",
    "warning",
    STATELESS,
    "Utilities: Cancellation",
    "The server still sends for a request that the client has cancelled; it may have been under way.",
    (
        "@ 2026-07-28",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":$META}}',
        '> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
        '< {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[]}}',
    ),
)

RULES = (
    ANSWER_UNKNOWN,
    ANSWER_DUPLICATE,
    ANSWER_ID_TYPE,
    ANSWER_WRONG_DIRECTION,
    ANSWER_LATE,
    MESSAGE_AFTER_CANCEL,
)


class Answers:
    """Looks at late answers, and at those without a request."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        hooks.answers.append(self._on_answer)
        hooks.orphans.append(self._on_orphan)

    def _on_answer(self, exchange: Exchange, _message: Message) -> None:
        if exchange.late:
            rule = MESSAGE_AFTER_CANCEL if self._watched.modern else ANSWER_LATE
            self._watched.found(rule, "", f"{exchange.method} of frame {exchange.request}")

    def _on_orphan(self, event: Orphaned) -> None:
        watched, message = self._watched, event.message
        if watched.modern and not watched.from_server:
            return  # ``client-answer`` says it
        id_text = message.id
        if id_text is None or (id_text == "null" and message.kind is Kind.ERROR):
            return  # ``answer-without-id`` and ``id-null`` say it where it is wrong
        if event.why == "duplicate-answer":
            watched.found(ANSWER_DUPLICATE, "/id", f"id {id_text}")
            return
        connection, direction = watched.frame.connection, event.direction
        asker = Direction.TO_CLIENT if direction is Direction.TO_SERVER else Direction.TO_SERVER
        if (connection, asker, other_type(id_text)) in watched.pairing.open:
            watched.found(ANSWER_ID_TYPE, "/id", f"{id_text} for {other_type(id_text)}")
        elif (connection, direction, id_text) in watched.pairing.open:
            watched.found(ANSWER_WRONG_DIRECTION, "/id", f"id {id_text}")
        else:
            watched.found(ANSWER_UNKNOWN, "/id", f"id {id_text}")


def other_type(id_text: str) -> str:
    """The same id spelled in the other type: ``1`` for ``"1"`` and the other way round."""
    return id_text[1:-1] if id_text[:1] == '"' else f'"{id_text}"'
