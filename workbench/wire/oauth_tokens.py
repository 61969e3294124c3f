"""Tokens: asked for with a grant, and with what shows which client asks.

Source: RFC 6749 and its successor OAuth 2.1, RFC 8707 (``resource`` goes with every request for a token),
RFC 7523 (JWT as assertion), RFC 8693 (token exchange).
"""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote_plus
from uuid import uuid4

from workbench.config.oauth import OAuth
from workbench.wire.oauth_discovery import AuthorizationServer
from workbench.wire.oauth_exchange import WHOSE, AuthorizationFailed, Exchanges, Reply, place, shown
from workbench.wire.oauth_failures import refusal
from workbench.wire.oauth_registration import Client

_JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
_ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"

#: How long an assertion of ours holds (seconds).
ASSERTED = 300

#: Tokens count as expired this long before they are (seconds): a request takes its time.
EARLY = 30

Fields = Sequence[tuple[str, str]]


class Tokens(NamedTuple):
    """``expires`` is when ``access`` does (seconds since the epoch), 0 where that was not said; ``refresh``
    is empty where there is none. ``scopes`` are those granted, or asked for where that was not said."""

    access: str
    refresh: str = ""
    expires: float = 0.0
    scopes: tuple[str, ...] = ()

    @property
    def expired(self) -> bool:
        return self.expires > 0 and self.expires - EARLY <= time.time()


class Grants:
    """Asks one authorization server for tokens for one resource, as one client. Everything raises
    ``AuthorizationFailed``."""

    def __init__(
        self, exchanges: Exchanges, server: AuthorizationServer, client: Client, oauth: OAuth, resource: str
    ) -> None:
        self._exchanges = exchanges
        self._server = server
        self._client = client
        self._oauth = oauth
        self._resource = resource

    async def by_code(self, code: str, verifier: str, redirect: str, scopes: Sequence[str]) -> Tokens:
        """For what a browser brought back."""
        fields = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect)]
        return await self._asked("token", [*fields, ("code_verifier", verifier)], scopes)

    async def by_refresh(self, tokens: Tokens) -> Tokens:
        """For a refresh token. Where it brings another one, the old one is of no more use."""
        fields = [("grant_type", "refresh_token"), ("refresh_token", tokens.refresh)]
        new = await self._asked("refresh", fields, tokens.scopes)
        return new if new.refresh else new._replace(refresh=tokens.refresh)

    async def by_client(self, scopes: Sequence[str]) -> Tokens:
        """For being this client ("OAuth Client Credentials")."""
        return await self._asked("token", [("grant_type", "client_credentials"), *_scope(scopes)], scopes)

    async def by_assertion(self, assertion: str, scopes: Sequence[str]) -> Tokens:
        """For a JWT that somebody has signed whom the authorization server believes (RFC 7523, 2.1)."""
        fields = [("grant_type", _JWT_BEARER), ("assertion", assertion), *_scope(scopes)]
        return await self._asked("token", fields, scopes)

    async def enterprise(self, scopes: Sequence[str]) -> Tokens:
        """For a token of the identity provider, which makes an assertion for this authorization server of it
        ("Enterprise-Managed Authorization")."""
        fields = [
            ("grant_type", _EXCHANGE),
            ("requested_token_type", _ID_JAG),
            ("audience", self._server.issuer),
            ("resource", self._resource),
            ("subject_token", self._oauth.idp_token),
            ("subject_token_type", _ID_TOKEN),
            ("client_id", self._oauth.idp_client_id),
            *_scope(scopes),
        ]
        endpoint = self._oauth.idp_token_endpoint
        reply = await self._exchanges.form("token exchange", endpoint, fields, {})
        document = reply.document or {}
        assertion = document.get("access_token")
        good = (
            reply.status == 200
            and isinstance(assertion, str)
            and document.get("issued_token_type") == _ID_JAG
        )
        self._told("token exchange", good, reply, "an assertion (ID-JAG)", endpoint)
        if not good:
            why = f"The identity provider {place(endpoint)} made no assertion: {refusal(reply)}"
            raise AuthorizationFailed(why, "Check its token, and what it allows this client.")
        return await self.by_assertion(str(assertion), scopes)

    async def _asked(self, step: str, fields: Fields, scopes: Sequence[str]) -> Tokens:
        endpoint = self._server.endpoint("token")
        if not endpoint:
            why = f"The authorization server {place(self._server.issuer)} names no token endpoint."
            raise AuthorizationFailed(why, WHOSE)
        shows, headers = self._who()
        sent = [*fields, ("resource", self._resource), *shows]
        reply = await self._exchanges.form(step, endpoint, sent, headers)
        tokens = _tokens(reply, scopes)
        self._told(
            step, isinstance(tokens, Tokens), reply, "status 200 with an access_token for Bearer", endpoint
        )
        if isinstance(tokens, str):
            raise AuthorizationFailed(f"{place(endpoint)} gave no token: {tokens}", _cure(reply))
        return tokens

    def _told(self, step: str, ok: bool, reply: Reply, expected: str, url: str) -> None:
        self._exchanges.step(step, ok, reply.said, expected=expected, url=url, stream=reply.stream)

    def _who(self) -> tuple[Fields, dict[str, str]]:
        """The fields and headers that show which client asks."""
        client = self._client
        if client.method == "private_key_jwt":
            # The issuer is what every server knows itself by (RFC 7523bis; "OAuth Client Credentials").
            assertion = signed(client.client_id, self._server.issuer, self._oauth)
            shows = (("client_assertion_type", _ASSERTION_TYPE), ("client_assertion", assertion))
            return (("client_id", client.client_id), *shows), {}
        if client.method == "client_secret_basic":
            both = f"{quote_plus(client.client_id)}:{quote_plus(client.secret)}"
            # The id stands in the header already, and the official SDK's server wants it in the form as well.
            named = (("client_id", client.client_id),)
            return named, {"Authorization": f"Basic {b64encode(both.encode()).decode()}"}
        if client.method == "client_secret_post":
            return (("client_id", client.client_id), ("client_secret", client.secret)), {}
        return (("client_id", client.client_id),) if client.client_id else (), {}


def signed(client_id: str, audience: str, oauth: OAuth) -> str:
    """A client's assertion of who it is (``private_key_jwt``). Raises ``AuthorizationFailed``."""
    try:
        import jwt
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        why = "Signing with a private key needs packages that are not installed."
        raise AuthorizationFailed(why, "Install them: pip install 'mcp-workbench[oauth]'.") from None
    now = int(time.time())
    claims: dict[str, object] = {"iss": client_id, "sub": client_id, "aud": audience, "jti": uuid4().hex}
    try:
        key = load_pem_private_key(oauth.private_key.encode(), None)
        algorithm = oauth.algorithm or _ALGORITHMS.get(type(key).__name__.strip("_"), "ES256")
        claims |= {"iat": now, "exp": now + ASSERTED}
        return jwt.encode(claims, key, algorithm)  # type: ignore[arg-type] # a kind that does not fit raises
    except (ValueError, TypeError, NotImplementedError, jwt.PyJWTError) as error:
        why = f"The private key cannot be used to sign ({type(error).__name__})."
        raise AuthorizationFailed(
            why, "It must be a PEM file without a password, of a kind that fits."
        ) from None


#: What keys sign with, where nobody says.
_ALGORITHMS = {"RSAPrivateKey": "RS256", "Ed25519PrivateKey": "EdDSA", "ECPrivateKey": "ES256"}


def _scope(scopes: Sequence[str]) -> Fields:
    return (("scope", " ".join(scopes)),) if scopes else ()


def _tokens(reply: Reply, asked: Sequence[str]) -> Tokens | str:
    """The tokens in an answer, or why there are none, as the end of a sentence."""
    document = reply.document or {}
    access, kind = document.get("access_token"), document.get("token_type")
    if reply.status != 200 or not isinstance(access, str) or not access:
        return refusal(reply)
    if isinstance(kind, str) and kind.lower() != "bearer":
        return f"it is of the type {shown(kind)}, and only Bearer is spoken here."
    if not access.isprintable() or " " in access or not access.isascii():
        return "its access_token is none that a header can hold."
    refresh, scope = document.get("refresh_token"), document.get("scope")
    try:
        lasts = float(document.get("expires_in") or 0)
    except (TypeError, ValueError):
        lasts = 0.0
    return Tokens(
        access,
        refresh if isinstance(refresh, str) else "",
        time.time() + lasts if 0 < lasts < 1e12 else 0.0,
        tuple(scope.split()) if isinstance(scope, str) else tuple(asked),
    )


def _cure(reply: Reply) -> str:
    error = (reply.document or {}).get("error")
    if error in ("invalid_client", "unauthorized_client"):
        return "Check --client-id and what it shows who it is with."
    if error == "invalid_grant":
        return "Log in again: mcp-workbench login."
    if error == "invalid_scope":
        return "Give scopes that it has with --scope."
    return WHOSE
