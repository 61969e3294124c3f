"""A session of the official Python SDK's client, 1.x or 2.x, in the handshake era."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp import ClientSession, types

warnings.simplefilter("ignore")
IS_NEW = hasattr(types, "jsonrpc_message_adapter")


@asynccontextmanager
async def streams(kind: str, words: list[str]) -> AsyncIterator[tuple[Any, Any]]:
    """What a session reads from and writes to."""
    reached: Any
    if kind == "stdio":
        from mcp import StdioServerParameters
        from mcp.client.stdio import stdio_client

        reached = stdio_client(StdioServerParameters(command=words[0], args=words[1:]))
    elif kind == "sse":
        from mcp.client.sse import sse_client

        reached = sse_client(words[0])
    elif kind == "http":
        from mcp.client import streamable_http

        name = "streamable_http_client" if IS_NEW else "streamablehttp_client"
        reached = getattr(streamable_http, name)(words[0])
    else:
        from workbench.mock import Mock

        reached = Mock(words[0], strict=True).streams()
    async with reached as pair:
        yield pair[0], pair[1]


class Seen:
    """What the client's code was given: in order, and what came beside it by kind."""

    def __init__(self) -> None:
        self.results: list[Any] = []
        self.beside: dict[str, list[Any]] = {}

    def add(self, value: Any) -> None:
        self.results.append(plain(value))

    def heard(self, kind: str, value: Any) -> None:
        self.beside.setdefault(kind, []).append(plain(value))

    async def until(self, kind: str, count: int) -> None:
        """Wait until so many of a kind were heard."""
        with anyio.fail_after(30):
            while len(self.beside.get(kind, ())) < count:
                await anyio.sleep(0.01)

    def progress(self, kind: str) -> Any:
        async def take(value: float, total: float | None, message: str | None) -> None:
            self.heard(kind, [value, total, message])

        return take


def plain(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True) if hasattr(value, "model_dump") else value


def callbacks(seen: Seen) -> dict[str, Any]:
    """What a session asks its user's code."""

    async def sample(_context: Any, params: Any) -> Any:
        seen.heard("sampling", params)
        content = types.TextContent(type="text", text="hi there")
        return types.CreateMessageResult(role="assistant", content=content, model="model-1")

    async def elicit(_context: Any, params: Any) -> Any:
        seen.heard("elicitation", params)
        return types.ElicitResult(action="accept", content={"name": "Zoe", "count": 7})

    async def roots(_context: Any) -> Any:
        seen.heard("roots", "asked")
        return types.ListRootsResult.model_validate(
            {"roots": [{"uri": "file:///work/home-1", "name": "home"}]}
        )

    async def logged(params: Any) -> None:
        seen.heard(f"log {str(params.data).split()[0]}", params)

    async def message(value: Any) -> None:
        root = getattr(value, "root", value)
        method = getattr(root, "method", None)
        if isinstance(method, str) and ("changed" in method or "updated" in method):
            seen.heard(method, root)

    return {
        "sampling_callback": sample,
        "elicitation_callback": elicit,
        "list_roots_callback": roots,
        "logging_callback": logged,
        "message_handler": message,
    }


async def cancelled(session: Any, seen: Seen) -> None:
    """Call something and give it up once it has begun."""
    number = getattr(session, "_request_id", None)

    async def hold() -> None:
        await session.call_tool("hold", {}, progress_callback=seen.progress("held"))

    async with anyio.create_task_group() as group:
        group.start_soon(hold)
        await seen.until("held", 1)
        if not IS_NEW:  # which does not tell the server by itself
            told = {"method": "notifications/cancelled", "params": {"requestId": number}}
            notification: Any = types.ClientNotification
            await session.send_notification(notification.model_validate(told))
        group.cancel_scope.cancel()


async def run(kind: str, words: list[str]) -> Seen:
    seen = Seen()
    async with streams(kind, words) as pair, ClientSession(*pair, **callbacks(seen)) as session:
        seen.add(await session.initialize())
        seen.add(await session.list_tools())
        seen.add(await session.set_logging_level("info"))
        seen.add(await session.call_tool("add", {"a": 9007199254740993, "b": 1}))
        seen.add(await session.call_tool("fail", {}))
        done = seen.progress("one")
        seen.add(await session.call_tool("work", {"name": "one", "steps": 2}, progress_callback=done))

        results: dict[str, Any] = {}

        async def call(name: str, steps: int) -> None:
            arguments = {"name": name, "steps": steps}
            told = await session.call_tool("work", arguments, progress_callback=seen.progress(name))
            results[name] = plain(told)

        async with anyio.create_task_group() as group:
            group.start_soon(call, "left", 2)
            group.start_soon(call, "right", 3)
        seen.add(dict(sorted(results.items())))

        for name in ("ask", "sample", "roots"):
            seen.add(await session.call_tool(name, {}))
        seen.add(await session.list_resources())
        seen.add(await session.list_resource_templates())
        seen.add(await session.read_resource(_uri("memo://one")))
        seen.add(await session.read_resource(_uri("memo://Ann/note")))
        seen.add(await session.subscribe_resource(_uri("memo://one")))
        seen.add(await session.list_prompts())
        seen.add(await session.get_prompt("greet", {"name": "Ann"}))
        reference = {"type": "ref/prompt", "name": "greet"}
        named = types.PromptReference.model_validate(reference)
        seen.add(await session.complete(named, {"name": "name", "value": "q"}))
        try:
            await session.get_prompt("nobody", {})
        except Exception as error:
            told = error.error  # type: ignore[attr-defined]
            seen.add([told.code, told.message])
        await cancelled(session, seen)
        seen.add(await session.call_tool("was_held", {}))
        seen.add(await session.call_tool("change", {}))
        await seen.until("notifications/resources/updated", 1)
        seen.add(await session.list_tools())
        seen.add(await session.send_ping())
        for name, steps in (("one", 2), ("left", 2), ("right", 3)):
            await seen.until(f"log {name}", steps)
        for method in ("tools", "prompts", "resources"):
            await seen.until(f"notifications/{method}/list_changed", 1)
    return seen


def _uri(text: str) -> Any:
    if IS_NEW:
        return text
    from pydantic import AnyUrl

    return AnyUrl(text)


if __name__ == "__main__":
    told = anyio.run(run, sys.argv[1], sys.argv[2:])
    print(json.dumps({"results": told.results, "beside": dict(sorted(told.beside.items()))}))
