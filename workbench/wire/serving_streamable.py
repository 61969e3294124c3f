"""Streamable HTTP, serving half: one endpoint for both eras.

Source: "Streamable HTTP", 2025-03-26 to 2026-07-28.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from workbench.core.jsonrpc import Decoded, decode
from workbench.core.methods import HANDSHAKE_REVISIONS
from workbench.wire.serving_answers import answer, not_allowed, watched
from workbench.wire.serving_clients import HttpClient, is_taken
from workbench.wire.serving_exchange import Exchange, Refused
from workbench.wire.serving_gate import (
    EITHER,
    INVALID_REQUEST,
    STREAM,
    check_handshake,
    check_media,
    check_message,
    check_stateless,
    is_stateless,
    offered,
)
from workbench.wire.serving_outgoing import Item, carry
from workbench.wire.serving_site import Site


async def endpoint(site: Site, exchange: Exchange, name: str) -> None:
    """``/mcp``: a request of either era."""
    if _is_stateless(site, exchange):
        if exchange.verb != "POST":
            raise not_allowed("POST")
        await _stateless(site, exchange, name, await exchange.read())
    elif exchange.verb == "POST":
        body = await exchange.read()
        if "modern" in site.manner.eras and not site.manner.checks and is_stateless(decode(body)):
            await _stateless(site, exchange, name, body)
        else:
            await _post(site, exchange, name, body)
    elif exchange.verb in ("GET", "DELETE") and site.manner.sessions:
        client = _session(site, exchange)
        exchange.begin(client.tap)
        await (_get if exchange.verb == "GET" else _delete)(site, exchange, client)
    else:
        raise not_allowed("POST")


def _is_stateless(site: Site, exchange: Exchange) -> bool:
    if site.manner.eras == ("modern",):
        return True
    version = exchange.header("mcp-protocol-version")
    return "modern" in site.manner.eras and version is not None and version not in HANDSHAKE_REVISIONS


async def _stateless(site: Site, exchange: Exchange, name: str, body: bytes) -> None:
    with _refusing(site, exchange, site.places.get(name), body):
        check_media(exchange, body=True, wanted=EITHER)
        message = check_message(decode(body))
        check_handshake(message, site.manner.versions)
        if site.manner.checks:
            check_stateless(exchange, message, site.manner.versions)
    await answer(site, exchange, site.place(name), body)


async def _post(site: Site, exchange: Exchange, name: str, body: bytes) -> None:
    decoded = decode(body)
    version = offered(decoded)
    session = exchange.header("mcp-session-id")
    client = site.session(exchange) if site.manner.sessions else site.place(name)
    comes = client is None and session is None and version is not None
    with _refusing(site, exchange, client, body):
        check_media(exchange, body=True, wanted=EITHER)
        _check_legacy(exchange, decoded)
        if client is None and not comes:
            raise _sessionless(exchange)
    if client is None:
        client = _new_session(site, exchange, name)
    client.revision = version or client.revision
    await answer(site, exchange, client, body)


@contextmanager
def _refusing(site: Site, exchange: Exchange, client: HttpClient | None, body: bytes) -> Iterator[None]:
    """Record the body of a request that is not taken, under the client that sent it if there is one."""
    try:
        yield
    except Refused:
        exchange.begin(site.door if client is None else client.tap)
        exchange.take(body)
        raise


def _new_session(site: Site, exchange: Exchange, name: str) -> HttpClient:
    manner, tap = site.manner, site.tap(name)
    resumes = manner.streams and manner.resumes
    client = HttpClient(name, tap, session=uuid.uuid4().hex, resumes=resumes, own=manner.streams)
    exchange.add("mcp-session-id", client.session)
    tap.process("session", state="granted", id=client.session)
    return site.welcome(client, site.sessions)


def _check_legacy(exchange: Exchange, decoded: Decoded) -> None:
    version = exchange.header("mcp-protocol-version")
    if version is not None and version not in HANDSHAKE_REVISIONS:
        known = ", ".join(HANDSHAKE_REVISIONS)
        raise Refused(400, f"Bad Request: Unsupported protocol version (supported versions: {known})")
    if not is_taken(decoded):
        raise Refused(400, "The body is no JSON-RPC message.", code=INVALID_REQUEST)


def _session(site: Site, exchange: Exchange) -> HttpClient:
    client = site.session(exchange)
    if client is None:
        raise _sessionless(exchange)
    return client


def _sessionless(exchange: Exchange) -> Refused:
    if exchange.header("mcp-session-id") is None:
        return Refused(400, "Bad Request: Mcp-Session-Id header is required")
    return Refused(404, "Session not found", code=INVALID_REQUEST)


async def _delete(_site: Site, exchange: Exchange, client: HttpClient) -> None:
    client.tap.process("session", state="ended", id=client.session)
    client.close()
    await exchange.respond(200)


async def _get(site: Site, exchange: Exchange, client: HttpClient) -> None:
    check_media(exchange, body=False, wanted=STREAM)
    last = exchange.header("last-event-id")
    outgoing = client.own if last is None else client.resume(last)
    if outgoing is None:
        raise (
            not_allowed("POST, DELETE")
            if last is None
            else Refused(400, f"There is no event {last[:200]!r}.")
        )
    if last is None and outgoing.carrier is not None:
        raise Refused(409, "Conflict: Only one SSE stream is allowed per session")
    if outgoing is client.own and site.primes(client) and not outgoing.begun:
        outgoing.put(Item(b""))
    exchange.tell("open", 200)
    async with watched(exchange, client):
        await carry(outgoing, exchange, name="message")
    exchange.tell("lost" if exchange.cut else "closed")
