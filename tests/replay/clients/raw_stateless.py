"""A session of the stateless era with no client at all: every message that comes is printed as it came."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from tests.replay.clients.raw_client import ANSWERS, Take, Talk, Write, events, mock, stdio

META = "io.modelcontextprotocol/"
NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@asynccontextmanager
async def http(words: list[str], take: Take) -> AsyncIterator[Write]:
    """A request each on a stream of its own, which is closed to cancel it."""
    import httpx

    scopes: dict[Any, anyio.CancelScope] = {}

    async def message(_name: str, data: str) -> None:
        await take(data)

    async with (
        httpx.AsyncClient(timeout=60, trust_env=False) as client,
        anyio.create_task_group() as group,
    ):

        async def post(said: Any) -> None:
            params = said["params"]
            headers = {
                "accept": "application/json, text/event-stream",
                "content-type": "application/json",
                "mcp-protocol-version": "2026-07-28",
                "mcp-method": said["method"],
            }
            if said["method"] in NAMES:
                headers["mcp-name"] = params[NAMES[said["method"]]]
            with anyio.CancelScope() as scopes[said["id"]]:
                content = json.dumps(said)
                async with client.stream("POST", words[0], content=content, headers=headers) as response:
                    if response.headers["content-type"].startswith("text/event-stream"):
                        await events(response.aiter_lines(), message)
                    else:
                        body = json.loads(await response.aread())
                        await take(json.dumps(body))

        async def write(text: str) -> None:
            said = json.loads(text)
            if said["method"] == "notifications/cancelled":
                scopes[said["params"]["requestId"]].cancel()
            else:
                group.start_soon(post, said)

        yield write
        group.cancel_scope.cancel()


class Stateless(Talk):
    """Says with every request who it is, and answers what a result asks by asking again."""

    async def begin(self, method: str, /, **params: Any) -> int:
        can: dict[str, Any] = {"sampling": {}, "elicitation": {"form": {}, "url": {}}, "roots": {}}
        meta = {
            f"{META}protocolVersion": "2026-07-28",
            f"{META}clientCapabilities": can,
            f"{META}clientInfo": {"name": "raw", "version": "1"},
            f"{META}logLevel": "info",
            **params.pop("_meta", {}),
        }
        return await super().begin(method, **params, _meta=meta)

    async def rounds(self, method: str, **params: Any) -> None:
        number = await self.begin(method, **params)
        await self.until_answered(number)
        result = self.answers[number]["result"]
        assert result["resultType"] == "input_required"
        responses = {key: ANSWERS[asked["method"]] for key, asked in result["inputRequests"].items()}
        state = {"requestState": result["requestState"]} if "requestState" in result else {}
        await self.ask(method, **params, inputResponses=responses, **state)

    async def cancel(self, number: int) -> None:
        await self.say(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
        )


async def run(kind: str, words: list[str]) -> Talk:
    talk = Stateless()
    async with {"stdio": stdio, "http": http, "mock": mock}[kind](words, talk.take) as write:
        talk.write = write
        for method in (
            "server/discover",
            "tools/list",
            "resources/list",
            "resources/templates/list",
            "prompts/list",
        ):
            await talk.ask(method)
        await talk.ask("resources/read", uri="memo://one")
        await talk.ask("prompts/get", name="greet", arguments={"name": "Ann"})
        reference = {"type": "ref/prompt", "name": "greet"}
        await talk.ask("completion/complete", ref=reference, argument={"name": "name", "value": "q"})
        await talk.rounds("tools/call", name="ask", arguments={})
        await talk.rounds("prompts/get", name="asking")
        await talk.rounds("resources/read", uri="memo://x/asked")
        await talk.until_answered(await talk.call("work", "W", steps=2))
        everything = {"toolsListChanged": True, "resourceSubscriptions": ["memo://one"]}
        listener = await talk.begin("subscriptions/listen", notifications=everything)
        await talk.until_heard("notifications/subscriptions/acknowledged")
        await talk.until_answered(await talk.call("tell"))
        await talk.until_heard("notifications/tools/list_changed")
        await talk.until_heard("notifications/resources/updated")
        await talk.cancel(listener)
        await talk.until_answered(await talk.call("no such tool"))
        await talk.ask("prompts/get", name="nobody")
        await talk.ask("no/such/method")
        held = await talk.call("hold", "H")
        await talk.until_heard("progress H")
        await talk.cancel(held)
        await talk.ask("resources/read", uri="memo://one")
    return talk


if __name__ == "__main__":
    told = anyio.run(run, sys.argv[1], sys.argv[2:])
    print(json.dumps({"results": sorted(told.answers.items()), "beside": dict(sorted(told.beside.items()))}))
