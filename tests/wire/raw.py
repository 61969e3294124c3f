"""Raw HTTP for tests of the serving half: bodies, headers and the events of a stream."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from workbench.core.sse import ServerEvent, SseParser

ACCEPT = "application/json, text/event-stream"
META = "io.modelcontextprotocol/"
MODERN = "2026-07-28"


def message(method: str, identity: Any = 1, **params: Any) -> dict[str, Any]:
    """A request; without an id (``None``) a notification."""
    body = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
    return body if identity is not None else {key: body[key] for key in body if key != "id"}


def initialize(version: str = "2025-11-25") -> dict[str, Any]:
    info = {"name": "raw", "version": "1"}
    return message("initialize", 1, protocolVersion=version, capabilities={}, clientInfo=info)


def modern(method: str, identity: Any = 1, **params: Any) -> dict[str, Any]:
    """A request of the stateless era."""
    meta = {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": {}, **params.pop("_meta", {})}
    return message(method, identity, **params, _meta=meta)


def modern_headers(method: str, name: str | None = None) -> dict[str, str]:
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    return headers if name is None else headers | {"Mcp-Name": name}


def call(text: str, identity: Any = 2, **arguments: Any) -> dict[str, Any]:
    arguments = {"text": text, **arguments}
    return message("tools/call", identity, name="echo", arguments=arguments, _meta={"progressToken": "t"})


class Raw:
    """A client that sends what it is told to a URL. ``headers`` go with every request."""

    def __init__(self, client: httpx.AsyncClient, url: str) -> None:
        self.client = client
        self.url = url
        self.headers: dict[str, str] = {}

    async def post(self, body: Any, **headers: str | None) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.client.post(self.url, content=content, headers=self._headers(headers))

    async def get(self, **headers: str | None) -> httpx.Response:
        return await self.client.get(
            self.url, headers=self._headers({"accept": "text/event-stream", **headers})
        )

    @asynccontextmanager
    async def listening(self, body: Any = None, **headers: str | None) -> AsyncIterator[Events]:
        """The events of a POST's answer, or of a GET."""
        content = None if body is None else json.dumps(body).encode()
        if body is None:
            headers = {"accept": "text/event-stream", **headers}
        verb = "GET" if body is None else "POST"
        async with self.client.stream(
            verb, self.url, content=content, headers=self._headers(headers)
        ) as response:
            yield Events(response)

    async def handshake(self, version: str = "2025-11-25") -> httpx.Response:
        """Begin a session, which all that follows belongs to."""
        answer = await self.post(initialize(version))
        self.headers = {"mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": version}
        assert (await self.post(message("notifications/initialized", None))).status_code == 202
        return answer

    def _headers(self, more: dict[str, str | None]) -> dict[str, str]:
        """Names with ``_`` for ``-``; ``None`` leaves a header away."""
        given = {"accept": ACCEPT, "content-type": "application/json", **self.headers}
        given |= {name.replace("_", "-").lower(): value for name, value in more.items()}  # type: ignore[misc]
        return {name: value for name, value in given.items() if value is not None}


class Events:
    """The events of a stream, one after the other."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._parser = SseParser()
        self._chunks = response.aiter_raw()
        self._ready: list[ServerEvent] = []

    async def next(self) -> ServerEvent | None:
        """The next event, ``None`` at the end."""
        while not self._ready:
            try:
                self._ready = self._parser.feed(await anext(self._chunks))
            except (StopAsyncIteration, httpx.StreamError):
                return None
        return self._ready.pop(0)

    async def rest(self) -> list[ServerEvent]:
        events = []
        while (event := await self.next()) is not None:
            events.append(event)
        return events


@asynccontextmanager
async def raw(url: str) -> AsyncIterator[Raw]:
    async with httpx.AsyncClient(timeout=30, trust_env=False) as client:
        yield Raw(client, url)
