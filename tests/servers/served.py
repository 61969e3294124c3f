"""A small server for any serving half, and a way to serve it over HTTP within a test.

    async with over_http() as (url, sink): ...

``python -m tests.servers.served`` serves it over stdio.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from tests.wire.stage import MemorySink
from workbench.core import jsonrpc
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message
from workbench.wire.serving_http import PLAIN, Manner, serve_http
from workbench.wire.serving_stdio import serve_stdio
from workbench.wire.tap import Tap
from workbench.wire.transport import Client, Received, Serve, Taps

SERVER = {"name": "served", "version": "1"}
TOOL = {"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}


async def echo(client: Client) -> None:
    """One tool in both eras, which says what it is told. It reports ``progress`` so many times before."""
    while (received := await client.receive()) is not None:
        for message in received.decoded.messages:
            if message.kind is Kind.REQUEST:
                answer(client, received, message)


def answer(client: Client, received: Received, message: Message) -> None:
    """Answer a request as this server does."""
    params = message.value("params") or {}
    identity = message.id or "null"
    token = params.get("_meta", {}).get("progressToken")
    for step in range(params.get("arguments", {}).get("progress", 0)):
        report = json.dumps({"progressToken": token, "progress": step + 1})
        client.send(jsonrpc.notification("notifications/progress", report), received.stream)
    result = result_of(message.method or "", params)
    if result is None:
        client.answer(received.stream, 404, jsonrpc.error(identity, -32601, "Method not found"))
    else:
        client.send(jsonrpc.result(identity, json.dumps(result)), received.stream)


def result_of(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """What the server answers, ``None`` for a method it has not."""
    meta = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    meta |= {"_meta": {"io.modelcontextprotocol/serverInfo": SERVER}}
    offered = {"capabilities": {"tools": {"listChanged": True}}}
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion"), "serverInfo": SERVER, **offered}
    if method == "server/discover":
        return {"supportedVersions": ["2026-07-28"], **offered, **meta}
    if method == "ping":
        return {}
    stateless = meta if "io.modelcontextprotocol/protocolVersion" in params.get("_meta", {}) else {}
    if method == "tools/list":
        return {"tools": [TOOL], **stateless}
    if method == "tools/call":
        text = str(params.get("arguments", {}).get("text", ""))
        return {
            "content": [{"type": "text", "text": text}],
            **{k: v for k, v in stateless.items() if k[0] in "r_"},
        }
    return None


def taps(sink: MemorySink) -> Taps:
    """Taps for one connection after another."""
    numbers = iter(range(1, 1_000_000))
    return lambda _name: Tap(sink, next(numbers))


@asynccontextmanager
async def over_http(
    serve: Serve = echo, manner: Manner = PLAIN, *, path: str = "/mcp"
) -> AsyncIterator[tuple[str, MemorySink]]:
    """Serve on a free port of this machine: the URL, and what was seen on the wire."""
    sink = MemorySink()
    async with serve_http("127.0.0.1:0", serve, taps(sink), manner, path=path) as serving:
        yield serving.address, sink


@asynccontextmanager
async def serve_pipes(serve: Serve = echo) -> AsyncIterator[tuple[int, int, MemorySink]]:
    """Serve over two pipes: where to write to the server, where to read, and what was seen."""
    (stdin, write), (read, stdout) = os.pipe(), os.pipe()
    sink = MemorySink()
    try:
        async with serve_stdio("", serve, taps(sink), stdin=stdin, stdout=stdout):
            yield write, read, sink
    finally:
        for descriptor in (stdin, write, read, stdout):
            os.close(descriptor)


async def over_stdio() -> None:
    async with serve_stdio("", echo, taps(MemorySink())) as serving:
        await serving.over.wait()


if __name__ == "__main__":
    anyio.run(over_stdio)
