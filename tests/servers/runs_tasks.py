"""Makes tasks of calls ("Tasks", 2025-11-25). How one goes, the call's ``text`` says.

at once        no task is made: the result comes at once
quick          working, then completed
asks           input_required; whoever asks for the result is sent an elicitation, then completed
tool error     failed, with a result that says isError
fails          failed, and the result is an error
forgotten      the task is unknown when it is asked for
told           completed, told by a notification alone: polls are not answered
silent         polls are not answered at all
forever        always working
late           the task is made only when a ping comes
"""

from __future__ import annotations

import itertools
from typing import Any

from tests.servers.minimal import Params, error, messages, notify, result, send, text, welcome

INTERVAL = 100
CAPABILITIES: dict[str, Any] = {
    "tools": {},
    "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}},
}
RELATED = "io.modelcontextprotocol/related-task"


class Tasks:
    def __init__(self) -> None:
        self.known: dict[str, dict[str, Any]] = {}
        self.ways: dict[str, str] = {}
        self.polls: dict[str, int] = {}
        self.waiting: dict[str, object] = {}
        self.late: list[tuple[object, str]] = []

    def make(self, id: object, way: str) -> None:
        name = f"task-{len(self.known) + 1}"
        self.known[name] = {"taskId": name, "status": "working", "ttl": 60_000, "pollInterval": INTERVAL}
        self.known[name] |= {"createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"}
        self.ways[name] = way
        self.polls[name] = 0
        result(id, {"task": self.known[name]})
        if way == "told":
            self.known[name]["status"] = "completed"
            notify("notifications/tasks/status", self.known[name])

    def get(self, id: object, name: str) -> None:
        way, task = self.ways.get(name), self.known.get(name)
        if task is None or way == "forgotten":
            error(id, -32602, "no such task")
            return
        if way in ("silent", "told"):
            return
        self.polls[name] += 1
        if way == "asks" and task["status"] == "working":
            task["status"] = "input_required"
        elif way in ("tool error", "fails"):
            task["status"] = "failed"
        elif way == "quick" and self.polls[name] > 1:
            task["status"] = "completed"
        result(id, task)

    def fetch(self, id: object, name: str) -> None:
        way, task = self.ways.get(name), self.known.get(name)
        if task is None:
            error(id, -32602, "no such task")
        elif way == "asks" and task["status"] == "input_required":
            self.waiting[name] = id
            schema = {"type": "object", "properties": {"name": {"type": "string", "default": "Ada"}}}
            params = {"message": "Name?", "requestedSchema": schema, "_meta": {RELATED: {"taskId": name}}}
            send({"jsonrpc": "2.0", "id": name, "method": "elicitation/create", "params": params})
        elif way == "fails":
            error(id, -32603, "it went wrong", {"task": name})
        else:
            self.finish(id, name, f"{way} done")

    def finish(self, id: object, name: str, words: str) -> None:
        more = {"isError": True} if self.ways[name] == "tool error" else {}
        result(id, {**text(words), **more, "_meta": {RELATED: {"taskId": name}}})

    def answered(self, message: dict[str, Any]) -> None:
        name = str(message.get("id"))
        if name in self.waiting:
            self.known[name]["status"] = "completed"
            self.finish(self.waiting.pop(name), name, str(message["result"]))

    def cancel(self, id: object, name: str) -> None:
        task = self.known.get(name)
        if task is None or task["status"] in ("completed", "failed", "cancelled"):
            error(id, -32602, "it cannot be cancelled")
            return
        task["status"] = "cancelled"
        result(id, task)


def main() -> None:
    tasks = Tasks()
    for message in messages():
        method, id, params = message.get("method"), message.get("id"), message.get("params", {})
        name = str(params.get("taskId"))
        if method == "initialize":
            result(id, welcome(params, CAPABILITIES))
        elif method == "tools/call":
            call(tasks, id, params)
        elif method == "ping":
            for waiting, way in tasks.late:
                tasks.make(waiting, way)
            tasks.late.clear()
            result(id, {})
        elif method == "tasks/get":
            tasks.get(id, name)
        elif method == "tasks/result":
            tasks.fetch(id, name)
        elif method == "tasks/cancel":
            tasks.cancel(id, name)
        elif method == "tasks/list":
            listed(tasks, id, params)
        elif method is None:
            tasks.answered(message)
        elif id is not None:
            error(id, -32601, f"Method not found: {method}")


def call(tasks: Tasks, id: object, params: Params) -> None:
    way = params["arguments"]["text"]
    if "task" not in params or way == "at once":
        result(id, text("at once"))
    elif way == "late":
        tasks.late.append((id, "forever"))
    else:
        tasks.make(id, way)


def listed(tasks: Tasks, id: object, params: Params) -> None:
    """A page of two."""
    start = int(params.get("cursor", 0))
    page = list(itertools.islice(tasks.known.values(), start, start + 2))
    more = {"nextCursor": str(start + 2)} if start + 2 < len(tasks.known) else {}
    result(id, {"tasks": page, **more})


if __name__ == "__main__":
    main()
