"""Sends many notifications at once during a call: log messages, then progress of the call.

The argument of the tool is how many of each.
"""

from tests.servers.minimal import Params, result, send, serve, text

LOG = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}\n'
PROGRESS = (
    b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":%d}}\n'
)


def call(id: object, params: Params) -> None:
    count, token = int(params["arguments"]["text"]), params["_meta"]["progressToken"]
    send(b"".join(LOG % number for number in range(count)))
    send(b"".join(PROGRESS % (token, number) for number in range(1, count + 1)))
    result(id, text("done"))


if __name__ == "__main__":
    serve({"tools/call": call}, {"tools": {}, "logging": {}})
