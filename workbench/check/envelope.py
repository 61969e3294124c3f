"""The envelope: what a body must be before it is a message at all.

``jsonrpc.decode`` finds the defects; here each becomes a rule, unless its looks
say better what it is (``noise``).
"""

from __future__ import annotations

from workbench.check.noise import Noise
from workbench.check.rule import ALL, Rule
from workbench.check.watched import Hooks, Watched
from workbench.core.frame import Channel, Kind
from workbench.core.jsonrpc import Message

_ENVELOPE = "Base protocol: Messages"
_STDIO = "Transports: stdio"

NOT_JSON = Rule(
    "not-json",
    "error",
    ALL,
    _ENVELOPE,
    "The body begins like JSON and is none, so the message in it is lost.",
    ("@ 2025-11-25", '< {"jsonrpc":"2.0","id":7,"resu'),
)
BLANK_LINE = Rule(
    "blank-line",
    "info",
    ALL,
    _STDIO,
    "The line is empty; a line is one message.",
    ("@ 2025-11-25", "< "),
)
BOM = Rule(
    "bom",
    "warning",
    ALL,
    _STDIO,
    "The body begins with a byte order mark, which JSON does not allow; strict readers refuse it.",
    (
        "@ 2025-11-25",
        '< \ufeff{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}',
    ),
)
INVALID_UTF8 = Rule(
    "invalid-utf8",
    "error",
    ALL,
    "Transports: encoding",
    "The body is not valid UTF-8; strict readers refuse it.",
    (
        "@ 2025-11-25",
        '< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"\udcc3("}}',
    ),
)
EMPTY_BODY = Rule(
    "empty-body",
    "error",
    ALL,
    _ENVELOPE,
    "The body holds blanks only where a message was expected.",
    ("@ 2025-11-25", "1 POST /mcp Content-Type: application/json =>", "1>   "),
)
NOT_AN_OBJECT = Rule(
    "not-an-object",
    "error",
    ALL,
    _ENVELOPE,
    "The body is JSON, but no object, so it is no message.",
    ("@ 2025-11-25", "< 42"),
)
NO_MESSAGE = Rule(
    "no-message",
    "error",
    ALL,
    _ENVELOPE,
    "The object has none of method, result and error, so it is no message; logs of a library often look so.",
    ("@ 2025-11-25", '< {"level":"info","msg":"started"}'),
)
SEVERAL_VALUES = Rule(
    "several-values",
    "error",
    ALL,
    _STDIO,
    "The line holds several JSON values; each message needs a line of its own.",
    (
        "@ 2025-11-25",
        '< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}'
        '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":2}}',
    ),
)
TOO_DEEP = Rule(
    "too-deep",
    "warning",
    ALL,
    _ENVELOPE,
    "The body is nested so deeply that it was not read, and most other readers will not read it either.",
    ("@ 2025-11-25", '< {"jsonrpc":"2.0","method":"x","params":$DEEP}'),
)
TOO_MANY = Rule(
    "too-many",
    "warning",
    ALL,
    _ENVELOPE,
    "The frame holds more messages than are looked at one by one.",
    ("@ 2025-03-26", "< [$MANY]"),
)
NON_FINITE = Rule(
    "non-finite",
    "error",
    ALL,
    _ENVELOPE,
    "The body holds NaN or Infinity, which JSON does not have; strict readers refuse the whole message.",
    (
        "@ 2025-11-25",
        '< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":NaN}}',
    ),
)
JSONRPC_VERSION = Rule(
    "jsonrpc-version",
    "error",
    ALL,
    _ENVELOPE,
    'The member jsonrpc is not "2.0".',
    ("@ 2025-11-25", '< {"method":"notifications/message","params":{"level":"info","data":1}}'),
)
ID_NULL = Rule(
    "id-null",
    "error",
    ALL,
    "Base protocol: Requests",
    "The id is null, so nobody can say which request an answer belongs to.",
    ("@ 2025-11-25", '< {"jsonrpc":"2.0","id":null,"method":"ping"}'),
)
ID_TYPE = Rule(
    "id-type",
    "error",
    ALL,
    "Base protocol: Requests",
    "The id is neither a string nor an integer; many peers drop such a message without a word.",
    ("@ 2025-11-25", '< {"jsonrpc":"2.0","id":1.5,"method":"ping"}'),
)
METHOD_TYPE = Rule(
    "method-type",
    "error",
    ALL,
    "Base protocol: Requests",
    "The method is not a string.",
    ("@ 2025-11-25", '< {"jsonrpc":"2.0","id":1,"method":5}'),
)
RESULT_AND_ERROR = Rule(
    "result-and-error",
    "error",
    ALL,
    "Base protocol: Responses",
    "The answer has both a result and an error; clients differ in which of them they take.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"ping"}',
        '< {"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"x"}}',
    ),
)
ANSWER_WITHOUT_ID = Rule(
    "answer-without-id",
    "error",
    ALL,
    "Base protocol: Responses",
    "The answer has no id, so nobody can say which request it belongs to.",
    ("@ 2025-11-25", '< {"jsonrpc":"2.0","result":{}}'),
)
ERROR_SHAPE = Rule(
    "error-shape",
    "error",
    ALL,
    "Base protocol: Responses",
    "The error is not an object with an integer code and a string message.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"ping"}',
        '< {"jsonrpc":"2.0","id":7,"error":"no"}',
    ),
)
RESULT_NOT_OBJECT = Rule(
    "result-not-object",
    "error",
    ALL,
    "Base protocol: Responses",
    "The result is not an object.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"ping"}',
        '< {"jsonrpc":"2.0","id":7,"result":null}',
    ),
)
PARAMS_NOT_OBJECT = Rule(
    "params-not-object",
    "error",
    ALL,
    "Base protocol: Requests",
    "params is neither absent nor an object; plain JSON-RPC would allow an array, MCP does not.",
    ("@ 2025-11-25", '< {"jsonrpc":"2.0","id":1,"method":"ping","params":[]}'),
)
EMPTY_BATCH = Rule(
    "empty-batch",
    "error",
    ALL,
    "Base protocol: Messages, and JSON-RPC 2.0: Batch",
    "The array holds no message.",
    ("@ 2025-03-26", "< []"),
)

RULES = (
    NOT_JSON,
    BLANK_LINE,
    BOM,
    INVALID_UTF8,
    EMPTY_BODY,
    NOT_AN_OBJECT,
    NO_MESSAGE,
    SEVERAL_VALUES,
    TOO_DEEP,
    TOO_MANY,
    NON_FINITE,
    JSONRPC_VERSION,
    ID_NULL,
    ID_TYPE,
    METHOD_TYPE,
    RESULT_AND_ERROR,
    ANSWER_WITHOUT_ID,
    ERROR_SHAPE,
    RESULT_NOT_OBJECT,
    PARAMS_NOT_OBJECT,
    EMPTY_BATCH,
)

#: The rules that say the same as a defect of ``jsonrpc.decode``.
_OF_DEFECT = {
    "not-an-object": NOT_AN_OBJECT,
    "empty-batch": EMPTY_BATCH,
    "several": SEVERAL_VALUES,
    "too-deep": TOO_DEEP,
    "too-many": TOO_MANY,
    "no-message": NO_MESSAGE,
    "bom": BOM,
    "invalid-utf8": INVALID_UTF8,
    "non-finite": NON_FINITE,
    "id-null": ID_NULL,
    "id-type": ID_TYPE,
    "no-jsonrpc": JSONRPC_VERSION,
    "method-type": METHOD_TYPE,
    "result-and-error": RESULT_AND_ERROR,
    "no-id": ANSWER_WITHOUT_ID,
    "error-shape": ERROR_SHAPE,
    "result-type": RESULT_NOT_OBJECT,
    "params-type": PARAMS_NOT_OBJECT,
}

#: Where in a message each of them is.
_PLACES = {
    "id-null": "/id",
    "id-type": "/id",
    "no-jsonrpc": "/jsonrpc",
    "method-type": "/method",
    "error-shape": "/error",
    "result-type": "/result",
    "params-type": "/params",
}


class Envelope:
    """Looks at every frame."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        self._noise = Noise(watched)
        hooks.frames.append(self._on_frame)

    def _on_frame(self) -> None:
        watched = self._watched
        frame, decoded = watched.frame, watched.decoded
        if (frame.channel is Channel.STDIO and self._noise.explains()) or watched.excused:
            return
        self._on_defects(decoded.defects, decoded.messages[0] if len(decoded.messages) == 1 else None, "")
        if decoded.kind is Kind.BATCH:
            for index, message in enumerate(decoded.messages):
                self._on_defects(message.defects, message, f"/{index}")

    def _on_defects(self, defects: tuple[str, ...], message: Message | None, at: str) -> None:
        watched = self._watched
        for defect in defects:
            if defect == "no-jsonrpc" and "no-message" in defects:
                continue  # it is no message in the first place
            if defect in ("id-null", "no-id") and message is not None and message.kind is Kind.ERROR:
                continue  # an error whose request could not be read has none, or null
            if defect == "not-json":
                watched.found(NOT_JSON, at)
            elif defect == "empty":
                watched.found(BLANK_LINE if watched.frame.channel is Channel.STDIO else EMPTY_BODY, at)
            else:
                watched.found(_OF_DEFECT[defect], at + _PLACES.get(defect, ""))
