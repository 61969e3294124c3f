"""Where a server's tokens come from: the documents that say so, in all their places.

First the server's own (RFC 9728): where its challenge says, else below the path, else at the root. It names
authorization servers, whose documents (RFC 8414, or OpenID Connect Discovery) lie in up to four places. A
server that has none of the first kind is one of 2025-03-26: its origin is the authorization server, and where
that has no document either, the paths are the ones that revision names.

Every document is taken by itself: what is wrong with one is told as a step, and decides nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from workbench.wire.http_library import httpx
from workbench.wire.http_redirects import port_of
from workbench.wire.oauth_exchange import WHOSE, AuthorizationFailed, Exchanges, Reply, place, shown

_RESOURCE = "/.well-known/oauth-protected-resource"
_SERVER = "/.well-known/oauth-authorization-server"
_OPENID = "/.well-known/openid-configuration"

#: So many of the authorization servers that a resource names are asked.
MOST_SERVERS = 5


class Resource(NamedTuple):
    """The server as its own document tells it. ``name`` is what tokens are for (RFC 8707), ``scopes`` what
    it says it has, ``None`` where it says nothing. ``told`` is false where there is no document."""

    name: str
    servers: tuple[str, ...]
    scopes: tuple[str, ...] | None = None
    told: bool = True


class AuthorizationServer(NamedTuple):
    """An authorization server as its document tells it; ``document`` is empty where it has none."""

    issuer: str
    document: dict[str, Any]
    base: str = ""

    def endpoint(self, name: str) -> str:
        """The URL of an endpoint (``token``, ``authorization``, ``registration``), empty for none."""
        if not self.document:
            return self.base + {"authorization": "/authorize", "token": "/token"}.get(name, "/register")
        return _text(self.document.get(f"{name}_endpoint"))

    def names(self, member: str) -> tuple[str, ...] | None:
        """A list of words in its document, ``None`` where there is none."""
        return _texts(self.document.get(member))

    def flag(self, member: str) -> bool:
        """A switch in its document that is on."""
        return self.document.get(member) is True


async def resource_of(exchanges: Exchanges, named: str) -> Resource:
    """What the server says of itself; ``named`` is where its challenge says that stands, empty for nowhere.

    Raises ``AuthorizationFailed`` for a document that is of another server.
    """
    url = exchanges.base
    path = url.path.rstrip("/")
    places = [named] if named else []
    places += [origin_of(url) + _RESOURCE + path] if path else []
    places.append(origin_of(url) + _RESOURCE)
    for at in dict.fromkeys(places):
        reply = await _looked_up(exchanges, "protected resource metadata", at)
        if reply is None or reply.document is None:
            continue
        name = reply.document.get("resource")
        servers = _texts(reply.document.get("authorization_servers")) or ()
        if not isinstance(name, str) or not covers(name, url):
            expected = f"a resource that {canonical(url)} is part of"
            _told(exchanges, "resource", False, reply, expected, f"resource {shown(name)}")
            why = f"The metadata of {place(str(url))} is for {shown(name)}, which this server is not."
            raise AuthorizationFailed(
                why, f"Use the URL that it names, if that is the server you mean. {WHOSE}"
            )
        _told(exchanges, "resource", True, reply, f"a resource that {canonical(url)} is part of", name)
        if not servers:
            came = "no authorization_servers, so the server's origin is asked"
            _told(exchanges, "authorization servers", False, reply, "at least one", came)
        return Resource(name, servers[:MOST_SERVERS], _texts(reply.document.get("scopes_supported")))
    return Resource(canonical(url), (), told=False)


async def server_of(
    exchanges: Exchanges, resource: Resource, prefer: str, strict: bool
) -> AuthorizationServer:
    """The authorization server to use: ``prefer`` if the resource names it, else the first with a document.

    With ``strict`` a document's issuer may not even differ by a slash at its end (2026-07-28). Raises
    ``AuthorizationFailed``.
    """
    if not resource.servers:
        return await _older(exchanges)
    failure: AuthorizationFailed | None = None
    for issuer in sorted(resource.servers, key=lambda each: each != prefer):
        try:
            return await _described(exchanges, issuer, strict)
        except AuthorizationFailed as trouble:
            failure = failure or trouble
    assert failure is not None
    raise failure


async def _described(exchanges: Exchanges, issuer: str, strict: bool) -> AuthorizationServer:
    url = exchanges.allowed("authorization server", issuer)
    for at, misplaced in _places(url):
        reply = await _looked_up(exchanges, "authorization server metadata", at)
        if reply is None or reply.document is None:
            continue
        found = reply.document.get("issuer")
        same = found == issuer
        near = isinstance(found, str) and found.rstrip("/") == issuer.rstrip("/")
        if misplaced and not near:
            continue
        _told(exchanges, "issuer", same, reply, issuer, shown(found))
        if not same and (strict or not near):
            why = (
                f"The metadata of the authorization server {shown(issuer)} is of another one, {shown(found)}."
            )
            raise AuthorizationFailed(why, f"Nothing was sent there. {WHOSE}")
        if misplaced:
            _told(exchanges, "place of the metadata", False, reply, "below the issuer's path", at)
        return AuthorizationServer(str(found), reply.document)
    why = f"The authorization server {shown(issuer)} has no metadata in any of the places for it."
    raise AuthorizationFailed(why, WHOSE)


async def _older(exchanges: Exchanges) -> AuthorizationServer:
    """The server itself, as in 2025-03-26."""
    origin = origin_of(exchanges.base)
    for at in (origin + _SERVER, origin + _OPENID):
        reply = await _looked_up(exchanges, "authorization server metadata", at)
        if reply is not None and reply.document is not None:
            found = _text(reply.document.get("issuer"))
            # That revision asks for no comparison; the server itself has named it.
            _told(exchanges, "issuer", bool(found), reply, "an issuer", shown(found))
            return AuthorizationServer(found or origin, reply.document)
    exchanges.step(
        "authorization server metadata", False, "none, so the paths of 2025-03-26 are used", url=origin
    )
    return AuthorizationServer(origin, {}, origin)


async def _looked_up(exchanges: Exchanges, step: str, at: str) -> Reply | None:
    """A document, if it is there. An address that may not be asked, or is not to be reached, has none."""
    try:
        reply = await exchanges.get(step, at)
    except AuthorizationFailed as failure:
        exchanges.step(step, False, failure.why, url=at)
        return None
    good = reply.status == 200 and reply.document is not None
    exchanges.step(
        step, good, reply.said, expected="status 200 with a JSON object", url=at, stream=reply.stream
    )
    return reply if good else None


def _places(issuer: httpx.URL) -> Iterator[tuple[str, bool]]:
    """Where an issuer's document may stand, and whether that is a place where it should not."""
    origin, path = origin_of(issuer), issuer.path.rstrip("/")
    yield origin + _SERVER + path, False
    yield origin + _OPENID + path, False
    if path:
        yield origin + path + _OPENID, False
        yield origin + path + _SERVER, True
        yield origin + _SERVER, True


def origin_of(url: httpx.URL) -> str:
    """Scheme, host and port."""
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"{url.scheme}://{host}" + (f":{url.port}" if url.port else "")


def canonical(url: httpx.URL) -> str:
    """What tokens for a server are for, where it does not say ("Canonical Server URI", since 2025-06-18)."""
    return origin_of(url) + url.path.rstrip("/")


def canonical_url(text: str) -> str:
    """The same for a URL as text; what is none stays as it is."""
    try:
        return canonical(httpx.URL(text))
    except (httpx.InvalidURL, ValueError):
        return text


def covers(name: str, url: httpx.URL) -> bool:
    """Whether a resource is the server at a URL, or what that is part of."""
    try:
        resource = httpx.URL(name)
    except (httpx.InvalidURL, ValueError):
        return False
    if (resource.scheme, resource.host, port_of(resource)) != (url.scheme, url.host, port_of(url)):
        return False
    path = resource.path.rstrip("/")
    return url.path.rstrip("/") == path or url.path.startswith(f"{path}/")


def _told(exchanges: Exchanges, step: str, ok: bool, reply: Reply, expected: str, came: str) -> None:
    exchanges.step(step, ok, came, expected=expected, url=reply.url, stream=reply.stream)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    return tuple(each for each in value if isinstance(each, str))
