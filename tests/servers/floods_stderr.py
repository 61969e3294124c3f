"""Writes 4 MB to stderr before it answers a call, and one line without an end."""

import sys

from tests.servers.minimal import Params, result, serve, text

LINES = 40_000


def call(id: object, _params: Params) -> None:
    sys.stderr.write("".join(f"line {number:6d} {'x' * 88}\n" for number in range(LINES)))
    sys.stderr.write("no end")
    sys.stderr.flush()
    result(id, text("done"))


if __name__ == "__main__":
    serve({"tools/call": call})
