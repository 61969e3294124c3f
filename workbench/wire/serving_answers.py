"""Answering an HTTP request with what whoever serves sends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from workbench.wire.serving_clients import HttpClient
from workbench.wire.serving_exchange import Exchange, Refused
from workbench.wire.serving_outgoing import Item, carry
from workbench.wire.serving_site import Site


async def answer(site: Site, exchange: Exchange, client: HttpClient, body: bytes) -> None:
    """Hand a body over and answer it, with what whoever serves sends."""
    exchange.begin(client.tap)
    outgoing = await client.take(exchange, body)
    if outgoing is None:
        await exchange.respond(202)
        return
    if outgoing.key is not None and site.primes(client):
        outgoing.put(Item(b""))
    async with watched(exchange, client):
        await (outgoing.ended if site.manner.answers == "json" else outgoing.first)()
        if outgoing.plain is not None and not outgoing.begun:
            await exchange.respond(*outgoing.plain)
            return
        if site.manner.answers == "json":
            outgoing.only_last()
        whole = outgoing.alone()
        if whole and site.manner.answers != "sse":
            await exchange.respond(200, whole)
            outgoing.delivered(0)
        else:
            await carry(outgoing, exchange, name="message")


@asynccontextmanager
async def watched(exchange: Exchange, client: HttpClient) -> AsyncIterator[None]:
    """Answer in this context: it is left at once when the client leaves."""

    async def watch() -> None:
        await exchange.left()
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        yield
        group.cancel_scope.cancel()
    if exchange.cut:
        client.left(exchange.number)


def not_allowed(allowed: str) -> Refused:
    """The refusal of a verb, with those that are allowed."""
    return Refused(405, "Method Not Allowed.", headers=(("allow", allowed),))
