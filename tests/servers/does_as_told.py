"""Does in a call what the call tells it to, and gives back everything the client sent meanwhile.

The tool's ``text`` is a JSON array of steps, done in order:

    {"send": MESSAGE}        write this message
    {"answer": ID}           wait until the client has answered this id
    {"hear": METHOD}         wait until the client has sent this method
    {"env": NAME}            tell a variable of the environment

The arguments of the program: capabilities (JSON), and errors by method (JSON, optional).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from tests.servers.minimal import Params, error, messages, result, send, serve, text

CAPABILITIES: dict[str, Any] = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {"tools": {}}
ERRORS: dict[str, Any] = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}

Heard = list[dict[str, Any]]


def call(id: object, params: Params) -> None:
    heard: Heard = []
    incoming = messages()
    for step in json.loads(params["arguments"]["text"]):
        if "send" in step:
            send({"jsonrpc": "2.0", **step["send"]})
        elif "env" in step:
            heard.append({"method": "env", "value": os.environ.get(step["env"])})
        elif "answer" in step:
            _until(
                incoming, heard, lambda each, step=step: "method" not in each and each["id"] == step["answer"]
            )
        else:
            _until(incoming, heard, lambda each, step=step: each.get("method") == step["hear"])
    result(id, text(json.dumps(heard)))


def _until(incoming: Iterator[dict[str, Any]], heard: Heard, wanted: Callable[..., bool]) -> None:
    while not any(wanted(each) for each in heard):
        message = next(incoming)
        heard.append(message)
        if "method" in message and "id" in message:
            result(message["id"], {})


def _refuse(method: str) -> Callable[[object, Params], None]:
    def handler(id: object, _params: Params) -> None:
        wrong = ERRORS[method]
        error(id, wrong["code"], wrong["message"], wrong.get("data"))

    return handler


def _agree(id: object, _params: Params) -> None:
    if id is not None:
        result(id, {})


if __name__ == "__main__":
    agreed = dict.fromkeys(
        ("resources/subscribe", "resources/unsubscribe", "logging/setLevel", "prompts/get"), _agree
    )
    serve({**agreed, "tools/call": call, **{method: _refuse(method) for method in ERRORS}}, CAPABILITIES)
