"""A session with a server behind authorization, and a browser that agrees to everything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from tests.servers.authorizing import AuthSite, serve_authorizing
from workbench.config import Target, Timeouts
from workbench.config.oauth import OAuth
from workbench.core.frame import Channel, Direction
from workbench.core.jsonrpc import loads
from workbench.errors import ConnectionFailed
from workbench.session import Session
from workbench.store.reader import Reader
from workbench.wire.connection import Connection
from workbench.wire.oauth_logins import Logins


class Agreeing:
    """Goes where it is sent and comes back with what it got; ``visits`` are the URLs."""

    redirect = "http://127.0.0.1:8976/callback"

    def __init__(self) -> None:
        self.visits: list[str] = []
        #: What becomes of the URL it comes back with.
        self.changes: Callable[[str], str] = lambda url: url

    @asynccontextmanager
    async def begin(self, _wanted: Sequence[str]) -> AsyncIterator[Agreeing]:
        yield self

    async def visit(self, url: str) -> str:
        self.visits.append(url)
        async with httpx.AsyncClient() as client:
            answer = await client.get(url, follow_redirects=False)
        return self.changes(str(answer.headers.get("location", "")))

    def asked(self, place: int = -1) -> httpx.QueryParams:
        """What it was asked to agree to."""
        return httpx.URL(self.visits[place]).params


class Stage(NamedTuple):
    """The server, the browser, and a session's own recording."""

    site: AuthSite
    browser: Agreeing
    session: Session
    path: Path

    def connect(self, **options: Any) -> Connection:
        """Begin a connection in the handshake era, unless it says otherwise."""
        return self.session.connect(target_of(self.site.url, **options), listing=False)

    async def fails(self, **options: Any) -> str:
        """How a connection fails, in its own words."""
        try:
            await self.connect(**options).ready()
        except ConnectionFailed as failure:
            return str(failure)
        raise AssertionError("the connection came about")


def target_of(url: str, **options: Any) -> Target:
    oauth = options.pop("oauth", None)
    return Target(
        name="guarded",
        transport=options.pop("transport", "http"),
        url=url,
        era=options.pop("era", "legacy"),
        timeouts=Timeouts(start=30, request=30, shutdown=2),
        oauth=OAuth(**oauth) if oauth is not None else None,
        **options,
    )


@asynccontextmanager
async def staged(
    folder: Path, *, browser: bool = True, keeps: bool = False, site: AuthSite | None = None
) -> AsyncIterator[Stage]:
    """A session that records to ``folder``, and a server (``site`` if there is one already)."""
    if site is None:
        async with (
            serve_authorizing() as site,
            staged(folder, browser=browser, keeps=keeps, site=site) as stage,
        ):
            yield stage
        return
    agreeing = Agreeing()
    path = folder / f"{len(list(folder.glob('*.db')))}.db"
    logins = Logins(agreeing if browser else None, keeps=keeps)
    async with Session.open(path=str(path), logins=logins) as session:
        yield Stage(site, agreeing, session, path)


def steps(path: Path) -> list[dict[str, Any]]:
    """What was expected and what came, of a recording that is closed."""
    with Reader.open(str(path)) as reader:
        told = [
            loads(frame.body)
            for frame in reader.frames()
            if frame.channel is Channel.AUTH and frame.direction is Direction.NONE
        ]
    return [each for each in told if "ok" in each]
