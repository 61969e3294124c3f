"""Writes what is no message to its stdout: a banner, blank lines, half a message, other JSON."""

from tests.servers.minimal import Params, result, send, serve, text, welcome

NOISE = [
    b"Server v1 up on stdin\n",
    b"\n",
    b"{half\n",
    b"[]\n",
    b"42\n",
    b'{"level":"info","msg":"x"}\n',
    b"\x1b[32mready\x1b[0m\n",
    b"\xc3\x28\n",
    b"Content-Length: 2\r\n",
]


def initialize(id: object, params: Params) -> None:
    result(id, welcome(params))
    send(b"".join(NOISE))


def call(id: object, _params: Params) -> None:
    send(b'{"jsonrpc":"2.0",\n')
    result(id, text("survived"))


if __name__ == "__main__":
    send(b"".join(NOISE))
    serve({"initialize": initialize, "tools/call": call})
