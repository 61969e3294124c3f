"""Servers of the older HTTP with SSE ask for tokens, too: for the stream and for each message."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from tests.servers.authorizing import RESOURCE, AuthSite
from tests.wire.oauth.stage import staged, target_of
from workbench.core.jsonrpc import dumps

pytestmark = pytest.mark.anyio


def older(site: AuthSite) -> None:
    """Have the site speak the older transport at ``/sse``, and refuse POSTs there as such servers do."""
    send, receive = anyio.create_memory_object_stream[str](100)

    async def events() -> AsyncIterator[str]:
        yield "event: endpoint\ndata: /messages\n\n"
        async for body in receive:
            yield f"event: message\ndata: {body}\n\n"

    def refused(request: Request) -> Response | None:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token in site.tokens:
            return None
        return JSONResponse({"error": "invalid_token"}, 401, {"www-authenticate": site.challenge})

    def stream(request: Request) -> Response:
        if request.method == "POST":
            return refused(request) or Response(status_code=405)
        return refused(request) or StreamingResponse(events(), media_type="text/event-stream")

    def message(request: Request) -> Response:
        denied = refused(request)
        if denied is not None:
            return denied
        answer = site._mcp(request, site.asked[-1][3])
        if answer.status_code == 200:
            send.send_nowait(bytes(answer.body).decode())
        return Response("Accepted", 202)

    site.answers["/sse"] = stream
    site.answers["/messages"] = message
    site.documents[RESOURCE] = {"resource": site.origin, "authorization_servers": [site.origin]}
    site.challenge = "Bearer"


@pytest.mark.parametrize("transport", ["sse", "http"])
async def test_the_stream_and_the_messages_carry_the_token(tmp_path: Path, transport: str) -> None:
    async with staged(tmp_path) as stage:
        site = stage.site
        older(site)
        connection = stage.session.connect(
            target_of(f"{site.origin}/sse", transport=transport), listing=False
        )
        await connection.ready()
        assert len(stage.browser.visits) == 1  # also where it had to be found out which transport it is
        site.revoke()
        outcome = await connection.request("tools/call", dumps({"name": "say", "arguments": {}}))
        assert outcome.how == "result"
    assert [form["grant_type"] for form in site.forms()] == ["authorization_code", "refresh_token"]
    sent = [json.loads(body) for _, path, headers, body in site.asked if path == "/messages"]
    calls = [each["id"] for each in sent if each["method"] == "tools/call"]
    assert len(calls) == 2  # refused, and sent again
    assert len(set(calls)) == 1


async def test_a_login_that_fails_is_told_for_the_stream(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        older(stage.site)
        stage.site.documents[RESOURCE]["resource"] = "https://other.example"
        connection = stage.session.connect(
            target_of(f"{stage.site.origin}/sse", transport="sse"), listing=False
        )
        with pytest.raises(Exception, match="which this server is not"):
            await connection.ready()
        assert connection.state == "unauthorized"
