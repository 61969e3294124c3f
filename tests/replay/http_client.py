"""What code of the official SDK's client sees of a server over a command's stdio.

    python -m tests.replay.http_client COMMAND ARGS...

prints it as JSON.
"""

from __future__ import annotations

import json
import sys
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def reached(words: list[str]) -> AbstractAsyncContextManager[Any]:
    return stdio_client(StdioServerParameters(command=words[0], args=words[1:]))


async def run(words: list[str]) -> list[Any]:
    seen: list[Any] = []

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        seen.append(["progress", progress, total, message])

    def add(value: Any) -> None:
        seen.append(value.model_dump(mode="json"))

    async with reached(words) as (read, write), ClientSession(read, write) as session:
        add(await session.initialize())
        add(await session.list_tools())
        add(await session.call_tool("add", {"a": 9007199254740993, "b": 1}))
        add(await session.call_tool("count", {"steps": 3}, progress_callback=progressed))
        add(await session.call_tool("fail", {}))
        add(await session.call_tool("polls", {}))
        add(await session.list_resources())
        add(await session.list_prompts())
    return seen


if __name__ == "__main__":
    print(json.dumps(anyio.run(run, sys.argv[1:])))
