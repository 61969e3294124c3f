"""Lists a name twice, items without a name, and entries that are no items at all."""

from tests.servers.minimal import Params, result, serve, text

SECOND = {"type": "object", "properties": {"second": {"type": "integer"}}}
TOOLS = [
    {"name": "twice", "description": "The first of two", "inputSchema": {"type": "object"}},
    {"name": "twice", "description": "The second of two", "inputSchema": SECOND},
    {"inputSchema": {"type": "object"}},
    "no object",
    None,
    {"name": "last", "inputSchema": [1]},
]


def tools(id: object, _params: Params) -> None:
    result(id, {"tools": TOOLS})


def call(id: object, params: Params) -> None:
    result(id, text(f"called with {params.get('arguments')}"))


if __name__ == "__main__":
    serve({"tools/list": tools, "tools/call": call})
