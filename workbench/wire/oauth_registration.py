"""Who we are to an authorization server: a client that is registered there, or becomes one.

In this order: one that was registered beforehand, a client metadata document of ours, one that was registered
the last time, and a new registration (RFC 7591). What was given for one issuer is never sent to another.

Source: "Client Registration Approaches", 2025-11-25 and 2026-07-28.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from workbench.config.oauth import OAuth
from workbench.wire.oauth_discovery import AuthorizationServer
from workbench.wire.oauth_exchange import AuthorizationFailed, Exchanges, place, shown
from workbench.wire.oauth_failures import refusal

CLIENT_NAME = "MCP Workbench"

_BASIC, _POST, _NONE, _JWT = "client_secret_basic", "client_secret_post", "none", "private_key_jwt"


class Client(NamedTuple):
    """``method`` is how it shows who it is at the token endpoint; ``redirects`` are where a browser may be
    sent back to (empty: anywhere it was registered for, which only its owner knows). ``ours`` tells that we
    have registered it, for ``scopes``: some servers grant no others. ``expires`` is when its secret does
    (seconds since the epoch), 0 for never."""

    client_id: str
    secret: str = ""
    method: str = _NONE
    redirects: tuple[str, ...] = ()
    ours: bool = False
    expires: float = 0.0
    scopes: tuple[str, ...] = ()

    def does_for(self, redirect: str, scopes: Sequence[str]) -> bool:
        """Whether it may ask for these scopes and have a browser sent back there."""
        return not self.ours or (redirect in self.redirects and set(scopes) <= set(self.scopes))


def given_client(oauth: OAuth, server: AuthorizationServer, issuer: str) -> Client | None:
    """The client that was registered beforehand. Raises ``AuthorizationFailed`` where it was so elsewhere,
    at ``issuer`` (empty where that is not known)."""
    if not oauth.client_id:
        return None
    if issuer and issuer != server.issuer:
        why = (
            f"The client {shown(oauth.client_id)} is registered at {issuer}, and the server now sends to "
            f"{shown(server.issuer)}; nothing was sent there."
        )
        raise AuthorizationFailed(why, "Register a client there, and give it with --client-id.")
    if oauth.private_key:
        return Client(oauth.client_id, method=_JWT)
    return Client(oauth.client_id, oauth.client_secret, _method(oauth.client_secret, server))


def document_client(oauth: OAuth, server: AuthorizationServer) -> Client | None:
    """A client whose id is the URL of its own document, where the authorization server reads such."""
    if oauth.client_metadata and server.flag("client_id_metadata_document_supported"):
        return Client(oauth.client_metadata)
    return None


def still_good(client: Client | None) -> Client | None:
    """A client of the last time, unless its secret has expired."""
    if client is None or (client.expires and client.expires <= time.time()):
        return None
    return client


async def register(
    exchanges: Exchanges, server: AuthorizationServer, redirect: str, scopes: Sequence[str]
) -> Client:
    """Become a client. Raises ``AuthorizationFailed``."""
    endpoint = server.endpoint("registration")
    if not endpoint:
        why = f"The authorization server {place(server.issuer)} lets no client register itself."
        exchanges.step("registration", False, "no registration_endpoint", expected="a way to become a client")
        raise AuthorizationFailed(why, "Register one there by hand, and give it with --client-id.")
    wanted = _metadata(server, redirect, " ".join(scopes))
    reply = await exchanges.json("registration", endpoint, wanted)
    document = reply.document or {}
    client_id = document.get("client_id")
    # 200 is not what RFC 7591 says, and some answer with it.
    good = reply.status in (200, 201) and isinstance(client_id, str) and bool(client_id)
    exchanges.step(
        "registration",
        good,
        reply.said,
        expected="status 201 with a client_id",
        url=endpoint,
        stream=reply.stream,
    )
    if not good:
        raise AuthorizationFailed(
            f"{place(endpoint)} did not register a client: {refusal(reply)}",
            "Register one there by hand, and give it with --client-id.",
        )
    return _registered(document, wanted, server)._replace(scopes=tuple(scopes))


def _registered(document: dict[str, Any], wanted: dict[str, Any], server: AuthorizationServer) -> Client:
    """What was registered; what is left out is as it was asked for."""
    secret = document.get("client_secret")
    secret = secret if isinstance(secret, str) else ""
    method = document.get("token_endpoint_auth_method")
    if method not in (_BASIC, _POST, _NONE):
        method = wanted["token_endpoint_auth_method"]
    if secret and method == _NONE and not _allows_none(server):
        method = _method(secret, server)
    if not secret and method != _NONE:
        method = _NONE
    expires = document.get("client_secret_expires_at")
    redirects = document.get("redirect_uris")
    told = [each for each in redirects if isinstance(each, str)] if isinstance(redirects, list) else []
    return Client(
        document["client_id"],
        secret,
        method,
        tuple(told or wanted["redirect_uris"]),
        True,
        float(expires) if isinstance(expires, (int, float)) and not isinstance(expires, bool) else 0.0,
    )


def _metadata(server: AuthorizationServer, redirect: str, scope: str) -> dict[str, Any]:
    wanted: dict[str, Any] = {
        "client_name": CLIENT_NAME,
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": _NONE if _allows_none(server) else _method("secret", server),
        "application_type": "native",
    }
    if scope:
        wanted["scope"] = scope
    return wanted


def _allows_none(server: AuthorizationServer) -> bool:
    supported = server.names("token_endpoint_auth_methods_supported")
    return supported is None or _NONE in supported


def _method(secret: str, server: AuthorizationServer) -> str:
    """How a secret is shown: the way all servers should have (RFC 6749), else the only one."""
    if not secret:
        return _NONE
    supported = server.names("token_endpoint_auth_methods_supported")
    return _POST if supported is not None and _BASIC not in supported and _POST in supported else _BASIC
