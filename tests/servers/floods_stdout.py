"""Sends notifications without end from the first call on, as fast as they are read."""

from tests.servers.minimal import Params, send, serve

CHUNK = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n' * 500


def call(_id: object, _params: Params) -> None:
    while True:
        send(CHUNK)


if __name__ == "__main__":
    serve({"tools/call": call})
