"""What an HTTP request to a serving half is, and who answers it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup
from starlette.requests import ClientDisconnect
from starlette.routing import Route, Router

from workbench.core.jsonrpc import Decoded, decode
from workbench.core.methods import HANDSHAKE_REVISIONS
from workbench.wire.serving import attend, let_go
from workbench.wire.serving_clients import HttpClient, is_taken
from workbench.wire.serving_exchange import Exchange, Refused
from workbench.wire.serving_gate import (
    EITHER,
    INVALID_REQUEST,
    STREAM,
    check_media,
    check_message,
    check_origin,
    check_stateless,
    offered,
)
from workbench.wire.serving_outgoing import Item, carry
from workbench.wire.tap import Tap
from workbench.wire.transport import Serve, Taps

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from workbench.wire.serving_http import Manner

#: Clients that are served at once; most clients never end their sessions.
MOST_CLIENTS = 1_000

#: Since when priming events are expected ("Streamable HTTP", 2025-11-25).
_PRIMED_SINCE = "2025-11-25"

_Answer = Callable[["Site", Exchange, str], Awaitable[None]]


class Site:
    """An ASGI application: the endpoints, and the clients that have come to them."""

    def __init__(self, serve: Serve, taps: Taps, manner: Manner, group: TaskGroup) -> None:
        self.manner = manner
        self.sessions: dict[str, HttpClient] = {}
        self.streams: dict[str, HttpClient] = {}
        self.places: dict[str, HttpClient] = {}
        self._serve = serve
        self._taps = taps
        self._group = group
        self._door: Tap | None = None
        self._router = Router(
            routes=[*_routes(self)], default=_Endpoint(self, not_found), redirect_slashes=False
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._router(scope, receive, send)

    def welcome(self, client: HttpClient, among: dict[str, HttpClient]) -> HttpClient:
        """Serve a client that has come, in a task of its own."""
        key = client.session or client.name
        among[key] = client
        self._group.start_soon(self._attend, client, among, key)
        return client

    def tap(self, name: str) -> Tap:
        """The tap of a client that comes now. The session that has been idle longest makes room where
        there is none. Raises ``Refused`` when there is no such session."""
        if len(self._clients()) >= MOST_CLIENTS:
            idle = next((each for each in self.sessions.values() if each.is_idle), None)
            if idle is None:
                raise Refused(503, f"{MOST_CLIENTS} clients are served already; end a session first.")
            idle.tap.process("session", state="ended", id=idle.session, why="room was needed")
            idle.close()
            self.sessions.pop(idle.session, None)
        return self._taps(name)

    def session(self, exchange: Exchange) -> HttpClient | None:
        """The client whose session a request names; sessions are in the order of their last use."""
        key = exchange.header("mcp-session-id") or ""
        client = self.sessions.pop(key, None)
        if client is not None:
            self.sessions[key] = client
        return client

    def place(self, name: str) -> HttpClient:
        """The client that everybody is who comes to this path."""
        return self.places.get(name) or self.welcome(HttpClient(name, self.tap(name)), self.places)

    @property
    def door(self) -> Tap:
        """The tap of what belongs to no client."""
        if self._door is None:
            self._door = self._taps("")
        return self._door

    async def close(self) -> None:
        """Let every client go."""
        clients = self._clients()
        async with anyio.create_task_group() as group:
            for client in clients:
                group.start_soon(let_go, client.inbox, client.ended)
        for client in clients:
            client.close()

    def _clients(self) -> list[HttpClient]:
        return [*self.sessions.values(), *self.streams.values(), *self.places.values()]

    async def _attend(self, client: HttpClient, among: dict[str, HttpClient], key: str) -> None:
        await attend(self._serve, client)
        client.close()
        client.ended.set()
        among.pop(key, None)


class _Endpoint:
    """A place of the site, as the router wants it."""

    def __init__(self, site: Site, answer: _Answer) -> None:
        self._site = site
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(scope, receive, send)
        try:
            check_origin(exchange, self._site.manner.hosts, self._site.manner.anywhere)
            await self._answer(self._site, exchange, scope.get("path_params", {}).get("name", ""))
        except ClientDisconnect:
            pass  # it left before all of its request was there, so there is nobody to answer
        except Refused as refused:
            if exchange.tap is None:
                exchange.begin(self._site.door)
            await exchange.refuse(refused)


async def not_found(_site: Site, exchange: Exchange, _name: str) -> None:
    raise Refused(404, f"There is nothing at {exchange.path[:200]}; try /mcp or /sse.")


# Streamable HTTP


async def endpoint(site: Site, exchange: Exchange, name: str) -> None:
    """``/mcp``: a request of either era."""
    if _is_stateless(site, exchange):
        await _stateless(site, exchange, name)
    elif exchange.verb == "POST":
        await _post(site, exchange, name)
    elif exchange.verb in ("GET", "DELETE") and site.manner.sessions:
        client = _session(site, exchange)
        exchange.begin(client.tap)
        await (_get if exchange.verb == "GET" else _delete)(site, exchange, client)
    else:
        raise _not_allowed("POST")


def _is_stateless(site: Site, exchange: Exchange) -> bool:
    if site.manner.eras == ("modern",):
        return True
    version = exchange.header("mcp-protocol-version")
    return "modern" in site.manner.eras and version is not None and version not in HANDSHAKE_REVISIONS


async def _stateless(site: Site, exchange: Exchange, name: str) -> None:
    if exchange.verb != "POST":
        raise _not_allowed("POST")
    body = await exchange.read()
    with _refusing(site, exchange, site.places.get(name), body):
        check_media(exchange, body=True, wanted=EITHER)
        check_stateless(exchange, check_message(decode(body)), site.manner.versions)
    await _answer(site, exchange, site.place(name), body)


async def _post(site: Site, exchange: Exchange, name: str) -> None:
    body = await exchange.read()
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
    await _answer(site, exchange, client, body)


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
            _not_allowed("POST, DELETE")
            if last is None
            else Refused(400, f"There is no event {last[:200]!r}.")
        )
    if last is None and outgoing.carrier is not None:
        raise Refused(409, "Conflict: Only one SSE stream is allowed per session")
    if outgoing is client.own and _primes(site, client) and not outgoing.begun:
        outgoing.put(Item(b""))
    exchange.tell("open", 200)
    async with _watched(exchange, client):
        await carry(outgoing, exchange, name="message")
    exchange.tell("lost" if exchange.cut else "closed")


def _primes(site: Site, client: HttpClient) -> bool:
    return site.manner.primes and client.revision >= _PRIMED_SINCE


# The older HTTP with SSE


async def stream(site: Site, exchange: Exchange, name: str) -> None:
    """``/sse``: a client comes, and this is its stream."""
    if exchange.verb != "GET" or "legacy" not in site.manner.eras:
        raise _not_allowed("GET")
    client = HttpClient(name, site.tap(name), session=uuid.uuid4().hex, own=True)
    exchange.begin(client.tap)
    assert client.own is not None
    site.welcome(client, site.streams)
    exchange.tell("open", 200)
    try:
        async with _watched(exchange, client):
            await exchange.open_events()
            await exchange.event(f"/messages?sessionId={client.session}".encode(), "endpoint", None)
            await carry(client.own, exchange, name="message")
    finally:
        client.inbox.close()
        exchange.tell("lost" if exchange.cut else "closed")


async def messages(site: Site, exchange: Exchange, _name: str) -> None:
    """``/messages``: what a client of ``/sse`` sends."""
    if exchange.verb != "POST":
        raise _not_allowed("POST")
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


# Both


async def _answer(site: Site, exchange: Exchange, client: HttpClient, body: bytes) -> None:
    """Hand a body over and answer it, with what whoever serves sends."""
    exchange.begin(client.tap)
    outgoing = await client.take(exchange, body)
    if outgoing is None:
        await exchange.respond(202)
        return
    if outgoing.key is not None and _primes(site, client):
        outgoing.put(Item(b""))
    async with _watched(exchange, client):
        await (outgoing.ended if site.manner.answers == "json" else outgoing.first)()
        if outgoing.plain is not None and not outgoing.begun:
            await exchange.respond(*outgoing.plain)
            return
        if site.manner.answers == "json":
            outgoing.only_last()
        answer = outgoing.alone()
        if answer and site.manner.answers != "sse":
            await exchange.respond(200, answer)
            outgoing.delivered(0)
        else:
            await carry(outgoing, exchange, name="message")


@asynccontextmanager
async def _watched(exchange: Exchange, client: HttpClient) -> AsyncIterator[None]:
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


def _not_allowed(allowed: str) -> Refused:
    return Refused(405, "Method Not Allowed.", headers=(("allow", allowed),))


def _routes(site: Site) -> Iterator[Route]:
    for path, answer in (("/mcp", endpoint), ("/sse", stream), ("/messages", messages)):
        for each in (path, path + "/{name:path}"):
            yield Route(each, _Endpoint(site, answer))
