"""A server of the official SDK that does everything of the handshake era.

Over stdio; over streamable HTTP or, with ``sse``, the older HTTP with SSE where ``PORT`` is set. It
makes nothing up: the same requests get the same answers every time.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    Completion,
    EmptyResult,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
)
from pydantic import BaseModel

warnings.simplefilter("ignore")  # of what is deprecated, which is asked for here
server = MCPServer("handshake", version="1", instructions="Only for tests.")
held: list[str] = []


class Wanted(BaseModel):
    """What ``ask`` asks for."""

    name: str
    count: int


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def fail() -> str:
    """Always fails."""
    raise ValueError("as asked")


@server.tool()
async def work(name: str, steps: int, ctx: Context) -> str:
    """Reports progress and logs at each step."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"{name} {step}")
        await ctx.log("info", f"{name} {step}")
        await anyio.sleep(0.02)
    return f"{name} done"


@server.tool()
async def ask(ctx: Context) -> str:
    """Asks the user."""
    answer: Any = await ctx.elicit("Who and how many?", Wanted)
    return f"{answer.action}: {answer.data.name} {answer.data.count}"


@server.tool()
async def sample(ctx: Context) -> str:
    """Asks the model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text="say hi"))
    answer: Any = await ctx.session.create_message([message], max_tokens=5)
    return f"{answer.model}: {answer.content.text}"


@server.tool()
async def roots(ctx: Context) -> str:
    """Asks for the roots."""
    return ", ".join(str(root.uri) for root in (await ctx.session.list_roots()).roots)


@server.tool()
async def change(ctx: Context) -> str:
    """Adds a tool, and tells of every change there can be."""
    server.add_tool(lambda: "new", name="added", description="Was not there before.")
    await ctx.session.send_tool_list_changed()
    await ctx.session.send_prompt_list_changed()
    await ctx.session.send_resource_list_changed()
    await ctx.session.send_resource_updated("memo://one")
    return "changed"


@server.tool()
async def hold(ctx: Context) -> str:
    """Reports progress and waits until it is cancelled."""
    await ctx.report_progress(1, 2)
    try:
        await anyio.sleep_forever()
    finally:
        held.append("cancelled")
    return "never"


@server.tool()
async def was_held() -> str:
    """What became of ``hold``, once something has."""
    while not held:
        await anyio.sleep(0.01)
    return ", ".join(held)


@server.resource("memo://one")
def memo() -> str:
    """A text."""
    return "remember"


@server.resource("memo://{name}/note")
def note(name: str) -> str:
    """A text for somebody."""
    return f"for {name}"


@server.prompt()
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Say hello to {name}."


@server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
async def complete(ref: Any, argument: Any, context: Any) -> Completion:
    return Completion(values=[f"{argument.value}{each}" for each in ("a", "b")], total=2, has_more=False)


async def _taken(_context: Any, _params: Any) -> EmptyResult:
    return EmptyResult()


for method, params in (
    ("resources/subscribe", SubscribeRequestParams),
    ("resources/unsubscribe", SubscribeRequestParams),
    ("logging/setLevel", SetLevelRequestParams),
):
    server._lowlevel_server.add_request_handler(method, params, _taken)

if __name__ == "__main__":
    port = os.environ.get("PORT")
    if port is None:
        server.run()
    elif "sse" in sys.argv:
        server.run("sse", host="127.0.0.1", port=int(port))
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(port))
