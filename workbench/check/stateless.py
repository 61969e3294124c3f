"""The stateless era (2026-07-28): what every request and every result must tell by itself."""

from __future__ import annotations

from typing import Any

from workbench.check.rule import STATELESS, Rule
from workbench.check.watched import META_CAPABILITIES, META_VERSION, Hooks, Watched, inner, result_of, short
from workbench.core.exchange import Exchange, Orphaned
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message
from workbench.core.peek import peek

_CALL = '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":$META}}'

META_MISSING = Rule(
    "meta-missing",
    "error",
    STATELESS,
    "Base protocol: _meta",
    "The request does not tell its protocolVersion and clientCapabilities in _meta; nothing may be known "
    "from requests before it.",
    (
        "@ 2026-07-28",
        '> {"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"_meta":$META}}',
        '> {"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}',
    ),
)
SERVER_REQUEST = Rule(
    "server-request",
    "error",
    STATELESS,
    "Base protocol: Requests",
    "The server sends a request; only clients do. What it wants to know it asks for with an input_required "
    "result.",
    ("@ 2026-07-28", _CALL, '< {"jsonrpc":"2.0","id":1,"method":"roots/list","params":{}}'),
)
CLIENT_ANSWER = Rule(
    "client-answer",
    "error",
    STATELESS,
    "Base protocol: Responses",
    "The client sends an answer; only servers do, because only clients ask.",
    ("@ 2026-07-28", _CALL, '> {"jsonrpc":"2.0","id":1,"result":{"roots":[]}}'),
)
RESULT_TYPE_MISSING = Rule(
    "result-type-missing",
    "error",
    STATELESS,
    "Base protocol: Results",
    "The result has no resultType; clients take it for complete.",
    ("@ 2026-07-28", _CALL, '< {"jsonrpc":"2.0","id":7,"result":{"content":[]}}'),
)
RESULT_TYPE_UNKNOWN = Rule(
    "result-type-unknown",
    "error",
    STATELESS,
    "Base protocol: Results",
    "The resultType is neither complete nor input_required, and no extension was declared to bring it.",
    ("@ 2026-07-28", _CALL, '< {"jsonrpc":"2.0","id":7,"result":{"resultType":"later","content":[]}}'),
)
SERVER_INFO_MISSING = Rule(
    "server-info-missing",
    "info",
    STATELESS,
    "Discovery: server/discover",
    "The result of server/discover does not tell in _meta who answers; it should.",
    (
        "@ 2026-07-28",
        '> {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":$META}}',
        '< {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],'
        '"capabilities":{},"ttlMs":0,"cacheScope":"private"}}',
    ),
)
TASK_UNDECLARED = Rule(
    "task-undeclared",
    "error",
    STATELESS,
    "Extension: Tasks",
    "The server answers with a task, and the request's clientCapabilities do not declare that extension.",
    (
        "@ 2026-07-28",
        _CALL,
        '< {"jsonrpc":"2.0","id":7,"result":{"resultType":"task","taskId":"t","status":"working"}}',
    ),
)
TASK_IN_OLD_SHAPE = Rule(
    "task-in-old-shape",
    "error",
    STATELESS,
    "Extension: Tasks",
    "The result holds a task as 2025-11-25 had it, in a member task; now the result itself is the task.",
    (
        "@ 2026-07-28",
        _CALL,
        '< {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","task":{"taskId":"t",'
        '"status":"working"}}}',
    ),
)

RULES = (
    META_MISSING,
    SERVER_REQUEST,
    CLIENT_ANSWER,
    RESULT_TYPE_MISSING,
    RESULT_TYPE_UNKNOWN,
    SERVER_INFO_MISSING,
    TASK_UNDECLARED,
    TASK_IN_OLD_SHAPE,
)

_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
_TASKS = "io.modelcontextprotocol/tasks"


class Stateless:
    """Looks at every request and every result once the era is modern."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        self._anonymous = False
        hooks.requests.append(self._on_request)
        hooks.answers.append(self._on_answer)
        hooks.orphans.append(self._on_orphan)
        hooks.on_answer(self._on_discovered, "server/discover")

    def _on_request(self, exchange: Exchange, message: Message) -> None:
        watched = self._watched
        if not watched.modern:
            return
        if watched.from_server:
            watched.found(SERVER_REQUEST, "/method", exchange.method)
            return
        meta = peek(message, "params", "_meta")
        for key, kind in ((META_VERSION, str), (META_CAPABILITIES, dict)):
            if not isinstance(meta, dict) or not isinstance(meta.get(key), kind):
                watched.found(META_MISSING, _place(message, meta), key)

    def _on_orphan(self, event: Orphaned) -> None:
        if self._watched.modern and not self._watched.from_server:
            self._watched.found(CLIENT_ANSWER, "", event.message.id or "")

    def _on_answer(self, _exchange: Exchange, message: Message) -> None:
        watched = self._watched
        if not watched.modern:
            return
        if not watched.from_server:
            watched.found(CLIENT_ANSWER)
        elif message.kind is Kind.RESULT and isinstance(message.members.get("result"), dict):
            self._judge(result_of(message))

    def _judge(self, result: dict[str, Any]) -> None:
        watched = self._watched
        if "resultType" not in result:
            watched.found(RESULT_TYPE_MISSING, "/result")
            return
        kind = result["resultType"]
        extensions = inner(watched.client_capabilities, "extensions")
        if kind == "task":
            if inner(extensions, _TASKS) is None:
                watched.found(TASK_UNDECLARED, "/result/resultType")
        elif kind not in ("complete", "input_required") and not extensions:
            watched.found(RESULT_TYPE_UNKNOWN, "/result/resultType", short(kind))
        if kind != "task" and isinstance(inner(result, "task", "taskId"), str):
            watched.found(TASK_IN_OLD_SHAPE, "/result/task")

    def _on_discovered(self, _exchange: Exchange, message: Message) -> None:
        if message.kind is not Kind.RESULT or not self._watched.modern or self._anonymous:
            return
        if inner(result_of(message), "_meta", _SERVER_INFO) is None:
            self._anonymous = True
            self._watched.found(SERVER_INFO_MISSING, "/result")


def _place(message: Message, meta: Any) -> str:
    if meta is not None:
        return "/params/_meta"
    return "/params" if "params" in message.members else ""
