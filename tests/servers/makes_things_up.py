"""Makes its cursors, tasks, URIs, elicitation ids and states up anew in each run, in both eras.

``python -m tests.servers.makes_things_up [FAULT…]`` serves it over stdio; ``serve`` is for any
serving half. A fault is ``changed`` (a field of ``create``'s result), ``missing`` (no tool
``create``), ``slow`` (``create`` takes 0.6 s), ``reordered`` (the first page of tools), ``refuses``
(``create`` is an error), ``silent`` (asks nothing), ``asks-more`` (of what it asks, once more),
``leaks`` (``create`` tells a token).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection
from typing import Any
from uuid import uuid4

import anyio

from tests.wire.stage import MemorySink
from workbench.core import jsonrpc
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message
from workbench.wire.serving_stdio import serve_stdio
from workbench.wire.tap import Tap
from workbench.wire.transport import Client, Received, Serve

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
SERVER = {"name": "makes things up", "version": "1"}
FORM = {"type": "object", "properties": {"city": {"type": "string"}}}
TOKEN = "ghp_" + "Zx9" * 12
TOOLS = ("ask", "book", "create", "research", "slow")

Params = dict[str, Any]


def serving(*faults: str) -> Serve:
    """The server with these faults."""

    async def serve(client: Client) -> None:
        one = _One(client, frozenset(faults))
        async with anyio.create_task_group() as group:
            while (received := await client.receive()) is not None:
                for message in received.decoded.messages:
                    group.start_soon(one.take, received, message)
            group.cancel_scope.cancel()

    return serve


class _One:
    """One client's server."""

    def __init__(self, client: Client, faults: Collection[str]) -> None:
        self._client = client
        self._faults = faults
        self._cursors: dict[str, int] = {}
        self._notes: dict[str, str] = {}
        self._tasks: dict[str, Params] = {}
        self._polls: dict[str, int] = {}
        self._states: dict[str, str] = {}
        self._listeners: list[tuple[str, int]] = []
        self._asked: dict[str, Callable[[Params], None]] = {}

    async def take(self, received: Received, message: Message) -> None:
        """Do what a message asks for."""
        if message.kind in (Kind.RESULT, Kind.ERROR):
            answered = self._asked.pop(message.id or "", None)
            if answered is not None:
                answered(message.value("result") or {})
            return
        if message.kind is not Kind.REQUEST:
            return
        params = message.value("params") or {}
        reply = _Reply(self._client, received.stream, message.id or "null", _is_modern(params))
        method = (message.method or "").replace("/", "_")
        handler = getattr(self, f"_{method}", None)
        if handler is None:
            reply.fail(-32601, f"Method not found: {message.method}")
        else:
            await handler(reply, params)

    async def _initialize(self, reply: _Reply, params: Params) -> None:
        reply.result(_welcome() | {"protocolVersion": params.get("protocolVersion"), "serverInfo": SERVER})

    async def _server_discover(self, reply: _Reply, _params: Params) -> None:
        reply.result(_welcome() | {"supportedVersions": [MODERN], "ttlMs": 0, "cacheScope": "private"})

    async def _tools_list(self, reply: _Reply, params: Params) -> None:
        """Pages of two."""
        cursor = params.get("cursor")
        if cursor is not None and cursor not in self._cursors:
            reply.fail(-32602, f"unknown cursor {cursor}")
            return
        names = [name for name in TOOLS if not (name == "create" and "missing" in self._faults)]
        if "reordered" in self._faults:
            names[:2] = reversed(names[:2])
        start = self._cursors.get(cursor or "", 0)
        page: Params = {
            "tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names[start : start + 2]]
        }
        if start + 2 < len(names):
            page["nextCursor"] = f"page-{uuid4()}"
            self._cursors[page["nextCursor"]] = start + 2
        reply.result(page | ({"ttlMs": 0, "cacheScope": "private"} if reply.modern else {}))

    async def _tools_call(self, reply: _Reply, params: Params) -> None:
        name, arguments = params.get("name"), params.get("arguments") or {}
        if name == "create" and "missing" in self._faults:
            reply.fail(-32602, "Unknown tool: create")
        elif name == "create":
            await self._create(reply, arguments)
        elif name == "book":
            self._book(reply)
        elif name == "research" and "task" in params:
            self._research(reply)
        elif name == "ask":
            self._ask(reply, params)
        elif name == "poke":
            for listener in self._listeners:
                self._listened("notifications/tools/list_changed", listener)
            reply.text("poked")
        elif name == "slow":
            await anyio.sleep(arguments.get("seconds", 0))
            reply.text("slept")
        else:
            reply.fail(-32602, f"Unknown tool: {name}")

    async def _create(self, reply: _Reply, arguments: Params) -> None:
        if "refuses" in self._faults:
            reply.fail(-32603, f"no more notes for {TOKEN}")
            return
        if "slow" in self._faults:
            await anyio.sleep(0.6)
        uri = f"note://{uuid4()}"
        self._notes[uri] = str(arguments.get("text"))
        link = {"type": "resource_link", "uri": uri, "name": "a note"}
        told = {"uri": uri, "kind": "memo" if "changed" in self._faults else "note"}
        if "leaks" in self._faults:
            told["kind"] = TOKEN
        reply.result({"content": [link], "structuredContent": told})

    async def _resources_read(self, reply: _Reply, params: Params) -> None:
        uri = params.get("uri")
        if uri not in self._notes:
            reply.fail(-32002, "Resource not found")
            return
        contents = [{"uri": uri, "mimeType": "text/plain", "text": self._notes[uri]}]
        reply.result({"contents": contents} | ({"ttlMs": 0, "cacheScope": "private"} if reply.modern else {}))

    def _book(self, reply: _Reply) -> None:
        """Asks by form, then by URL, and tells when that is done."""
        if "silent" in self._faults:
            reply.text("booked nothing")
            return

        def formed(answer: Params) -> None:
            named = f"elicitation-{uuid4()}"
            city = (answer.get("content") or {}).get("city")

            def opened(_answer: Params) -> None:
                self._tell("notifications/elicitation/complete", {"elicitationId": named}, reply.stream)
                reply.text(f"booked {city}")

            url = f"https://pay.example/{uuid4()}"
            self._request(
                reply, {"mode": "url", "message": "Pay", "url": url, "elicitationId": named}, opened
            )

        form = {"mode": "form", "message": "Where?", "requestedSchema": FORM}
        if "asks-more" in self._faults:
            self._request(reply, form | {"message": "Really?"}, lambda _: self._request(reply, form, formed))
        else:
            self._request(reply, form, formed)

    def _request(self, reply: _Reply, params: Params, answered: Callable[[Params], None]) -> None:
        identity = json.dumps(str(uuid4()))
        self._asked[identity] = answered
        body = jsonrpc.request(identity, "elicitation/create", json.dumps(params))
        self._client.send(body, reply.stream)

    def _tell(self, method: str, params: Params, stream: int) -> None:
        self._client.send(jsonrpc.notification(method, json.dumps(params)), stream)

    def _research(self, reply: _Reply) -> None:
        """Makes a task, which is done after three polls."""
        name = f"task-{uuid4()}"
        times = dict.fromkeys(("createdAt", "lastUpdatedAt"), "2026-01-01T00:00:00Z")
        self._tasks[name] = {"taskId": name, "status": "working", "ttl": 60_000, "pollInterval": 50, **times}
        self._polls[name] = 0
        reply.result({"task": self._tasks[name]})

    async def _tasks_get(self, reply: _Reply, params: Params) -> None:
        task = self._tasks.get(str(params.get("taskId")))
        if task is None:
            reply.fail(-32602, "no such task")
            return
        self._polls[task["taskId"]] += 1
        if self._polls[task["taskId"]] >= 3:
            task["status"] = "completed"
        reply.result(task)

    async def _tasks_result(self, reply: _Reply, params: Params) -> None:
        name = str(params.get("taskId"))
        if name not in self._tasks:
            reply.fail(-32602, "no such task")
            return
        reply.text("researched", _meta={f"{META}related-task": {"taskId": name}})

    def _ask(self, reply: _Reply, params: Params) -> None:
        """Two rounds, each with a state of its own ("Multi round-trip requests")."""
        given = params.get("inputResponses") or {}
        step = self._states.pop(params.get("requestState") or "", "")
        if "requestState" not in params:
            form = {"mode": "form", "message": "Where?", "requestedSchema": FORM}
            inputs = {f"k{uuid4().hex[:6]}": {"method": "elicitation/create", "params": form}}
            reply.result({"inputRequests": inputs, "requestState": self._state("one")}, "input_required")
        elif step == "one" and len(given) == 1:
            city = next(iter(given.values())).get("content", {}).get("city")
            reply.result({"requestState": self._state(f"two {city}")}, "input_required")
        elif step.startswith("two"):
            reply.text(step)
        else:
            reply.fail(-32602, f"unknown state {params['requestState']}")

    def _state(self, step: str) -> str:
        made = uuid4().hex
        self._states[made] = step
        return made

    async def _subscriptions_listen(self, reply: _Reply, params: Params) -> None:
        """Tells it that tools have changed for as long as it listens."""
        self._listeners.append((reply.id, reply.stream))
        granted = {"notifications": params.get("notifications")}
        self._listened("notifications/subscriptions/acknowledged", self._listeners[-1], **granted)

    def _listened(self, method: str, listener: tuple[str, int], **params: Any) -> None:
        identity, stream = listener
        self._tell(method, params | {"_meta": {f"{META}subscriptionId": json.loads(identity)}}, stream)

    async def _ping(self, reply: _Reply, _params: Params) -> None:
        reply.result({})


class _Reply:
    """The way an answer goes back."""

    def __init__(self, client: Client, stream: int, id: str, modern: bool) -> None:
        self._client = client
        self.stream = stream
        self.id = id
        self.modern = modern

    def result(self, value: Params, kind: str = "complete") -> None:
        more: Params = {}
        if self.modern:
            more = {"resultType": kind, "_meta": {f"{META}serverInfo": SERVER}}
        self._client.send(jsonrpc.result(self.id, json.dumps(value | more)), self.stream)

    def text(self, words: str, **more: Any) -> None:
        self.result({"content": [{"type": "text", "text": words}], **more})

    def fail(self, code: int, message: str) -> None:
        self._client.send(jsonrpc.error(self.id, code, message), self.stream)


def _welcome() -> Params:
    tasks: Params = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    return {"capabilities": {"tools": {"listChanged": True}, "resources": {}, "tasks": tasks}}


def _is_modern(params: Params) -> bool:
    return f"{META}protocolVersion" in (params.get("_meta") or {})


async def _over_stdio() -> None:
    sink = MemorySink()
    async with serve_stdio("", serving(*sys.argv[1:]), lambda _name: Tap(sink, 1)) as served:
        await served.over.wait()


if __name__ == "__main__":
    anyio.run(_over_stdio)
