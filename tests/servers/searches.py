"""A server in two builds that answer alike, but not quite: ``old`` and ``new``; ``bare`` lists one tool less.

``search`` gives hits as JSON in a text, ``wait`` never answers, ``many`` answers with so many
numbers, ``fail`` is an error in one build and a tool error in the other.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.servers.minimal import Params, error, result, serve, text

BUILD = sys.argv[1] if len(sys.argv) > 1 else "old"


def tool(name: str, *required: str, **properties: Any) -> Params:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": f"{name} of build {BUILD}", "inputSchema": schema}


TOOLS = [
    tool("search", "query", query={"type": "string"}, limit={"type": "integer"}),
    tool("wait"),
    tool("many", "count", count={"type": "integer"}),
    tool("fail"),
]


def hits(arguments: Params) -> Params:
    found: list[Params] = [
        {"id": "a1", "title": f"About {arguments.get('query', '')}", "score": 0.92},
        {"id": "b7", "title": "Rivers of the north", "score": 0.5},
        {"id": "c3", "title": "Holding hands while asleep", "score": 0.25},
    ]
    if BUILD == "new":
        found[0] |= {"score": 0.91, "lang": "en"}
    return {"total": 3, "results": found}


def call(id: Any, params: Params) -> None:
    name, arguments = params.get("name"), params.get("arguments", {})
    if name == "search":
        result(id, text(json.dumps(hits(arguments))))
    elif name == "many":
        numbers = [{"n": place, "square": place * place} for place in range(arguments["count"])]
        numbers[-1]["square"] += BUILD == "new"
        result(id, {"content": [], "structuredContent": {"numbers": numbers}})
    elif name == "fail" and BUILD == "old":
        error(id, -32603, "the index is gone", {"retry": 5})
    elif name == "fail":
        result(id, text("the index is gone") | {"isError": True})


def listed(id: Any, _params: Params) -> None:
    result(id, {"tools": TOOLS[1:] if BUILD == "bare" else TOOLS})


if __name__ == "__main__":
    serve({"tools/call": call, "tools/list": listed})
