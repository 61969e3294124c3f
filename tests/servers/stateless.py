"""The least a server of the stateless era is made of; what is odd about one is given as arguments.

``python -m tests.servers.stateless [ODDITY…]``: ``no-type``, ``no-hints`` and ``no-info`` leave
out members of results, ``draft`` answers the first discovery with a draft's error code,
``never-released`` names versions nobody released, ``legacy-only`` only those with a handshake,
``undiscoverable`` has no ``server/discover``, ``silent`` never answers it, ``ends`` ends on it,
``late`` answers it when ``initialize`` has come, ``handshake`` answers ``initialize`` too, and
``once=FILE`` never answers it before ``initialize`` has come to a process before this one.

Its tools: ``echo``, ``ask`` (asks two things, then the same once more, each with a state),
``wait`` (answers when it is cancelled), ``poke`` (tells every listener that tools changed), ``end``
(ends every subscription with the server's ``notifications/cancelled``).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tests.servers.minimal import Params, error, log, messages, notify, result, text, welcome

REVISION = "2026-07-28"
META = "io.modelcontextprotocol/"
ODD = frozenset(sys.argv[1:])
SLOW_ONCE = next((Path(word.removeprefix("once=")) for word in ODD if word.startswith("once=")), None)
FORM = {"type": "object", "properties": {"n": {"type": "string"}}}
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "ask", "wait", "poke", "end")]
CAPABILITIES = {"tools": {"listChanged": True}, "resources": {"subscribe": True}}

listeners: dict[Any, Params] = {}
waiting: dict[Any, Any] = {}
late: list[Any] = []
asked: list[str] = []


def answer(id: Any, members: Params, *, cached: bool = False, kind: str = "complete") -> None:
    """A result as this era has it, without what is asked to be left out."""
    more: Params = {} if "no-type" in ODD else {"resultType": kind}
    if cached and "no-hints" not in ODD:
        more |= {"ttlMs": 60_000, "cacheScope": "private"}
    if "no-info" not in ODD:
        more["_meta"] = {META + "serverInfo": {"name": "stateless", "version": "1"}}
    result(id, members | more)


def discover(id: Any) -> None:
    asked.append("discover")
    if SLOW_ONCE is not None and SLOW_ONCE.exists():
        discovered(id)
    elif "silent" in ODD or SLOW_ONCE is not None:
        sys.stderr.write("server is up")  # no line yet, and a sign of life all the same
        sys.stderr.flush()
    elif "ends" in ODD:
        sys.exit(7)
    elif "late" in ODD and len(late) == 0:
        log("server is up")
        late.append(id)
    elif "draft" in ODD and len(asked) == 1:
        error(id, -32004, "draft", {"supported": [REVISION], "requested": "x"})
    elif "undiscoverable" in ODD:
        error(id, -32601, "Method not found: server/discover")
    else:
        discovered(id)


def discovered(id: Any) -> None:
    versions = [REVISION]
    if "never-released" in ODD:
        versions = ["2027-02-30", "DRAFT-2026-v9"]
    elif "legacy-only" in ODD:
        versions = ["2025-11-25", "2025-06-18"]
    answer(id, {"supportedVersions": versions, "capabilities": CAPABILITIES}, cached=True)


def initialize(id: Any, params: Params) -> None:
    if late:
        discovered(late[0])
    knows = {"handshake", "legacy-only", "silent", "ends"} & ODD
    if SLOW_ONCE is not None:
        SLOW_ONCE.touch()
    if knows:
        result(id, welcome(params))
    else:
        error(id, -32022, f"connection is serving the {REVISION} protocol", {"supported": [REVISION]})


def call(id: Any, params: Params) -> None:
    name = params.get("name")
    if name == "wait":
        waiting[id] = None
    elif name == "poke":
        for listener in listeners:
            tagged("notifications/tools/list_changed", listener)
        answer(id, text("poked"))
    elif name == "end":
        while listeners:
            notify("notifications/cancelled", {"requestId": listeners.popitem()[0]})
        answer(id, text("ended"))
    elif name == "ask":
        ask(id, params)
    else:
        answer(id, text(str(params.get("arguments", {}).get("text", ""))))


def ask(id: Any, params: Params) -> None:
    state, given = params.get("requestState"), params.get("inputResponses", {})
    who = params.get("arguments", {}).get("who", "")
    if state is None:
        form = {"mode": "form", "message": f"{who}?", "requestedSchema": FORM}
        inputs = {"name": {"method": "elicitation/create", "params": form}, "roots": {"method": "roots/list"}}
        answer(id, {"inputRequests": inputs, "requestState": f"one of {who}"}, kind="input_required")
    elif state == f"one of {who}" and {"name", "roots"} <= given.keys():
        answer(id, {"requestState": f"two of {who}: {given['name']}"}, kind="input_required")
    elif state.startswith(f"two of {who}: ") and not given:
        answer(id, text(state))
    else:
        answer(id, text(f"wrong: {state} {given}") | {"isError": True})


def listen(id: Any, params: Params) -> None:
    listeners[id] = params.get("notifications", {})
    tagged("notifications/subscriptions/acknowledged", id, notifications=listeners[id])


def tagged(method: str, listener: Any, **params: Any) -> None:
    notify(method, params | {"_meta": {META + "subscriptionId": listener}})


def cancelled(params: Params) -> None:
    id = params.get("requestId")
    listeners.pop(id, None)
    log(f"cancelled {id}")


def main() -> None:
    for message in messages():
        method, id, params = message.get("method"), message.get("id"), message.get("params", {})
        if method == "server/discover":
            discover(id)
        elif method == "initialize":
            initialize(id, params)
        elif method == "notifications/cancelled":
            cancelled(params)
        elif id is None:
            continue
        elif method == "tools/list":
            answer(id, {"tools": TOOLS}, cached=True)
        elif method == "resources/list":
            answer(id, {"resources": [{"uri": "a:1", "name": "one"}]}, cached=True)
        elif method == "resources/templates/list":
            answer(id, {"resourceTemplates": []}, cached=True)
        elif method == "tools/call":
            call(id, params)
        elif method == "subscriptions/listen":
            listen(id, params)
        else:
            error(id, -32601, f"Method not found: {method}")


if __name__ == "__main__":
    main()
