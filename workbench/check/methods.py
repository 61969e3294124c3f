"""Methods: which there are in a revision, which way they go, and which capability they need."""

from __future__ import annotations

from typing import Any

from workbench.check.rule import ALL, STATELESS, Rule
from workbench.check.watched import Hooks, Watched, inner
from workbench.core.exchange import Exchange, Told
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message
from workbench.core.methods import METHODS, Method, exists_in, gate_of, goes, has_capability
from workbench.core.peek import peek

_CAPABILITIES = "Lifecycle: Capability negotiation"

METHOD_UNKNOWN = Rule(
    "method-unknown",
    "warning",
    ALL,
    "Schema: requests and notifications",
    "No revision of the protocol has this method, and no extension was declared that might bring it.",
    ("@ 2025-11-25", '< {"jsonrpc":"2.0","method":"notifications/hello"}'),
)
METHOD_NOT_IN_REVISION = Rule(
    "method-not-in-revision",
    "error",
    ALL,
    "Schema: requests and notifications",
    "The method belongs to another revision than the one that holds on this connection.",
    ("@ 2025-03-26", '< {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}}'),
)
METHOD_WRONG_WAY = Rule(
    "method-wrong-way",
    "error",
    ALL,
    "Schema: requests and notifications",
    "The method goes the other way: only the other side may send it.",
    ("@ 2025-11-25", '< {"jsonrpc":"2.0","id":1,"method":"tools/list"}'),
)
REQUEST_WITHOUT_ID = Rule(
    "request-without-id",
    "error",
    ALL,
    "Base protocol: Requests",
    "A request was sent without an id, so it is a notification and nobody will answer it.",
    ("@ 2025-11-25", '> {"jsonrpc":"2.0","method":"tools/list"}'),
)
NOTIFICATION_WITH_ID = Rule(
    "notification-with-id",
    "error",
    ALL,
    "Base protocol: Notifications",
    "A notification was sent with an id, so it is a request and waits for an answer that nobody gives.",
    ("@ 2025-11-25", '< {"jsonrpc":"2.0","id":1,"method":"notifications/tools/list_changed"}'),
)
RECEIVER_LACKS_CAPABILITY = Rule(
    "receiver-lacks-capability",
    "error",
    ALL,
    _CAPABILITIES,
    "The request needs a capability that the side it is sent to has not declared.",
    ("@ 2025-11-25 none", '> {"jsonrpc":"2.0","id":7,"method":"prompts/list"}'),
)
SENDER_LACKS_CAPABILITY = Rule(
    "sender-lacks-capability",
    "warning",
    ALL,
    _CAPABILITIES,
    "The notification needs a capability that its sender has not declared.",
    (
        "@ 2025-11-25 none",
        '< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}',
    ),
)
CAPABILITY_NOT_HONOURED = Rule(
    "capability-not-honoured",
    "error",
    ALL,
    _CAPABILITIES,
    "The side that was asked has declared the capability, and says that it does not know the method.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"resources/list"}',
        '< {"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found"}}',
    ),
)
TASKS_UNDECLARED = Rule(
    "tasks-undeclared",
    "error",
    STATELESS,
    "Extension: Tasks",
    "The request is one of the tasks extension, and its clientCapabilities do not declare it.",
    ("@ 2026-07-28", '> {"jsonrpc":"2.0","id":7,"method":"tasks/get","params":{"taskId":"t","_meta":$META}}'),
)

RULES = (
    METHOD_UNKNOWN,
    METHOD_NOT_IN_REVISION,
    METHOD_WRONG_WAY,
    REQUEST_WITHOUT_ID,
    NOTIFICATION_WITH_ID,
    RECEIVER_LACKS_CAPABILITY,
    SENDER_LACKS_CAPABILITY,
    CAPABILITY_NOT_HONOURED,
    TASKS_UNDECLARED,
)

TASKS_EXTENSION = "io.modelcontextprotocol/tasks"


class Methods:
    """Holds every request and notification to the method table."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        hooks.requests.append(self._on_request)
        hooks.told.append(self._on_told)
        hooks.answers.append(self._on_answer)

    def _on_request(self, exchange: Exchange, _message: Message) -> None:
        watched = self._watched
        row = METHODS.get(exchange.method)
        if watched.modern and watched.from_server:
            return  # ``server-request`` says all of it
        if row is None:
            self._unknown(exchange.method)
        elif not row.request:
            watched.found(NOTIFICATION_WITH_ID, "/id", exchange.method)
        elif self._placed(row):
            self._gate(row)

    def _on_told(self, told: Told) -> None:
        watched = self._watched
        method = told.message.method or ""
        row = METHODS.get(method)
        if row is None:
            self._unknown(method)
        elif row.request:
            watched.found(REQUEST_WITHOUT_ID, "", method)
        elif self._placed(row) and row.gate:
            own = watched.server_capabilities if watched.from_server else watched.client_capabilities
            if own is not None and not has_capability(own, row.gate):
                watched.found(SENDER_LACKS_CAPABILITY, "/method", row.gate)

    def _on_answer(self, exchange: Exchange, message: Message) -> None:
        watched = self._watched
        if message.kind is not Kind.ERROR or watched.revision is None:
            return
        gate = gate_of(exchange.method, watched.revision)
        if not gate or inner(peek(message, "error"), "code") != -32601:
            return
        if exists_in(exchange.method, watched.revision) and has_capability(self._of_answerer(), gate):
            watched.found(CAPABILITY_NOT_HONOURED, "/error", f"{gate}, for {exchange.method}")

    def _of_answerer(self) -> dict[str, Any] | None:
        watched = self._watched
        return watched.server_capabilities if watched.from_server else watched.client_capabilities

    def _unknown(self, method: str) -> None:
        watched = self._watched
        for capabilities in (watched.client_capabilities, watched.server_capabilities):
            if capabilities and (capabilities.get("extensions") or capabilities.get("experimental")):
                return
        if watched.revision is not None and method:
            watched.found(METHOD_UNKNOWN, "/method", method)

    def _placed(self, row: Method) -> bool:
        """Whether the revision has the method and it goes this way; tells it if not."""
        watched = self._watched
        if not goes(row.name, watched.revision, not watched.from_server):
            watched.found(METHOD_WRONG_WAY, "/method", row.name)
            return False
        if watched.revision is not None and not exists_in(row.name, watched.revision):
            since = f"since {row.first}" if row.first > watched.revision else f"until {row.last}"
            watched.found(METHOD_NOT_IN_REVISION, "/method", f"{row.name} is there {since}")
            return False
        return True

    def _gate(self, row: Method) -> None:
        watched = self._watched
        if watched.modern and row.name.startswith("tasks/"):
            if inner(watched.client_capabilities, "extensions", TASKS_EXTENSION) is None:
                watched.found(TASKS_UNDECLARED, "/method", row.name)
            return
        theirs = watched.client_capabilities if watched.from_server else watched.server_capabilities
        gate = gate_of(row.name, watched.revision)
        if gate and theirs is not None and watched.revision is not None and not has_capability(theirs, gate):
            watched.found(RECEIVER_LACKS_CAPABILITY, "/method", gate)
