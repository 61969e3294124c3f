"""A session of FastMCP's client in the handshake era."""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
import fastmcp  # type: ignore[import-not-found]
import mcp_types as types
from fastmcp.client.messages import MessageHandler  # type: ignore[import-not-found]
from fastmcp.client.transports import (  # type: ignore[import-not-found]
    SSETransport,
    StdioTransport,
    StreamableHttpTransport,
)
from mcp import MCPError

from tests.replay.clients.python_sdk import Seen, plain


def reached(kind: str, words: list[str]) -> Any:
    if kind == "stdio":
        return StdioTransport(words[0], words[1:])
    if kind == "http":
        return StreamableHttpTransport(words[0])
    if kind == "sse":
        return SSETransport(words[0])
    from workbench.mock import Mock

    return Mock(words[0], strict=True).fastmcp()


class Heard(MessageHandler):  # type: ignore[misc]
    """Notes what changes."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen

    async def on_notification(self, message: Any) -> None:
        root = getattr(message, "root", message)
        if "changed" in root.method or "updated" in root.method:
            self.seen.heard(root.method, root)


async def run(kind: str, words: list[str]) -> Seen:
    seen = Seen()

    async def sample(_messages: Any, params: Any, _context: Any) -> str:
        seen.heard("sampling", params)
        return "hi there"

    async def elicit(message: str, _type: Any, params: Any, _context: Any) -> Any:
        seen.heard("elicitation", [message, plain(params)])
        return {"name": "Zoe", "count": 7}

    async def roots(_context: Any) -> Any:
        seen.heard("roots", "asked")
        return ["file:///work/home-1"]

    async def logged(params: Any) -> None:
        seen.heard(f"log {str(params.data).split()[0]}", params)

    client = fastmcp.Client(
        reached(kind, words),
        mode="legacy",
        sampling_handler=sample,
        elicitation_handler=elicit,
        roots=roots,
        log_handler=logged,
        message_handler=Heard(seen),
    )
    async with client:
        seen.add(client.initialize_result)
        seen.add([plain(tool) for tool in await client.list_tools()])
        seen.add(await client.set_logging_level("info"))
        seen.add(await client.call_tool_mcp("add", {"a": 20, "b": 1}))
        seen.add(vars((await client.call_tool("add", {"a": 20, "b": 2})).data))
        seen.add(await client.call_tool_mcp("fail", {}))
        told = await client.call_tool_mcp(
            "work", {"name": "one", "steps": 2}, progress_handler=seen.progress("one")
        )
        seen.add(told)

        results: dict[str, Any] = {}

        async def call(name: str, steps: int) -> None:
            arguments = {"name": name, "steps": steps}
            told = await client.call_tool_mcp("work", arguments, progress_handler=seen.progress(name))
            results[name] = plain(told)

        async with anyio.create_task_group() as group:
            group.start_soon(call, "left", 2)
            group.start_soon(call, "right", 3)
        seen.add(dict(sorted(results.items())))

        for name in ("ask", "sample", "roots"):
            seen.add(await client.call_tool_mcp(name, {}))
        seen.add([plain(each) for each in await client.list_resources()])
        seen.add([plain(each) for each in await client.list_resource_templates()])
        seen.add([plain(each) for each in await client.read_resource("memo://one")])
        seen.add(await client.session.subscribe_resource("memo://one"))
        seen.add([plain(each) for each in await client.list_prompts()])
        seen.add(await client.get_prompt("greet", {"name": "Ann"}))
        reference = types.PromptReference(type="ref/prompt", name="greet")
        seen.add(await client.complete(reference, {"name": "name", "value": "q"}))
        try:
            await client.get_prompt("nobody", {})
        except MCPError as error:
            seen.add([error.error.code, error.error.message])

        async def hold() -> None:
            await client.session.call_tool("hold", {}, progress_callback=seen.progress("held"))

        async with anyio.create_task_group() as group:
            group.start_soon(hold)
            await seen.until("held", 1)
            group.cancel_scope.cancel()
        seen.add(await client.call_tool_mcp("was_held", {}))
        seen.add(await client.call_tool_mcp("change", {}))
        await seen.until("notifications/resources/updated", 1)
        seen.add([plain(tool) for tool in await client.list_tools()])
        seen.add(await client.ping())
        for name, steps in (("one", 2), ("left", 2), ("right", 3)):
            await seen.until(f"log {name}", steps)
        for method in ("tools", "prompts", "resources"):
            await seen.until(f"notifications/{method}/list_changed", 1)
    return seen


if __name__ == "__main__":
    told = anyio.run(run, sys.argv[1], sys.argv[2:])
    print(json.dumps({"results": told.results, "beside": dict(sorted(told.beside.items()))}))
