"""The authorization code flow: a person is asked in a browser, and what comes back is looked at closely.

Source: OAuth 2.1, 4.1 with PKCE (RFC 7636, S256 only), RFC 8707 (``resource``), RFC 9207 (``iss``; "Mix-Up
Attacks" of 2026-07-28: it is compared as it stands, before anything else is believed).
"""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from hashlib import sha256
from hmac import compare_digest
from typing import NamedTuple, Protocol
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

from workbench.wire.oauth_discovery import AuthorizationServer
from workbench.wire.oauth_exchange import WHOSE, AuthorizationFailed, Exchanges, place, shown
from workbench.wire.oauth_failures import error_words
from workbench.wire.oauth_registration import Client


class Visit(Protocol):
    """A browser that can be sent somewhere. ``redirect`` is where it is to be sent back to."""

    redirect: str

    async def visit(self, url: str) -> str:
        """Send it to a URL; returns the whole URL that it was sent back to. Raises ``AuthorizationFailed``
        when nobody comes back."""
        ...


class Browser(Protocol):
    """Whoever can ask a person."""

    def begin(self, wanted: Sequence[str]) -> AbstractAsyncContextManager[Visit]:
        """Get ready. ``wanted`` are the redirects that would do, the best first; empty for any."""
        ...


class Returned(NamedTuple):
    """What a browser brought back, and what belongs to it."""

    code: str
    verifier: str
    redirect: str


async def authorize(
    exchanges: Exchanges,
    server: AuthorizationServer,
    client: Client,
    visit: Visit,
    resource: str,
    scopes: Sequence[str],
) -> Returned:
    """Ask a person. Raises ``AuthorizationFailed``."""
    endpoint = server.endpoint("authorization")
    if not endpoint:
        why = f"The authorization server {place(server.issuer)} names no authorization endpoint."
        raise AuthorizationFailed(why, WHOSE)
    exchanges.allowed("authorization endpoint", endpoint)
    verifier, state = secrets.token_urlsafe(64), secrets.token_urlsafe(32)
    challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = [
        ("response_type", "code"),
        ("client_id", client.client_id),
        ("redirect_uri", visit.redirect),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
        ("resource", resource),
    ]
    if scopes:
        query.append(("scope", " ".join(scopes)))
        if "offline_access" in scopes and server.document.get("userinfo_endpoint"):
            query.append(("prompt", "consent"))  # OpenID Connect Core, 11
    exchanges.step(
        "authorization", True, f"a browser is sent to {place(endpoint)}", url=with_query(endpoint, query)
    )
    came = await visit.visit(with_query(endpoint, [*query, ("state", state)]))
    code = _code(exchanges, came, state, server)
    return Returned(code, verifier, visit.redirect)


def _code(exchanges: Exchanges, came: str, state: str, server: AuthorizationServer) -> str:
    """The code in the URL a browser was sent back to."""
    try:
        found = parse_qs(urlsplit(came).query, keep_blank_values=True)
    except ValueError:
        found = {}
    if not compare_digest(_one(found, "state").encode("utf-8", "replace"), state.encode()):
        exchanges.step("redirect", False, "another state, or none", expected="the state that was sent")
        why = "What came back belongs to no login of ours: its state is another one."
        raise AuthorizationFailed(why, "Log in again, and take the URL of this login.")
    _check_issuer(exchanges, found, server)
    if "error" in found:
        words = error_words({name: values[0] for name, values in found.items()})
        exchanges.step("redirect", False, f"error {words}", expected="a code")
        raise AuthorizationFailed(f"{place(server.issuer)} did not authorize: {words}", "Log in again.")
    code = _one(found, "code")
    exchanges.step("redirect", bool(code), "a code" if code else "none", expected="a code")
    if not code:
        raise AuthorizationFailed(f"{place(server.issuer)} sent no code back.", "Log in again.")
    return code


def _check_issuer(exchanges: Exchanges, found: dict[str, list[str]], server: AuthorizationServer) -> None:
    advertised = server.flag("authorization_response_iss_parameter_supported")
    told = _one(found, "iss")
    if told == server.issuer if "iss" in found else not advertised:
        return
    came = shown(told) if "iss" in found else "no iss"
    exchanges.step("issuer of the redirect", False, came, expected=server.issuer)
    # Whoever sent it may be somebody else, so nothing else that it says is shown.
    why = f"What came back is not of the authorization server {place(server.issuer)}: it has {came}."
    raise AuthorizationFailed(why, f"Its code was sent nowhere. {WHOSE}")


def _one(found: dict[str, list[str]], name: str) -> str:
    values = found.get(name, [])
    return values[0] if len(values) == 1 else ""


def with_query(url: str, fields: Sequence[tuple[str, str]]) -> str:
    """A URL with more in its query."""
    parts = urlsplit(url)
    query = "&".join(part for part in (parts.query, urlencode(fields)) if part)
    return urlunsplit((parts.scheme, parts.netloc, parts.path, query, ""))
