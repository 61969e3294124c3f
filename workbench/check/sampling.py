"""Sampling: what a server may ask the client's model."""

from __future__ import annotations

from typing import Any

from workbench.check.rule import Rule
from workbench.check.watched import Hooks, Watched, inner, params_of, short
from workbench.core.exchange import Exchange
from workbench.core.jsonrpc import Message
from workbench.core.methods import REVISIONS

_SAMPLING = "Client features: Sampling"
_TOOLS = (REVISIONS[3], REVISIONS[4])
_HEAD = '< {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"maxTokens":9,"messages":['
_USE = '{"role":"assistant","content":{"type":"tool_use","id":"u1","name":"t","input":{}}}'
_RESULT = '{"type":"tool_result","toolUseId":"u1","content":[]}'

SAMPLING_TOOLS_UNDECLARED = Rule(
    "sampling-tools-undeclared",
    "error",
    _TOOLS,
    _SAMPLING,
    "The server sends tools for the model, and the client has not declared sampling.tools.",
    (
        '> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
        '"capabilities":{"sampling":{}},"clientInfo":{"name":"c","version":"1"}}}',
        '< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},'
        '"serverInfo":{"name":"s","version":"1"}}}',
        '> {"jsonrpc":"2.0","method":"notifications/initialized"}',
        _HEAD + '{"role":"user","content":{"type":"text","text":"x"}}],"tools":[]}}',
    ),
)
TOOL_USE_UNANSWERED = Rule(
    "tool-use-unanswered",
    "error",
    _TOOLS,
    _SAMPLING,
    "A tool_use of the assistant is not answered by a tool_result in the message after it.",
    ("@ 2025-11-25", _HEAD + _USE + ',{"role":"user","content":{"type":"text","text":"go on"}}]}}'),
)
TOOL_RESULT_MIXED = Rule(
    "tool-result-mixed",
    "error",
    _TOOLS,
    _SAMPLING,
    "A user message mixes tool_result with other content; it may hold nothing else.",
    (
        "@ 2025-11-25",
        _HEAD + _USE + ',{"role":"user","content":[' + _RESULT + ',{"type":"text","text":"x"}]}]}}',
    ),
)
TOOL_RESULT_UNKNOWN = Rule(
    "tool-result-unknown",
    "error",
    _TOOLS,
    _SAMPLING,
    "A tool_result names no tool_use of the message before it.",
    ("@ 2025-11-25", _HEAD + '{"role":"user","content":' + _RESULT + "}]}}"),
)

RULES = (SAMPLING_TOOLS_UNDECLARED, TOOL_USE_UNANSWERED, TOOL_RESULT_MIXED, TOOL_RESULT_UNKNOWN)


class Sampling:
    """Looks at each ``sampling/createMessage``, and (2026-07-28) at those within a result."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        hooks.on_request(self._on_request, "sampling/createMessage")

    def _on_request(self, _exchange: Exchange, message: Message) -> None:
        look_at_sampling(self._watched, params_of(message), "/params")


def look_at_sampling(watched: Watched, params: dict[str, Any], at: str) -> None:
    """Look at the params of a sampling request; ``at`` is the pointer to them."""
    declared = inner(watched.client_capabilities, "sampling")
    if "tools" in params and isinstance(declared, dict) and "tools" not in declared:
        watched.found(SAMPLING_TOOLS_UNDECLARED, f"{at}/tools")
    messages = params.get("messages")
    if isinstance(messages, list):
        _look_at_messages(watched, messages, at)


def _look_at_messages(watched: Watched, messages: list[Any], at: str) -> None:
    used: set[str] = set()
    for index, message in enumerate(messages):
        pointer = f"{at}/messages/{index}"
        blocks = _blocks(message)
        results = {short(each.get("toolUseId")) for each in blocks if each.get("type") == "tool_result"}
        if results and any(each.get("type") != "tool_result" for each in blocks):
            watched.found(TOOL_RESULT_MIXED, pointer)
        if results - used:
            watched.found(TOOL_RESULT_UNKNOWN, pointer, ", ".join(sorted(results - used)))
        if used - results:
            watched.found(TOOL_USE_UNANSWERED, pointer, ", ".join(sorted(used - results)))
        used = {short(each.get("id")) for each in blocks if each.get("type") == "tool_use"}
    # A tool_use in the last message is the model's to go on from.


def _blocks(message: Any) -> list[dict[str, Any]]:
    content = inner(message, "content")
    blocks = content if isinstance(content, list) else [content]
    return [block for block in blocks if isinstance(block, dict)]
