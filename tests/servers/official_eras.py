"""A server of the official SDK that does all the stateless era has, and in the handshake era what a
client can ask; over HTTP where ``PORT`` is set, with events that can be asked for again.

What a client is asked, it is told again in the result. ``tell`` says that something has changed.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import Completion, EmptyResult, InputRequiredResult, SubscribeRequestParams
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from tests.servers.event_memory import Memory

warnings.simplefilter("ignore")  # of what is deprecated, which is asked for here
server = MCPServer("stateless")

FORM = {"type": "object", "properties": {"n": {"type": "integer"}}}
ASKED: dict[str, Any] = {
    "form": {"method": "elicitation/create", "params": {"message": "How many?", "requestedSchema": FORM}},
    "url": {
        "method": "elicitation/create",
        "params": {"mode": "url", "message": "Look", "url": "https://example.com/"},
    },
    "sample": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}},
    "roots": {"method": "roots/list"},
}


def asked(ctx: Context) -> InputRequiredResult | str:
    """Ask everything a server can ask, then tell what was answered."""
    if ctx.input_responses is None:
        return InputRequiredResult.model_validate({"inputRequests": ASKED, "requestState": "half way"})
    answers = {key: answer.model_dump(exclude_none=True) for key, answer in ctx.input_responses.items()}
    return json.dumps({"state": ctx.request_state, "answers": answers}, default=str)


@server.tool()
async def ask(ctx: Context) -> InputRequiredResult | str:
    """Asks."""
    return asked(ctx)


@server.prompt()
async def asking(ctx: Context) -> Any:
    """Asks."""
    return asked(ctx)


@server.prompt()
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Say hello to {name}."


@server.resource("memo://{name}/asked")
async def asks(name: str, ctx: Context) -> Any:
    """Asks."""
    return asked(ctx)


@server.resource("memo://one")
def memo() -> str:
    """A text."""
    return "remember"


@server.tool()
async def tell(ctx: Context) -> str:
    """Tells of every change there can be."""
    await ctx.notify_tools_changed()
    await ctx.notify_prompts_changed()
    await ctx.notify_resources_changed()
    await ctx.notify_resource_updated("memo://one")
    if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        await ctx.session.send_resource_updated("memo://one")
    return "told"


@server.tool()
async def work(steps: int, ctx: Context, seconds: float = 0) -> str:
    """Reports progress and logs at each step, which takes so long."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"step {step}")
        await ctx.log("info", f"step {step}")
        await ctx.log("debug", "not for everybody")
        await anyio.sleep(seconds)
    return "done"


@server.tool()
async def hold(ctx: Context, path: str = "") -> str:
    """Waits until it is cancelled, and writes that to a file if it is given one."""
    await ctx.report_progress(1, 2)
    try:
        await anyio.sleep_forever()
    finally:
        if path:
            Path(path).write_text("cancelled", encoding="utf-8")
    return "never"


@server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
async def complete(ref: Any, argument: Any, context: Any) -> Completion:
    return Completion(values=[f"{argument.value}{each}" for each in ("a", "b")], total=2, has_more=False)


async def _subscribed(_context: Any, _params: SubscribeRequestParams) -> EmptyResult:
    return EmptyResult()


# The SDK's high-level server has no word for it.
server._lowlevel_server.add_request_handler("resources/subscribe", SubscribeRequestParams, _subscribed)


if __name__ == "__main__":
    port = os.environ.get("PORT")
    if port is None:
        server.run()
    else:
        server.run(
            "streamable-http", host="127.0.0.1", port=int(port), event_store=Memory(), retry_interval=100
        )
