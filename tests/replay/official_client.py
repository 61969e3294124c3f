"""A session of the official SDK's client with server-everything, as a test of its users would run it.

    python -m tests.replay.official_client COMMAND ARGS...

prints what the client's code saw, as JSON: every result, every progress event, and
what the server asked of the client.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from pydantic import FileUrl


class Seen:
    """What the client's code was given, in order."""

    def __init__(self) -> None:
        self.all: list[Any] = []

    def add(self, what: str, value: Any) -> None:
        self.all.append([what, value.model_dump(mode="json") if hasattr(value, "model_dump") else value])


async def run(command: list[str]) -> list[Any]:
    seen = Seen()

    async def sample(context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        seen.add("sampling", params)
        content = types.TextContent(type="text", text="a sampled answer")
        return types.CreateMessageResult(role="assistant", content=content, model="test-model")

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        seen.add("elicitation", params)
        return types.ElicitResult(action="accept", content={"name": "Zoe", "integer": 7})

    async def list_roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl("file:///work/home-1"), name="home")])

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        seen.add("progress", [progress, total, message])

    server = StdioServerParameters(command=command[0], args=command[1:])
    async with (
        stdio_client(server) as (read, write),
        ClientSession(
            read,
            write,
            sampling_callback=sample,
            elicitation_callback=elicit,
            list_roots_callback=list_roots,
        ) as session,
    ):
        seen.add("initialize", await session.initialize())
        seen.add("tools", await session.list_tools())
        seen.add("echo", await session.call_tool("echo", {"message": "hello"}))
        seen.add("sum", await session.call_tool("get-sum", {"a": 9007199254740993, "b": 1.5}))
        slow = {"duration": 0.6, "steps": 3}
        seen.add(
            "slow",
            await session.call_tool("trigger-long-running-operation", slow, progress_callback=progressed),
        )
        seen.add("sample", await session.call_tool("trigger-sampling-request", {"prompt": "hi"}))
        seen.add("elicit", await session.call_tool("trigger-elicitation-request", {}))
        seen.add("wrong", await session.call_tool("no-such-tool", {}))
        seen.add("resources", await session.list_resources())
        seen.add("prompts", await session.list_prompts())
        seen.add("prompt", await session.get_prompt("simple-prompt"))
        seen.add("templates", await session.list_resource_templates())
    return seen.all


if __name__ == "__main__":
    print(json.dumps(anyio.run(run, sys.argv[1:]), indent=1, sort_keys=True))
