"""Members that a revision does not have (yet, or any more), and features that are on their way out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.check.rule import ALL, HANDSHAKE, STATELESS, Rule
from workbench.check.watched import (
    META_LOG_LEVEL,
    META_VERSION,
    Hooks,
    Watched,
    inner,
    params_of,
    released,
    result_of,
)
from workbench.core.exchange import Exchange, Told
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message
from workbench.core.methods import REVISIONS

_24, _25A, _25B, _25C, _26 = REVISIONS

FIELD_NEWER = Rule(
    "field-newer",
    "info",
    HANDSHAKE,
    "Schema, of the revision that brought it",
    "The message has a member that came with a later revision than the one that holds here; the other side "
    "need not look at it. It is told once a connection for each member.",
    (
        "@ 2024-11-05",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t"}}',
        '< {"jsonrpc":"2.0","id":7,"result":{"content":[],"structuredContent":{}}}',
    ),
)
FIELD_REMOVED = Rule(
    "field-removed",
    "info",
    STATELESS,
    "Changelog of 2026-07-28",
    "The message has a member that 2026-07-28 has removed. It is told once a connection for each member.",
    (
        "@ 2026-07-28",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":$META}}',
        '< {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"public",'
        '"tools":[{"name":"t","inputSchema":{"type":"object"},"execution":{}}]}}',
    ),
)
FEATURE_DEPRECATED = Rule(
    "feature-deprecated",
    "info",
    ALL,
    "Deprecated features (2026-07-28), and Client features: Sampling (2025-11-25)",
    "The message uses a feature that is deprecated. It is told once a connection for each feature.",
    (
        "@ 2025-11-25",
        '< {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,'
        '"includeContext":"allServers"}}',
    ),
)

RULES = (FIELD_NEWER, FIELD_REMOVED, FEATURE_DEPRECATED)

#: The revision that brought a member: by method, in its params or its result. ``*`` is each item of an
#: array. (Matrix of the schemas of all revisions.)
_SINCE: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("initialize", "params"): (
        ("capabilities/elicitation", _25B),
        ("capabilities/elicitation/form", _25C),
        ("capabilities/elicitation/url", _25C),
        ("capabilities/sampling/tools", _25C),
        ("capabilities/sampling/context", _25C),
        ("capabilities/tasks", _25C),
        ("capabilities/extensions", _26),
        ("clientInfo/title", _25B),
        ("clientInfo/description", _25C),
        ("clientInfo/websiteUrl", _25C),
        ("clientInfo/icons", _25C),
    ),
    ("initialize", "result"): (
        ("capabilities/completions", _25A),
        ("capabilities/tasks", _25C),
        ("capabilities/extensions", _26),
        ("serverInfo/title", _25B),
        ("serverInfo/description", _25C),
        ("serverInfo/websiteUrl", _25C),
        ("serverInfo/icons", _25C),
    ),
    ("tools/list", "result"): (
        ("tools/*/annotations", _25A),
        ("tools/*/title", _25B),
        ("tools/*/outputSchema", _25B),
        ("tools/*/_meta", _25B),
        ("tools/*/icons", _25C),
        ("tools/*/execution", _25C),
    ),
    ("resources/list", "result"): (("resources/*/title", _25B), ("resources/*/icons", _25C)),
    ("resources/templates/list", "result"): (
        ("resourceTemplates/*/title", _25B),
        ("resourceTemplates/*/icons", _25C),
    ),
    ("prompts/list", "result"): (("prompts/*/title", _25B), ("prompts/*/icons", _25C)),
    ("tools/call", "params"): (("task", _25C), ("inputResponses", _26), ("requestState", _26)),
    ("tools/call", "result"): (("structuredContent", _25B), ("task", _25C)),
    ("completion/complete", "params"): (("context", _25B),),
    ("elicitation/create", "params"): (("mode", _25C), ("url", _25C), ("task", _25C)),
    ("sampling/createMessage", "params"): (("tools", _25C), ("toolChoice", _25C), ("task", _25C)),
    ("notifications/progress", "params"): (("message", _25A),),
}

#: Members any result or request of a legacy session may wrongly have.
_OF_ANY_RESULT = (("resultType", _26), ("ttlMs", _26), ("cacheScope", _26), ("inputRequests", _26))

#: Types of content and the revision that brought them.
_CONTENT = {"audio": _25A, "resource_link": _25B, "tool_use": _25C, "tool_result": _25C}

_REMOVED = {("tools/list", "result"): ("tools/*/execution",)}

#: Methods whose use is deprecated in 2026-07-28, where they are within a result.
_DEPRECATED_REQUESTS = {"sampling/createMessage": "sampling", "roots/list": "roots"}


class Fields:
    """Looks for members by tables; what is known of a connection is told once."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        self._told: set[str] = set()
        for method, side in _SINCE:
            if method.startswith("notifications/"):
                hooks.on_told(self._on_told, method)
            elif side == "params":
                hooks.on_request(self._on_request, method)
        hooks.answers.append(self._on_answer)
        hooks.requests.append(self._on_meta)
        hooks.on_request(self._on_sampling, "sampling/createMessage")

    def _on_request(self, exchange: Exchange, message: Message) -> None:
        holds = self._watched.revision
        if exchange.method == "initialize":
            offered = params_of(message).get("protocolVersion")
            holds = released(offered) if isinstance(offered, str) else None
        self._newer(exchange.method, "params", params_of(message), holds)

    def _on_meta(self, _exchange: Exchange, message: Message) -> None:
        meta = inner(params_of(message), "_meta")
        if not isinstance(meta, dict):
            return
        if self._watched.modern:
            if META_LOG_LEVEL in meta:
                self._once(FEATURE_DEPRECATED, "logging", "/params/_meta", "logging")
        elif META_VERSION in meta and self._watched.revision is not None:
            self._once(FIELD_NEWER, META_VERSION, "/params/_meta", f"{META_VERSION} is there since {_26}")

    def _on_told(self, told: Told) -> None:
        method = told.message.method or ""
        self._newer(method, "params", params_of(told.message), self._watched.revision)

    def _on_answer(self, exchange: Exchange, message: Message) -> None:
        if message.kind is not Kind.RESULT:
            return
        watched, result = self._watched, result_of(message)
        if watched.modern:
            for path in _REMOVED.get((exchange.method, "result"), ()):
                for pointer, _ in _at(result, path.split("/")):
                    self._once(FIELD_REMOVED, path, f"/result{pointer}", path)
            self._deprecated_within(result)
            return
        self._newer(exchange.method, "result", result, watched.revision)
        for member, since in _OF_ANY_RESULT:
            if member in result:
                self._once(FIELD_NEWER, member, f"/result/{member}", f"{member} is there since {since}")
        if exchange.method in ("tools/call", "prompts/get") and watched.revision is not None:
            self._content(result, watched.revision)

    def _newer(self, method: str, side: str, value: dict[str, Any], holds: str | None) -> None:
        if holds is None or (holds >= _25C and method != "initialize") or not value:
            return
        for path, since in _SINCE.get((method, side), ()):
            if since > holds and f"{method} {path}" not in self._told:
                for pointer, _ in _at(value, path.split("/")):
                    self._once(
                        FIELD_NEWER, f"{method} {path}", f"/{side}{pointer}", f"{path} is there since {since}"
                    )

    def _content(self, result: dict[str, Any], holds: str) -> None:
        for path in ("content/*/type", "messages/*/content/type"):
            for pointer, kind in _at(result, path.split("/")):
                since = _CONTENT.get(kind) if isinstance(kind, str) else None
                if since is not None and since > holds:
                    detail = f"content of type {kind} is there since {since}"
                    self._once(FIELD_NEWER, f"content {kind}", f"/result{pointer}", detail)

    def _on_sampling(self, _exchange: Exchange, message: Message) -> None:
        context = params_of(message).get("includeContext")
        if context in ("thisServer", "allServers") and (self._watched.revision or "") >= _25C:
            self._once(FEATURE_DEPRECATED, "includeContext", "/params/includeContext", "includeContext")

    def _deprecated_within(self, result: dict[str, Any]) -> None:
        requests = result.get("inputRequests")
        for key, request in list(requests.items())[:100] if isinstance(requests, dict) else ():
            method = inner(request, "method")
            feature = _DEPRECATED_REQUESTS.get(method) if isinstance(method, str) else None
            if feature is not None:
                self._once(FEATURE_DEPRECATED, feature, f"/result/inputRequests/{key}", feature)

    def _once(self, rule: Rule, key: str, pointer: str, detail: str) -> None:
        if key not in self._told:
            self._told.add(key)
            self._watched.found(rule, pointer, detail)


def _at(value: Any, path: list[str]) -> Iterator[tuple[str, Any]]:
    """The pointers and values at a path, in which ``*`` is each item of an array."""
    if not path:
        yield "", value
    elif path[0] == "*":
        for index, item in enumerate(value if isinstance(value, list) else ()):
            for pointer, found in _at(item, path[1:]):
                yield f"/{index}{pointer}", found
    elif isinstance(value, dict) and path[0] in value:
        for pointer, found in _at(value[path[0]], path[1:]):
            yield f"/{path[0]}{pointer}", found
