"""The clients of httpx that the requests of one connection go out with, each made when it is needed.

There is one without TLS and one with it: reading the authorities that TLS trusts
takes 20 to 30 ms, which a server at an ``http`` URL need not wait for. Only a
redirect to ``https`` makes a connection have both.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib.metadata import PackageNotFoundError, version

import anyio

from workbench.wire.command import NotStarted
from workbench.wire.http_errors import SNIPPET
from workbench.wire.http_library import httpx

#: How long reaching a host may take (seconds). Every other limit is the conversation's.
CONNECT = 10.0

#: How long a connection is kept for the next request (seconds).
KEPT = 5.0


class HttpClients:
    """They send what they are told and nothing more; ``http_clients`` makes and closes them."""

    def __init__(self, kept: float = KEPT) -> None:
        self._made: dict[bool, httpx.AsyncClient] = {}
        self._kept = kept

    def of(self, url: httpx.URL) -> httpx.AsyncClient:
        """The client for a URL. Proxies and authorities of the environment are used; raises
        ``NotStarted`` where they cannot be."""
        secure = url.scheme != "http"
        if secure not in self._made:
            try:
                self._made[secure] = _client(secure, self._kept)
            except (OSError, ValueError, ImportError, httpx.InvalidURL) as error:
                why = f"HTTP cannot be set up the way the environment says ({str(error)[:SNIPPET]})."
                step = "Check SSL_CERT_FILE and SSL_CERT_DIR, HTTP_PROXY, HTTPS_PROXY and ALL_PROXY."
                raise NotStarted(why, step) from None
        return self._made[secure]

    async def aclose(self) -> None:
        for client in self._made.values():
            await client.aclose()


def _client(secure: bool, kept: float) -> httpx.AsyncClient:
    try:
        ours = version("mcp-workbench")
    except PackageNotFoundError:
        ours = "0"
    return httpx.AsyncClient(
        headers={"user-agent": f"mcp-workbench/{ours}", "accept-encoding": "gzip, deflate"},
        # A context of its own trusts no authority, so that nothing goes over TLS by mistake.
        verify=True if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        # httpx looks into .netrc only when it is told to, and it is not.
        trust_env=True,
        follow_redirects=False,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        timeout=httpx.Timeout(None, connect=CONNECT),
        # A stream may stay open as long as it likes, and no call waits for it.
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=kept),
    )


@asynccontextmanager
async def http_clients(kept: float = KEPT) -> AsyncIterator[HttpClients]:
    """The clients of one connection, closed with all that is open of them when it is left. ``kept`` is
    how long a connection is kept for the next request (seconds)."""
    clients = HttpClients(kept)
    try:
        yield clients
    finally:
        with anyio.CancelScope(shield=True):
            await clients.aclose()
