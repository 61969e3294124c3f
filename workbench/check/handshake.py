"""The handshake: its order, and the revision it agrees on (2024-11-05 to 2025-11-25)."""

from __future__ import annotations

from typing import Any

from workbench.check.rule import ALL, HANDSHAKE, Rule
from workbench.check.watched import STATELESS_FROM, Hooks, Watched, short
from workbench.core.exchange import Exchange, Told
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message
from workbench.core.methods import REVISIONS
from workbench.core.peek import peek

_INITIALIZATION = "Lifecycle: Initialization"
_NEGOTIATION = "Lifecycle: Version negotiation"
_INITIALIZE = (
    '> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
    '"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}'
)
_INITIALIZED = (
    '< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},'
    '"serverInfo":{"name":"s","version":"1"}}}'
)

CLIENT_REQUEST_EARLY = Rule(
    "client-request-early",
    "warning",
    HANDSHAKE,
    _INITIALIZATION,
    "The client sends a request other than ping before the server has answered initialize.",
    ('> {"jsonrpc":"2.0","id":1,"method":"tools/list"}',),
)
SERVER_REQUEST_EARLY = Rule(
    "server-request-early",
    "warning",
    HANDSHAKE,
    _INITIALIZATION,
    "The server sends a request other than ping before the client's initialized notification; the client "
    "may not be ready to answer it.",
    (
        '> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
        '"capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}',
        _INITIALIZED,
        '< {"jsonrpc":"2.0","id":1,"method":"roots/list"}',
    ),
)
SERVER_NOTIFICATION_EARLY = Rule(
    "server-notification-early",
    "warning",
    HANDSHAKE,
    _INITIALIZATION,
    "The server sends a notification other than a log message before the client's initialized notification.",
    (
        _INITIALIZE,
        '< {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
    ),
)
INITIALIZED_EARLY = Rule(
    "initialized-early",
    "error",
    HANDSHAKE,
    _INITIALIZATION,
    "The client says that it is initialized before the server has answered initialize.",
    (_INITIALIZE, '> {"jsonrpc":"2.0","method":"notifications/initialized"}'),
)
INITIALIZED_MISSING = Rule(
    "initialized-missing",
    "error",
    HANDSHAKE,
    _INITIALIZATION,
    "The client goes on without its initialized notification; some servers refuse all it sends then.",
    (_INITIALIZE, _INITIALIZED, '> {"jsonrpc":"2.0","id":2,"method":"tools/list"}'),
)
INITIALIZE_AGAIN = Rule(
    "initialize-again",
    "error",
    HANDSHAKE,
    _INITIALIZATION,
    "The client sends initialize a second time in one session.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
        '"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}',
    ),
)
VERSION_UNRELEASED = Rule(
    "version-unreleased",
    "warning",
    ALL,
    _NEGOTIATION,
    "protocolVersion names a revision that was never released, so the other side cannot know its rules.",
    (
        _INITIALIZE,
        '< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-10-07","capabilities":{},'
        '"serverInfo":{"name":"s","version":"1"}}}',
    ),
)
VERSION_MISSING = Rule(
    "version-missing",
    "error",
    HANDSHAKE,
    _NEGOTIATION,
    "initialize, or its result, has no protocolVersion, or one that is not a string.",
    (
        _INITIALIZE,
        '< {"jsonrpc":"2.0","id":1,"result":{"capabilities":{},"serverInfo":{"name":"s","version":"1"}}}',
    ),
)
VERSION_WITHOUT_HANDSHAKE = Rule(
    "version-without-handshake",
    "error",
    ALL,
    "Versioning (2026-07-28)",
    "The handshake agrees on 2026-07-28, which has none: in it every request tells its own version.",
    (
        _INITIALIZE,
        '< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2026-07-28","capabilities":{},'
        '"serverInfo":{"name":"s","version":"1"}}}',
    ),
)

RULES = (
    CLIENT_REQUEST_EARLY,
    SERVER_REQUEST_EARLY,
    SERVER_NOTIFICATION_EARLY,
    INITIALIZED_EARLY,
    INITIALIZED_MISSING,
    INITIALIZE_AGAIN,
    VERSION_UNRELEASED,
    VERSION_MISSING,
    VERSION_WITHOUT_HANDSHAKE,
)

#: What a server may tell before it is told that the client is ready, and what belongs to a request.
_ALWAYS = frozenset(("notifications/message", "notifications/progress", "notifications/cancelled"))

#: Requests that may open a connection, in any era.
_OPENING = frozenset(("initialize", "ping", "server/discover"))


class Handshake:
    """Follows one handshake after the other; a connection over HTTP may have several."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        self._answered = False
        self._initialized = False
        self._missed = False
        hooks.requests.append(self._on_request)
        hooks.told.append(self._on_told)
        hooks.on_request(self._on_initialize, "initialize")
        hooks.on_answer(self._on_answer, "initialize")
        hooks.on_told(self._on_initialized, "notifications/initialized")

    def _on_request(self, exchange: Exchange, _message: Message) -> None:
        watched = self._watched
        if self._initialized or watched.modern or exchange.method in _OPENING:
            return
        if watched.from_server:
            watched.found(SERVER_REQUEST_EARLY, "/method", exchange.method)
        elif not self._answered:
            watched.found(CLIENT_REQUEST_EARLY, "/method", exchange.method)
        elif not self._missed:
            self._missed = True
            watched.found(INITIALIZED_MISSING)

    def _on_told(self, told: Told) -> None:
        watched = self._watched
        if self._initialized or watched.modern or not watched.from_server:
            return
        method = told.message.method or ""
        if method not in _ALWAYS and method.startswith("notifications/"):
            watched.found(SERVER_NOTIFICATION_EARLY, "/method", method)

    def _on_initialize(self, _exchange: Exchange, message: Message) -> None:
        watched = self._watched
        if watched.from_server:
            return
        # Over HTTP a session that was lost is followed by another one.
        if self._answered and not watched.over_http:
            watched.found(INITIALIZE_AGAIN)
        self._answered = self._initialized = self._missed = False
        self._judge(peek(message, "params", "protocolVersion"), "/params/protocolVersion")

    def _on_answer(self, _exchange: Exchange, message: Message) -> None:
        if message.kind is Kind.RESULT and self._watched.from_server:
            self._answered = True
            version = peek(message, "result", "protocolVersion")
            self._judge(version, "/result/protocolVersion")
            if version == STATELESS_FROM:
                self._watched.found(VERSION_WITHOUT_HANDSHAKE, "/result/protocolVersion")

    def _on_initialized(self, _told: Told) -> None:
        watched = self._watched
        if watched.from_server or watched.modern:
            return
        if not self._answered:
            watched.found(INITIALIZED_EARLY)
        self._initialized = True

    def _judge(self, version: Any, pointer: str) -> None:
        if not isinstance(version, str):
            self._watched.found(VERSION_MISSING, pointer, "" if version is None else short(version))
        elif version not in REVISIONS:
            self._watched.found(VERSION_UNRELEASED, pointer, version)
