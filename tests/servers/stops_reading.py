"""Answers the handshake and then never reads again; still ends on SIGTERM."""

import signal

from tests.servers.minimal import messages, result, welcome

if __name__ == "__main__":
    stream = messages()
    first = next(stream)
    result(first["id"], welcome(first["params"], {}))
    while True:
        signal.pause()
