"""Has a token in its environment and a key among its arguments, and is careless with both.

It proves that it has them by their digests, and says them on stderr, in a log message, in the
error of an unknown tool and in the text of ``leak``; it stops with them as its last words when
the variable ``STOP`` is set.
"""

import hashlib
import os
import sys

from tests.servers.minimal import Params, error, log, notify, result, serve, text


def call(id: object, params: Params) -> None:
    token, key = os.environ["SERVICE_TOKEN"], sys.argv[2]
    notify("notifications/message", {"level": "info", "data": {"using": [token, f"key={key}"]}})
    if params["name"] == "digest":
        digests = [hashlib.sha256(secret.encode()).hexdigest() for secret in (token, key)]
        result(id, text(" ".join(digests)))
    elif params["name"] == "leak":
        result(id, text(f"https://user:{token}@host/?key={key}"))
    else:
        error(id, -32000, f"the token {token} may not do this", {"key": key})


if __name__ == "__main__":
    log(f"starting with {os.environ['SERVICE_TOKEN']} and {sys.argv[2]}")
    if "STOP" in os.environ:
        sys.exit(4)
    serve({"tools/call": call}, {"tools": {}, "logging": {}})
