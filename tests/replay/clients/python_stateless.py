"""A session of the official Python SDK's client 2.x in the stateless era: ERA KIND WORDS, ERA a revision or ``auto``."""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp import Client, StdioServerParameters, types

from tests.replay.clients.python_sdk import Seen, callbacks, plain


def reached(kind: str, words: list[str]) -> Any:
    if kind == "stdio":
        return StdioServerParameters(command=words[0], args=words[1:])
    if kind == "http":
        return words[0]
    from workbench.mock import Mock

    return Mock(words[0], strict=True).streams()


async def run(era: str, kind: str, words: list[str]) -> Seen:
    seen = Seen()
    given = callbacks(seen)

    async def elicit(_context: Any, params: Any) -> Any:
        seen.heard("elicitation", params)
        content: Any = {"n": 3} if getattr(params, "mode", "form") == "form" else None
        return types.ElicitResult(action="accept", content=content)

    given["elicitation_callback"] = elicit
    async with Client(reached(kind, words), mode=era, log_level="info", **given) as client:
        seen.add([client.protocol_version, plain(client.server_capabilities) if era == "auto" else None])
        seen.add(await client.list_tools())
        seen.add(await client.list_resources())
        seen.add(await client.list_resource_templates())
        seen.add(await client.list_prompts())
        seen.add(await client.read_resource("memo://one"))
        seen.add(await client.get_prompt("greet", {"name": "Ann"}))
        named = types.PromptReference(type="ref/prompt", name="greet")
        seen.add(await client.complete(named, {"name": "name", "value": "q"}))
        seen.add(await client.call_tool("ask", {}))
        seen.add(await client.get_prompt("asking"))
        seen.add(await client.read_resource("memo://x/asked"))
        told = seen.progress("work")
        seen.add(await client.call_tool("work", {"steps": 2}, progress_callback=told))
        async with client.listen(
            tools_list_changed=True,
            prompts_list_changed=True,
            resources_list_changed=True,
            resource_subscriptions=["memo://one"],
        ) as subscription:
            seen.add(plain(subscription.honored))
            seen.add(await client.call_tool("tell", {}))
            events = []
            with anyio.fail_after(30):
                async for event in subscription:
                    events.append(repr(event))
                    if len(events) == 4:
                        break
            seen.add(sorted(events))
        try:
            await client.call_tool("work", {"steps": "none"})
        except Exception as error:
            seen.add(str(error))
        try:
            await client.get_prompt("nobody", {})
        except Exception as error:
            seen.add(str(error))

        async def hold() -> None:
            await client.call_tool("hold", {}, progress_callback=seen.progress("held"))

        async with anyio.create_task_group() as group:
            group.start_soon(hold)
            await seen.until("held", 1)
            group.cancel_scope.cancel()
        seen.add(await client.read_resource("memo://one"))
    return seen


if __name__ == "__main__":
    told = anyio.run(run, sys.argv[1], sys.argv[2], sys.argv[3:])
    print(json.dumps({"results": told.results, "beside": dict(sorted(told.beside.items()))}))
