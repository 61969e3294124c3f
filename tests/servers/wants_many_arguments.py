"""Has one tool with 25 arguments, the last of them required."""

from tests.servers.minimal import Params, result, serve

SCHEMA = {
    "type": "object",
    "properties": {f"field_{nr}": {"type": "string", "description": "about it"} for nr in range(25)},
    "required": ["field_24"],
}


def tools(id: object, _params: Params) -> None:
    result(id, {"tools": [{"name": "many", "inputSchema": SCHEMA}]})


if __name__ == "__main__":
    serve({"tools/list": tools})
