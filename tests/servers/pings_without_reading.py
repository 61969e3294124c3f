"""Sends pings without end after the handshake, and never reads an answer."""

from tests.servers.minimal import messages, result, send, welcome

if __name__ == "__main__":
    stream = messages()
    first = next(stream)
    result(first["id"], welcome(first["params"], {}))
    number = 0
    while True:
        number += 1
        send(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % number)
