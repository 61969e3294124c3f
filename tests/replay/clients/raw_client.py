"""A session of the handshake era with no client at all: every message that comes is printed as it came."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from subprocess import DEVNULL, PIPE
from typing import Any

import anyio

ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}

#: What is answered to what a server asks.
ANSWERS: dict[str, Any] = {
    "sampling/createMessage": {
        "role": "assistant",
        "model": "model-1",
        "content": {"type": "text", "text": "hi there"},
    },
    "elicitation/create": {"action": "accept", "content": {"name": "Zoe", "count": 7}},
    "roots/list": {"roots": [{"uri": "file:///work/home-1", "name": "home"}]},
    "ping": {},
}

Write = Callable[[str], Awaitable[None]]
Take = Callable[[str], Awaitable[None]]


@asynccontextmanager
async def stdio(words: list[str], take: Take) -> AsyncIterator[Write]:
    async with (
        await anyio.open_process(words, stdin=PIPE, stdout=PIPE, stderr=DEVNULL) as process,
        anyio.create_task_group() as group,
    ):
        assert process.stdin is not None

        async def read() -> None:
            rest = b""
            assert process.stdout is not None
            async for chunk in process.stdout:
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    await take(line.decode())

        async def write(text: str) -> None:
            assert process.stdin is not None
            await process.stdin.send(text.encode() + b"\n")

        group.start_soon(read)
        yield write
        await process.stdin.aclose()
        await process.wait()
        group.cancel_scope.cancel()


async def events(lines: AsyncIterator[str], take: Callable[[str, str], Awaitable[None]]) -> None:
    """Read events: name and data of each."""
    name, data = "message", []
    async for line in lines:
        field, _, value = line.partition(":")
        if field == "event":
            name = value.strip()
        elif field == "data":
            data.append(value.removeprefix(" "))
        elif not line:
            if data and data != [""]:
                await take(name, "\n".join(data))
            name, data = "message", []


@asynccontextmanager
async def http(words: list[str], take: Take) -> AsyncIterator[Write]:
    import httpx

    async def message(_name: str, data: str) -> None:
        await take(data)

    async with (
        httpx.AsyncClient(timeout=60, trust_env=False, headers=ACCEPT) as client,
        anyio.create_task_group() as group,
    ):

        async def listen() -> None:
            headers = {"accept": "text/event-stream"}
            async with client.stream("GET", words[0], headers=headers) as response:
                await events(response.aiter_lines(), message)

        async def post(text: str, begun: anyio.Event) -> None:
            async with client.stream("POST", words[0], content=text) as response:
                if "mcp-session-id" in response.headers:
                    client.headers["mcp-session-id"] = response.headers["mcp-session-id"]
                begun.set()
                if response.headers.get("content-type", "").startswith("text/event-stream"):
                    await events(response.aiter_lines(), message)
                elif body := await response.aread():
                    await take(body.decode())
            if '"notifications/initialized"' in text:
                group.start_soon(listen)

        async def write(text: str) -> None:
            begun = anyio.Event()
            group.start_soon(post, text, begun)
            if '"tools/call"' not in text:
                await begun.wait()

        yield write
        group.cancel_scope.cancel()


@asynccontextmanager
async def sse(words: list[str], take: Take) -> AsyncIterator[Write]:
    import httpx

    async with (
        httpx.AsyncClient(timeout=60, trust_env=False, headers=ACCEPT) as client,
        anyio.create_task_group() as group,
    ):
        endpoint: list[str] = []
        found = anyio.Event()

        async def event(name: str, data: str) -> None:
            if name == "endpoint":
                endpoint.append(str(httpx.URL(words[0]).join(data)))
                found.set()
            else:
                await take(data)

        async def listen() -> None:
            async with client.stream("GET", words[0], headers={"accept": "text/event-stream"}) as response:
                await events(response.aiter_lines(), event)

        async def write(text: str) -> None:
            await client.post(endpoint[0], content=text)

        group.start_soon(listen)
        await found.wait()
        yield write
        group.cancel_scope.cancel()


@asynccontextmanager
async def mock(words: list[str], take: Take) -> AsyncIterator[Write]:
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    from workbench.mock import Mock

    async with Mock(words[0], strict=True).streams() as (reads, writes), anyio.create_task_group() as group:

        async def read() -> None:
            async for message in reads:
                await take(message.message.model_dump_json(by_alias=True, exclude_unset=True))

        async def write(text: str) -> None:
            await writes.send(SessionMessage(jsonrpc_message_adapter.validate_json(text)))

        group.start_soon(read)
        yield write
        group.cancel_scope.cancel()


class Talk:
    """Numbers requests, answers questions, and keeps everything that came: what was answered, in the order
    of the requests, and what came beside it by what it is about."""

    def __init__(self) -> None:
        self.answers: dict[int, Any] = {}
        self.beside: dict[str, list[Any]] = {}
        self.write: Write | None = None
        self._count = 0
        self._news = anyio.Event()

    async def take(self, text: str) -> None:
        message = json.loads(text)
        if "method" not in message:
            self.answers[message["id"]] = message
        else:
            self.beside.setdefault(_about(message), []).append({**message, "id": "id" in message})
            if "id" in message:
                answer = {"jsonrpc": "2.0", "id": message["id"], "result": ANSWERS[message["method"]]}
                await self.say(answer)
        self._news.set()
        self._news = anyio.Event()

    async def say(self, message: Any) -> None:
        assert self.write is not None
        await self.write(json.dumps(message))

    async def begin(self, method: str, /, **params: Any) -> int:
        """Send a request; returns its id."""
        self._count += 1
        await self.say({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        return self._count

    async def ask(self, method: str, **params: Any) -> None:
        await self.until_answered(await self.begin(method, **params))

    async def call(self, name: str, token: str | None = None, /, **arguments: Any) -> int:
        meta = {} if token is None else {"_meta": {"progressToken": token}}
        return await self.begin("tools/call", name=name, arguments=arguments, **meta)

    async def until_answered(self, *numbers: int) -> None:
        await self.until(lambda: all(number in self.answers for number in numbers))

    async def until_heard(self, about: str, count: int = 1) -> None:
        await self.until(lambda: len(self.beside.get(about, ())) >= count)

    async def until(self, true: Callable[[], bool]) -> None:
        with anyio.fail_after(30):
            while not true():
                await self._news.wait()


def _about(message: Any) -> str:
    params = message.get("params") or {}
    if "progressToken" in params:
        return f"progress {params['progressToken']}"
    return f"{message['method']} {str(params.get('data', '')).split(' ')[0]}".rstrip()


async def run(kind: str, words: list[str]) -> Talk:
    talk = Talk()
    async with {"stdio": stdio, "http": http, "sse": sse, "mock": mock}[kind](words, talk.take) as write:
        talk.write = write
        info = {"name": "raw", "version": "1"}
        can: dict[str, Any] = {"sampling": {}, "elicitation": {}, "roots": {}}
        await talk.ask("initialize", protocolVersion="2025-11-25", capabilities=can, clientInfo=info)
        await talk.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        await talk.ask("tools/list")
        await talk.ask("logging/setLevel", level="info")
        await talk.until_answered(await talk.call("add", a=9007199254740993, b=1))
        await talk.until_answered(await talk.call("fail"))
        await talk.until_answered(await talk.call("work", "one", name="one", steps=2))
        left = await talk.call("work", "L", name="left", steps=2)
        right = await talk.call("work", "R", name="right", steps=3)
        await talk.until_answered(left, right)
        for name in ("ask", "sample", "roots"):
            await talk.until_answered(await talk.call(name))
        await talk.ask("resources/list")
        await talk.ask("resources/templates/list")
        await talk.ask("resources/read", uri="memo://one")
        await talk.ask("resources/read", uri="memo://Ann/note")
        await talk.ask("resources/subscribe", uri="memo://one")
        await talk.ask("prompts/list")
        await talk.ask("prompts/get", name="greet", arguments={"name": "Ann"})
        reference = {"type": "ref/prompt", "name": "greet"}
        await talk.ask("completion/complete", ref=reference, argument={"name": "name", "value": "q"})
        await talk.ask("prompts/get", name="nobody")
        held = await talk.call("hold", "H")
        await talk.until_heard("progress H")
        gone = {"requestId": held, "reason": "enough"}
        await talk.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": gone})
        await talk.until_answered(await talk.call("was_held"))
        await talk.until_answered(await talk.call("change"))
        await talk.ask("tools/list")
        await talk.ask("ping")
        await talk.until_heard("notifications/resources/updated")
        for name in ("tools", "prompts", "resources"):
            await talk.until_heard(f"notifications/{name}/list_changed")
        for name, steps in (("one", 2), ("left", 2), ("right", 3)):
            await talk.until_heard(f"notifications/message {name}", steps)
    return talk


if __name__ == "__main__":
    told = anyio.run(run, sys.argv[1], sys.argv[2:])
    print(json.dumps({"results": sorted(told.answers.items()), "beside": dict(sorted(told.beside.items()))}))
