"""A desk with the same four connections every time, whose calls are answered at once from what is here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.core.actions import Outcome
from workbench.core.jsonrpc import decode
from workbench.store.reader import Reader
from workbench.tui.opened import RecordingDesk
from workbench.tui.runs import Run

START = 1_796_089_763_000_000_000

SEARCH = {
    "name": "search",
    "description": "Finds what the words say",
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
}
FETCH = {"name": "fetch", "description": "Gets a page", "inputSchema": {"type": "object", "properties": {}}}

HITS: list[dict[str, Any]] = [
    {"id": "a1", "title": "Otters of the north", "score": 0.92},
    {"id": "b7", "title": "Holding hands while asleep", "score": 0.5},
]
NEWER: list[dict[str, Any]] = [HITS[0] | {"score": 0.91, "lang": "en"}, HITS[1]]

#: Name, revision, tools, and what ``search`` is answered with after how long.
CONNECTIONS: list[tuple[str, str, list[dict[str, Any]], Any, float]] = [
    ("prod", "2025-06-18", [SEARCH, FETCH], HITS, 0.0181),
    ("build-412", "2025-11-25", [SEARCH, FETCH], NEWER, 0.0114),
    ("fetch", "", [], None, 0.0),
    ("canary", "2025-11-25", [FETCH], None, 0.0),
]


def _bodies(revision: str, tools: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "none", {"event": "started", "pid": 4121, "command": ["server"], "cwd": "/"}
    offer = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "w", "version": "1"}}
    yield "to_server", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": offer}
    if not revision:
        yield "none", {"event": "exited", "code": 3}
        return
    info = {"name": "server", "version": "1"}
    welcome = {"protocolVersion": revision, "capabilities": {"tools": {}}, "serverInfo": info}
    yield "to_client", {"jsonrpc": "2.0", "id": 1, "result": welcome}
    yield "to_server", {"jsonrpc": "2.0", "method": "notifications/initialized"}
    yield "to_server", {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    yield "to_client", {"jsonrpc": "2.0", "id": 2, "result": {"tools": tools}}


def _lines() -> Iterator[dict[str, Any]]:
    yield {"mcp-workbench recording": 1}
    yield {"session": 1, "name": "seeded", "started_ns": START, "mono_ns": 0, "origin": "screen"}
    for number, (name, _, _, _, _) in enumerate(CONNECTIONS, 1):
        yield {"connection": number, "name": name, "transport": "stdio", "target": "server"}
    seq = 0
    for number, (_, revision, tools, _, _) in enumerate(CONNECTIONS, 1):
        for direction, body in _bodies(revision, tools):
            seq += 1
            channel = "process" if direction == "none" else "stdio"
            yield {
                "frame": seq,
                "connection": number,
                "ns": seq * 1_000_000,
                "direction": direction,
                "channel": channel,
                "json": body,
            }


class SeededDesk(RecordingDesk):
    """Reads like a recording and takes calls like a session."""

    live = True

    def __init__(self, folder: Path) -> None:
        path = folder / "seeded.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in _lines()))
        super().__init__(Reader.open(str(path)))

    def call(self, number: int, item: str, method: str, params: str) -> Run | None:
        run = self.runs.new(number, item, method, params)
        _, _, _, hits, seconds = CONNECTIONS[number - 1]
        text = json.dumps({"total": 2, "results": hits})
        body = json.dumps(
            {"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": text}]}}
        )
        run.ended = Outcome("result", seconds, decode(body.encode()).messages[0])
        self.changed()
        return run
