"""The envelope: what a body must be before it is a message at all.

``jsonrpc.decode`` finds the defects; here each becomes a rule, and noise on
stdout is told by what made it.
"""

from __future__ import annotations

import re

from workbench.check.rule import ALL, HANDSHAKE, Rule
from workbench.check.watched import Hooks, Watched
from workbench.core.frame import Channel, Direction, Ending, Kind
from workbench.core.jsonrpc import Message
from workbench.core.methods import BATCH_REVISION

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
STDOUT_TEXT = Rule(
    "stdout-text",
    "error",
    ALL,
    _STDIO,
    "A line on stdout is text: stdout carries messages only, and what a server has to say to people "
    "goes to stderr. Some clients end the connection here.",
    ("@ 2025-11-25", "< Server v1 up on stdin"),
)
STDOUT_ANSI = Rule(
    "stdout-ansi",
    "error",
    ALL,
    _STDIO,
    "A line on stdout is coloured text for a terminal: stdout carries messages only.",
    ("@ 2025-11-25", "< \x1b[32mready\x1b[0m"),
)
LSP_FRAMING = Rule(
    "lsp-framing",
    "error",
    ALL,
    _STDIO,
    "The message is framed with Content-Length, as the Language Server Protocol does it; in MCP a line is "
    "a message.",
    ("@ 2025-11-25", "< Content-Length: 38"),
)
PRETTY_PRINTED = Rule(
    "pretty-printed",
    "error",
    ALL,
    _STDIO,
    "A message is spread over several lines; each line is one message, so none of them can be read. "
    "It is told once for all its lines.",
    ("@ 2025-11-25", "< {", '<   "jsonrpc": "2.0",', '<   "method": "notifications/message"', "< }"),
)
BLANK_LINE = Rule(
    "blank-line",
    "info",
    ALL,
    _STDIO,
    "The line is empty; a line is one message.",
    ("@ 2025-11-25", "< "),
)
CRLF = Rule(
    "crlf",
    "info",
    ALL,
    _STDIO,
    "Lines end with carriage return and line feed where a line feed alone is asked for. It is told once "
    "for each direction.",
    (
        "@ 2025-11-25",
        '< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\r',
    ),
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
BATCH = Rule(
    "batch",
    "error",
    ALL,
    "Base protocol: Batching (2025-03-26 only)",
    "Several messages came as one array, which only 2025-03-26 has; most peers drop it without a word.",
    ("@ 2025-11-25", '< [{"jsonrpc":"2.0","id":1,"method":"ping"}]'),
)
BATCH_MIXED = Rule(
    "batch-mixed",
    "warning",
    (BATCH_REVISION, BATCH_REVISION),
    "Transports: Streamable HTTP, Sending messages (2025-03-26)",
    "The array mixes answers with requests or notifications.",
    (
        "@ 2025-03-26",
        '< {"jsonrpc":"2.0","id":1,"method":"ping"}',
        '> [{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":9,"method":"ping"}]',
    ),
)
INITIALIZE_IN_BATCH = Rule(
    "initialize-in-batch",
    "error",
    HANDSHAKE,
    "Lifecycle: Initialization (2025-03-26)",
    "initialize is part of an array; it must be sent alone, before anything else.",
    (
        '> [{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26",'
        '"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}]',
        '< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{},'
        '"serverInfo":{"name":"s","version":"1"}}}',
    ),
)

RULES = (
    NOT_JSON,
    STDOUT_TEXT,
    STDOUT_ANSI,
    LSP_FRAMING,
    PRETTY_PRINTED,
    BLANK_LINE,
    CRLF,
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
    BATCH,
    BATCH_MIXED,
    INITIALIZE_IN_BATCH,
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

_CONTENT_LENGTH = re.compile(rb"Content-Length: *\d+", re.IGNORECASE)

#: Bytes at the beginning of a line in which its sort is looked for.
_LOOKED_AT = 4096

_ANSWERS = (Kind.RESULT, Kind.ERROR)
_ASKS = (Kind.REQUEST, Kind.NOTIFICATION)


class Envelope:
    """Looks at every frame."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        self._spread: bytes | None = None  # what ends the message that is spread over lines
        self._framed = False
        self._crlf: set[Direction] = set()
        hooks.frames.append(self._on_frame)

    def _on_frame(self) -> None:
        watched = self._watched
        frame, decoded = watched.frame, watched.decoded
        if frame.channel is Channel.STDIO:
            if frame.body.endswith(b"\r") and frame.direction not in self._crlf:
                self._crlf.add(frame.direction)
                watched.found(CRLF)
            if decoded.kind is Kind.INVALID and frame.direction is Direction.TO_CLIENT:
                if self._on_noise(frame.body):
                    return
            else:
                self._spread = None
        if watched.excused or not (decoded.defects or decoded.kind is Kind.BATCH):
            return
        self._on_defects(decoded.defects, decoded.messages[0] if len(decoded.messages) == 1 else None, "")
        if decoded.kind is Kind.BATCH:
            self._on_batch()

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

    def _on_batch(self) -> None:
        watched = self._watched
        messages = watched.decoded.messages
        if watched.revision != BATCH_REVISION and not any(each.method == "initialize" for each in messages):
            watched.found(BATCH)
        kinds = {message.kind for message in messages}
        if kinds.intersection(_ANSWERS) and kinds.intersection(_ASKS):
            watched.found(BATCH_MIXED)
        for index, message in enumerate(messages):
            if message.method == "initialize":
                watched.found(INITIALIZE_IN_BATCH, f"/{index}")
            if message.defects:
                self._on_defects(message.defects, message, f"/{index}")

    def _on_noise(self, body: bytes) -> bool:
        """Tell by its looks what a line on stdout is that is no message; false if it has none."""
        watched = self._watched
        start = body[:_LOOKED_AT]
        bare = start.strip()
        if self._spread is not None:
            if bare == self._spread and start[:1] == bare[:1]:
                self._spread = None
            return True
        if bare in (b"{", b"[") and watched.frame.ending is Ending.LF:
            self._spread = b"}" if bare == b"{" else b"]"
            watched.found(PRETTY_PRINTED)
            return True
        framed, self._framed = self._framed, False
        if not bare:
            return framed
        if "not-json" not in watched.decoded.defects:
            return False
        if _CONTENT_LENGTH.search(start):
            self._framed = True
            watched.found(LSP_FRAMING)
        elif b"\x1b[" in start:
            watched.found(STDOUT_ANSI)
        elif bare[:1] not in (b"{", b"["):
            watched.found(STDOUT_TEXT, detail=bare[:80].decode("utf-8", "replace"))
        else:
            return False
        return True
