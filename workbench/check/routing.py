"""Headers that repeat what the body says (2026-07-28 over HTTP)."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from workbench.check.rule import STATELESS, Rule
from workbench.check.traffic import Carriage, Traffic
from workbench.check.watched import Hooks, Watched, params_of, result_of
from workbench.core.exchange import Exchange
from workbench.core.inflight import keep
from workbench.core.jsonrpc import Message
from workbench.core.routing import ANNOTATION, annotated, decode, encode, mismatches

_HEADERS = "Transports: HTTP, Standard request headers"
_CALL = '1> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":$META}}'
_RESULT = '1< {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[]}}'

ROUTING_HEADER = Rule(
    "routing-header",
    "error",
    STATELESS,
    _HEADERS,
    "A header that repeats the body is missing, there twice, or says something else than the body; servers "
    "answer -32020.",
    ("@ 2026-07-28", "1 POST /mcp Mcp-Name: other => 200", _CALL, _RESULT),
)
ROUTING_HEADER_CODING = Rule(
    "routing-header-coding",
    "error",
    STATELESS,
    "Transports: HTTP, Value encoding",
    "The value of a header is not printable ASCII, or has blanks at its edges; it must be coded as "
    "=?base64?…?=.",
    (
        "@ 2026-07-28",
        "1 POST /mcp Mcp-Name: größe => 200",
        '1> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"größe","_meta":$META}}',
        _RESULT,
    ),
)
PARAM_HEADER_INVALID = Rule(
    "param-header-invalid",
    "error",
    STATELESS,
    "Transports: HTTP, Custom headers from tool parameters",
    "A tool's x-mcp-header annotation breaks the rules for it; over HTTP clients must leave the tool out.",
    (
        "@ 2026-07-28",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":$META}}',
        '< {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"public",'
        '"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}}]}}',
    ),
)

RULES = (ROUTING_HEADER, ROUTING_HEADER_CODING, PARAM_HEADER_INVALID)

#: Tools with annotations whose schema is remembered.
MAX_TOOLS = 200


class Routing:
    """Compares the headers of each POST with its body."""

    def __init__(self, watched: Watched, hooks: Hooks, traffic: Traffic) -> None:
        self._watched = watched
        self._schemas: OrderedDict[str, Any] = OrderedDict()
        self._traffic = traffic
        hooks.requests.append(self._on_request)
        hooks.on_answer(self._on_tools, "tools/list")

    def _on_request(self, _exchange: Exchange, message: Message) -> None:
        watched = self._watched
        carriage = self._traffic.here
        if not watched.modern or watched.from_server or carriage is None or carriage.stream.verb != "POST":
            return
        name = params_of(message).get("name")
        schema = self._schemas.get(name) if isinstance(name, str) else None
        for fault in mismatches(carriage.stream.request_headers, message, schema):
            watched.found(ROUTING_HEADER, "", fault)
        self._coding(carriage)

    def _coding(self, carriage: Carriage) -> None:
        for name, value in carriage.stream.request_headers:
            if name.lower().startswith("mcp-") and decode(value) == value and encode(value) != value:
                self._watched.found(ROUTING_HEADER_CODING, "", name)

    def _on_tools(self, _exchange: Exchange, message: Message) -> None:
        tools = result_of(message).get("tools")
        if not self._watched.modern or not isinstance(tools, list) or ANNOTATION not in message.text:
            return
        for index, tool in enumerate(tools):
            schema = tool.get("inputSchema") if isinstance(tool, dict) else None
            found = annotated(schema)
            for fault in found.faults:
                self._watched.found(PARAM_HEADER_INVALID, f"/result/tools/{index}/inputSchema", fault)
            if found.paths and isinstance(tool.get("name"), str):
                keep(self._schemas, tool["name"], schema, MAX_TOOLS)
