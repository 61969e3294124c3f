"""The older HTTP with SSE, serving half: a stream, and a place it names for messages.

Source: "HTTP with SSE", 2024-11-05; deprecated since 2025-03-26.
"""

from __future__ import annotations

import uuid

from workbench.core.jsonrpc import decode
from workbench.wire.serving_answers import not_allowed, watched
from workbench.wire.serving_clients import HttpClient, is_taken
from workbench.wire.serving_exchange import Exchange, Refused
from workbench.wire.serving_gate import INVALID_REQUEST
from workbench.wire.serving_outgoing import carry
from workbench.wire.serving_site import Site


async def stream(site: Site, exchange: Exchange, name: str) -> None:
    """``/sse``: a client comes, and this is its stream."""
    if exchange.verb != "GET" or "legacy" not in site.manner.eras:
        raise not_allowed("GET")
    client = HttpClient(name, site.tap(name), session=uuid.uuid4().hex, own=True, streams=False)
    exchange.begin(client.tap)
    assert client.own is not None
    site.welcome(client, site.streams)
    exchange.tell("open", 200)
    try:
        async with watched(exchange, client):
            await exchange.open_events()
            await exchange.event(f"/messages?sessionId={client.session}".encode(), "endpoint", None)
            await carry(client.own, exchange, name="message")
    finally:
        client.inbox.close()
        exchange.tell("lost" if exchange.cut else "closed")


async def messages(site: Site, exchange: Exchange, _name: str) -> None:
    """``/messages``: what a client of ``/sse`` sends."""
    if exchange.verb != "POST":
        raise not_allowed("POST")
    session = dict(part.partition("=")[::2] for part in exchange.query.decode("latin-1").split("&"))
    client = site.streams.get(session.get("sessionId", ""))
    body = await exchange.read()
    exchange.begin(site.door if client is None else client.tap)
    if client is None:
        exchange.take(body)
        raise Refused(404, "Session not found")
    if not is_taken(decode(body)):
        exchange.take(body)
        raise Refused(400, "The body is no JSON-RPC message.", code=INVALID_REQUEST)
    await client.take(exchange, body, opens=False)
    await exchange.respond(202)
