"""Which redirects are followed: those that stay at the server the user named.

A redirect can make a program send credentials and bodies wherever a server
likes, so only two are followed: one to another path of the same scheme, host
and port, and one from ``http`` to ``https`` of the same host. The request stays
what it is, with its method and body; a ``303``, which asks for a GET instead,
answers no POST of this protocol.
"""

from __future__ import annotations

from workbench.wire.http_errors import HttpFailed, Trouble, place_of
from workbench.wire.http_library import httpx

#: How many are followed in a row.
MOST_REDIRECTS = 5

#: Those whose target replaces the URL for all that is sent later (RFC 9110).
PERMANENT = frozenset((301, 308))
REDIRECTS = frozenset((301, 302, 303, 307, 308))

_PORTS = {"http": 80, "https": 443}


def follow(request: httpx.Request, response: httpx.Response) -> httpx.URL:
    """Where to go on. Raises ``HttpFailed`` for a redirect that is not followed."""
    status = response.status_code
    location = response.headers.get("location", "")
    here = f"{place_of(request.url)} answered with a redirect ({status})"
    if not location:
        raise HttpFailed(Trouble(f"{here} that leads nowhere.", "Ask whoever runs the server for its URL."))
    try:
        url = request.url.join(location).copy_with(username=None, password=None, fragment=None)
    except (httpx.InvalidURL, ValueError):
        raise HttpFailed(
            Trouble(f"{here} to something that is no URL.", "Ask whoever runs the server for its URL.")
        ) from None
    if not is_same_server(request.url, url):
        why = f"{here} to another server, {url.scheme}://{place_of(url)}, where nothing was sent."
        raise HttpFailed(Trouble(why, "If you trust it, connect to that URL."))
    if status == 303:
        raise HttpFailed(
            Trouble(f"{here} that asks for a GET instead.", "Check the URL; often it ends in /mcp.")
        )
    return url


def is_same_server(old: httpx.URL, new: httpx.URL) -> bool:
    """Whether what was meant for one URL may go to the other."""
    if old.host != new.host:
        return False
    if old.scheme == new.scheme:
        return port_of(old) == port_of(new)
    upgraded = (old.scheme, new.scheme) == ("http", "https")
    return upgraded and ((port_of(new) == 443 and port_of(old) == 80) or port_of(new) == port_of(old))


def port_of(url: httpx.URL) -> int:
    return url.port or _PORTS.get(url.scheme, 0)
