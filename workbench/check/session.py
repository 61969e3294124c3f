"""Headers that belong to a session over HTTP: its id, and the agreed revision."""

from __future__ import annotations

from workbench.check.rule import HANDSHAKE, STATELESS, Rule
from workbench.check.traffic import Carriage, Traffic
from workbench.check.watched import Hooks, Watched
from workbench.core.methods import REVISIONS

_SESSION = "Transports: Streamable HTTP, Session management"
_HTTP = (REVISIONS[1], REVISIONS[3])
_VERSIONED = (REVISIONS[2], REVISIONS[3])
_PING = '{"jsonrpc":"2.0","id":7,"method":"ping"}'
_PONG = '{"jsonrpc":"2.0","id":7,"result":{}}'

SESSION_CHANGED = Rule(
    "session-changed",
    "error",
    _HTTP,
    _SESSION,
    "The server names another session id in the middle of a session, or the client sends another one than "
    "it was given.",
    ("@http 2025-11-25", "1 POST /mcp => 200 Mcp-Session-Id: s2", f"1> {_PING}", f"1< {_PONG}"),
)
SESSION_NOT_SENT = Rule(
    "session-not-sent",
    "error",
    _HTTP,
    _SESSION,
    "The server gave a session id, and the client sends a request without it.",
    ("@http 2025-11-25", "1 POST /mcp Mcp-Session-Id: - => 200", f"1> {_PING}", f"1< {_PONG}"),
)
SESSION_NOT_ASCII = Rule(
    "session-not-ascii",
    "error",
    _HTTP,
    _SESSION,
    "The session id holds something other than visible ASCII characters (0x21 to 0x7E).",
    (
        "1 POST /mcp => 200 Mcp-Session-Id: a b",
        '1> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
        '"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}',
        '1< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},'
        '"serverInfo":{"name":"s","version":"1"}}}',
    ),
)
SESSION_REFUSED_ODDLY = Rule(
    "session-refused-oddly",
    "info",
    _HTTP,
    _SESSION,
    "A request with a session id was answered with status 400; if the session is over, 404 would tell the "
    "client to begin another.",
    (
        "@http 2025-11-25",
        "1 POST /mcp => 400",
        f"1> {_PING}",
        '1< {"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No valid session ID provided"}}',
    ),
)
SESSION_IN_STATELESS = Rule(
    "session-in-stateless",
    "warning",
    STATELESS,
    "Transports: HTTP",
    "A session id is sent, and 2026-07-28 has no sessions.",
    (
        "@ 2026-07-28",
        "1 POST /mcp => 200 Mcp-Session-Id: s1",
        '1> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":$META}}',
        '1< {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[]}}',
    ),
)
VERSION_HEADER_MISSING = Rule(
    "version-header-missing",
    "error",
    _VERSIONED,
    "Transports: Protocol version header",
    "The client sends a request after the handshake without MCP-Protocol-Version.",
    ("@http 2025-11-25", "1 POST /mcp MCP-Protocol-Version: - => 200", f"1> {_PING}", f"1< {_PONG}"),
)
VERSION_HEADER_WRONG = Rule(
    "version-header-wrong",
    "error",
    HANDSHAKE,
    "Transports: Protocol version header",
    "MCP-Protocol-Version names another revision than the handshake has agreed on.",
    ("@http 2025-11-25", "1 POST /mcp MCP-Protocol-Version: 2025-06-18 => 200", f"1> {_PING}", f"1< {_PONG}"),
)

RULES = (
    SESSION_CHANGED,
    SESSION_NOT_SENT,
    SESSION_NOT_ASCII,
    SESSION_REFUSED_ODDLY,
    SESSION_IN_STATELESS,
    VERSION_HEADER_MISSING,
    VERSION_HEADER_WRONG,
)

SESSION_HEADER = "mcp-session-id"
VERSION_HEADER = "mcp-protocol-version"


class Session:
    """Follows the session id from the answer to ``initialize`` on."""

    def __init__(self, watched: Watched, _hooks: Hooks, traffic: Traffic) -> None:
        self._watched = watched
        self._traffic = traffic
        self._id: str | None = None
        self._beginning = False  # the next session id is the answer to an initialize
        traffic.opened.append(self._on_opened)
        traffic.answered.append(self._on_answered)

    def _on_opened(self, carriage: Carriage) -> None:
        watched = self._watched
        if self._traffic.older:
            return
        if carriage.sent and any(each.method == "initialize" for each in watched.decoded.messages):
            self._id, self._beginning = None, True
            return
        session = carriage.header(SESSION_HEADER)
        if watched.modern:
            if session is not None:
                watched.found(SESSION_IN_STATELESS, detail="sent by the client", seq=carriage.seq)
            return
        if watched.revision is None:
            return
        if self._id is not None and session is None:
            watched.found(SESSION_NOT_SENT, seq=carriage.seq)
        elif session != self._id and session is not None:
            watched.found(SESSION_CHANGED, detail="sent by the client", seq=carriage.seq)
        self._version(carriage)

    def _version(self, carriage: Carriage) -> None:
        watched = self._watched
        version = carriage.header(VERSION_HEADER)
        if version is None:
            watched.found(VERSION_HEADER_MISSING, seq=carriage.seq)
        elif version != watched.claimed:
            watched.found(
                VERSION_HEADER_WRONG, detail=f"{version}, agreed {watched.claimed}", seq=carriage.seq
            )

    def _on_answered(self, carriage: Carriage) -> None:
        watched = self._watched
        session = carriage.answer_header(SESSION_HEADER)
        if session is None:
            sent = carriage.header(SESSION_HEADER)
            refused = carriage.stream.verb == "POST" and carriage.stream.status == 400
            if refused and sent is not None and sent == self._id and not watched.modern:
                watched.found(SESSION_REFUSED_ODDLY, seq=carriage.seq)
            return
        if not session or any(not "\x21" <= each <= "\x7e" for each in session):
            watched.found(SESSION_NOT_ASCII, seq=carriage.seq)
        if watched.modern:
            watched.found(SESSION_IN_STATELESS, detail="given by the server", seq=carriage.seq)
        elif self._beginning or self._id is None:
            self._id, self._beginning = session, False
        elif session != self._id:
            watched.found(SESSION_CHANGED, detail="named by the server", seq=carriage.seq)
