"""Asks the client for everything at once during a call, takes one back, and then answers.

It waits for the answers to what it did not take back and tells them as the result.
"""

import json

from tests.servers.minimal import Params, messages, notify, result, send, serve, text


def call(id: object, params: Params) -> None:
    send(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "sampling/createMessage",
            "params": {"messages": [], "maxTokens": 1},
        }
    )
    send(
        {
            "jsonrpc": "2.0",
            "id": "ask",
            "method": "elicitation/create",
            "params": {"message": "Name?", "requestedSchema": {"type": "object", "properties": {}}},
        }
    )
    send({"jsonrpc": "2.0", "id": 3, "method": "roots/list"})
    send({"jsonrpc": "2.0", "id": 4, "method": "made/up"})
    send({"jsonrpc": "2.0", "id": 5, "method": "ping"})
    expected = {"ask", 3, 4, 5}
    if params["arguments"]["text"] == "take back":
        notify("notifications/cancelled", {"requestId": 1, "reason": "changed my mind"})
    else:
        expected.add(1)
    answers = {}
    for message in messages():
        if message.get("id") in expected and "method" not in message:
            expected.remove(message["id"])
            answers[str(message["id"])] = message.get("result", message.get("error"))
        if not expected:
            break
    result(id, text(json.dumps(answers)))


if __name__ == "__main__":
    serve({"tools/call": call})
