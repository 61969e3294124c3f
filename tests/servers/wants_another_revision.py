"""Answers initialize with the revision of its argument, or refuses and lists what it supports."""

import sys

from tests.servers.minimal import Params, error, result, serve, welcome


def initialize(id: object, params: Params) -> None:
    if sys.argv[1:]:
        result(id, welcome(params) | {"protocolVersion": sys.argv[1]})
    else:
        error(id, -32602, "Unsupported protocol version", {"supported": ["2024-10-07", "2024-11-05"]})


if __name__ == "__main__":
    serve({"initialize": initialize})
