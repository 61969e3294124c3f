"""A bare stdio MCP server that answers at once.

It is what the stand-in is measured against: nothing but the standard library, no
framework, no checks. One line in, one line out.
"""

import json
import sys

TOOL = {
    "name": "echo",
    "description": "Gives back what it was given",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}


def initialize(params):
    return {
        "protocolVersion": params.get("protocolVersion", "2025-11-25"),
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "bare", "version": "1"},
    }


def call(params):
    return {"content": [{"type": "text", "text": params.get("arguments", {}).get("text", "")}]}


METHODS = {
    "initialize": initialize,
    "ping": lambda params: {},
    "tools/list": lambda params: {"tools": [TOOL]},
    "tools/call": call,
}


def main():
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


main()
