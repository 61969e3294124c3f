"""A bare stdio MCP server that answers at once.

It is what the stand-in is measured against: nothing but the standard library, no
framework, no checks. One line in, one line out.
"""

from __future__ import annotations

import json
import sys

TYPE_CHECKING = False  # loading typing would take longer than everything else here
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

TOOL = {
    "name": "echo",
    "description": "Gives back what it was given",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}


def initialize(params: dict[str, str]) -> dict[str, object]:
    return {
        "protocolVersion": params.get("protocolVersion", "2025-11-25"),
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "bare", "version": "1"},
    }


def call(params: dict[str, dict[str, str]]) -> dict[str, object]:
    return {"content": [{"type": "text", "text": params.get("arguments", {}).get("text", "")}]}


METHODS: dict[str, Callable[[dict[str, Any]], dict[str, object]]] = {
    "initialize": initialize,
    "ping": lambda _params: {},
    "tools/list": lambda _params: {"tools": [TOOL]},
    "tools/call": call,
}


def main() -> None:
    out = sys.stdout
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        method = METHODS.get(message["method"])
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if method is None:
            answer["error"] = {"code": -32601, "message": "no such method"}
        else:
            answer["result"] = method(message.get("params", {}))
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
