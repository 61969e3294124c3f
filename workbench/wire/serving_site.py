"""Who is served over HTTP, and how."""

from __future__ import annotations

from typing import NamedTuple

import anyio
from anyio.abc import TaskGroup

from workbench.core.methods import HANDSHAKE_REVISIONS, REVISIONS
from workbench.wire.serving import attend, let_go
from workbench.wire.serving_clients import HttpClient
from workbench.wire.serving_exchange import Exchange, Refused
from workbench.wire.tap import Tap
from workbench.wire.transport import Serve, Taps

#: Clients that are served at once; most clients never end their sessions.
MOST_CLIENTS = 1_000

#: Since when priming events are expected ("Streamable HTTP", 2025-11-25).
_PRIMED_SINCE = "2025-11-25"


class Manner(NamedTuple):
    """How is served.

    ``eras`` are those that are answered. ``answers`` is ``auto`` (JSON for an answer that comes
    alone, else events), ``sse`` or ``json``. ``sessions`` off serves the handshake era without ids, as a
    place. ``streams`` off refuses GET, and with it ``resumes``: event ids, priming events (``primes``)
    and streams that are taken up again. ``versions`` are those of the stateless era; ``checks`` off takes
    its requests also where the headers do not repeat the body. ``anywhere`` lets other machines come,
    ``hosts`` are names by which they may.
    """

    eras: tuple[str, ...] = ("legacy", "modern")
    answers: str = "auto"
    sessions: bool = True
    streams: bool = True
    resumes: bool = True
    primes: bool = False
    versions: tuple[str, ...] = REVISIONS[len(HANDSHAKE_REVISIONS) :]
    checks: bool = True
    anywhere: bool = False
    hosts: tuple[str, ...] = ()


PLAIN = Manner()


class Site:
    """The clients that have come. ``sessions`` are those of the handshake era by their id, ``streams`` those
    of the older transport, ``places`` those of the stateless era by their path."""

    def __init__(self, serve: Serve, taps: Taps, manner: Manner, group: TaskGroup) -> None:
        self.manner = manner
        self.sessions: dict[str, HttpClient] = {}
        self.streams: dict[str, HttpClient] = {}
        self.places: dict[str, HttpClient] = {}
        self._serve = serve
        self._taps = taps
        self._group = group
        self._door: Tap | None = None

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

    def primes(self, client: HttpClient) -> bool:
        """Whether its streams begin with an event that has nothing but an id."""
        return self.manner.primes and client.revision >= _PRIMED_SINCE

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
