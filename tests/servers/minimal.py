"""The least a server is made of. The misbehaving servers beside it change one thing each.

Run by itself it is a well-behaved server with one tool.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

Params = dict[str, Any]

TOOL = {"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}


def send(message: Any) -> None:
    """Write a message as a line, or bytes as they are."""
    raw = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
    sys.stdout.buffer.write(raw)
    sys.stdout.buffer.flush()


def result(id: Any, value: Any) -> None:
    send({"jsonrpc": "2.0", "id": id, "result": value})


def error(id: Any, code: int, message: str, data: Any = None) -> None:
    inner = {"code": code, "message": message} | ({} if data is None else {"data": data})
    send({"jsonrpc": "2.0", "id": id, "error": inner})


def notify(method: str, params: Any = None) -> None:
    send({"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params}))


def log(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def messages() -> Iterator[dict[str, Any]]:
    """What the client sends, until it closes our stdin."""
    for line in sys.stdin.buffer:
        yield json.loads(line)


def welcome(params: Params, capabilities: Any = None) -> Params:
    """The answer to initialize."""
    return {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {}} if capabilities is None else capabilities,
        "serverInfo": {"name": "minimal", "version": "1"},
    }


def text(value: str) -> Params:
    """A tool's result."""
    return {"content": [{"type": "text", "text": value}]}


def serve(handlers: dict[str, Callable[[Any, Params], None]], capabilities: Any = None) -> None:
    """Answer until the client is done. A handler gets the id and the params and answers itself."""
    for message in messages():
        method, id, params = message.get("method"), message.get("id"), message.get("params", {})
        if method in handlers:
            handlers[method](id, params)
        elif id is None or method is None:
            continue
        elif method == "initialize":
            result(id, welcome(params, capabilities))
        elif method == "tools/list":
            result(id, {"tools": [TOOL]})
        elif method == "tools/call":
            result(id, text(str(params.get("arguments", {}).get("text", ""))))
        elif method == "ping":
            result(id, {})
        else:
            error(id, -32601, f"Method not found: {method}")


if __name__ == "__main__":
    serve({})
