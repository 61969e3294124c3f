"""Which HTTP request is answered where."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect
from starlette.routing import Route, Router

from workbench.wire.serving_exchange import Exchange, Refused
from workbench.wire.serving_gate import check_origin
from workbench.wire.serving_older import messages, stream
from workbench.wire.serving_site import Site
from workbench.wire.serving_streamable import endpoint

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

#: Answers an exchange; the text is what the path has below the endpoint's own.
_Answer = Callable[[Site, Exchange, str], Awaitable[None]]


def application(site: Site) -> ASGIApp:
    """The site as an ASGI application."""
    return Router(routes=list(_routes(site)), default=_Endpoint(site, _not_found), redirect_slashes=False)


def _routes(site: Site) -> Iterator[Route]:
    for path, answer in (("/mcp", endpoint), ("/sse", stream), ("/messages", messages)):
        for each in (path, path + "/{name:path}"):
            yield Route(each, _Endpoint(site, answer))


class _Endpoint:
    """An endpoint, as the router wants it."""

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


async def _not_found(_site: Site, exchange: Exchange, _name: str) -> None:
    raise Refused(404, f"There is nothing at {exchange.path[:200]}; try /mcp or /sse.")
